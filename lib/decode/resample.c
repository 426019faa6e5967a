/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/resample.h"

#include <string.h>

enum { WEIGHT_BITS = 22, WEIGHT_ONE = 1 << WEIGHT_BITS, HALF = 1 << (WEIGHT_BITS - 1) };

/* Keys' cubic convolution kernel with a = -0.5 (Keys 1981): zero from 2 on. */
static double cubic(double x)
{
    const double a = -0.5;
    x = x < 0 ? -x : x;
    if (x < 1)
        return ((a + 2) * x - (a + 3)) * x * x + 1;
    return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/* Weights of one output, in fixed point, that add up to one exactly. */
static void set_weights(shard_resample_axis *axis, uint32_t i, double center, double scale)
{
    int32_t *weight = axis->weight + (size_t)i * axis->taps;
    double begin = center - 2 * scale, end = center + 2 * scale, sum = 0;
    uint32_t first = begin < 0 ? 0 : (uint32_t)(begin + 0.5);
    uint32_t last = end > axis->in ? axis->in : (uint32_t)(end + 0.5);
    if (last > axis->in)
        last = axis->in;
    if (last - first > axis->taps)
        last = first + axis->taps;
    for (uint32_t j = first; j < last; j++)
        sum += cubic((j + 0.5 - center) / scale);
    int32_t total = 0;
    uint32_t largest = 0;
    for (uint32_t j = first; j < last; j++) {
        double share = cubic((j + 0.5 - center) / scale) / sum * WEIGHT_ONE;
        weight[j - first] = (int32_t)(share < 0 ? share - 0.5 : share + 0.5);
        total += weight[j - first];
        if (weight[j - first] > weight[largest])
            largest = j - first;
    }
    weight[largest] += WEIGHT_ONE - total; /* what rounding lost */
    axis->first[i] = first;
    axis->count[i] = last - first;
}

bool shard_resample_axis_init(shard_resample_axis *axis, uint32_t in, uint32_t out,
                              const fmt_alloc *alloc)
{
    double scale = (double)in / out, width = scale < 1 ? 1 : scale;
    *axis = (shard_resample_axis){.in = in, .out = out, .alloc = *alloc};
    axis->taps = (uint32_t)(4 * width) + 3;
    axis->first = shard_alloc_zeroed(alloc, out, sizeof *axis->first);
    axis->count = shard_alloc_zeroed(alloc, out, sizeof *axis->count);
    axis->weight = shard_alloc_zeroed(alloc, (size_t)out * axis->taps, sizeof *axis->weight);
    if (!axis->first || !axis->count || !axis->weight) {
        shard_resample_axis_clear(axis);
        return false;
    }
    for (uint32_t i = 0; i < out; i++)
        set_weights(axis, i, (i + 0.5) * scale, width);
    return true;
}

void shard_resample_axis_clear(shard_resample_axis *axis)
{
    shard_alloc_free(&axis->alloc, axis->first);
    shard_alloc_free(&axis->alloc, axis->count);
    shard_alloc_free(&axis->alloc, axis->weight);
    axis->first = axis->count = NULL;
    axis->weight = NULL;
}

static uint8_t to_byte(int32_t sum)
{
    sum >>= WEIGHT_BITS;
    return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

static void resample_row(const shard_resample_axis *axis, uint32_t channels, const uint8_t *in,
                         uint8_t *out)
{
    for (uint32_t i = 0; i < axis->out; i++) {
        const int32_t *weight = axis->weight + (size_t)i * axis->taps;
        const uint8_t *from = in + (size_t)axis->first[i] * channels;
        int32_t sum[4] = {HALF, HALF, HALF, HALF};
        for (uint32_t j = 0; j < axis->count[i]; j++)
            for (uint32_t c = 0; c < channels; c++)
                sum[c] += weight[j] * from[j * channels + c];
        for (uint32_t c = 0; c < channels; c++)
            *out++ = to_byte(sum[c]);
    }
}

void shard_resample_row(const shard_resample_axis *axis, uint32_t channels, const uint8_t *in,
                        uint8_t *out)
{
    if (channels == 3) /* the compiler unrolls what it knows */
        resample_row(axis, 3, in, out);
    else
        resample_row(axis, channels, in, out);
}

void shard_resample_column(const shard_resample_axis *axis, uint32_t y, size_t row_size,
                           const uint8_t *in, uint8_t *out)
{
    enum { AT_ONCE = 256 };
    const int32_t *weight = axis->weight + (size_t)y * axis->taps;
    const uint8_t *rows = in + axis->first[y] * row_size;
    for (size_t x = 0; x < row_size; x += AT_ONCE) {
        int32_t sum[AT_ONCE];
        size_t n = row_size - x < AT_ONCE ? row_size - x : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            sum[i] = HALF;
        for (uint32_t j = 0; j < axis->count[y]; j++)
            for (size_t i = 0; i < n; i++)
                sum[i] += weight[j] * rows[j * row_size + x + i];
        for (size_t i = 0; i < n; i++)
            out[x + i] = to_byte(sum[i]);
    }
}
