/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests as files. */
#ifndef SHARDSET_MANIFEST_FILE_H
#define SHARDSET_MANIFEST_FILE_H

#include "core/alloc.h"
#include "core/error.h"
#include "manifest/manifest.h"

#define SHARD_MANIFEST_SUFFIX ".shards.json"

/* Read and parse; `out` was initialised and is to be cleared whatever the answer. */
shard_status shard_manifest_load(fmt_manifest *out, const char *path, shard_error *err);

/* Write whole or not at all. */
shard_status shard_manifest_save(const fmt_manifest *manifest, const char *path, bool sync,
                                 const fmt_alloc *alloc, shard_error *err);

#endif
