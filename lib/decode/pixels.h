/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of bytes into the numbers and the layout that the caller asked for. */
#ifndef DECODE_PIXELS_H
#define DECODE_PIXELS_H

#include <shard/image.h>

#include "fmt.h"

/* Where a result goes. */
typedef struct {
    shard_image_layout layout;
    uint32_t width, height;
    uint32_t channels;  /* 1 or 3 */
    const void *number; /* of each value of each channel: 256 a channel; unused for bytes */
    void *data;
} shard_pixels;

/* Bytes of a whole result. */
size_t shard_pixels_size(shard_image_layout layout, uint32_t width, uint32_t height,
                         uint32_t channels);

/* The table of a float layout; `number` has room for 256 * channels floats or halves. */
void shard_pixels_fill_table(shard_image_layout layout, uint32_t channels, const float *mean,
                             const float *deviation, void *number);

/* Row `y` of the result, its channels interleaved, mirrored where that is wanted. */
void shard_pixels_put_row(const shard_pixels *pixels, uint32_t y, const uint8_t *row, bool mirror);

#endif
