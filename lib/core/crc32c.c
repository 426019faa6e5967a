/* SPDX-License-Identifier: Apache-2.0 */
#include "core/crc32c.h"

#include <isa-l/crc.h>

uint32_t shard_crc32c(uint32_t crc, const void *data, size_t size)
{
    enum { STEP = 1 << 30 };                                 /* ISA-L counts in int */
    unsigned char *bytes = (unsigned char *)(uintptr_t)data; /* it only reads */
    crc = ~crc;
    for (; size > STEP; size -= STEP, bytes += STEP)
        crc = crc32_iscsi(bytes, STEP, crc);
    return ~crc32_iscsi(bytes, (int)size, crc);
}
