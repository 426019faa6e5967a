/* SPDX-License-Identifier: Apache-2.0 */
/* Local files, and whatever else a path or descriptor leads to: pipes, fifos, standard input. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/source.h"

typedef struct {
    shard_source head;
    int fd;
    bool is_stdin;
} file_source;

static shard_status read_regular(shard_source *source, uint64_t offset, void *buffer, size_t size,
                                 size_t *got, shard_error *err)
{
    const file_source *file = (const file_source *)source;
    ssize_t n;
    do
        n = pread(file->fd, buffer, size, (off_t)offset);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return shard_fail_errno(err, source->url, "cannot read", errno);
    *got = (size_t)n;
    return SHARD_OK;
}

/* Wait until there is something to read, or the caller gives up. */
static shard_status wait_readable(const file_source *file, shard_error *err)
{
    enum { LOOK_UP_MS = 50 };
    struct pollfd wanted = {.fd = file->fd, .events = POLLIN};
    while (file->head.cancel && poll(&wanted, 1, LOOK_UP_MS) <= 0)
        if (shard_cancel_is_set(file->head.cancel))
            return shard_fail(err, SHARD_ECANCEL, file->head.url, SHARD_NO_OFFSET, "cancelled");
    return SHARD_OK;
}

static shard_status read_stream(shard_source *source, uint64_t offset, void *buffer, size_t size,
                                size_t *got, shard_error *err)
{
    const file_source *file = (const file_source *)source;
    (void)offset;
    SHARD_TRY(wait_readable(file, err));
    ssize_t n;
    do
        n = read(file->fd, buffer, size);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return shard_fail_errno(err, source->url, "cannot read", errno);
    *got = (size_t)n;
    return SHARD_OK;
}

static void close_file(shard_source *source)
{
    const file_source *file = (const file_source *)source;
    if (file->fd >= 0 && !file->is_stdin)
        close(file->fd);
}

static const shard_source_type regular_type = {read_regular, close_file};
static const shard_source_type stream_type = {read_stream, close_file};

static shard_status examine(file_source *file, shard_error *err)
{
    struct stat info;
    if (fstat(file->fd, &info) != 0)
        return shard_fail_errno(err, file->head.url, "cannot stat", errno);
    if (S_ISDIR(info.st_mode))
        return shard_fail(err, SHARD_EINVAL, file->head.url, SHARD_NO_OFFSET, "is a directory");
    /* Standard input may be a file that somebody has read from: then it goes on from there. */
    if (S_ISREG(info.st_mode) && !file->is_stdin) {
        file->head.type = &regular_type;
        file->head.seekable = true;
        file->head.size = (uint64_t)info.st_size;
    }
    return SHARD_OK;
}

/* Opening a fifo waits for its writer, until a signal after which the caller gives up. */
static shard_status open_path(file_source *file, const char *path, const shard_cancel *cancel,
                              shard_error *err)
{
    do
        file->fd = open(path, O_RDONLY | O_CLOEXEC);
    while (file->fd < 0 && errno == EINTR && !shard_cancel_is_set(cancel));
    if (file->fd >= 0)
        return SHARD_OK;
    if (errno == EINTR)
        return shard_fail(err, SHARD_ECANCEL, path, SHARD_NO_OFFSET, "cancelled");
    return shard_fail_errno(err, path, "cannot open", errno);
}

shard_status shard_source_open_file(shard_source **out, const char *path,
                                    const shard_cancel *cancel, const fmt_alloc *alloc,
                                    shard_error *err)
{
    bool standard_input = strcmp(path, "-") == 0;
    shard_source *source;
    SHARD_TRY(shard_source_new(&source, sizeof(file_source), &stream_type,
                               standard_input ? "(stdin)" : path, alloc, err));
    file_source *file = (file_source *)source;
    file->is_stdin = standard_input;
    file->fd = standard_input ? STDIN_FILENO : -1;
    shard_status status = standard_input ? SHARD_OK : open_path(file, path, cancel, err);
    if (status == SHARD_OK)
        status = examine(file, err);
    if (status != SHARD_OK)
        shard_source_close(source);
    else
        *out = source;
    return status;
}
