/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of shards that cannot be read in any order: pipes, gzip, or simply without an index. The
 * shards of a round come in the order that seed and round decide, each from front to end, every
 * world_size-th one to this rank; samples are held back and mixed by the delay of lib/order, so
 * that a place in the round is found again without its samples before. Order "stream-1"
 * (docs/format/order.md).
 */
#ifndef LOADER_FEED_H
#define LOADER_FEED_H

#include <shard/loader.h>

#include "loader/inflow.h"
#include "loader/job.h"

typedef struct {
    uint64_t time; /* when it leaves */
    loader_held *sample;
} loader_turn;

/* One thread at a time. */
typedef struct {
    loader_shared *shared;
    shard_split split;        /* without `samples` and `lanes`; epoch_size 0: an epoch is a round */
    uint64_t delay;           /* of samples; 1: they leave as they come */
    uint64_t epoch, position; /* of the batch that comes next */

    uint64_t round;
    uint64_t departures; /* of this round, those left out included */
    uint64_t due;        /* departures that a state says are over, before they are passed over */
    uint64_t discard;    /* and those of them that are still to leave */
    uint64_t delay_key;
    bool arrived;    /* some sample has, in this round */
    bool round_over; /* and none is left */
    loader_inflow inflow;

    loader_turn *turn; /* a heap: the earliest stands first */
    size_t turns, turn_capacity;
    fmt_alloc alloc;
} loader_feed;

/* Begin at `state`, of which epoch, position and the stream's own fields count. `feed` holds zeros.
 */
void loader_feed_init(loader_feed *feed, loader_shared *shared, const shard_loader_opts *opts,
                      const shard_split *split, const shard_state *state, const fmt_alloc *alloc);
void loader_feed_clear(loader_feed *feed);

/* Samples that wait for their turn, for these options. */
uint64_t loader_feed_delay(const shard_loader_opts *opts);

/* Fill job->rows with the next batch or an epoch's end, and the slot with its samples' bytes. */
shard_status loader_feed_next(loader_feed *feed, loader_job *job, shard_error *err);

#endif
