/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale_kernels.h"

size_t shard_scale_kernels_list(const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST])
{
    size_t n = 0;
#if defined __x86_64__
    if (__builtin_cpu_supports("avx2"))
        list[n++] = &shard_scale_avx2;
    if (__builtin_cpu_supports("sse4.1"))
        list[n++] = &shard_scale_sse41;
#endif
    list[n++] = &shard_scale_plain;
    return n;
}
