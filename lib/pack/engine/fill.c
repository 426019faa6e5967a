/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/fill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "core/hash.h"
#include "os/path.h"

/* ---- files ---- */

static const char *name_of(const pack_component *c, char out[SHARD_PATH_MAX])
{
    const char *folder = c->folder_path ? c->folder_path : ".";
    if (c->path && shard_path_join(folder, c->path, out, NULL) == SHARD_OK)
        return out;
    return c->path ? c->path : c->name;
}

static shard_status fail_file(const pack_component *c, const char *what, int code, shard_error *err)
{
    char name[SHARD_PATH_MAX];
    return shard_fail_errno(err, name_of(c, name), what, code);
}

static shard_status fail_kind(const pack_component *c, bool is_folder, shard_error *err)
{
    char name[SHARD_PATH_MAX];
    return shard_fail(err, SHARD_EDATA, name_of(c, name), SHARD_NO_OFFSET, "%s",
                      is_folder ? "is a directory, not a file" : "not a regular file");
}

static shard_status fail_size(const pack_component *c, const char *what, uint64_t expected,
                              uint64_t got, shard_error *err)
{
    char name[SHARD_PATH_MAX];
    return shard_fail(err, SHARD_EDATA, name_of(c, name), SHARD_NO_OFFSET,
                      "%s while it was read (expected %llu bytes, got %llu)", what,
                      (unsigned long long)expected, (unsigned long long)got);
}

