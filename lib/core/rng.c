/* SPDX-License-Identifier: Apache-2.0 */
#include "core/rng.h"

#include "core/hash.h"

uint64_t shard_rng_below(uint64_t seed, uint64_t counter, uint64_t bound)
{
    uint8_t bytes[16];
    fmt_store64(bytes, seed);
    fmt_store64(bytes + 8, counter);
    uint64_t random = shard_hash64(bytes, sizeof bytes, 0);
    /* The high half of random * bound (Lemire 2019); the bias is below bound / 2^64. */
    uint64_t random_high = random >> 32, random_low = random & 0xffffffff;
    uint64_t bound_high = bound >> 32, bound_low = bound & 0xffffffff;
    uint64_t middle = random_high * bound_low + (random_low * bound_low >> 32);
    uint64_t low_middle = random_low * bound_high + (middle & 0xffffffff);
    return random_high * bound_high + (middle >> 32) + (low_middle >> 32);
}

static void swap(uint8_t *a, uint8_t *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = a[i];
        a[i] = b[i];
        b[i] = byte;
    }
}

void shard_rng_shuffle(void *array, size_t count, size_t size, uint64_t seed)
{
    uint8_t *bytes = array;
    for (size_t i = count; i > 1; i--) {
        size_t j = (size_t)shard_rng_below(seed, i, i);
        swap(bytes + (i - 1) * size, bytes + j * size, size);
    }
}
