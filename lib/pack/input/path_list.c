/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/path_list.h"

#include <string.h>

#include "container/raw.h"
#include "os/path.h"

typedef struct {
    pack_path_fn each;
    void *context;
    char end; /* of each path */
    char path[SHARD_PATH_MAX];
    size_t size;
} reading;

/* The path gathered so far is complete. */
static shard_status end_path(reading *r, const char *file, uint64_t offset, shard_error *err)
{
    size_t size = r->size;
    r->size = 0;
    if (r->end == '\n' && size > 0 && r->path[size - 1] == '\r')
        size--;
    r->path[size] = 0;
    if (memchr(r->path, 0, size))
        return shard_fail(err, SHARD_EFORMAT, file, offset, "NUL in a path (is -0 missing?)");
    return r->each(r->context, r->path, size, err);
}

static shard_status push(reading *r, const char *file, uint64_t offset, fmt_span bytes,
                         shard_error *err)
{
    while (bytes.size > 0) {
        const uint8_t *end = memchr(bytes.data, r->end, bytes.size);
        size_t size = end ? (size_t)(end - bytes.data) : bytes.size;
        if (r->size + size >= sizeof r->path)
            return shard_fail(err, SHARD_EFORMAT, file, offset, "a path of more than 4 KiB");
        memcpy(r->path + r->size, bytes.data, size);
        r->size += size;
        if (end)
            SHARD_TRY(end_path(r, file, offset, err));
        size += end != NULL;
        offset += size;
        bytes.data += size;
        bytes.size -= size;
    }
    return SHARD_OK;
}

static shard_status read_all(reading *r, shard_raw *raw, shard_error *err)
{
    const char *file = raw->source->url;
    for (;;) {
        fmt_span bytes;
        SHARD_TRY(shard_raw_next(raw, &bytes, err));
        if (bytes.size == 0)
            return r->size > 0 ? end_path(r, file, raw->offset, err) : SHARD_OK;
        SHARD_TRY(push(r, file, raw->offset, bytes, err));
        shard_raw_consume(raw, bytes.size);
    }
}

shard_status pack_path_list_read(const char *file, bool nul, const shard_cancel *cancel,
                                 pack_path_fn each, void *context, const fmt_alloc *alloc,
                                 shard_error *err)
{
    shard_source *source;
    shard_raw raw;
    reading r = {.each = each, .context = context, .end = nul ? 0 : '\n'};
    SHARD_TRY(shard_source_open(&source, file, cancel, alloc, err));
    shard_status status = shard_raw_open(&raw, source, alloc, err);
    if (status == SHARD_OK) {
        status = read_all(&r, &raw, err);
        shard_raw_close(&raw);
    }
    shard_source_close(source);
    return status;
}
