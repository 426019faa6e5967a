/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a table's file: once from front to end, then any by its place. */
#ifndef PACK_ROWS_H
#define PACK_ROWS_H

#include "core/alloc.h"
#include "core/error.h"
#include "core/hash.h"

enum { PACK_ROW_MOST = 512 << 20 }; /* bytes */

typedef struct {
    const char *path; /* the caller's */
    bool is_csv;      /* ends of lines may stand inside quotes */
    int fd;
    uint64_t size; /* of the file, when it was opened */

    /* The pass from front to end: bytes of the file, up to `end`, of which `at` are dealt with. */
    uint8_t *buffer;
    size_t at, end, capacity;
    uint64_t offset; /* in the file, of the buffer's end */
    shard_hash *hash;
    fmt_alloc alloc;
} pack_rows;

/* Open a file, passing over a byte order mark. */
shard_status pack_rows_open(pack_rows *rows, const char *path, bool is_csv, const fmt_alloc *alloc,
                            shard_error *err);
void pack_rows_close(pack_rows *rows);

/*
 * The next row with its line's end, valid until the next call, and where it stands. SHARD_END
 * behind the last; SHARD_EDATA where the file is no longer of the size that it had.
 */
shard_status pack_rows_next(pack_rows *rows, fmt_span *out, uint64_t *offset, shard_error *err);

/* Read a row again. Any thread may. SHARD_EDATA where the file has become shorter. */
shard_status pack_rows_read(const pack_rows *rows, uint64_t offset, size_t size, uint8_t *out,
                            shard_error *err);

#endif
