/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One axis of a scaling: of which inputs each output is made, and how much of each. A triangle
 * filter, twice as wide as the scale and at least two inputs wide; inputs outside the part that is
 * scaled have no weight.
 */
#ifndef DECODE_SCALE_AXIS_H
#define DECODE_SCALE_AXIS_H

#include "core/alloc.h"

/* What is scaled to what. */
typedef struct {
    uint32_t in;         /* positions that there are */
    double from, length; /* the part of them that is scaled */
    uint32_t out;        /* positions that become of it */
    bool mirror;         /* the last one first */
} shard_scale_span;

/* Weights are counted in 1/2^bits. The arrays keep their room from one span to the next. */
typedef struct {
    shard_scale_span span;
    uint32_t begin, end; /* inputs that have a weight anywhere: the part, in whole positions */
    uint32_t bits;       /* 14 to 22 */
    uint32_t longest;    /* the largest count */
    uint32_t taps;       /* weights kept for each output: a multiple of 4 */
    uint32_t *first;     /* of each output: its first input, counted from `begin` */
    uint32_t *count;     /* inputs with a weight, at least one; from here to `taps` it is zero */
    int16_t *weight;     /* taps of them for each output; their sum is one exactly */
    size_t first_room, count_room, weight_room;
} shard_scale_axis;

/* Whether `in` and `out` are 1 to 2^26 and the part lies within the positions, rounding aside. */
bool shard_scale_span_valid(const shard_scale_span *span);

/* Compute the weights of a valid span. False when memory is short. */
bool shard_scale_axis_set(shard_scale_axis *axis, const shard_scale_span *span,
                          const fmt_alloc *alloc);
void shard_scale_axis_clear(shard_scale_axis *axis, const fmt_alloc *alloc);

#endif
