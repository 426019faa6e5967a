/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A permutation of 0 .. size - 1 that a key decides, without a table: eight rounds of a Feistel
 * network over as many bits as the size has, walked until it falls below the size (Black and
 * Rogaway, "Ciphers with Arbitrary Finite Domains", 2002). For mixing, not for secrets.
 */
#ifndef ORDER_PERMUTATION_H
#define ORDER_PERMUTATION_H

#include <stdint.h>

enum { SHARD_PERMUTATION_ROUNDS = 8 };

typedef struct {
    uint64_t size;
    uint32_t left_bits, right_bits;
    uint64_t key[SHARD_PERMUTATION_ROUNDS];
} shard_permutation;

/* What a key is for: no two uses share one. */
typedef enum {
    SHARD_KEY_BLOCKS = 1,
    SHARD_KEY_TAIL = 2,
    SHARD_KEY_DELAY = 3,
    SHARD_KEY_SHARDS = 4,
    SHARD_KEY_PIXELS = 5,
    SHARD_KEY_SUBSTITUTE = 6,
} shard_key_use;

/* XXH3-64 of the four numbers, little-endian. */
uint64_t shard_order_key(uint64_t seed, uint64_t epoch, shard_key_use use, uint64_t number);

/* A bijection of 64 bits that mixes them well (the finalizer of SplitMix64). */
static inline uint64_t shard_order_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

/* `size` > 0. */
void shard_permutation_init(shard_permutation *p, uint64_t size, uint64_t seed, uint64_t epoch,
                            shard_key_use use);

/* Where `i` < size goes. */
uint64_t shard_permutation_at(const shard_permutation *p, uint64_t i);

#endif
