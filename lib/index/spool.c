/* SPDX-License-Identifier: Apache-2.0 */
#include "index/spool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void shard_spool_init(shard_spool *spool, size_t row_size, const char *folder,
                      const fmt_alloc *alloc)
{
    *spool = (shard_spool){.row_size = row_size, .folder = folder, .alloc = *alloc, .fd = -1};
}

void shard_spool_clear(shard_spool *spool)
{
    if (spool->fd >= 0)
        close(spool->fd);
    shard_alloc_free(&spool->alloc, spool->buffer);
    shard_spool_init(spool, spool->row_size, spool->folder, &spool->alloc);
}

static shard_status open_file(shard_spool *spool, shard_error *err)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/.shard-spool-XXXXXX", spool->folder) >= (int)sizeof path)
        return shard_fail(err, SHARD_EINVAL, spool->folder, SHARD_NO_OFFSET, "path is too long");
    spool->fd = mkstemp(path);
    if (spool->fd < 0)
        return shard_fail_errno(err, path, "cannot create a temporary file", errno);
    unlink(path);
    return SHARD_OK;
}

/* Move the buffer's bytes to the file's end. */
static shard_status spill(shard_spool *spool, shard_error *err)
{
    if (spool->fd < 0)
        SHARD_TRY(open_file(spool, err));
    for (size_t done = 0; done < spool->buffered;) {
        ssize_t n = pwrite(spool->fd, spool->buffer + done, spool->buffered - done,
                           (off_t)(spool->in_file + done));
        if (n < 0 && errno != EINTR)
            return shard_fail_errno(err, spool->folder, "cannot write a temporary file", errno);
        done += n > 0 ? (size_t)n : 0;
    }
    spool->in_file += spool->buffered;
    spool->buffered = 0;
    return SHARD_OK;
}

shard_status shard_spool_append(shard_spool *spool, const void *rows, size_t count,
                                shard_error *err)
{
    const uint8_t *bytes = rows;
    size_t size = count * spool->row_size;
    while (size > 0) {
        if (spool->buffered == SHARD_SPOOL_MEMORY)
            SHARD_TRY(spill(spool, err));
        size_t room = SHARD_SPOOL_MEMORY - spool->buffered;
        size_t piece = size < room ? size : room;
        if (!shard_alloc_grow(&spool->alloc, &spool->buffer, &spool->capacity,
                              spool->buffered + piece, 1))
            return shard_fail_memory(err);
        memcpy(spool->buffer + spool->buffered, bytes, piece);
        spool->buffered += piece;
        bytes += piece;
        size -= piece;
    }
    spool->rows += count;
    return SHARD_OK;
}

static shard_status read_file(const shard_spool *spool, uint64_t offset, uint8_t *bytes,
                              size_t size, shard_error *err)
{
    while (size > 0) {
        ssize_t n = pread(spool->fd, bytes, size, (off_t)offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return shard_fail_errno(err, spool->folder, "cannot read a temporary file",
                                    n < 0 ? errno : EIO);
        bytes += n;
        offset += (uint64_t)n;
        size -= (size_t)n;
    }
    return SHARD_OK;
}

shard_status shard_spool_read(const shard_spool *spool, uint64_t first, void *rows, size_t *count,
                              shard_error *err)
{
    if (*count > spool->rows - first)
        *count = (size_t)(spool->rows - first);
    uint64_t offset = first * spool->row_size;
    size_t size = *count * spool->row_size, from_file = 0;
    if (offset < spool->in_file) {
        uint64_t left = spool->in_file - offset;
        from_file = size < left ? size : (size_t)left;
        SHARD_TRY(read_file(spool, offset, rows, from_file, err));
    }
    if (size > from_file)
        memcpy((uint8_t *)rows + from_file, spool->buffer + (offset + from_file - spool->in_file),
               size - from_file);
    return SHARD_OK;
}
