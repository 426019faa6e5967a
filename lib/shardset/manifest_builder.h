/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A manifest put together shard by shard. Packing, resuming, indexing and merging all come through
 * here, which is why they give the same bytes.
 */
#ifndef SHARDSET_MANIFEST_BUILDER_H
#define SHARDSET_MANIFEST_BUILDER_H

#include <shard/index.h>

#include "shardset/manifest_file.h"

typedef struct {
    fmt_manifest manifest; /* texts in its arena; the arrays below grow on their own */
    size_t shard_capacity, component_capacity, skip_capacity;
    fmt_alloc alloc;
} shard_manifest_builder;

void shard_manifest_builder_init(shard_manifest_builder *b, const fmt_alloc *alloc);
void shard_manifest_builder_clear(shard_manifest_builder *b);

/* The next shard: its name relative to the manifest, and its index, which must have a hash. */
shard_status shard_manifest_builder_add(shard_manifest_builder *b, const char *name,
                                        const shard_index *index, shard_error *err);

/* All of another manifest: the next part of a set. Digest and classes must be the same in each. */
shard_status shard_manifest_builder_join(shard_manifest_builder *b, const fmt_manifest *part,
                                         const char *part_path, shard_error *err);

/* Something that was left out. */
shard_status shard_manifest_builder_skip(shard_manifest_builder *b, const char *name,
                                         const char *reason, shard_error *err);

/* The class names, once. */
shard_status shard_manifest_builder_classes(shard_manifest_builder *b, const char *const *names,
                                            size_t count, shard_error *err);

/* What it was packed from and how, as a text. */
shard_status shard_manifest_builder_digest(shard_manifest_builder *b, const char *digest,
                                           shard_error *err);

/* Write it. `part` of `parts`; 0 of 0 for a whole set. */
shard_status shard_manifest_builder_save(shard_manifest_builder *b, const char *path, uint32_t part,
                                         uint32_t parts, bool sync, shard_error *err);

#endif
