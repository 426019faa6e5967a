/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing one gzip member in pieces that are compressed independently, so that every core can work
 * on the same shard: each piece ends at a byte's edge (Z_SYNC_FLUSH), the last block is empty.
 */
#ifndef CONTAINER_GZIP_H
#define CONTAINER_GZIP_H

#include "core/alloc.h"
#include "core/error.h"

enum { SHARD_GZIP_HEADER_SIZE = 10, SHARD_GZIP_TRAILER_SIZE = 10 };

typedef struct shard_gzip_encoder shard_gzip_encoder;

/* One a thread. `level` 1 to 9. */
shard_status shard_gzip_encoder_open(shard_gzip_encoder **out, int level, shard_error *err);
void shard_gzip_encoder_close(shard_gzip_encoder *encoder); /* NULL allowed */

/* Most bytes that a piece of `size` can become. */
size_t shard_gzip_bound(size_t size);

/* Compress one piece into `out`, which has room for shard_gzip_bound(size) bytes. */
shard_status shard_gzip_encode(shard_gzip_encoder *encoder, const void *bytes, size_t size,
                               void *out, size_t *out_size, uint32_t *crc, shard_error *err);

/* The member's first bytes, without name and time. */
void shard_gzip_write_header(uint8_t out[SHARD_GZIP_HEADER_SIZE]);

/* Its last: the empty block, the CRC-32 and length of all content. */
void shard_gzip_write_trailer(uint8_t out[SHARD_GZIP_TRAILER_SIZE], uint32_t crc, uint64_t size);

/* CRC-32 of what `crc` covers followed by `size` bytes of CRC-32 `next`. */
uint32_t shard_gzip_combine(uint32_t crc, uint32_t next, uint64_t size);

#endif
