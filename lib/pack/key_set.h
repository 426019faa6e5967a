/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys have been seen, by their 64-bit hashes: 16 bytes a key. */
#ifndef PACK_KEY_SET_H
#define PACK_KEY_SET_H

#include "core/alloc.h"

typedef struct {
    uint64_t *slot; /* hash table; 0: empty */
    size_t slots, count;
    fmt_alloc alloc;
} pack_key_set;

void pack_key_set_init(pack_key_set *set, const fmt_alloc *alloc);
void pack_key_set_clear(pack_key_set *set);

/* Add a hash; `*known`: it was there. False when memory is short. */
bool pack_key_set_add(pack_key_set *set, uint64_t hash, bool *known);

#endif
