/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pixels of a part of a JPEG image. What is not needed is not computed: blocks beside the part
 * are only read past, blocks below it not even that, and where the result is smaller by far, blocks
 * come out of the transform at 1/2, 1/4 or 1/8.
 */
#ifndef DECODE_JPEG_PIXELS_H
#define DECODE_JPEG_PIXELS_H

#include "decode/picture.h"

typedef struct shard_jpeg_pixels shard_jpeg_pixels;

shard_status shard_jpeg_pixels_open(shard_jpeg_pixels **out, const fmt_alloc *alloc,
                                    shard_error *err);
void shard_jpeg_pixels_close(shard_jpeg_pixels *jpeg); /* NULL allowed */

/* For tests: by libjpeg's entropy decoder from now on, or by ours where it can. */
void shard_jpeg_pixels_use_ours(shard_jpeg_pixels *jpeg, bool ours);

/* Whether ours decoded the last image. */
bool shard_jpeg_pixels_used_ours(const shard_jpeg_pixels *jpeg);

shard_status shard_jpeg_pixels_decode(shard_jpeg_pixels *jpeg, fmt_span image,
                                      shard_picture *picture, shard_error *err);

#endif