shard_status pack_component_open(const pack_component *c, int *fd, uint64_t *size, shard_error *err)
{
    struct stat info;
    if (!c->path) {
        *fd = c->file;
        *size = c->size;
        return SHARD_OK;
    }
    *fd = openat(c->folder, c->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (*fd < 0)
        return fail_file(c, "cannot open", errno, err);
    shard_status status = fstat(*fd, &info) != 0  ? fail_file(c, "cannot examine", errno, err)
                          : S_ISREG(info.st_mode) ? SHARD_OK
                                                  : fail_kind(c, S_ISDIR(info.st_mode), err);
    if (status == SHARD_OK)
        *size = (uint64_t)info.st_size;
    else
        pack_component_close(c, *fd);
    return status;
}

void pack_component_close(const pack_component *c, int fd)
{
    if (c->path && fd >= 0)
        close(fd);
}

/* As much as there is, up to `size`. */
static shard_status read_some(const pack_component *c, int fd, uint8_t *buffer, size_t size,
                              uint64_t offset, size_t *got, shard_error *err)
{
    for (*got = 0; *got < size;) {
        ssize_t n = pread(fd, buffer + *got, size - *got, (off_t)(offset + *got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_file(c, "cannot read", errno, err);
        if (n == 0)
            break;
        *got += (size_t)n;
    }
    return SHARD_OK;
}

shard_status pack_component_read(const pack_component *c, int fd, uint8_t *buffer, size_t size,
                                 uint64_t offset, shard_error *err)
{
    size_t got;
    SHARD_TRY(read_some(c, fd, buffer, size, offset, &got, err));
    return got == size ? SHARD_OK : fail_size(c, "shrank", offset + size, offset + got, err);
}

shard_status pack_component_end(const pack_component *c, int fd, uint64_t size, shard_error *err)
{
    uint8_t byte;
    size_t got;
    SHARD_TRY(read_some(c, fd, &byte, 1, size, &got, err));
    return got == 0 ? SHARD_OK : fail_size(c, "grew", size, size + 1, err);
}

/* All of a file into a buffer of size + 1 bytes. Asking for one more shows growth in the same call.
 */
static shard_status read_whole(const pack_component *c, int fd, uint8_t *buffer, uint64_t size,
                               shard_error *err)
{
    size_t got = 0;
    ssize_t n;
    do
        n = read(fd, buffer, (size_t)size + 1);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return fail_file(c, "cannot read", errno, err);
    got = (size_t)n;
    if (got < size) { /* rare: a signal, or a file that shrinks */
        size_t more;
        SHARD_TRY(read_some(c, fd, buffer + got, (size_t)size + 1 - got, got, &more, err));
        got += more;
    }
    if (got == size)
        return SHARD_OK;
    return fail_size(c, got < size ? "shrank" : "grew", size, got, err);
}

/* ---- samples ---- */

static uint32_t label_hash(const void *bytes, size_t size)
{
    return (uint32_t)shard_hash64(bytes, size, 0) | 1; /* never 0 */
}

uint32_t pack_label_of(const pack_sample *sample)
{
    const char *slash = memchr(sample->key, '/', sample->key_size);
    return slash ? label_hash(sample->key, (size_t)(slash - sample->key)) : 0;
}

typedef struct {
    pack_filler *filler;
    pack_chunk *chunk;
    const pack_sample *sample;
    uint64_t bytes_in;
    uint32_t label;
    shard_error *err;
} filling;

static void end_component(filling *f, const pack_component *c, const uint8_t *payload, size_t size)
{
    pack_chunk_end_component(f->chunk, shard_crc32c(0, payload, size));
    if (strcmp(c->name, "cls") == 0)
        f->label = label_hash(payload, size);
}

static shard_status add_bytes(filling *f, const pack_component *c, fmt_span bytes)
{
    uint8_t *payload;
    SHARD_TRY(
        pack_chunk_begin_component(f->chunk, f->sample, c->name, bytes.size, &payload, f->err));
    memcpy(payload, bytes.data, bytes.size);
    end_component(f, c, payload, bytes.size);
    return SHARD_OK;
}

static shard_status read_payload(const pack_component *c, int fd, uint8_t *out, uint64_t size,
                                 shard_error *err)
{
    return c->path ? read_whole(c, fd, out, size, err)
                   : pack_component_read(c, fd, out, (size_t)size, 0, err);
}

static shard_status read_component(filling *f, const pack_component *c, int fd, uint64_t size)
{
    uint8_t *payload;
    SHARD_TRY(pack_chunk_begin_component(f->chunk, f->sample, c->name, size, &payload, f->err));
    SHARD_TRY(read_payload(c, fd, payload, size, f->err));
    end_component(f, c, payload, (size_t)size);
    return SHARD_OK;
}

/* ---- images ---- */

/* The transform does not know whose image it was. */
static shard_status name_image(const pack_component *c, shard_status status, shard_error *err)
{
    char name[SHARD_PATH_MAX];
    if (status != SHARD_OK && err)
        snprintf(err->url, sizeof err->url, "%.*s", (int)sizeof err->url - 1, name_of(c, name));
    return status;
}

static shard_status read_image(pack_transform *t, const pack_component *c, int fd, uint64_t size,
                               fmt_span *out, shard_error *err)
{
    uint8_t *bytes;
    SHARD_TRY(name_image(c, pack_transform_buffer(t, size, &bytes, err), err));
    SHARD_TRY(read_payload(c, fd, bytes, size, err));
    *out = (fmt_span){bytes, (size_t)size};
    return SHARD_OK;
}

static shard_status load_image(pack_transform *t, const pack_component *c, fmt_span *out,
                               shard_error *err)
{
    int fd;
    uint64_t size;
    *out = (fmt_span){c->data, c->size};
    if (c->data)
        return SHARD_OK;
    SHARD_TRY(pack_component_open(c, &fd, &size, err));
    shard_status status = read_image(t, c, fd, size, out, err);
    pack_component_close(c, fd);
    return status;
}

shard_status pack_fill_image(pack_filler *filler, const pack_component *c, fmt_span *out,
                             uint64_t *bytes_in, shard_error *err)
{
    fmt_span image;
    SHARD_TRY(load_image(filler->transform, c, &image, err));
    *bytes_in = image.size;
    return name_image(c, pack_transform_run(filler->transform, image, out, err), err);
}

/* ---- components ---- */

static shard_status add_image(filling *f, const pack_component *c)
{
    fmt_span result;
    uint64_t bytes_in;
    SHARD_TRY(pack_fill_image(f->filler, c, &result, &bytes_in, f->err));
    f->bytes_in += bytes_in;
    return add_bytes(f, c, result);
}

static shard_status add_file(filling *f, const pack_component *c, bool *too_large)
{
    int fd;
    uint64_t size;
    SHARD_TRY(pack_component_open(c, &fd, &size, f->err));
    f->bytes_in += size;
    *too_large = f->bytes_in > PACK_FRAME_MOST;
    shard_status status = *too_large ? SHARD_OK : read_component(f, c, fd, size);
    pack_component_close(c, fd);
    return status;
}

static shard_status add_component(filling *f, const pack_component *c, bool *too_large)
{
    if (pack_transform_wants(f->filler->transform, c->name))
        return add_image(f, c);
    if (!c->data)
        return add_file(f, c, too_large);
    f->bytes_in += c->size;
    return add_bytes(f, c, (fmt_span){c->data, c->size});
}

static shard_status add_components(filling *f, bool *too_large)
{
    *too_large = false;
    SHARD_TRY(pack_chunk_begin_sample(f->chunk, f->sample, f->err));
    for (size_t i = 0; i < f->sample->components && !*too_large; i++)
        SHARD_TRY(add_component(f, &f->sample->component[i], too_large));
    return SHARD_OK;
}

shard_status pack_fill(pack_filler *filler, pack_chunk *chunk, const pack_sample *sample,
                       bool *too_large, shard_error *err)
{
    filling f = {.filler = filler,
                 .chunk = chunk,
                 .sample = sample,
                 .label = pack_label_of(sample),
                 .err = err};
    pack_transform_counts counts;
    pack_transform_get_counts(filler->transform, &counts);
    shard_status status = add_components(&f, too_large);
    if (status != SHARD_OK || *too_large) {
        pack_chunk_drop_sample(chunk);
        pack_transform_set_counts(filler->transform, &counts);
        return status;
    }
    filler->bytes_in += f.bytes_in;
    return pack_chunk_end_sample(chunk, f.label, err);
}
