/* SPDX-License-Identifier: Apache-2.0 */
/* Component names and their numbers, in the order in which they first came. */
#ifndef INDEX_NAMES_H
#define INDEX_NAMES_H

#include "arena.h"
#include "core/alloc.h"

typedef struct {
    const char *text;
    uint64_t last_sample; /* 1 + number of the last sample that had it; 0: none */
} shard_name;

typedef struct {
    shard_name *name;
    size_t count, capacity;
    uint32_t *slots; /* hash table: 1 + a name's number; 0: empty */
    size_t slot_count;
    fmt_arena arena;
    fmt_alloc alloc;
} shard_names;

void shard_names_init(shard_names *names, const fmt_alloc *alloc);
void shard_names_clear(shard_names *names);

/* The number of a name, new or known. False when memory is short. */
bool shard_names_number(shard_names *names, const char *text, size_t size, uint32_t *out);

#endif
