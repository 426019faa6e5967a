/* SPDX-License-Identifier: Apache-2.0 */
/* Samples too large for memory: streamed into their shard, piece by piece. */
#ifndef PACK_LARGE_H
#define PACK_LARGE_H

#include "pack/engine/fill.h"
#include "pack/engine/lane.h"

/*
 * Write a sample straight into the lane, whose turn it is; images are worked on as in pack_fill.
 * After an error the shard is as it was before; where that cannot be (standard output), `*fatal` is
 * set.
 */
shard_status pack_large_write(pack_lane *lane, const pack_sample *sample, pack_filler *filler,
                              const shard_encoders *encoders, uint64_t mtime, bool *fatal,
                              shard_error *err);

#endif
