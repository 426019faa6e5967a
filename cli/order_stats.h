/* SPDX-License-Identifier: Apache-2.0 */
/* How well an epoch's order mixes, and what it costs to read: arithmetic on numbers of samples. */
#ifndef CLI_ORDER_STATS_H
#define CLI_ORDER_STATS_H

#include <shard/order.h>

#include "cli.h"

/* Positions to ask an order for at a time. */
uint64_t order_stats_chunk(const shard_order_info *info);

typedef struct {
    const shard_set *set;
    const shard_order *order;
    bool mixes; /* the order is SHARD_SHUFFLE_FULL, which needs memory */
    uint64_t epoch;
    uint64_t batch; /* over all ranks; a multiple of world_size */
    uint64_t world_size;
    uint64_t class_samples; /* neighbours that are alike; 0: as many as order_stats says */
} order_stats_opts;

/* The first and the last hundredth of the batches, and what lies between. */
enum { ORDER_HEAD, ORDER_BODY, ORDER_TAIL, ORDER_PARTS };

/* Numbers below 0 are unknown: there was nothing to look at. */
typedef struct {
    shard_order_info info;
    uint64_t memory_samples, sample_bytes; /* shuffle memory; SHARD_UNKNOWN bytes are unknown */
    uint64_t class_samples; /* unless told: a thousandth of a large set; 1,000, a tenth at most */
    uint64_t batches, looked;
    double variance[ORDER_PARTS];         /* inflation, when samples of a class stand together */
    double shards, shards_random;         /* different ones in a batch */
    double same_shard, same_shard_random; /* part of neighbours */
    double read_amplification;
} order_stats;

/* Work them out. Returns EXIT_OK, or the exit code after saying what is wrong. */
int order_stats_gather(order_stats *out, const cli *c, const order_stats_opts *opts);

#endif
