/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A part of an image scaled to another size, row by row as the rows are decoded: a triangle filter
 * as wide as the scale asks for (antialiasing), down first, then across, in fixed point. Every
 * processor gives the same bytes; what AVX2, SSE4.1 and NEON do, plain C does too.
 *
 * Memory is a few rows, kept from image to image.
 */
#ifndef DECODE_SCALE_H
#define DECODE_SCALE_H

#include "core/alloc.h"
#include "core/error.h"
#include "decode/pixels.h"

typedef struct shard_scaler shard_scaler;
typedef struct shard_scale_kernels shard_scale_kernels;

typedef struct {
    uint32_t in_width, in_height; /* of the rows that come */
    double x, y, width, height;   /* the part of them that is scaled: not always whole pixels */
    uint32_t out_width, out_height;
    uint32_t channels; /* 1 or 3 */
    bool mirror;       /* left to right */
} shard_scale;

shard_status shard_scaler_open(shard_scaler **out, const fmt_alloc *alloc, shard_error *err);
void shard_scaler_close(shard_scaler *scaler); /* NULL allowed */

/* For tests: other kernels (scale_kernels.h) than the fastest that this processor has. */
void shard_scaler_use(shard_scaler *scaler, const shard_scale_kernels *kernels);

/*
 * Begin a new image, of which the result goes to `out` (copied). Pixels that the part covers only
 * partly count as if it covered them whole; those outside do not count. Errors: SHARD_EINVAL for a
 * part that is not in the image or a result of another size, SHARD_ENOMEM.
 */
shard_status shard_scaler_begin(shard_scaler *scaler, const shard_scale *scale,
                                const shard_pixels *out, shard_error *err);

/*
 * Where the next row belongs: in_width * channels bytes, behind which a decoder may write up to
 * SHARD_SCALER_SLACK more. Rows come in order, from the first.
 */
enum { SHARD_SCALER_SLACK = 64 };
uint8_t *shard_scaler_next_row(shard_scaler *scaler);

/* The row is there: write rows of the result that are complete. All are when the last row that is
 * needed is done; until then, one may be held back. */
void shard_scaler_row_done(shard_scaler *scaler);

/* Rows that the result needs: what comes behind them need not be decoded. The first ones that are
 * not needed are asked for all the same; choose in_height and y so that there are none. */
uint32_t shard_scaler_rows_needed(const shard_scaler *scaler);

#endif
