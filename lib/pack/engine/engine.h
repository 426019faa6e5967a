/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads between input and shards. Each takes a job, fills its chunk, and hands it over;
 * chunks of a lane are written in order, by whichever thread has the next one. Threads keep to a
 * lane each while there are lanes enough: what a core has read it also writes.
 */
#ifndef PACK_ENGINE_H
#define PACK_ENGINE_H

#include "pack/engine/fill.h"
#include "pack/engine/lane.h"
#include "pack/input/input.h"
#include "pack/plan.h"

typedef struct {
    uint64_t samples, skipped, renamed, bytes_in;
    pack_transform_counts images;
    fmt_json *skips; /* of samples behind the last shard; NULL: none; the caller's to free */
} pack_totals;

/* Pack all of the plan. `totals` is filled as far as the work came. */
shard_status pack_engine_run(pack_sink *sink, pack_input *input, const pack_plan *plan,
                             pack_totals *totals, shard_error *err);

#endif
