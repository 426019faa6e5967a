/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which part of an image becomes the result, and whether it is mirrored: a pure function of the
 * options, the image's size and a key, the same on every machine and in every release (frozen by
 * test vectors).
 */
#ifndef DECODE_CROP_H
#define DECODE_CROP_H

#include <shard/image.h>

/* In pixels of the image as it is to be seen; inside it. */
typedef struct {
    double x, y, width, height;
    bool mirror; /* left to right */
} shard_crop;

/* `opts` as shard_image_opts_read makes them; `width` and `height`: 1 to 2^20. */
void shard_crop_choose(const shard_image_opts *opts, uint32_t width, uint32_t height, uint64_t key,
                       shard_crop *out);

#endif
