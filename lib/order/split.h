/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which positions make up a batch, and which of them are a rank's: arithmetic, so that all ranks
 * have the same number of batches without asking each other, and a global batch holds the same
 * samples whatever the number of ranks.
 *
 * Epochs lie on an endless row of positions: permutation after permutation of the set. An epoch is
 * one permutation, or `epoch_size` positions, which then goes on where the last one stopped.
 */
#ifndef ORDER_SPLIT_H
#define ORDER_SPLIT_H

#include "core/alloc.h"
#include "core/error.h"
#include "order/order.h"

typedef struct {
    uint64_t samples;    /* of the set */
    uint64_t epoch_size; /* positions of an epoch; UINT64_MAX: endless */
    uint32_t lanes;      /* of the order */
    uint32_t batch;      /* rows of one rank's batch */
    uint32_t rank, world_size;
    bool drop_last; /* leave out a last batch that is not full; else its rows are not all valid */
} shard_split;

/* One row of a batch. */
typedef struct {
    uint64_t epoch, position; /* of the order: which permutation, and where in it */
    bool valid;
} shard_split_row;

/* Positions of all ranks' batches. */
uint64_t shard_split_global_batch(const shard_split *split);

/* Batches from position `start` of an epoch to its end; UINT64_MAX where it has none. */
uint64_t shard_split_batches(const shard_split *split, uint64_t start);

/*
 * The rows of the rank in the global batch that begins at position `start` of `epoch`, into `out`.
 * Rows of one lane ascend.
 */
void shard_split_rows(const shard_split *split, uint64_t epoch, uint64_t start,
                      shard_split_row *out);

#endif
