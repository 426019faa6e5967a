/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scaling images down with antialiasing: a cubic filter (a = -0.5) as wide as the scale asks for,
 * along one axis after the other, in fixed point: the same bytes on every machine.
 */
#ifndef DECODE_RESAMPLE_H
#define DECODE_RESAMPLE_H

#include "core/alloc.h"

/* For each output position, which inputs it is made of and how much of each. */
typedef struct {
    uint32_t in, out;
    uint32_t taps;   /* weights kept for each output */
    uint32_t *first; /* input of the first weight */
    uint32_t *count; /* weights that are not zero */
    int32_t *weight; /* taps of them for each output, in 1/2^22 */
    fmt_alloc alloc;
} shard_resample_axis;

/* Prepare to scale `in` samples to `out`. False when memory is short. */
bool shard_resample_axis_init(shard_resample_axis *axis, uint32_t in, uint32_t out,
                              const fmt_alloc *alloc);
void shard_resample_axis_clear(shard_resample_axis *axis);

/* One row of axis->in pixels of `channels` bytes into one of axis->out pixels. */
void shard_resample_row(const shard_resample_axis *axis, uint32_t channels, const uint8_t *in,
                        uint8_t *out);

/* Output row number `y` from rows of `row_size` bytes that stand one after the other in `in`. */
void shard_resample_column(const shard_resample_axis *axis, uint32_t y, size_t row_size,
                           const uint8_t *in, uint8_t *out);

#endif
