/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CRC32C_H
#define CORE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4) of `size` bytes that follow bytes whose CRC is `crc`
 * (0 at the start). By ISA-L, with the widest carry-less multiply the processor has.
 */
uint32_t shard_crc32c(uint32_t crc, const void *data, size_t size);

#endif
