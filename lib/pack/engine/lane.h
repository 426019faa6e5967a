/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing side: chunks in order into one shard after the other. A lane is one shard, or, where
 * how many are needed is found out on the way, all of them. One thread at a time works on a lane.
 */
#ifndef PACK_LANE_H
#define PACK_LANE_H

#include <pthread.h>

#include "container/shard_writer.h"
#include "index/builder.h"
#include "pack/engine/chunk.h"
#include "pack/engine/labels.h"
#include "pack/journal.h"
#include "pack/outs.h"

/* What all lanes share. */
typedef struct {
    const pack_outs *outs;
    const shard_pack_opts *opts;
    pack_journal *journal; /* NULL: standard output */
    bool may_replace;      /* shards that exist */
    fmt_alloc alloc;

    pthread_mutex_t mutex; /* of what follows, and of the journal */
    pack_labels labels;
    uint64_t shards, bytes_out;
} pack_sink;

typedef struct {
    pack_sink *sink;
    uint64_t shard;  /* number of the one that is being written */
    uint64_t next;   /* number of the sample of the input behind the last one written */
    bool rolls;      /* on to the next shard when one is full */
    uint64_t shards; /* that there must be in the end, some of them empty; 0: as many as needed */

    bool is_open;
    char path[SHARD_PATH_MAX];
    shard_writer writer;
    shard_index_builder builder;
    uint64_t samples; /* in the open shard */
    fmt_json *skips;  /* of the open shard; NULL: none */
    pack_label_run labels;
} pack_lane;

shard_status pack_sink_init(pack_sink *sink, const pack_outs *outs, const shard_pack_opts *opts,
                            const fmt_alloc *alloc, shard_error *err);
void pack_sink_clear(pack_sink *sink);

/* Write all of a chunk, which was closed, and empty it. Opens and finishes shards as needed. */
shard_status pack_lane_write(pack_lane *lane, pack_chunk *chunk, const shard_encoders *encoders,
                             shard_error *err);

/*
 * A sample of `tar_size` bytes will come: make room for it, in this shard or the next. Then the
 * bytes come through lane->writer, and its rows through lane->builder.
 */
shard_status pack_lane_make_room(pack_lane *lane, uint64_t tar_size, uint64_t samples,
                                 const shard_encoders *encoders, shard_error *err);

/* One sample more is in the open shard. */
void pack_lane_count(pack_lane *lane, uint32_t label);

/* Finish the open shard; a lane that wrote nothing makes an empty one. */
shard_status pack_lane_finish(pack_lane *lane, const shard_encoders *encoders, shard_error *err);

/* Remove what is not finished. */
void pack_lane_abort(pack_lane *lane);

#endif
