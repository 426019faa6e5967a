/* SPDX-License-Identifier: Apache-2.0 */
/* The arrivals of a stream: samples of one shard after the other, each read from front to end. */
#ifndef LOADER_INFLOW_H
#define LOADER_INFLOW_H

#include <shard/reader.h>

#include "batch/budget.h"
#include "index/scan.h"
#include "loader/shards.h"
#include "order/permutation.h"
#include "os/path.h"
#include "shardset/extent.h"

typedef struct {
    const char *name; /* lives as long as the loader */
    size_t at, size;  /* in the sample's bytes */
} loader_part;

/* A sample in memory of its own, which is used again. */
typedef struct loader_held {
    shard_buffer bytes, key, parts;
    size_t size, key_size; /* a NUL follows the key */
    uint32_t part_count;
    struct loader_held *next; /* in a list of unused ones */
} loader_held;

/* Where a shard's samples begin among a round's arrivals. */
typedef struct {
    uint64_t shard; /* place in the round's row of shards */
    uint64_t first;
} loader_anchor;

/* One thread at a time. */
typedef struct {
    const shard_set *set;
    loader_shards *shards; /* for names and the token that cancels */
    const shard_wanted *wanted;
    shard_budget *budget;
    uint64_t seed;
    bool shuffles_shards;
    uint32_t rank, world_size;

    shard_permutation permutation; /* of this round's shards */
    uint64_t next_shard;           /* place in the row of the one that comes next */
    uint64_t arrivals;             /* of this round so far */
    bool over;                     /* no more will come in this round */
    shard_reader *reader;          /* NULL: between two shards */
    bool keeps_indexes;
    shard_index_scan *scan; /* whose reader it is, where the shard gets its index; else NULL */
    bool is_scan_whole;     /* no sample was passed over */
    char index_path[SHARD_PATH_MAX];
    shard_member member; /* that comes next, where `has_member` */
    bool has_member;

    loader_anchor *anchor; /* the shards that may be needed again, ascending */
    size_t anchors, anchor_capacity;
    loader_held *unused;
} loader_inflow;

/* Begin a round with the shard and arrival of `from`. */
void loader_inflow_begin(loader_inflow *in, uint64_t round, loader_anchor from);
void loader_inflow_clear(loader_inflow *in);

/* The next sample; NULL when the round is over. Give it back with loader_inflow_give. */
shard_status loader_inflow_next(loader_inflow *in, loader_held **out, shard_error *err);
void loader_inflow_give(loader_inflow *in, loader_held *sample);

/* Pass over the next sample without its payloads. */
shard_status loader_inflow_skip(loader_inflow *in, shard_error *err);

/* The shard to begin with so that arrival `i` and those behind it are met again. Those before it
 * are forgotten. */
loader_anchor loader_inflow_anchor(loader_inflow *in, uint64_t i);

#endif
