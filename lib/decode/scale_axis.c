/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating point is used here only, and only + - * /, each rounded by itself (the build forbids to
 * contract them), so that every machine computes the same weights.
 */
#include "decode/scale_axis.h"

#include <string.h>

enum { BITS_LEAST = 14, BITS_MOST = 22, POSITIONS_MOST = 1 << 26 };

/* A position of which a smaller part than this is covered is not: parts come out of divisions. */
static const double SLIVER = 1.0 / 1024;

bool shard_scale_span_valid(const shard_scale_span *span)
{
    return span->in > 0 && span->in <= POSITIONS_MOST && span->out > 0 &&
           span->out <= POSITIONS_MOST && span->from >= 0 && span->length > 0 &&
           span->from + span->length <= span->in + SLIVER;
}

/* The whole positions that the part covers. */
static void set_ends(shard_scale_axis *axis, const shard_scale_span *span)
{
    double last = span->from + span->length - SLIVER;
    uint32_t begin = (uint32_t)(span->from + SLIVER);
    uint32_t end = last > 0 ? (uint32_t)last + 1 : 1;
    axis->begin = begin < span->in ? begin : span->in - 1;
    axis->end = end < span->in ? end : span->in;
    if (axis->end <= axis->begin)
        axis->end = axis->begin + 1;
}

/*
 * The wider the filter, the smaller its largest weight: where the part's end cuts a quarter of it
 * off, 4/3 of 1/scale. So each doubling of the scale leaves room for one more bit in 16.
 */
static uint32_t bits_for(double scale)
{
    uint32_t bits = BITS_LEAST;
    for (; scale >= 2 && bits < BITS_MOST; scale /= 2)
        bits++;
    return bits;
}

/* Inputs, of `n`, nearer to `center` than `support`: at least one, at most axis->longest. */
static uint32_t find_inputs(const shard_scale_axis *axis, uint32_t n, double center, double support,
                            uint32_t *first)
{
    double below = center - support - 0.5, above = center + support - 0.5;
    uint32_t begin = below < 0 ? 0 : (uint32_t)below + 1;
    uint32_t end = above < 0 ? 0 : (uint32_t)above;
    end += end < above;
    if (begin > n - 1)
        begin = n - 1;
    if (end > n)
        end = n;
    if (end <= begin)
        end = begin + 1;
    *first = begin;
    return end - begin < axis->longest ? end - begin : axis->longest;
}

static double triangle(double distance, double slope)
{
    double height = 1 - (distance < 0 ? -distance : distance) * slope;
    return height > 0 ? height : 0;
}

/*
 * Each weight is what the rounded running sum grows by: the sum is one exactly, and even where all
 * weights are below 1/2^bits the neighbourhoods have theirs.
 */
static void set_weights(int16_t *weight, uint32_t count, double distance, double slope, int32_t one)
{
    double sum = 0, running = 0.5;
    int32_t given = 0;
    for (uint32_t j = 0; j < count; j++)
        sum += triangle(distance + j, slope);
    double share = sum > 0 ? one / sum : 0;
    for (uint32_t j = 0; j + 1 < count; j++) {
        running += triangle(distance + j, slope) * share;
        weight[j] = (int16_t)((int32_t)running - given);
        given = (int32_t)running;
    }
    weight[count - 1] = (int16_t)(one - given);
}

static bool make_room(shard_scale_axis *axis, uint32_t out, const fmt_alloc *alloc)
{
    uint64_t weights = (uint64_t)out * axis->taps;
    if ((size_t)weights != weights)
        return false;
    return shard_alloc_grow(alloc, &axis->first, &axis->first_room, out, sizeof *axis->first) &&
           shard_alloc_grow(alloc, &axis->count, &axis->count_room, out, sizeof *axis->count) &&
           shard_alloc_grow(alloc, &axis->weight, &axis->weight_room, (size_t)weights,
                            sizeof *axis->weight);
}

bool shard_scale_axis_set(shard_scale_axis *axis, const shard_scale_span *span,
                          const fmt_alloc *alloc)
{
    set_ends(axis, span);
    double scale = span->length / span->out, support = scale < 1 ? 1 : scale;
    double from = span->from - axis->begin;
    uint32_t n = axis->end - axis->begin, most = (uint32_t)(2 * support);
    most += most < 2 * support;
    axis->span = *span;
    axis->bits = bits_for(scale);
    axis->longest = most < n ? most : n;
    axis->taps = (axis->longest + 3) & ~3U; /* which kernels take at once */
    if (!make_room(axis, span->out, alloc))
        return false;
    memset(axis->weight, 0, (size_t)span->out * axis->taps * sizeof *axis->weight);
    for (uint32_t i = 0; i < span->out; i++) {
        uint32_t at = span->mirror ? span->out - 1 - i : i;
        double center = from + (i + 0.5) * scale;
        axis->count[at] = find_inputs(axis, n, center, support, &axis->first[at]);
        set_weights(axis->weight + (size_t)at * axis->taps, axis->count[at],
                    axis->first[at] + 0.5 - center, 1 / support, 1 << axis->bits);
    }
    return true;
}

void shard_scale_axis_clear(shard_scale_axis *axis, const fmt_alloc *alloc)
{
    shard_alloc_free(alloc, axis->first);
    shard_alloc_free(alloc, axis->count);
    shard_alloc_free(alloc, axis->weight);
    *axis = (shard_scale_axis){0};
}
