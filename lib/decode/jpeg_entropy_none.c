/* SPDX-License-Identifier: Apache-2.0 */
/* In the place of jpeg_entropy.c where libjpeg's inner structs are not known: it takes over
 * nothing. */
#include "decode/jpeg_entropy_check.h"

shard_status shard_jpeg_entropy_open(shard_jpeg_entropy **out, const fmt_alloc *alloc,
                                     shard_error *err)
{
    (void)alloc, (void)err;
    *out = NULL;
    return SHARD_OK;
}

void shard_jpeg_entropy_close(shard_jpeg_entropy *entropy)
{
    (void)entropy;
}

bool shard_jpeg_entropy_begin(shard_jpeg_entropy *entropy, shard_libjpeg *lib)
{
    (void)entropy, (void)lib;
    return false;
}

void shard_jpeg_entropy_columns(shard_jpeg_entropy *entropy, const shard_libjpeg *lib,
                                uint32_t left, uint32_t width)
{
    (void)entropy, (void)lib, (void)left, (void)width;
}

bool shard_jpeg_entropy_gave_up(const shard_jpeg_entropy *entropy)
{
    (void)entropy;
    return false;
}

bool shard_jpeg_entropy_check(shard_jpeg_entropy *entropy)
{
    (void)entropy;
    return false;
}
