/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/manifest_file.h"

#include "os/output.h"
#include "source/source.h"

enum { MANIFEST_MAX = 1 << 30 }; /* bytes; 1e7 shards take 700 MB */

static shard_status read_text(shard_source *source, const fmt_alloc *alloc, fmt_span *out,
                              shard_error *err)
{
    size_t capacity = 0, size = 0, got;
    uint8_t *text = NULL;
    shard_status status = SHARD_OK;
    do {
        size_t wanted = size + (source->size < MANIFEST_MAX ? (size_t)source->size + 1 : 1 << 16);
        if (!shard_alloc_grow(alloc, &text, &capacity, wanted, 1))
            status = shard_fail_memory(err);
        else
            status = shard_source_read(source, size, text + size, capacity - size, &got, err);
        size += status == SHARD_OK ? got : 0;
        if (size > MANIFEST_MAX)
            status = shard_fail(err, SHARD_ELIMIT, source->url, SHARD_NO_OFFSET,
                                "manifest is larger than 1 GiB");
    } while (status == SHARD_OK && size == capacity);
    if (status != SHARD_OK)
        shard_alloc_free(alloc, text);
    else
        *out = (fmt_span){text, size};
    return status;
}

shard_status shard_manifest_load(fmt_manifest *out, const char *path, shard_error *err)
{
    const fmt_alloc *alloc = out->arena.alloc;
    shard_source *source;
    fmt_span text;
    fmt_fault fault;
    SHARD_TRY(shard_source_open(&source, path, NULL, alloc, err));
    shard_status status = read_text(source, alloc, &text, err);
    shard_source_close(source);
    if (status != SHARD_OK)
        return status;
    fmt_status parsed = fmt_manifest_parse(out, text, &fault);
    shard_alloc_free(alloc, (void *)(uintptr_t)text.data);
    return parsed == FMT_OK ? SHARD_OK : shard_fail_fmt(err, parsed, &fault, path, 0);
}

typedef struct {
    shard_output *out;
    shard_status status;
    shard_error *err;
} sink;

static bool write_text(void *context, const char *text, size_t size)
{
    sink *s = context;
    s->status = shard_output_write(s->out, text, size, s->err);
    return s->status == SHARD_OK;
}

shard_status shard_manifest_save(const fmt_manifest *manifest, const char *path, bool sync,
                                 const fmt_alloc *alloc, shard_error *err)
{
    shard_output out;
    SHARD_TRY(shard_output_open(&out, path, alloc, err));
    sink s = {&out, SHARD_OK, err};
    fmt_status written = fmt_manifest_write(manifest, write_text, &s);
    if (written == FMT_OK)
        return shard_output_commit(&out, sync, err);
    shard_output_abort(&out);
    return written == FMT_END ? s.status : shard_fail_memory(err);
}
