/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of one size, appended and later read from the start, in little memory: what does not fit a
 * buffer goes to a nameless file. So an index is built in bounded memory whatever the shard's size.
 */
#ifndef INDEX_SPOOL_H
#define INDEX_SPOOL_H

#include "core/alloc.h"
#include "core/error.h"

enum { SHARD_SPOOL_MEMORY = 1 << 20 }; /* bytes kept in memory by each */

typedef struct {
    size_t row_size;
    uint64_t rows;
    const char *folder; /* where the file goes, when one is needed; the caller's */
    fmt_alloc alloc;

    uint8_t *buffer;
    size_t buffered, capacity; /* bytes */
    int fd;                    /* of the file; -1: not needed so far */
    uint64_t in_file;          /* bytes */
} shard_spool;

void shard_spool_init(shard_spool *spool, size_t row_size, const char *folder,
                      const fmt_alloc *alloc);
void shard_spool_clear(shard_spool *spool);

shard_status shard_spool_append(shard_spool *spool, const void *rows, size_t count,
                                shard_error *err);

/* Read rows from number `first` on, as many as fit: `*count` says how many at most, and then how
 * many. */
shard_status shard_spool_read(const shard_spool *spool, uint64_t first, void *rows, size_t *count,
                              shard_error *err);

#endif
