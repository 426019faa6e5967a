/* SPDX-License-Identifier: Apache-2.0 */
/* A shard of a set, open with its index: any number of threads may read it side by side. */
#ifndef SHARDSET_OPENED_H
#define SHARDSET_OPENED_H

#include "shardset/set.h"
#include "source/source.h"

typedef struct {
    const char *path; /* the set's */
    shard_index *index;
    shard_index_info info;
    shard_source *source;
    const char *const *names; /* of components by id, to outlive the index; NULL: the index's */
} shard_opened;

/* Errors as of shard_set_open_index and shard_source_open; SHARD_ESTALE where the two differ. */
shard_status shard_opened_open(shard_opened *out, const shard_set *set, uint64_t shard,
                               const shard_cancel *cancel, shard_error *err);
void shard_opened_close(shard_opened *shard); /* a struct of zeros is allowed */

/* A seekable plain tar, of which any range is a read. */
bool shard_opened_is_plain(const shard_opened *shard);

/* Compressed in frames that can be read alone. */
bool shard_opened_has_frames(const shard_opened *shard);

/* Read stored bytes; where there are fewer, the index is stale. */
shard_status shard_opened_read(const shard_opened *shard, uint64_t offset, void *bytes, size_t size,
                               shard_error *err);

/* Number of the frame that holds `offset` of the tar. */
shard_status shard_opened_find_frame(const shard_opened *shard, uint64_t offset, uint64_t *out,
                                     shard_error *err);

/* SHARD_ESTALE at `offset`: `what` stands there "than its index says". */
shard_status shard_opened_stale(const shard_opened *shard, uint64_t offset, const char *what,
                                shard_error *err);

#endif
