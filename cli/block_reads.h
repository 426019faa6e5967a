/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many ranks read each block of an order: blocks that several ranks need are read several
 * times. Who has which position of a global batch: docs/format/order.md, "Batches and ranks".
 */
#ifndef CLI_BLOCK_READS_H
#define CLI_BLOCK_READS_H

#include <shard/order.h>

/* Counts by number; a number that was not counted yet has zeros. */
typedef struct {
    struct block_count {
        uint64_t key; /* the number and 1; 0: free */
        uint32_t samples, ranks;
    } * entry;
    size_t used, capacity; /* a power of two */
} block_table;

typedef struct {
    shard_order_info info;
    uint64_t batch, world_size;
    uint64_t every; /* one block in so many is looked at */
    block_table blocks;
    block_table pairs; /* of a block and a rank that had a sample of it */
    uint32_t *rank;    /* of each place of a batch */
    uint64_t *lane;    /* where a lane's next place stands, in the batch sorted by lane */
} block_reads;

/* For batches of `batch` places over all ranks, about `samples` of them altogether. */
void block_reads_init(block_reads *reads, const shard_order_info *info, uint64_t batch,
                      uint64_t world_size, uint64_t samples);
void block_reads_clear(block_reads *reads);

/* The batch that begins at position `first`; it has `count` samples, fewer at the epoch's end. */
void block_reads_add(block_reads *reads, uint64_t first, size_t count, const uint64_t *ids);

/*
 * Samples in the blocks that each rank reads, over samples: the ranks of a block, on average over
 * those of which all samples have come by. Below 0 where there was none.
 */
double block_reads_amplification(const block_reads *reads);

#endif
