/* SPDX-License-Identifier: Apache-2.0 */
/*
 * huffman.h in the place of libjpeg's own entropy decoder, for ordinary images: sequential, Huffman
 * codes, 8 bits, all components in one scan. libjpeg does the rest, and all of other images.
 *
 * Whatever is unusual in a scan ends the work by libjpeg's way for errors; the image is then to be
 * decoded again without this, so that damage is found, named and forgiven as libjpeg does it.
 *
 * Where libjpeg's jpegint.h is not installed there is jpeg_entropy_none.c instead.
 */
#ifndef DECODE_JPEG_ENTROPY_H
#define DECODE_JPEG_ENTROPY_H

#include "decode/libjpeg.h"

typedef struct shard_jpeg_entropy shard_jpeg_entropy;

/* NULL is one that takes over nothing. Check it once: see jpeg_entropy_check.h. */
shard_status shard_jpeg_entropy_open(shard_jpeg_entropy **out, const fmt_alloc *alloc,
                                     shard_error *err);
void shard_jpeg_entropy_close(shard_jpeg_entropy *entropy);

/*
 * After jpeg_start_decompress, before anything is read: take over if the image is an ordinary one.
 * Whether it did. `entropy` is then used until the last row is read or the work ends.
 */
bool shard_jpeg_entropy_begin(shard_jpeg_entropy *entropy, shard_libjpeg *lib);

/* Only these columns of pixels matter: those that jpeg_crop_scanline left. */
void shard_jpeg_entropy_columns(shard_jpeg_entropy *entropy, const shard_libjpeg *lib,
                                uint32_t left, uint32_t width);

/* Whether the work ended because of something unusual. */
bool shard_jpeg_entropy_gave_up(const shard_jpeg_entropy *entropy);

/* How many MCUs were decoded or passed since it began. */
uint64_t shard_jpeg_entropy_mcus(const shard_jpeg_entropy *entropy);

#endif
