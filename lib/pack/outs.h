/* SPDX-License-Identifier: Apache-2.0 */
/* The names of what is written: shards, their manifest, the journal. */
#ifndef PACK_OUTS_H
#define PACK_OUTS_H

#include <shard/codec.h>
#include <shard/pack.h>

#include "core/alloc.h"
#include "core/error.h"
#include "naming/pattern.h"
#include "os/path.h"

typedef struct {
    fmt_pattern *pattern; /* of each name given */
    size_t patterns;
    uint64_t count; /* of shards; FMT_PATTERN_ENDLESS: as many as needed */
    shard_codec codec;
    bool is_stdout;
    char folder[SHARD_PATH_MAX];
    char manifest[SHARD_PATH_MAX]; /* with part numbers where there are parts */
    char journal[SHARD_PATH_MAX];
    fmt_alloc alloc;
} pack_outs;

/* Understand the options' names; they must stay as they are. */
shard_status pack_outs_init(pack_outs *outs, const shard_pack_opts *opts, const fmt_alloc *alloc,
                            shard_error *err);
void pack_outs_clear(pack_outs *outs);

/* Path of shard `i` < count. */
shard_status pack_outs_name(const pack_outs *outs, uint64_t i, char out[SHARD_PATH_MAX],
                            shard_error *err);

/* SHARD_EEXIST when something stands at the path already. */
shard_status pack_outs_absent(const char *path, shard_error *err);

#endif
