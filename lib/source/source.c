/* SPDX-License-Identifier: Apache-2.0 */
#include "source/source.h"

shard_status shard_source_new(shard_source **out, size_t size, const shard_source_type *type,
                              const char *url, const fmt_alloc *alloc, shard_error *err)
{
    shard_source *source = shard_alloc_zeroed(alloc, 1, size);
    *out = NULL;
    if (!source)
        return shard_fail_memory(err);
    source->type = type;
    source->alloc = *alloc;
    source->size = SHARD_SIZE_UNKNOWN;
    source->url = shard_alloc_text(alloc, url);
    if (!source->url) {
        shard_alloc_free(alloc, source);
        return shard_fail_memory(err);
    }
    *out = source;
    return SHARD_OK;
}

void shard_source_close(shard_source *source)
{
    if (!source)
        return;
    if (source->type->close)
        source->type->close(source);
    fmt_alloc alloc = source->alloc;
    shard_alloc_free(&alloc, source->url);
    shard_alloc_free(&alloc, source);
}

shard_status shard_source_read(shard_source *source, uint64_t offset, void *buffer, size_t size,
                               size_t *got, shard_error *err)
{
    for (*got = 0; *got < size;) {
        size_t n;
        SHARD_TRY(source->type->read_at(source, offset + *got, (char *)buffer + *got, size - *got,
                                        &n, err));
        if (n == 0)
            break;
        *got += n;
    }
    return SHARD_OK;
}
