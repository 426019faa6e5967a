/* SPDX-License-Identifier: Apache-2.0 */
/* What the loader needs of an order beyond shard/order.h. */
#ifndef ORDER_ORDER_H
#define ORDER_ORDER_H

#include <shard/order.h>

#include "core/alloc.h"
#include "core/error.h"
#include "order/delay.h"
#include "order/permutation.h"

struct shard_order {
    shard_order_info info;
    shard_shuffle shuffle;
    uint64_t *first; /* of each shard and behind the last, for "shards-1"; else NULL */
    size_t shards;
    fmt_alloc alloc;
};

/* What is worked out once an epoch, and room to work in: one a thread. Starts as zeros. */
typedef struct {
    const shard_order *order;
    uint64_t epoch;
    bool ready; /* for this order and epoch */

    shard_permutation blocks, tail; /* of "lanes-1" */
    shard_delay_window window;
    uint32_t *next; /* position of the same lane that follows in the list */
    size_t next_capacity;
    uint32_t *lane; /* first position of each lane */
    size_t lane_capacity;

    uint64_t *begin; /* of "shards-1": position of each permuted shard's first sample */
    uint64_t *shard; /* and which shard it is */
    size_t begin_capacity, shard_capacity;
} shard_order_cursor;

/*
 * The ids of `count` positions of an epoch, each below info.samples. They cost least when they
 * are near each other; positions of one lane must ascend. `ids` may be `positions`.
 */
shard_status shard_order_pick(shard_order_cursor *cursor, const shard_order *order, uint64_t epoch,
                              const uint64_t *positions, size_t count, uint64_t *ids,
                              shard_error *err);
void shard_order_cursor_clear(shard_order_cursor *cursor, const fmt_alloc *alloc);

/* What a state keeps of the order's parameters and the epoch's size (UINT64_MAX: no end). */
uint32_t shard_order_opts_digest(const shard_order *order, uint64_t epoch_size);

#endif
