/* SPDX-License-Identifier: Apache-2.0 */
#include "order/permutation.h"

#include "core/hash.h"

uint64_t shard_order_key(uint64_t seed, uint64_t epoch, shard_key_use use, uint64_t number)
{
    uint8_t bytes[32];
    fmt_store64(bytes, seed);
    fmt_store64(bytes + 8, epoch);
    fmt_store64(bytes + 16, use);
    fmt_store64(bytes + 24, number);
    return shard_hash64(bytes, sizeof bytes, 0);
}

static uint32_t bits_of(uint64_t n)
{
    uint32_t bits = 0;
    while (bits < 64 && n >> bits > 0)
        bits++;
    return bits;
}

void shard_permutation_init(shard_permutation *p, uint64_t size, uint64_t seed, uint64_t epoch,
                            shard_key_use use)
{
    enum { BITS_LEAST = 8 }; /* in halves of one or two bits there is too little to mix */
    uint32_t bits = bits_of(size - 1);
    bits = bits > BITS_LEAST ? bits : BITS_LEAST;
    p->size = size;
    p->left_bits = bits / 2;
    p->right_bits = bits - bits / 2;
    for (uint32_t r = 0; r < SHARD_PERMUTATION_ROUNDS; r++)
        p->key[r] = shard_order_key(seed, epoch, use, r);
}

/* The top bits of the mixed sum. */
static uint64_t round_bits(uint64_t half, uint64_t key, uint32_t bits)
{
    return shard_order_mix(half + key) >> (64 - bits);
}

uint64_t shard_permutation_at(const shard_permutation *p, uint64_t i)
{
    uint64_t mask = (UINT64_C(1) << p->right_bits) - 1;
    do {
        uint64_t left = i >> p->right_bits, right = i & mask;
        for (uint32_t r = 0; r < SHARD_PERMUTATION_ROUNDS; r += 2) {
            left ^= round_bits(right, p->key[r], p->left_bits);
            right ^= round_bits(left, p->key[r + 1], p->right_bits);
        }
        i = left << p->right_bits | right;
    } while (i >= p->size);
    return i;
}
