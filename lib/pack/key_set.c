/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/key_set.h"

void pack_key_set_init(pack_key_set *set, const fmt_alloc *alloc)
{
    *set = (pack_key_set){.alloc = *alloc};
}

void pack_key_set_clear(pack_key_set *set)
{
    fmt_alloc alloc = set->alloc;
    shard_alloc_free(&alloc, set->slot);
    pack_key_set_init(set, &alloc);
}

static uint64_t *find(const pack_key_set *set, uint64_t hash)
{
    size_t at = (size_t)hash & (set->slots - 1);
    while (set->slot[at] != 0 && set->slot[at] != hash)
        at = (at + 1) & (set->slots - 1);
    return &set->slot[at];
}

static bool grow(pack_key_set *set)
{
    enum { LEAST = 1024 };
    pack_key_set larger = *set;
    larger.slots = set->slots == 0 ? LEAST : set->slots * 2;
    larger.slot = shard_alloc_zeroed(&set->alloc, larger.slots, sizeof *larger.slot);
    if (!larger.slot)
        return false;
    for (size_t i = 0; i < set->slots; i++)
        if (set->slot[i] != 0)
            *find(&larger, set->slot[i]) = set->slot[i];
    shard_alloc_free(&set->alloc, set->slot);
    *set = larger;
    return true;
}

bool pack_key_set_add(pack_key_set *set, uint64_t hash, bool *known)
{
    hash += hash == 0; /* 0 marks empty slots */
    if (2 * (set->count + 1) > set->slots && !grow(set))
        return false;
    uint64_t *slot = find(set, hash);
    *known = *slot == hash;
    set->count += !*known;
    *slot = hash;
    return true;
}
