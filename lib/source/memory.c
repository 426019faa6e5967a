/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "source/source.h"

typedef struct {
    shard_source head;
    const uint8_t *bytes;
} memory_source;

static shard_status read_memory(shard_source *source, uint64_t offset, void *buffer, size_t size,
                                size_t *got, shard_error *err)
{
    const memory_source *memory = (const memory_source *)source;
    (void)err;
    uint64_t left = offset < source->size ? source->size - offset : 0;
    *got = left < size ? (size_t)left : size;
    if (*got > 0)
        memcpy(buffer, memory->bytes + offset, *got);
    return SHARD_OK;
}

static const shard_source_type memory_type = {read_memory, NULL};

shard_status shard_source_open_memory(shard_source **out, const char *url, const void *bytes,
                                      size_t size, const fmt_alloc *alloc, shard_error *err)
{
    SHARD_TRY(shard_source_new(out, sizeof(memory_source), &memory_type, url, alloc, err));
    memory_source *memory = (memory_source *)*out;
    memory->bytes = bytes;
    memory->head.size = size;
    memory->head.seekable = true;
    return SHARD_OK;
}
