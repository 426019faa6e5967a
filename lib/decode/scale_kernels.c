/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale_kernels.h"

size_t shard_scale_kernels_list(const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST])
{
    size_t n = 0;
    list[n++] = &shard_scale_plain;
    return n;
}
