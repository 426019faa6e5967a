/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where a trainer stopped: one short line of JSON, to be kept in its checkpoint.
 *
 *     {"order":"lanes-1","seed":7,"epoch":3,"position":81920,"set":"5f0c21aa","opts":"90b1de07"}
 *
 * It is the same on all ranks and says nothing of their number, of threads or of paths, so a job
 * may go on elsewhere, larger or smaller. Only for shards without indexes each rank has its own.
 * Specification: docs/format/order.md.
 */
#ifndef SHARD_STATE_H
#define SHARD_STATE_H

#include <shard/order.h>

SHARD_BEGIN_DECLS

/** Room for a state's text, its final NUL included; that of a set with indexes takes 128. */
#define SHARD_STATE_SIZE 256

typedef struct shard_state {
    char order[10]; /**< name of the scheme */
    uint64_t seed;
    uint64_t epoch;
    uint64_t position;    /**< samples of this epoch that all ranks together have delivered */
    uint32_t set_digest;  /**< as in shard_order_info */
    uint32_t opts_digest; /**< of the order's parameters and the epoch's size */

    /* Of "stream-1" alone: */
    uint64_t round;      /**< through the shards */
    uint64_t departures; /**< samples of this round that are over, of this rank */
    uint64_t shard;      /**< place in the round's row of shards to go on at */
    uint64_t first;      /**< samples of this rank before that shard */
} shard_state;

/** Write a state as text. Errors: SHARD_EINVAL for a number out of range. */
SHARD_NODISCARD SHARD_API shard_status shard_state_format(const shard_state *state,
                                                          char out[SHARD_STATE_SIZE],
                                                          shard_error *err);

/** Read a state; white space around it is allowed. Errors: SHARD_EFORMAT, SHARD_ENOMEM. */
SHARD_NODISCARD SHARD_API shard_status shard_state_parse(shard_state *out, const char *text,
                                                         size_t size, shard_error *err);

SHARD_END_DECLS

#endif
