/* SPDX-License-Identifier: Apache-2.0 */
#include "index/names.h"

#include <string.h>

#include "core/hash.h"

void shard_names_init(shard_names *names, const fmt_alloc *alloc)
{
    *names = (shard_names){.alloc = *alloc};
    fmt_arena_init(&names->arena, &names->alloc);
}

void shard_names_clear(shard_names *names)
{
    fmt_alloc alloc = names->alloc;
    fmt_arena_clear(&names->arena);
    shard_alloc_free(&alloc, names->name);
    shard_alloc_free(&alloc, names->slots);
    names->name = NULL;
    names->slots = NULL;
    names->count = names->capacity = names->slot_count = 0;
}

/* The slot that holds this name, or the empty one where it belongs. */
static uint32_t *find_slot(const shard_names *names, const char *text, size_t size)
{
    size_t i = (size_t)shard_hash64(text, size, 0) & (names->slot_count - 1);
    while (names->slots[i] != 0) {
        const char *known = names->name[names->slots[i] - 1].text;
        if (strncmp(known, text, size) == 0 && known[size] == 0)
            break;
        i = (i + 1) & (names->slot_count - 1);
    }
    return &names->slots[i];
}

static bool grow_slots(shard_names *names)
{
    enum { LEAST = 32 };
    size_t wanted = names->slot_count == 0 ? LEAST : names->slot_count * 2;
    uint32_t *slots = shard_alloc_zeroed(&names->alloc, wanted, sizeof *slots);
    if (!slots)
        return false;
    shard_alloc_free(&names->alloc, names->slots);
    names->slots = slots;
    names->slot_count = wanted;
    for (size_t i = 0; i < names->count; i++)
        *find_slot(names, names->name[i].text, strlen(names->name[i].text)) = (uint32_t)i + 1;
    return true;
}

bool shard_names_number(shard_names *names, const char *text, size_t size, uint32_t *out)
{
    if (2 * (names->count + 1) > names->slot_count && !grow_slots(names))
        return false;
    uint32_t *slot = find_slot(names, text, size);
    if (*slot == 0) {
        if (!shard_alloc_grow(&names->alloc, &names->name, &names->capacity, names->count + 1,
                              sizeof *names->name))
            return false;
        const char *copy = fmt_arena_text(&names->arena, text, size);
        if (!copy)
            return false;
        names->name[names->count++] = (shard_name){copy, 0};
        *slot = (uint32_t)names->count;
    }
    *out = *slot - 1;
    return true;
}
