/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For x86 with AVX2. A multiply-and-add of 16-bit pairs does the work of all loops: bytes are
 * brought in pairs, of two rows or of two neighbouring pixels, beside the pair of their weights.
 */
#include "decode/scale_kernels.h"

#if SHARD_SCALE_X86

#include <immintrin.h>
#include <string.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((target("avx2"), always_inline))

AVX2_INLINE __m256i load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

/* 16 bytes in each half. */
AVX2_INLINE __m256i load_two(const void *low, const void *high)
{
    __m256i both = _mm256_castsi128_si256(_mm_loadu_si128(low));
    return _mm256_inserti128_si256(both, _mm_loadu_si128(high), 1);
}

/* The pair of weights of two rows, in all places. */
AVX2_INLINE __m256i weight_pair(const int16_t *weight)
{
    int32_t pair;
    memcpy(&pair, weight, sizeof pair);
    return _mm256_set1_epi32(pair);
}

/* 32 columns of up to two rows a pair; the last row of an odd count stands beside itself. */
AVX2_INLINE __m256i combine(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                            __m128i bits, __m256i half, size_t x)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sum0 = half, sum1 = half, sum2 = half, sum3 = half;
    for (uint32_t j = 0; j < count; j += 2) {
        __m256i a = load(rows[j] + x), b = load(rows[j + (j + 1 < count)] + x);
        __m256i pair = weight_pair(weight + j);
        __m256i low = _mm256_unpacklo_epi8(a, b), high = _mm256_unpackhi_epi8(a, b);
        sum0 = _mm256_add_epi32(sum0, _mm256_madd_epi16(_mm256_unpacklo_epi8(low, zero), pair));
        sum1 = _mm256_add_epi32(sum1, _mm256_madd_epi16(_mm256_unpackhi_epi8(low, zero), pair));
        sum2 = _mm256_add_epi32(sum2, _mm256_madd_epi16(_mm256_unpacklo_epi8(high, zero), pair));
        sum3 = _mm256_add_epi32(sum3, _mm256_madd_epi16(_mm256_unpackhi_epi8(high, zero), pair));
    }
    sum0 = _mm256_packs_epi32(_mm256_sra_epi32(sum0, bits), _mm256_sra_epi32(sum1, bits));
    sum2 = _mm256_packs_epi32(_mm256_sra_epi32(sum2, bits), _mm256_sra_epi32(sum3, bits));
    return _mm256_packus_epi16(sum0, sum2);
}

/* `count` is a constant where this is called for few rows. */
AVX2_INLINE void down_by(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                         uint32_t bits, size_t size, uint8_t *out)
{
    __m128i shift = _mm_cvtsi32_si128((int)bits);
    __m256i half = _mm256_set1_epi32(1 << (bits - 1));
    for (size_t x = 0; x < size; x += 32)
        _mm256_storeu_si256((__m256i *)(out + x), combine(rows, weight, count, shift, half, x));
}

/* b + (a - b) * weight: 16 bits are enough, and their product is rounded as the sums are. */
AVX2_INLINE __m256i between(__m256i a, __m256i b, __m256i weight)
{
    __m256i step = _mm256_sub_epi16(a, b);
    return _mm256_add_epi16(b, _mm256_mulhrs_epi16(_mm256_add_epi16(step, step), weight));
}

/* Two rows whose weights are in 1/2^14. */
AVX2_INLINE void down_between(const uint8_t *a, const uint8_t *b, int16_t weight, size_t size,
                              uint8_t *out)
{
    const __m256i zero = _mm256_setzero_si256(), w = _mm256_set1_epi16(weight);
    for (size_t x = 0; x < size; x += 32) {
        __m256i p = load(a + x), q = load(b + x);
        __m256i low = between(_mm256_unpacklo_epi8(p, zero), _mm256_unpacklo_epi8(q, zero), w);
        __m256i high = between(_mm256_unpackhi_epi8(p, zero), _mm256_unpackhi_epi8(q, zero), w);
        _mm256_storeu_si256((__m256i *)(out + x), _mm256_packus_epi16(low, high));
    }
}

