/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a shard's bytes come from: one vtable, a file for each kind. A new kind (HTTP, S3) is a new
 * file and a line in source.c's table of schemes.
 */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <shard/cancel.h>

#include "core/alloc.h"
#include "core/error.h"

#define SHARD_SIZE_UNKNOWN UINT64_MAX

typedef struct shard_source shard_source;

typedef struct {
    /*
     * Read up to `size` bytes at `offset`; 0 in `*got` only at the end. From a source that is not
     * seekable, `offset` is where the last read stopped.
     */
    shard_status (*read_at)(shard_source *source, uint64_t offset, void *buffer, size_t size,
                            size_t *got, shard_error *err);
    void (*close)(shard_source *source);
} shard_source_type;

/* Each kind's struct begins with this one. */
struct shard_source {
    const shard_source_type *type;
    char *url;
    uint64_t size; /* in bytes, or SHARD_SIZE_UNKNOWN */
    bool seekable;
    const shard_cancel *cancel; /* asked by reads that wait; NULL: never */
    fmt_alloc alloc;
};

/* Open a URL: a path, or "-" for standard input. `cancel` (may be NULL) ends reads that wait. */
shard_status shard_source_open(shard_source **out, const char *url, const shard_cancel *cancel,
                               const fmt_alloc *alloc, shard_error *err);

/* A source on bytes in memory, which stay the caller's; `url` names them in errors. */
shard_status shard_source_open_memory(shard_source **out, const char *url, const void *bytes,
                                      size_t size, const fmt_alloc *alloc, shard_error *err);

void shard_source_close(shard_source *source); /* NULL allowed */

/* As read_at, but short only at the source's end. */
shard_status shard_source_read(shard_source *source, uint64_t offset, void *buffer, size_t size,
                               size_t *got, shard_error *err);

/* ---- for the kinds ---- */

/* A zeroed struct of `size` bytes with its head filled in. */
shard_status shard_source_new(shard_source **out, size_t size, const shard_source_type *type,
                              const char *url, const fmt_alloc *alloc, shard_error *err);

shard_status shard_source_open_file(shard_source **out, const char *path,
                                    const shard_cancel *cancel, const fmt_alloc *alloc,
                                    shard_error *err);

#endif
