/* SPDX-License-Identifier: Apache-2.0 */
/* For x86 with SSE4.1: as scale_avx2.c does it, in half as wide registers. */
#include "decode/scale_kernels.h"

#if SHARD_SCALE_X86

#include <smmintrin.h>
#include <string.h>

#define SSE41 __attribute__((target("sse4.1")))
#define SSE41_INLINE static inline __attribute__((target("sse4.1"), always_inline))

SSE41_INLINE __m128i load(const void *from)
{
    return _mm_loadu_si128(from);
}

SSE41_INLINE int32_t load_int(const void *from)
{
    int32_t number;
    memcpy(&number, from, sizeof number);
    return number;
}

/* Sums of pairs of 16-bit numbers, added to `sum`. */
SSE41_INLINE __m128i add_pairs(__m128i sum, __m128i a, __m128i b)
{
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}

SSE41 static void down(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                       uint32_t bits, size_t size, uint8_t *out)
{
    const __m128i zero = _mm_setzero_si128(), shift = _mm_cvtsi32_si128((int)bits);
    const __m128i half = _mm_set1_epi32(1 << (bits - 1));
    for (size_t x = 0; x < size; x += 16) {
        __m128i sum0 = half, sum1 = half, sum2 = half, sum3 = half;
        for (uint32_t j = 0; j < count; j += 2) {
            __m128i a = load(rows[j] + x), b = load(rows[j + (j + 1 < count)] + x);
            __m128i pair = _mm_set1_epi32(load_int(weight + j));
            __m128i low = _mm_unpacklo_epi8(a, b), high = _mm_unpackhi_epi8(a, b);
            sum0 = add_pairs(sum0, _mm_unpacklo_epi8(low, zero), pair);
            sum1 = add_pairs(sum1, _mm_unpackhi_epi8(low, zero), pair);
            sum2 = add_pairs(sum2, _mm_unpacklo_epi8(high, zero), pair);
            sum3 = add_pairs(sum3, _mm_unpackhi_epi8(high, zero), pair);
        }
        sum0 = _mm_packs_epi32(_mm_sra_epi32(sum0, shift), _mm_sra_epi32(sum1, shift));
        sum2 = _mm_packs_epi32(_mm_sra_epi32(sum2, shift), _mm_sra_epi32(sum3, shift));
        _mm_storeu_si128((__m128i *)(out + x), _mm_packus_epi16(sum0, sum2));
    }
}

/* Red, green and blue of one output, and a number that nothing is made of. Here and below, `taps`
 * is a constant where there are few. */
SSE41_INLINE __m128i pixel(const shard_scale_axis *axis, uint32_t taps, const uint8_t *in,
                           uint32_t i, __m128i sum)
{
    const __m128i first = _mm_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    const __m128i second =
        _mm_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
    const int16_t *weight = axis->weight + (size_t)i * taps;
    const uint8_t *from = in + (size_t)axis->first[i] * 3;
    for (uint32_t j = 0; j < taps; j += 4, from += 12) {
        __m128i pixels = load(from);
        __m128i w = _mm_loadl_epi64((const __m128i *)(weight + j));
        sum = add_pairs(sum, _mm_shuffle_epi8(pixels, first), _mm_shuffle_epi32(w, 0x00));
        sum = add_pairs(sum, _mm_shuffle_epi8(pixels, second), _mm_shuffle_epi32(w, 0x55));
    }
    return _mm_sra_epi32(sum, _mm_cvtsi32_si128((int)axis->bits));
}

/* The last four overlap those before them where the width is no multiple of four. */
SSE41_INLINE void row_rgb(const shard_scale_axis *axis, uint32_t taps, const uint8_t *in,
                          uint8_t *out)
{
    const __m128i tight = _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    const __m128i half = _mm_set1_epi32(1 << (axis->bits - 1));
    uint32_t n = axis->span.out;
    for (uint32_t next = 0; next < n; next += 4) {
        uint32_t i = next < n - 4 ? next : n - 4;
        __m128i low =
            _mm_packs_epi32(pixel(axis, taps, in, i, half), pixel(axis, taps, in, i + 1, half));
        __m128i high =
            _mm_packs_epi32(pixel(axis, taps, in, i + 2, half), pixel(axis, taps, in, i + 3, half));
        __m128i bytes = _mm_shuffle_epi8(_mm_packus_epi16(low, high), tight);
        _mm_storeu_si128((__m128i *)(out + (size_t)i * 3), bytes);
    }
}

SSE41 static void across_rgb(const shard_scale_axis *axis, const uint8_t *const in[2],
                             uint8_t *const out[2])
{
    if (axis->span.out < 4) {
        shard_scale_plain.across_rgb(axis, in, out);
        return;
    }
    for (int row = 0; row < (in[1] == in[0] ? 1 : 2); row++)
        if (axis->taps == 4)
            row_rgb(axis, 4, in[row], out[row]);
        else
            row_rgb(axis, axis->taps, in[row], out[row]);
}

/* The weights of two outputs. */
SSE41_INLINE __m128i two_weights(const int16_t *weight, uint32_t taps)
{
    if (taps == 4)
        return load(weight);
    return _mm_unpacklo_epi64(_mm_loadl_epi64((const __m128i *)weight),
                              _mm_loadl_epi64((const __m128i *)(weight + taps)));
}

/* Two outputs, each in two parts. */
SSE41_INLINE __m128i two_greys(const shard_scale_axis *axis, uint32_t taps, const uint8_t *in,
                               uint32_t i)
{
    const int16_t *weight = axis->weight + (size_t)i * taps;
    const uint8_t *a = in + axis->first[i], *b = in + axis->first[i + 1];
    __m128i sum = _mm_setzero_si128();
    for (uint32_t j = 0; j < taps; j += 4) {
        __m128i pixels = _mm_insert_epi32(_mm_cvtsi32_si128(load_int(a + j)), load_int(b + j), 1);
        sum = add_pairs(sum, _mm_cvtepu8_epi16(pixels), two_weights(weight + j, taps));
    }
    return sum;
}

SSE41_INLINE void row_grey(const shard_scale_axis *axis, uint32_t taps, const uint8_t *in,
                           uint8_t *out)
{
    const __m128i shift = _mm_cvtsi32_si128((int)axis->bits);
    const __m128i half = _mm_set1_epi32(1 << (axis->bits - 1));
    uint32_t n = axis->span.out;
    for (uint32_t next = 0; next < n; next += 4) {
        uint32_t i = next < n - 4 ? next : n - 4;
        __m128i sums =
            _mm_hadd_epi32(two_greys(axis, taps, in, i), two_greys(axis, taps, in, i + 2));
        sums = _mm_sra_epi32(_mm_add_epi32(sums, half), shift);
        int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(_mm_packs_epi32(sums, sums), sums));
        memcpy(out + i, &four, sizeof four);
    }
}

SSE41 void shard_scale_sse41_grey(const shard_scale_axis *axis, const uint8_t *const in[2],
                                  uint8_t *const out[2])
{
    if (axis->span.out < 4) {
        shard_scale_plain.across_grey(axis, in, out);
        return;
    }
    for (int row = 0; row < (in[1] == in[0] ? 1 : 2); row++)
        if (axis->taps == 4)
            row_grey(axis, 4, in[row], out[row]);
        else
            row_grey(axis, axis->taps, in[row], out[row]);
}

const shard_scale_kernels shard_scale_sse41 = {"sse4.1", down, shard_scale_sse41_grey, across_rgb};

#endif
