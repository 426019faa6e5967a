/* SPDX-License-Identifier: Apache-2.0 */
#include "os/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/lock.h"

static char *partial_path(const char *path, const fmt_alloc *alloc)
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    size_t size = strlen(path) + sizeof "..partial";
    char *out = alloc->realloc(alloc->context, NULL, size);
    if (out)
        snprintf(out, size, "%.*s.%s.partial", (int)folder, path, path + folder);
    return out;
}

/* True while `fd` is still the file that stands under `path`: a writer before us may have renamed
 * it. */
static bool is_linked(int fd, const char *path)
{
    struct stat open_file, named_file;
    return fstat(fd, &open_file) == 0 && stat(path, &named_file) == 0 &&
           open_file.st_dev == named_file.st_dev && open_file.st_ino == named_file.st_ino;
}

static shard_status open_partial(shard_output *out, shard_error *err)
{
    for (;;) {
        out->fd = open(out->partial, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (out->fd < 0)
            return shard_fail_errno(err, out->path, "cannot create", errno);
        SHARD_TRY(shard_lock(out->fd, out->path, "another process is writing this file", err));
        if (is_linked(out->fd, out->partial))
            break;
        close(out->fd);
    }
    if (ftruncate(out->fd, 0) == 0)
        return SHARD_OK;
    shard_status status = shard_fail_errno(err, out->partial, "cannot truncate", errno);
    unlink(out->partial);
    return status;
}

static void release(shard_output *out)
{
    if (out->fd >= 0 && !out->is_stdout)
        close(out->fd);
    shard_alloc_free(&out->alloc, out->buffer);
    shard_alloc_free(&out->alloc, out->path);
    shard_alloc_free(&out->alloc, out->partial);
    *out = (shard_output){.fd = -1};
}

shard_status shard_output_open(shard_output *out, const char *path, const fmt_alloc *alloc,
                               shard_error *err)
{
    *out = (shard_output){.fd = -1, .alloc = *alloc};
    if (strcmp(path, "-") == 0) {
        out->fd = STDOUT_FILENO;
        out->is_stdout = true;
    }
    out->path = shard_alloc_text(alloc, out->is_stdout ? "(stdout)" : path);
    out->partial = out->is_stdout ? NULL : partial_path(path, alloc);
    out->buffer = alloc->realloc(alloc->context, NULL, SHARD_OUTPUT_BUFFER);
    shard_status status = SHARD_OK;
    if (!out->path || !out->buffer || (!out->partial && !out->is_stdout))
        status = shard_fail_memory(err);
    else if (!out->is_stdout)
        status = open_partial(out, err);
    if (status != SHARD_OK)
        release(out);
    return status;
}

static shard_status write_all(shard_output *out, const uint8_t *bytes, size_t size,
                              shard_error *err)
{
    while (size > 0) {
        ssize_t written = write(out->fd, bytes, size);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return shard_fail_errno(err, out->path, "cannot write", errno);
        bytes += written;
        size -= (size_t)written;
    }
    return SHARD_OK;
}

static shard_status flush(shard_output *out, shard_error *err)
{
    size_t size = out->buffered;
    out->buffered = 0;
    return write_all(out, out->buffer, size, err);
}

shard_status shard_output_write(shard_output *out, const void *bytes, size_t size, shard_error *err)
{
    if (out->buffered + size > SHARD_OUTPUT_BUFFER)
        SHARD_TRY(flush(out, err));
    out->size += size;
    if (size >= SHARD_OUTPUT_BUFFER)
        return write_all(out, bytes, size, err);
    if (size > 0)
        memcpy(out->buffer + out->buffered, bytes, size);
    out->buffered += size;
    return SHARD_OK;
}

shard_status shard_output_truncate(shard_output *out, uint64_t size, shard_error *err)
{
    if (out->is_stdout)
        return shard_fail(err, SHARD_EUNSUPPORTED, out->path, size,
                          "cannot take bytes back from standard output");
    SHARD_TRY(flush(out, err));
    if (ftruncate(out->fd, (off_t)size) != 0 || lseek(out->fd, (off_t)size, SEEK_SET) < 0)
        return shard_fail_errno(err, out->path, "cannot truncate", errno);
    out->size = size;
    return SHARD_OK;
}

/* Some file systems (NFS, quotas) tell only at a close that bytes could not be stored: close a
 * copy, since closing the file itself would let go of the lock on it. */
static shard_status check_stored(const shard_output *out, shard_error *err)
{
    int copy = dup(out->fd);
    if (copy >= 0 && close(copy) == 0)
        return SHARD_OK;
    return shard_fail_errno(err, out->path, "cannot write", errno);
}

shard_status shard_output_commit(shard_output *out, bool sync, shard_error *err)
{
    shard_status status = flush(out, err);
    if (status == SHARD_OK && sync && fsync(out->fd) != 0 && errno != EINVAL && errno != EROFS)
        status = shard_fail_errno(err, out->path, "cannot sync", errno);
    if (status == SHARD_OK && !out->is_stdout)
        status = check_stored(out, err);
    if (status == SHARD_OK && !out->is_stdout && rename(out->partial, out->path) != 0)
        status = shard_fail_errno(err, out->path, "cannot rename into place", errno);
    if (status != SHARD_OK)
        shard_output_abort(out);
    else
        release(out);
    return status;
}

void shard_output_abort(shard_output *out)
{
    if (!out->path)
        return;
    if (out->partial && out->fd >= 0)
        unlink(out->partial);
    release(out);
}
