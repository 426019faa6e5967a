/* SPDX-License-Identifier: Apache-2.0 */
#include "block_reads.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { BLOCKS_MOST = 1 << 18, CAPACITY_FIRST = 1 << 10 };

/* ---- tables ---- */

/* The entry of this key, or the free one where it would stand. */
static struct block_count *probe(const block_table *t, uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(hash ^ hash >> 32) & (t->capacity - 1);
    while (t->entry[i].key != 0 && t->entry[i].key != key)
        i = (i + 1) & (t->capacity - 1);
    return &t->entry[i];
}

static void grow(block_table *t)
{
    block_table old = *t;
    t->capacity = old.capacity > 0 ? old.capacity * 2 : CAPACITY_FIRST;
    t->entry = cli_allocate(t->capacity, sizeof *t->entry);
    for (size_t i = 0; i < old.capacity; i++)
        if (old.entry[i].key != 0)
            *probe(t, old.entry[i].key) = old.entry[i];
    free(old.entry);
}

static struct block_count *find(block_table *t, uint64_t number)
{
    if (t->used * 2 >= t->capacity)
        grow(t);
    struct block_count *entry = probe(t, number + 1);
    t->used += entry->key == 0;
    entry->key = number + 1;
    return entry;
}

/* ---- ranks ---- */

/* Sorted by lane, the batch is cut into as many equal runs as there are ranks. */
static void deal_runs(block_reads *r, uint64_t first)
{
    const shard_order_info *info = &r->info;
    uint64_t run = r->batch / r->world_size, before = 0;
    memset(r->lane, 0, info->lanes * sizeof *r->lane);
    for (uint64_t i = 0; i < r->batch; i++)
        r->lane[(first + i) % info->samples % info->lanes]++;
    for (uint32_t lane = 0; lane < info->lanes; lane++) {
        uint64_t places = r->lane[lane];
        r->lane[lane] = before;
        before += places;
    }
    for (uint64_t i = 0; i < r->batch; i++)
        r->rank[i] = (uint32_t)(r->lane[(first + i) % info->samples % info->lanes]++ / run);
}

static void deal(block_reads *r, uint64_t first)
{
    if (r->info.lanes % r->world_size != 0 || r->batch > r->info.samples - first) {
        deal_runs(r, first);
        return;
    }
    for (uint64_t i = 0; i < r->batch; i++)
        r->rank[i] = (uint32_t)((first + i) % r->world_size);
}

/* ---- reads ---- */

void block_reads_init(block_reads *reads, const shard_order_info *info, uint64_t batch,
                      uint64_t world_size, uint64_t samples)
{
    *reads = (block_reads){.info = *info, .batch = batch, .world_size = world_size};
    reads->every = samples / info->block / BLOCKS_MOST + 1;
    reads->rank = cli_allocate((size_t)batch, sizeof *reads->rank);
    reads->lane = cli_allocate(info->lanes, sizeof *reads->lane);
}

void block_reads_clear(block_reads *reads)
{
    free(reads->blocks.entry);
    free(reads->pairs.entry);
    free(reads->rank);
    free(reads->lane);
    *reads = (block_reads){0};
}

void block_reads_add(block_reads *reads, uint64_t first, size_t count, const uint64_t *ids)
{
    deal(reads, first);
    for (size_t i = 0; i < count; i++) {
        uint64_t block = ids[i] / reads->info.block;
        if (block % reads->every != 0)
            continue;
        struct block_count *pair = find(&reads->pairs, block * reads->world_size + reads->rank[i]);
        struct block_count *whole = find(&reads->blocks, block);
        whole->ranks += pair->samples == 0;
        whole->samples++;
        pair->samples = 1;
    }
}

double block_reads_amplification(const block_reads *reads)
{
    uint64_t read = 0, used = 0;
    for (size_t i = 0; i < reads->blocks.capacity; i++) {
        const struct block_count *e = &reads->blocks.entry[i];
        if (e->key == 0)
            continue;
        uint64_t begin = (e->key - 1) * reads->info.block, left = reads->info.samples - begin;
        uint64_t size = left < reads->info.block ? left : reads->info.block;
        if (e->samples != size)
            continue;
        read += size * e->ranks;
        used += size;
    }
    return used > 0 ? (double)read / (double)used : -1;
}
