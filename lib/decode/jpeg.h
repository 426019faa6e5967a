/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JPEG, behind which stands libjpeg-turbo by its libjpeg interface. One object a thread; it is used
 * again for each image. Damaged images are errors, never grey areas: what libjpeg merely warns of
 * is refused, but for stray bytes between segments, which many good files have.
 */
#ifndef DECODE_JPEG_H
#define DECODE_JPEG_H

#include "core/alloc.h"
#include "core/error.h"

typedef struct shard_jpeg shard_jpeg;

typedef struct {
    uint32_t width, height;
    uint32_t components;
    bool progressive;
    bool arithmetic;
} shard_jpeg_info;

/* `memory_max`: images that need more are refused, with SHARD_ELIMIT. */
shard_status shard_jpeg_open(shard_jpeg **out, uint64_t memory_max, const fmt_alloc *alloc,
                             shard_error *err);
void shard_jpeg_close(shard_jpeg *jpeg); /* NULL allowed */

/* What the image's header says; its first bytes are enough. */
shard_status shard_jpeg_examine(shard_jpeg *jpeg, fmt_span image, shard_jpeg_info *out,
                                shard_error *err);

/*
 * The same coefficients as baseline Huffman JPEG: every pixel stays. With `strip`, without metadata
 * but ICC profile and orientation. `*out` is valid until the next call.
 */
shard_status shard_jpeg_to_baseline(shard_jpeg *jpeg, fmt_span image, bool strip, fmt_span *out,
                                    shard_error *err);

/* Scale down to this width and height, and encode anew in the same colour space and sampling. */
shard_status shard_jpeg_resize(shard_jpeg *jpeg, fmt_span image, uint32_t width, uint32_t height,
                               uint32_t quality, bool strip, fmt_span *out, shard_error *err);

#endif
