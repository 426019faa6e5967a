/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pack/input/csv.h"

enum { PIECE = 256 << 10 };

/* ---- bytes ---- */

/* As much as there is, up to `size`. */
static shard_status read_at(const pack_rows *rows, uint64_t offset, uint8_t *out, size_t size,
                            size_t *got, shard_error *err)
{
    *got = 0;
    while (*got < size) {
        ssize_t n = pread(rows->fd, out + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return shard_fail_errno(err, rows->path, "cannot read", errno);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return SHARD_OK;
}

static shard_status fail_size(const pack_rows *rows, uint64_t got, shard_error *err)
{
    return shard_fail(err, SHARD_EDATA, rows->path, SHARD_NO_OFFSET,
                      "%s while it was read (expected %llu bytes, got %llu)",
                      got < rows->size ? "shrank" : "grew", (unsigned long long)rows->size,
                      (unsigned long long)got);
}

/* Read on behind what is in the buffer; `*got` 0 at the file's end. */
static shard_status refill(pack_rows *rows, size_t *got, shard_error *err)
{
    size_t left = rows->end - rows->at;
    if (left > PACK_ROW_MOST)
        return shard_fail(err, SHARD_ELIMIT, rows->path, rows->offset - left,
                          "the row is larger than 512 MiB");
    if (left > 0)
        memmove(rows->buffer, rows->buffer + rows->at, left);
    rows->at = 0;
    rows->end = left;
    if (!shard_alloc_grow(&rows->alloc, &rows->buffer, &rows->capacity, left + PIECE, 1))
        return shard_fail_memory(err);
    SHARD_TRY(read_at(rows, rows->offset, rows->buffer + left, rows->capacity - left, got, err));
    shard_hash_add(rows->hash, rows->buffer + left, *got);
    rows->end += *got;
    rows->offset += *got;
    if (*got == 0 && rows->offset != rows->size)
        return fail_size(rows, rows->offset, err);
    return SHARD_OK;
}

/* ---- rows ---- */

static size_t row_size(const pack_rows *rows, fmt_span rest)
{
    if (rows->is_csv)
        return pack_csv_record(rest);
    const uint8_t *end = memchr(rest.data, '\n', rest.size);
    return end ? (size_t)(end - rest.data) + 1 : rest.size;
}

shard_status pack_rows_next(pack_rows *rows, fmt_span *out, uint64_t *offset, shard_error *err)
{
    for (;;) {
        fmt_span rest = {rows->buffer + rows->at, rows->end - rows->at};
        size_t size = rest.size > 0 ? row_size(rows, rest) : 0, got = 0;
        if (size == rest.size) /* perhaps it goes on */
            SHARD_TRY(refill(rows, &got, err));
        if (got > 0)
            continue;
        if (size == 0)
            return SHARD_END;
        *out = (fmt_span){rows->buffer + rows->at, size};
        *offset = rows->offset - (rows->end - rows->at);
        rows->at += size;
        return SHARD_OK;
    }
}

shard_status pack_rows_read(const pack_rows *rows, uint64_t offset, size_t size, uint8_t *out,
                            shard_error *err)
{
    size_t got;
    SHARD_TRY(read_at(rows, offset, out, size, &got, err));
    return got == size ? SHARD_OK : fail_size(rows, offset + got, err);
}

/* ---- the file ---- */

/* With which some programs begin a table. */
static void skip_mark(pack_rows *rows)
{
    if (rows->end >= 3 && memcmp(rows->buffer, "\xef\xbb\xbf", 3) == 0)
        rows->at = 3;
}

static shard_status open_file(pack_rows *rows, shard_error *err)
{
    struct stat info;
    size_t got;
    rows->fd = open(rows->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (rows->fd < 0)
        return shard_fail_errno(err, rows->path, "cannot open", errno);
    if (fstat(rows->fd, &info) != 0)
        return shard_fail_errno(err, rows->path, "cannot examine", errno);
    if (!S_ISREG(info.st_mode))
        return shard_fail(err, SHARD_EDATA, rows->path, SHARD_NO_OFFSET, "not a regular file");
    rows->size = (uint64_t)info.st_size;
    rows->hash = shard_hash_new();
    if (!rows->hash)
        return shard_fail_memory(err);
    SHARD_TRY(refill(rows, &got, err));
    skip_mark(rows);
    return SHARD_OK;
}

shard_status pack_rows_open(pack_rows *rows, const char *path, bool is_csv, const fmt_alloc *alloc,
                            shard_error *err)
{
    *rows = (pack_rows){.path = path, .is_csv = is_csv, .fd = -1, .alloc = *alloc};
    shard_status status = open_file(rows, err);
    if (status != SHARD_OK)
        pack_rows_close(rows);
    return status;
}

void pack_rows_close(pack_rows *rows)
{
    if (rows->fd >= 0)
        close(rows->fd);
    shard_alloc_free(&rows->alloc, rows->buffer);
    shard_hash_free(rows->hash);
    rows->fd = -1;
    rows->buffer = NULL;
    rows->hash = NULL;
}
