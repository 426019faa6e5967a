/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/pixels.h"

#include <string.h>

enum { VALUES = 256 };

static size_t number_size(shard_image_layout layout)
{
    switch (layout) {
    case SHARD_IMAGE_F32_NCHW:
        return sizeof(float);
    case SHARD_IMAGE_F16_NCHW:
        return sizeof(uint16_t);
    case SHARD_IMAGE_U8_NHWC:
        break;
    }
    return 1;
}

size_t shard_pixels_size(shard_image_layout layout, uint32_t width, uint32_t height,
                         uint32_t channels)
{
    return (size_t)width * height * channels * number_size(layout);
}

/* The nearest half, of two the even one (IEEE 754-2019, 4.3.1); too large ones are infinite. */
static uint16_t half_of(float number)
{
    enum { SHIFT = 23 - 10, BIAS = 127 - 15, INFINITE = 0x7c00, NORMAL_LEAST = BIAS + 1 };
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff, exponent = magnitude >> 23;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | INFINITE | 0x200); /* no number stays none */
    if (exponent >= BIAS + 31)
        return (uint16_t)(sign | INFINITE);
    if (exponent + 11 < NORMAL_LEAST)
        return (uint16_t)sign; /* not half of the least there is */
    uint32_t shift = SHIFT, whole = magnitude - ((uint32_t)BIAS << 23);
    if (exponent < NORMAL_LEAST) { /* the exponent's steps end here: shift the digits out */
        shift += NORMAL_LEAST - exponent;
        whole = (magnitude & 0x7fffff) | 0x800000;
    }
    uint32_t half = whole >> shift, rest = whole & ((1U << shift) - 1), middle = 1U << (shift - 1);
    half += rest > middle || (rest == middle && (half & 1)); /* may carry into the exponent */
    return (uint16_t)(sign | half);
}

void shard_pixels_fill_table(shard_image_layout layout, uint32_t channels, const float *mean,
                             const float *deviation, void *number)
{
    float *single = number;
    uint16_t *half = number;
    if (layout == SHARD_IMAGE_U8_NHWC)
        return;
    for (uint32_t i = 0; i < channels * VALUES; i++) {
        float by = deviation[i / VALUES];
        float value = ((float)(i % VALUES) / 255.0F - mean[i / VALUES]) / (by == 0 ? 1 : by);
        if (layout == SHARD_IMAGE_F32_NCHW)
            single[i] = value;
        else
            half[i] = half_of(value);
    }
}

/* These read every `step`th byte, from the last to the first where `step` is below 0. Four at once
 * and `step` a constant: a third faster. */
static inline void put_singles(const float *table, const uint8_t *from, ptrdiff_t step,
                               float *restrict to, uint32_t width)
{
    uint32_t x = 0;
    ptrdiff_t at = 0;
    for (; x + 4 <= width; x += 4, at += 4 * step) {
        to[x] = table[from[at]];
        to[x + 1] = table[from[at + step]];
        to[x + 2] = table[from[at + 2 * step]];
        to[x + 3] = table[from[at + 3 * step]];
    }
    for (; x < width; x++, at += step)
        to[x] = table[from[at]];
}

static inline void put_halves(const uint16_t *table, const uint8_t *from, ptrdiff_t step,
                              uint16_t *restrict to, uint32_t width)
{
    uint32_t x = 0;
    ptrdiff_t at = 0;
    for (; x + 4 <= width; x += 4, at += 4 * step) {
        to[x] = table[from[at]];
        to[x + 1] = table[from[at + step]];
        to[x + 2] = table[from[at + 2 * step]];
        to[x + 3] = table[from[at + 3 * step]];
    }
    for (; x < width; x++, at += step)
        to[x] = table[from[at]];
}

static void put_bytes(const shard_pixels *pixels, uint32_t y, const uint8_t *row, bool mirror)
{
    uint32_t channels = pixels->channels;
    size_t size = (size_t)pixels->width * channels;
    uint8_t *to = (uint8_t *)pixels->data + y * size;
    if (!mirror) {
        memcpy(to, row, size);
        return;
    }
    for (size_t x = 0; x < size; x += channels)
        for (uint32_t c = 0; c < channels; c++)
            to[x + c] = row[size - channels - x + c];
}

static void put_floats(const shard_pixels *pixels, uint32_t channel, const uint8_t *from,
                       ptrdiff_t step, size_t at)
{
    const float *table = (const float *)pixels->number + channel * VALUES;
    float *to = (float *)pixels->data + at;
    if (step == 3)
        put_singles(table, from, 3, to, pixels->width);
    else
        put_singles(table, from, step, to, pixels->width);
}

static void put_half_floats(const shard_pixels *pixels, uint32_t channel, const uint8_t *from,
                            ptrdiff_t step, size_t at)
{
    const uint16_t *table = (const uint16_t *)pixels->number + channel * VALUES;
    uint16_t *to = (uint16_t *)pixels->data + at;
    if (step == 3)
        put_halves(table, from, 3, to, pixels->width);
    else
        put_halves(table, from, step, to, pixels->width);
}

void shard_pixels_put_row(const shard_pixels *pixels, uint32_t y, const uint8_t *row, bool mirror)
{
    if (pixels->layout == SHARD_IMAGE_U8_NHWC) {
        put_bytes(pixels, y, row, mirror);
        return;
    }
    ptrdiff_t step = mirror ? -(ptrdiff_t)pixels->channels : (ptrdiff_t)pixels->channels;
    size_t begin = mirror ? (size_t)(pixels->width - 1) * pixels->channels : 0;
    for (uint32_t c = 0; c < pixels->channels; c++) {
        const uint8_t *from = row + begin + c;
        size_t at = ((size_t)c * pixels->height + y) * pixels->width;
        if (pixels->layout == SHARD_IMAGE_F32_NCHW)
            put_floats(pixels, c, from, step, at);
        else
            put_half_floats(pixels, c, from, step, at);
    }
}