AVX2 static void down(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                      uint32_t bits, size_t size, uint8_t *out)
{
    if (count == 1) /* its weight is one */
        memcpy(out, rows[0], size);
    else if (count == 2 && bits == 14)
        down_between(rows[0], rows[1], weight[0], size, out);
    else if (count == 3)
        down_by(rows, weight, 3, bits, size, out);
    else if (count == 4)
        down_by(rows, weight, 4, bits, size, out);
    else
        down_by(rows, weight, count, bits, size, out);
}

/* Four pixels of each row, in its half: red of the first two, green, blue, nothing. */
AVX2_INLINE __m256i first_pairs(__m256i pixels)
{
    return _mm256_shuffle_epi8(pixels, _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1,
                                                        -1, -1, -1, -1, 0, -1, 3, -1, 1, -1, 4, -1,
                                                        2, -1, 5, -1, -1, -1, -1, -1));
}

AVX2_INLINE __m256i last_pairs(__m256i pixels)
{
    return _mm256_shuffle_epi8(pixels, _mm256_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1,
                                                        -1, -1, -1, -1, 6, -1, 9, -1, 7, -1, 10, -1,
                                                        8, -1, 11, -1, -1, -1, -1, -1));
}

/* One output of both rows: red, green, blue and nothing. */
AVX2_INLINE __m256i pixel(const shard_scale_axis *axis, uint32_t taps, const uint8_t *const in[2],
                          uint32_t i, __m256i half)
{
    const int16_t *weight = axis->weight + (size_t)i * taps;
    size_t at = (size_t)axis->first[i] * 3;
    __m256i sum = half;
    for (uint32_t j = 0; j < taps; j += 4, at += 12) {
        __m256i pixels = load_two(in[0] + at, in[1] + at);
        __m256i a = _mm256_madd_epi16(first_pairs(pixels), weight_pair(weight + j));
        __m256i b = _mm256_madd_epi16(last_pairs(pixels), weight_pair(weight + j + 2));
        sum = _mm256_add_epi32(sum, _mm256_add_epi32(a, b));
    }
    return _mm256_sra_epi32(sum, _mm_cvtsi32_si128((int)axis->bits));
}

/* `taps` is a constant where there are few. The last four outputs overlap those before them where
 * the width is no multiple of four. */
AVX2_INLINE void across_by(const shard_scale_axis *axis, uint32_t taps, const uint8_t *const in[2],
                           uint8_t *const out[2])
{
    const __m256i half = _mm256_set1_epi32(1 << (axis->bits - 1));
    const __m256i tight = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    uint32_t n = axis->span.out;
    for (uint32_t next = 0; next < n; next += 4) {
        uint32_t i = next < n - 4 ? next : n - 4;
        __m256i low =
            _mm256_packs_epi32(pixel(axis, taps, in, i, half), pixel(axis, taps, in, i + 1, half));
        __m256i high = _mm256_packs_epi32(pixel(axis, taps, in, i + 2, half),
                                          pixel(axis, taps, in, i + 3, half));
        __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(low, high), tight);
        _mm_storeu_si128((__m128i *)(out[0] + (size_t)i * 3), _mm256_castsi256_si128(bytes));
        _mm_storeu_si128((__m128i *)(out[1] + (size_t)i * 3), _mm256_extracti128_si256(bytes, 1));
    }
}

AVX2 static void across_rgb(const shard_scale_axis *axis, const uint8_t *const in[2],
                            uint8_t *const out[2])
{
    if (axis->span.out < 4)
        shard_scale_plain.across_rgb(axis, in, out);
    else if (axis->taps == 4)
        across_by(axis, 4, in, out);
    else if (axis->taps == 8)
        across_by(axis, 8, in, out);
    else
        across_by(axis, axis->taps, in, out);
}

const shard_scale_kernels shard_scale_avx2 = {"avx2", down, shard_scale_sse41_grey, across_rgb};

#endif
