/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale_kernels.h"

static void down(const uint8_t *const *rows, const int16_t *weight, uint32_t count, uint32_t bits,
                 size_t size, uint8_t *out)
{
    enum { AT_ONCE = 256 };
    for (size_t x = 0; x < size; x += AT_ONCE) {
        int32_t sum[AT_ONCE];
        size_t n = size - x < AT_ONCE ? size - x : AT_ONCE;
        for (size_t i = 0; i < n; i++)
            sum[i] = 1 << (bits - 1);
        for (uint32_t j = 0; j < count; j++)
            for (size_t i = 0; i < n; i++)
                sum[i] += weight[j] * rows[j][x + i];
        for (size_t i = 0; i < n; i++)
            out[x + i] = (uint8_t)(sum[i] >> bits);
    }
}

static void row_grey(const shard_scale_axis *axis, const uint8_t *in, uint8_t *out)
{
    for (uint32_t i = 0; i < axis->span.out; i++) {
        const int16_t *weight = axis->weight + (size_t)i * axis->taps;
        const uint8_t *from = in + axis->first[i];
        int32_t sum = 1 << (axis->bits - 1);
        for (uint32_t j = 0; j < axis->count[i]; j++)
            sum += weight[j] * from[j];
        out[i] = (uint8_t)(sum >> axis->bits);
    }
}

static void row_rgb(const shard_scale_axis *axis, const uint8_t *in, uint8_t *out)
{
    for (uint32_t i = 0; i < axis->span.out; i++) {
        const int16_t *weight = axis->weight + (size_t)i * axis->taps;
        const uint8_t *from = in + (size_t)axis->first[i] * 3;
        int32_t red = 1 << (axis->bits - 1), green = red, blue = red;
        for (uint32_t j = 0; j < axis->count[i]; j++, from += 3) {
            red += weight[j] * from[0];
            green += weight[j] * from[1];
            blue += weight[j] * from[2];
        }
        *out++ = (uint8_t)(red >> axis->bits);
        *out++ = (uint8_t)(green >> axis->bits);
        *out++ = (uint8_t)(blue >> axis->bits);
    }
}

static void across_grey(const shard_scale_axis *axis, const uint8_t *const in[2],
                        uint8_t *const out[2])
{
    row_grey(axis, in[0], out[0]);
    if (in[1] != in[0])
        row_grey(axis, in[1], out[1]);
}

static void across_rgb(const shard_scale_axis *axis, const uint8_t *const in[2],
                       uint8_t *const out[2])
{
    row_rgb(axis, in[0], out[0]);
    if (in[1] != in[0])
        row_rgb(axis, in[1], out[1]);
}

const shard_scale_kernels shard_scale_plain = {"plain", down, across_grey, across_rgb};
