/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hash.h"

#include <string.h>

/* On x86, libxxhash can choose the widest vectors at run time: three times as fast as what it is
 * built for. */
#ifdef SHARD_XXHASH_DISPATCH
#include <xxh_x86dispatch.h>
#else
#include <xxhash.h>
#endif

_Static_assert(sizeof(XXH128_canonical_t) == SHARD_HASH_SIZE, "XXH3-128 is 16 bytes");

/* shard_hash is an XXH3_state_t that only this file can see into; it wants 64-byte alignment. */
static XXH3_state_t *state(shard_hash *hash)
{
    return (XXH3_state_t *)hash;
}

shard_hash *shard_hash_new(void)
{
    shard_hash *hash = (shard_hash *)XXH3_createState();
    if (hash)
        shard_hash_reset(hash);
    return hash;
}

void shard_hash_free(shard_hash *hash)
{
    XXH3_freeState(state(hash));
}

void shard_hash_reset(shard_hash *hash)
{
    XXH3_128bits_reset(state(hash));
}

void shard_hash_add(shard_hash *hash, const void *data, size_t size)
{
    XXH3_128bits_update(state(hash), data, size);
}

void shard_hash_copy(shard_hash *to, const shard_hash *from)
{
    XXH3_copyState(state(to), (const XXH3_state_t *)from);
}

void shard_hash_get(const shard_hash *hash, uint8_t out[SHARD_HASH_SIZE])
{
    XXH128_canonical_t canonical;
    XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest((const XXH3_state_t *)hash));
    memcpy(out, canonical.digest, SHARD_HASH_SIZE);
}

uint64_t shard_hash64(const void *data, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(data, size, seed);
}
