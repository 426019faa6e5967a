/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that appears under its name whole or not at all: written as ".NAME.partial" in the same
 * folder, then renamed. The partial file is locked, so that two writers of one output do not mix.
 */
#ifndef OS_OUTPUT_H
#define OS_OUTPUT_H

#include "core/alloc.h"
#include "core/error.h"

enum { SHARD_OUTPUT_BUFFER = 64 << 10 }; /* smaller writes are gathered */

typedef struct {
    int fd;
    bool is_stdout;
    char *path, *partial;
    uint64_t size; /* bytes written, those still in the buffer too */
    uint8_t *buffer;
    size_t buffered;
    fmt_alloc alloc;
} shard_output;

/* Begin to write `path`; "-" is standard output. SHARD_EBUSY: another process is writing it. */
shard_status shard_output_open(shard_output *out, const char *path, const fmt_alloc *alloc,
                               shard_error *err);

shard_status shard_output_write(shard_output *out, const void *bytes, size_t size,
                                shard_error *err);

/* Take back all bytes from `size` on. SHARD_EUNSUPPORTED for standard output. */
shard_status shard_output_truncate(shard_output *out, uint64_t size, shard_error *err);

/* Give the file its name, after an fsync if `sync`; frees `out` whether it succeeds or not. */
shard_status shard_output_commit(shard_output *out, bool sync, shard_error *err);

/* Remove what was written; frees `out`. For an `out` of zeros: nothing. */
void shard_output_abort(shard_output *out);

#endif
