/* SPDX-License-Identifier: Apache-2.0 */
/* Samples too large for memory: streamed into their shard, piece by piece. */
#ifndef PACK_LARGE_H
#define PACK_LARGE_H

#include "pack/fill.h"
#include "pack/lane.h"

/*
 * Write a sample straight into the lane, whose turn it is. After an error the shard is as it was
 * before; where that cannot be (standard output), `*lost` is set.
 */
shard_status pack_large_write(pack_lane *lane, const pack_sample *sample,
                              const shard_encoders *encoders, uint64_t mtime, uint64_t *bytes_in,
                              bool *fatal, shard_error *err);

#endif
