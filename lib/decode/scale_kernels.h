/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inner loops of scaling, in plain C and for instruction sets that not every processor has. All
 * give the same bytes: sums of 32 bits are exact, rounded half up and shifted once.
 */
#ifndef DECODE_SCALE_KERNELS_H
#define DECODE_SCALE_KERNELS_H

#include "decode/scale_axis.h"

/* The files of other processors compile to nothing. */
#if defined __x86_64__
#define SHARD_SCALE_X86 1
#elif defined __aarch64__ && defined __ARM_NEON && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHARD_SCALE_NEON 1
#endif

/* What kernels may read and write behind the end of a row. */
enum { SHARD_SCALE_SLACK = 32 };

/* Row `i` of `rows` times weight `i`, added up. Weights are read in pairs: an odd count is followed
 * by a zero. */
typedef void shard_scale_down(const uint8_t *const *rows, const int16_t *weight, uint32_t count,
                              uint32_t bits, size_t size, uint8_t *out);

/*
 * Two rows, which share weights and addresses, of axis->end - axis->begin pixels into two of
 * axis->span.out; both may be the same. Reads behind the end as many pixels as the axis has taps,
 * and the slack.
 */
typedef void shard_scale_across(const shard_scale_axis *axis, const uint8_t *const in[2],
                                uint8_t *const out[2]);

typedef struct shard_scale_kernels {
    const char *name;
    shard_scale_down *down;
    shard_scale_across *across_grey, *across_rgb;
} shard_scale_kernels;

/* Those that this processor runs, the fastest first, plain C last; how many there are. */
enum { SHARD_SCALE_KERNELS_MOST = 3 };
size_t shard_scale_kernels_list(const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST]);

/* Of these, those for another processor are not there. */
extern const shard_scale_kernels shard_scale_plain, shard_scale_avx2, shard_scale_sse41,
    shard_scale_neon;
shard_scale_across shard_scale_sse41_grey;

#endif
