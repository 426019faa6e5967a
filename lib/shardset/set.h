/* SPDX-License-Identifier: Apache-2.0 */
/* What the set's other files need of it beyond shard/set.h. */
#ifndef SHARDSET_SET_H
#define SHARDSET_SET_H

#include <shard/set.h>

#include "core/alloc.h"
#include "core/error.h"
#include "manifest/manifest.h"

struct shard_set {
    shard_set_shard *shard;
    size_t shards;
    uint64_t samples, bytes; /* of all; SHARD_UNKNOWN where one is */

    char *manifest_path; /* NULL: opened from a list */
    fmt_manifest manifest;
    shard_set_component *components;
    shard_set_skip *skips;

    fmt_arena arena; /* of the paths and arrays above */
    fmt_alloc alloc;
};

/* Open the index of a shard of `bytes` stored bytes. */
shard_status shard_set_index_of(const char *shard_path, uint64_t bytes, shard_index **out,
                                const fmt_alloc *alloc, shard_error *err);

#endif
