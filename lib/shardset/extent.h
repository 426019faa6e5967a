/* SPDX-License-Identifier: Apache-2.0 */
/* The piece of a shard's tar that holds a sample, or the wanted components of it: where it lies by
 * the index, and what its bytes then turn out to be. */
#ifndef SHARDSET_EXTENT_H
#define SHARDSET_EXTENT_H

#include "shardset/opened.h"
#include "tar/tar_reader.h"

/* Component names in lower case; none: all components are wanted. */
typedef struct {
    const char *const *name;
    size_t count;
} shard_wanted;

bool shard_wanted_has(const shard_wanted *wanted, const char *component);

typedef struct {
    uint64_t number; /* of the sample in its shard */
    shard_index_sample sample;
    uint64_t begin, end; /* of the tar */
    uint32_t components; /* that are wanted and there; with none the extent is empty */
} shard_extent;

/* SHARD_ENOTFOUND past the last sample, SHARD_EFORMAT for a damaged index, SHARD_ESTALE. */
shard_status shard_extent_find(const shard_opened *shard, uint64_t number,
                               const shard_wanted *wanted, shard_extent *out, shard_error *err);

/*
 * The components in `bytes`, which are those of the extent, into `out`: as many as it says. Tar
 * headers must agree with the index, payloads with its checksums unless `unchecked`. Names are the
 * index's, or the shard's own. `tar` is room to work in. Errors: SHARD_ESTALE, SHARD_ECHECKSUM, and
 * those of the tar.
 */
shard_status shard_extent_match(const shard_opened *shard, const shard_extent *extent,
                                const shard_wanted *wanted, const uint8_t *bytes, bool unchecked,
                                fmt_tar_reader *tar, shard_sample_component *out, shard_error *err);

#endif
