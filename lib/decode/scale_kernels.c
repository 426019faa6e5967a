/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale_kernels.h"

size_t shard_scale_kernels_list(const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST])
{
    size_t n = 0;
#if SHARD_SCALE_X86
    if (__builtin_cpu_supports("avx2"))
        list[n++] = &shard_scale_avx2;
    if (__builtin_cpu_supports("sse4.1"))
        list[n++] = &shard_scale_sse41;
#elif SHARD_SCALE_NEON
    list[n++] = &shard_scale_neon; /* all have it */
#endif
    list[n++] = &shard_scale_plain;
    return n;
}
