/* SPDX-License-Identifier: Apache-2.0 */
/* Shards that are open, each once for all threads; those not used for longest are closed. */
#ifndef LOADER_SHARDS_H
#define LOADER_SHARDS_H

#include <pthread.h>

#include "shardset/opened.h"

typedef struct {
    shard_opened opened; /* its names live as long as the table */
    uint64_t number;
    uint32_t pins; /* it is in use */
    uint64_t last_used;
    const char **names;
} loader_shard;

typedef struct {
    const shard_set *set;
    const shard_cancel *cancel;
    pthread_mutex_t mutex;
    loader_shard **at; /* by number; NULL: closed */
    loader_shard **open;
    size_t count, capacity, most;
    uint64_t uses;
    fmt_arena names; /* of components, each once */
    const char **name;
    size_t name_count, name_capacity;
    fmt_alloc alloc;
} loader_shards;

shard_status loader_shards_init(loader_shards *shards, const shard_set *set,
                                const shard_cancel *cancel, const fmt_alloc *alloc,
                                shard_error *err);
void loader_shards_clear(loader_shards *shards); /* zeros allowed */

/* A shard by its number, open until it is unpinned. Any thread. */
shard_status loader_shards_pin(loader_shards *shards, uint64_t number, loader_shard **out,
                               shard_error *err);
void loader_shards_unpin(loader_shards *shards, loader_shard *shard);

/* A component's name that lives as long as the table; NULL when memory is short. Any thread. */
const char *loader_shards_name(loader_shards *shards, const char *name);

#endif
