/* SPDX-License-Identifier: Apache-2.0 */
/* What decides over the bytes that are written, as texts to be compared. */
#ifndef PACK_DIGEST_H
#define PACK_DIGEST_H

#include "core/hash.h"
#include "pack/input/input.h"
#include "pack/outs.h"
#include "pack/plan.h"

typedef struct {
    char text[2 * SHARD_HASH_SIZE + 1]; /* hexadecimal digits */
} pack_digest;

/* Of a set: names in the input, options, number of shards. The same for all parts of it. */
shard_status pack_digest_of_set(const shard_pack_opts *opts, const pack_outs *outs,
                                const pack_input *input, const pack_plan *plan, pack_digest *out,
                                shard_error *err);

/* Of a run: also where it reads and writes, and which part it is. */
shard_status pack_digest_of_run(const shard_pack_opts *opts, const pack_digest *set,
                                pack_digest *out, shard_error *err);

#endif
