/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For x86 with AVX2. A multiply-and-add of 16-bit pairs does the work of all loops: bytes are
 * brought in pairs, of two rows or of two neighbouring pixels, beside the pair of their weights.
 */
#include "decode/scale_kernels.h"

#if defined __x86_64__

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

AVX2 static void down(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                      uint32_t bits, size_t size, uint8_t *out)
{
    switch (count) {
    case 1:
        down_by(rows, weight, 1, bits, size, out);
        break;
    case 2:
        down_by(rows, weight, 2, bits, size, out);
        break;
    case 3:
        down_by(rows, weight, 3, bits, size, out);
        break;
    case 4:
        down_by(rows, weight, 4, bits, size, out);
        break;
    default:
        down_by(rows, weight, count, bits, size, out);
    }
}

/* Of each half's first four pixels: red of the first two, green, blue, nothing; the other two. */
typedef struct {
    __m256i first, second;
} pairs;

AVX2_INLINE pairs pairs_of(__m256i pixels)
{
    const __m256i first =
        _mm256_setr_epi8(0, -1, 3, -1, 1, -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1, 0, -1, 3, -1, 1,
                         -1, 4, -1, 2, -1, 5, -1, -1, -1, -1, -1);
    const __m256i second =
        _mm256_setr_epi8(6, -1, 9, -1, 7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1, 6, -1, 9, -1,
                         7, -1, 10, -1, 8, -1, 11, -1, -1, -1, -1, -1);
    return (pairs){_mm256_shuffle_epi8(pixels, first), _mm256_shuffle_epi8(pixels, second)};
}

/* What pixels four by four give for weights that stand in pairs beside them. */
AVX2_INLINE __m256i weigh(pairs pixels, __m256i first, __m256i second)
{
    return _mm256_add_epi32(_mm256_madd_epi16(pixels.first, first),
                            _mm256_madd_epi16(pixels.second, second));
}

/* Sums of four numbers for a pixel into three bytes; of eight pixels, 4 to 7 in the upper halves.
 */
AVX2_INLINE void store_eight(__m256i low, __m256i high, uint8_t *out)
{
    const __m256i tight = _mm256_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1,
                                           0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1);
    __m256i bytes = _mm256_shuffle_epi8(_mm256_packus_epi16(low, high), tight);
    _mm_storeu_si128((__m128i *)out, _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((__m128i *)(out + 12), _mm256_extracti128_si256(bytes, 1));
}

/* Outputs i, i + 1 and, in the upper halves, i + 4 and i + 5, of up to four pixels each. */
AVX2_INLINE __m256i four_by_four(const shard_scale_axis *axis, const uint8_t *in, uint32_t i,
                                 __m128i shift, __m256i half)
{
    const uint32_t *first = axis->first + i;
    const int16_t *weight = axis->weight + (size_t)i * 4;
    __m256i w = load_two(weight, weight + 16);
    pairs even = pairs_of(load_two(in + (size_t)first[0] * 3, in + (size_t)first[4] * 3));
    pairs odd = pairs_of(load_two(in + (size_t)first[1] * 3, in + (size_t)first[5] * 3));
    __m256i a = weigh(even, _mm256_shuffle_epi32(w, 0x00), _mm256_shuffle_epi32(w, 0x55));
    __m256i b = weigh(odd, _mm256_shuffle_epi32(w, 0xaa), _mm256_shuffle_epi32(w, 0xff));
    return _mm256_packs_epi32(_mm256_sra_epi32(_mm256_add_epi32(a, half), shift),
                              _mm256_sra_epi32(_mm256_add_epi32(b, half), shift));
}

/* One output of many pixels, eight at a time: those from the fifth on in the upper half. */
AVX2_INLINE __m256i sum_of(const shard_scale_axis *axis, const uint8_t *in, uint32_t i)
{
    const __m256i first = _mm256_setr_epi8(0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10,
                                           11, 8, 9, 10, 11, 8, 9, 10, 11, 8, 9, 10, 11);
    const __m256i second = _mm256_setr_epi8(4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 4, 5, 6, 7, 12, 13,
                                            14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15);
    const int16_t *weight = axis->weight + (size_t)i * axis->taps;
    const uint8_t *from = in + (size_t)axis->first[i] * 3;
    __m256i sum = _mm256_setzero_si256();
    for (uint32_t j = 0; j < axis->count[i]; j += 8, from += 24) {
        __m256i w = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(weight + j)));
        __m256i part = weigh(pairs_of(load_two(from, from + 12)), _mm256_shuffle_epi8(w, first),
                             _mm256_shuffle_epi8(w, second));
        sum = _mm256_add_epi32(sum, part);
    }
    return sum;
}

/* Outputs i and, in the upper half, i + 4. */
AVX2_INLINE __m256i two_by_many(const shard_scale_axis *axis, const uint8_t *in, uint32_t i,
                                __m128i shift, __m256i half)
{
    __m256i a = sum_of(axis, in, i), b = sum_of(axis, in, i + 4);
    __m256i both = _mm256_add_epi32(_mm256_permute2x128_si256(a, b, 0x20),
                                    _mm256_permute2x128_si256(a, b, 0x31));
    return _mm256_sra_epi32(_mm256_add_epi32(both, half), shift);
}

/* The last eight overlap those before them where the width is no multiple of eight. */
AVX2 static void across_rgb(const shard_scale_axis *axis, const uint8_t *in, uint8_t *out)
{
    uint32_t n = axis->span.out;
    if (n < 8) {
        shard_scale_plain.across_rgb(axis, in, out);
        return;
    }
    __m128i shift = _mm_cvtsi32_si128((int)axis->bits);
    __m256i half = _mm256_set1_epi32(1 << (axis->bits - 1));
    for (uint32_t next = 0; next < n; next += 8) {
        uint32_t i = next < n - 8 ? next : n - 8;
        __m256i low, high;
        if (axis->taps == 4) {
            low = four_by_four(axis, in, i, shift, half);
            high = four_by_four(axis, in, i + 2, shift, half);
        } else {
            low = _mm256_packs_epi32(two_by_many(axis, in, i, shift, half),
                                     two_by_many(axis, in, i + 1, shift, half));
            high = _mm256_packs_epi32(two_by_many(axis, in, i + 2, shift, half),
                                      two_by_many(axis, in, i + 3, shift, half));
        }
        store_eight(low, high, out + (size_t)i * 3);
    }
}

const shard_scale_kernels shard_scale_avx2 = {"avx2", down, shard_scale_sse41_grey, across_rgb};

#endif
