/* SPDX-License-Identifier: Apache-2.0 */
/* For 64-bit ARM: multiply-and-add of 16-bit numbers by one weight for all of them. */
#include "decode/scale_kernels.h"

#if SHARD_SCALE_NEON

#include <arm_neon.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

INLINE int16x8_t wide(uint8x8_t bytes)
{
    return vreinterpretq_s16_u16(vmovl_u8(bytes));
}

/* Rounded half up: 1/2^bits of each sum, as 16 bits. */
INLINE uint16x4_t narrow(int32x4_t sum, int32x4_t down)
{
    return vqmovun_s32(vrshlq_s32(sum, down));
}

INLINE void add_row(int32x4_t sum[4], uint8x16_t row, int16_t weight)
{
    int16x8_t low = wide(vget_low_u8(row)), high = wide(vget_high_u8(row));
    sum[0] = vmlal_n_s16(sum[0], vget_low_s16(low), weight);
    sum[1] = vmlal_n_s16(sum[1], vget_high_s16(low), weight);
    sum[2] = vmlal_n_s16(sum[2], vget_low_s16(high), weight);
    sum[3] = vmlal_n_s16(sum[3], vget_high_s16(high), weight);
}

static void down(const uint8_t *const *rows, const int16_t *weight, uint32_t count, uint32_t bits,
                 size_t size, uint8_t *out)
{
    const int32x4_t by = vdupq_n_s32(-(int32_t)bits), zero = vdupq_n_s32(0);
    for (size_t x = 0; x < size; x += 16) {
        int32x4_t sum[4] = {zero, zero, zero, zero};
        for (uint32_t j = 0; j < count; j++)
            add_row(sum, vld1q_u8(rows[j] + x), weight[j]);
        uint16x8_t low = vcombine_u16(narrow(sum[0], by), narrow(sum[1], by));
        uint16x8_t high = vcombine_u16(narrow(sum[2], by), narrow(sum[3], by));
        vst1q_u8(out + x, vcombine_u8(vqmovn_u16(low), vqmovn_u16(high)));
    }
}

/* Red, green, blue of one output, and a fourth number that means nothing. */
INLINE uint16x4_t pixel(const shard_scale_axis *axis, const uint8_t *in, uint32_t i, int32x4_t by)
{
    static const uint8_t places[2][16] = {
        {0, 255, 1, 255, 2, 255, 255, 255, 3, 255, 4, 255, 5, 255, 255, 255},
        {6, 255, 7, 255, 8, 255, 255, 255, 9, 255, 10, 255, 11, 255, 255, 255}};
    const uint8x16_t first = vld1q_u8(places[0]), last = vld1q_u8(places[1]);
    const int16_t *weight = axis->weight + (size_t)i * axis->taps;
    const uint8_t *from = in + (size_t)axis->first[i] * 3;
    int32x4_t even = vdupq_n_s32(0), odd = even;
    for (uint32_t j = 0; j < axis->taps; j += 4, from += 12) {
        uint8x16_t pixels = vld1q_u8(from);
        int16x4_t w = vld1_s16(weight + j);
        int16x8_t a = vreinterpretq_s16_u8(vqtbl1q_u8(pixels, first));
        int16x8_t b = vreinterpretq_s16_u8(vqtbl1q_u8(pixels, last));
        even = vmlal_lane_s16(even, vget_low_s16(a), w, 0);
        odd = vmlal_lane_s16(odd, vget_high_s16(a), w, 1);
        even = vmlal_lane_s16(even, vget_low_s16(b), w, 2);
        odd = vmlal_lane_s16(odd, vget_high_s16(b), w, 3);
    }
    return narrow(vaddq_s32(even, odd), by);
}

/* The last four outputs overlap those before them where the width is no multiple of four. */
static void row_rgb(const shard_scale_axis *axis, const uint8_t *in, uint8_t *out)
{
    static const uint8_t places[16] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 255, 255, 255, 255};
    const uint8x16_t tight = vld1q_u8(places);
    const int32x4_t by = vdupq_n_s32(-(int32_t)axis->bits);
    uint32_t n = axis->span.out;
    for (uint32_t next = 0; next < n; next += 4) {
        uint32_t i = next < n - 4 ? next : n - 4;
        uint16x8_t low = vcombine_u16(pixel(axis, in, i, by), pixel(axis, in, i + 1, by));
        uint16x8_t high = vcombine_u16(pixel(axis, in, i + 2, by), pixel(axis, in, i + 3, by));
        uint8x16_t bytes = vcombine_u8(vqmovn_u16(low), vqmovn_u16(high));
        vst1q_u8(out + (size_t)i * 3, vqtbl1q_u8(bytes, tight));
    }
}

static void across_rgb(const shard_scale_axis *axis, const uint8_t *const in[2],
                       uint8_t *const out[2])
{
    if (axis->span.out < 4) {
        shard_scale_plain.across_rgb(axis, in, out);
        return;
    }
    row_rgb(axis, in[0], out[0]);
    if (in[1] != in[0])
        row_rgb(axis, in[1], out[1]);
}

/* One output, in four parts. */
INLINE int32x4_t grey(const shard_scale_axis *axis, const uint8_t *in, uint32_t i)
{
    const int16_t *weight = axis->weight + (size_t)i * axis->taps;
    const uint8_t *from = in + axis->first[i];
    int32x4_t sum = vdupq_n_s32(0);
    for (uint32_t j = 0; j < axis->taps; j += 4)
        sum = vmlal_s16(sum, vget_low_s16(wide(vld1_u8(from + j))), vld1_s16(weight + j));
    return sum;
}

static void row_grey(const shard_scale_axis *axis, const uint8_t *in, uint8_t *out)
{
    const int32x4_t by = vdupq_n_s32(-(int32_t)axis->bits);
    uint32_t n = axis->span.out;
    for (uint32_t next = 0; next < n; next += 4) {
        uint32_t i = next < n - 4 ? next : n - 4;
        int32x4_t sum = vpaddq_s32(vpaddq_s32(grey(axis, in, i), grey(axis, in, i + 1)),
                                   vpaddq_s32(grey(axis, in, i + 2), grey(axis, in, i + 3)));
        uint16x4_t four = narrow(sum, by);
        uint32x2_t bytes = vreinterpret_u32_u8(vqmovn_u16(vcombine_u16(four, four)));
        uint32_t first_four = vget_lane_u32(bytes, 0);
        memcpy(out + i, &first_four, sizeof first_four);
    }
}

static void across_grey(const shard_scale_axis *axis, const uint8_t *const in[2],
                        uint8_t *const out[2])
{
    if (axis->span.out < 4) {
        shard_scale_plain.across_grey(axis, in, out);
        return;
    }
    row_grey(axis, in[0], out[0]);
    if (in[1] != in[0])
        row_grey(axis, in[1], out[1]);
}

const shard_scale_kernels shard_scale_neon = {"neon", down, across_grey, across_rgb};

#endif
