/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_RNG_H
#define CORE_RNG_H

#include <stddef.h>
#include <stdint.h>

/*
 * Random number `counter` of the stream `seed`, below `bound` (> 0): a pure function, the same on
 * every machine and in every release (frozen by test vectors). XXH3-64 of both numbers,
 * little-endian, scaled down by a multiplication.
 */
uint64_t shard_rng_below(uint64_t seed, uint64_t counter, uint64_t bound);

/* Bring `count` elements of `size` bytes into an order that `seed` alone decides (Fisher-Yates). */
void shard_rng_shuffle(void *array, size_t count, size_t size, uint64_t seed);

#endif
