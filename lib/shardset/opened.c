/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/opened.h"

shard_status shard_opened_stale(const shard_opened *shard, uint64_t offset, const char *what,
                                shard_error *err)
{
    return shard_fail(err, SHARD_ESTALE, shard->path, offset,
                      "%s than its index says (run shardtool index)", what);
}

static shard_status open_source(shard_opened *shard, const shard_set *set,
                                const shard_cancel *cancel, shard_error *err)
{
    SHARD_TRY(shard_source_open(&shard->source, shard->path, cancel, &set->alloc, err));
    if (!shard->source->seekable || shard->source->size == shard->info.shard_size)
        return SHARD_OK;
    return shard_fail(err, SHARD_ESTALE, shard->path, SHARD_NO_OFFSET,
                      "not the shard of its index (expected %llu bytes, got %llu)",
                      (unsigned long long)shard->info.shard_size,
                      (unsigned long long)shard->source->size);
}

shard_status shard_opened_open(shard_opened *out, const shard_set *set, uint64_t shard,
                               const shard_cancel *cancel, shard_error *err)
{
    *out = (shard_opened){.path = set->shard[shard].path};
    SHARD_TRY(shard_set_open_index(set, shard, &out->index, err));
    shard_index_get_info(out->index, &out->info);
    shard_status status = open_source(out, set, cancel, err);
    if (status != SHARD_OK)
        shard_opened_close(out);
    return status;
}

void shard_opened_close(shard_opened *shard)
{
    shard_source_close(shard->source);
    shard_index_close(shard->index);
    *shard = (shard_opened){0};
}

bool shard_opened_is_plain(const shard_opened *shard)
{
    return shard->info.codec == SHARD_CODEC_PLAIN && shard->source->seekable;
}

bool shard_opened_has_frames(const shard_opened *shard)
{
    return shard->info.codec == SHARD_CODEC_ZSTD && shard->info.frames > 0 &&
           shard->source->seekable;
}

shard_status shard_opened_read(const shard_opened *shard, uint64_t offset, void *bytes, size_t size,
                               shard_error *err)
{
    size_t got;
    SHARD_TRY(shard_source_read(shard->source, offset, bytes, size, &got, err));
    return got == size ? SHARD_OK
                       : shard_opened_stale(shard, offset + got, "the shard is shorter", err);
}

shard_status shard_opened_find_frame(const shard_opened *shard, uint64_t offset, uint64_t *out,
                                     shard_error *err)
{
    uint64_t low = 0, high = shard->info.frames;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        shard_index_frame frame;
        SHARD_TRY(shard_index_get_frame(shard->index, middle, &frame, err));
        if (frame.tar_begin <= offset)
            low = middle;
        else
            high = middle;
    }
    *out = low;
    return SHARD_OK;
}
