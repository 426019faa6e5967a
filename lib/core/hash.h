/* SPDX-License-Identifier: Apache-2.0 */
/* XXH3, behind which stands libxxhash. */
#ifndef CORE_HASH_H
#define CORE_HASH_H

#include "core/alloc.h"

enum { SHARD_HASH_SIZE = 16 };

typedef struct shard_hash shard_hash;

/* The running XXH3-128 of bytes to come. NULL when memory is short. */
shard_hash *shard_hash_new(void);
void shard_hash_free(shard_hash *hash);

void shard_hash_reset(shard_hash *hash);
void shard_hash_add(shard_hash *hash, const void *data, size_t size);
void shard_hash_copy(shard_hash *to, const shard_hash *from);

/* The hash of all bytes so far, in canonical (big-endian) form. */
void shard_hash_get(const shard_hash *hash, uint8_t out[SHARD_HASH_SIZE]);

/* XXH3-64 of some bytes, for tables in memory and for keyed permutations. */
uint64_t shard_hash64(const void *data, size_t size, uint64_t seed);

#endif
