/* SPDX-License-Identifier: Apache-2.0 */
#include "order/split.h"

uint64_t shard_split_global_batch(const shard_split *split)
{
    return (uint64_t)split->batch * split->world_size;
}

uint64_t shard_split_batches(const shard_split *split, uint64_t start)
{
    uint64_t size = shard_split_global_batch(split);
    if (split->epoch_size == UINT64_MAX)
        return UINT64_MAX;
    uint64_t left = start < split->epoch_size ? split->epoch_size - start : 0;
    return left / size + (left % size > 0 && !split->drop_last);
}

/* Position `i` of the epoch, found on the endless row. */
static shard_split_row row_at(const shard_split *split, uint64_t epoch, uint64_t i)
{
    bool whole = split->epoch_size == UINT64_MAX || split->epoch_size == split->samples;
    uint64_t before = whole ? 0 : epoch * split->epoch_size;
    return (shard_split_row){.epoch = (whole ? epoch : 0) + (before + i) / split->samples,
                             .position = (before + i) % split->samples,
                             .valid = i < split->epoch_size};
}

/* Each rank has lanes of its own: every world_size-th position. */
static void take_own_lanes(const shard_split *split, uint64_t epoch, uint64_t start,
                           shard_split_row *out)
{
    uint64_t ranks = split->world_size;
    uint64_t place = row_at(split, epoch, start).position % ranks;
    uint64_t first = start + (split->rank + ranks - place) % ranks;
    for (uint32_t i = 0; i < split->batch; i++)
        out[i] = row_at(split, epoch, first + i * ranks);
}

/* A rank's run of the global batch while the batch is walked lane by lane. */
typedef struct {
    uint64_t passed;     /* rows walked over */
    uint64_t begin, end; /* the run */
    shard_split_row *out;
} run;

/* `count` rows, `step` apart, of which the run takes what falls into it. */
static void walk(const shard_split *split, uint64_t epoch, uint64_t first, uint64_t step,
                 uint64_t count, run *r)
{
    uint64_t skip = r->begin > r->passed ? r->begin - r->passed : 0;
    uint64_t left = r->end > r->passed ? r->end - r->passed : 0;
    for (uint64_t i = skip; i < count && i < left; i++)
        r->out[r->passed + i - r->begin] = row_at(split, epoch, first + i * step);
    r->passed += count;
}

/* The rows of one lane in the batch: from each permutation that it reaches into. */
static void walk_lane(const shard_split *split, uint64_t epoch, uint64_t start, uint32_t lane,
                      run *r)
{
    uint64_t end = start + shard_split_global_batch(split);
    for (uint64_t at = start; at < end;) {
        uint64_t position = row_at(split, epoch, at).position;
        uint64_t left = split->samples - position, size = end - at < left ? end - at : left;
        uint64_t skip = (lane + split->lanes - position % split->lanes) % split->lanes;
        if (skip < size)
            walk(split, epoch, at + skip, split->lanes, (size - 1 - skip) / split->lanes + 1, r);
        at += size;
    }
}

/* The batch sorted by lane, and cut into as many equal runs as there are ranks. */
static void take_run(const shard_split *split, uint64_t epoch, uint64_t start, shard_split_row *out)
{
    uint64_t begin = (uint64_t)split->rank * split->batch;
    run r = {.begin = begin, .end = begin + split->batch, .out = out};
    for (uint32_t lane = 0; lane < split->lanes && r.passed < r.end; lane++)
        walk_lane(split, epoch, start, lane, &r);
}

void shard_split_rows(const shard_split *split, uint64_t epoch, uint64_t start,
                      shard_split_row *out)
{
    uint64_t size = shard_split_global_batch(split);
    uint64_t left = split->samples - row_at(split, epoch, start).position;
    if (split->lanes % split->world_size == 0 && size <= left)
        take_own_lanes(split, epoch, start, out);
    else
        take_run(split, epoch, start, out);
}
