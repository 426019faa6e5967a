/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/set.h"

#include "os/path.h"

void shard_set_close(shard_set *set)
{
    if (!set)
        return;
    fmt_alloc alloc = set->alloc;
    fmt_manifest_clear(&set->manifest);
    fmt_arena_clear(&set->arena);
    shard_alloc_free(&alloc, set);
}

void shard_set_get_info(const shard_set *set, shard_set_info *out)
{
    *out = (shard_set_info){.shards = set->shards,
                            .samples = set->samples,
                            .bytes = set->bytes,
                            .manifest = set->manifest_path,
                            .part = set->manifest.part,
                            .parts = set->manifest.parts,
                            .components = set->components,
                            .component_count = set->manifest.components,
                            .classes = set->manifest.class_name,
                            .class_count = set->manifest.classes,
                            .skips = set->skips,
                            .skip_count = set->manifest.skips,
                            .sorted = set->manifest.sorted};
}

void shard_set_get_shard(const shard_set *set, uint64_t i, shard_set_shard *out)
{
    *out = set->shard[i];
}

shard_status shard_set_index_of(const char *shard_path, uint64_t bytes, shard_index **out,
                                const fmt_alloc *alloc, shard_error *err)
{
    char path[SHARD_PATH_MAX];
    shard_index_info info;
    shard_allocator allocator = {alloc->realloc, alloc->free, alloc->context};
    SHARD_TRY(shard_path_append(shard_path, SHARD_INDEX_SUFFIX, path, err));
    shard_status status = shard_index_open(out, path, &allocator, err);
    if (status == SHARD_ENOTFOUND)
        return shard_fail(err, status, shard_path, SHARD_NO_OFFSET,
                          "has no index beside it (shardtool index makes one)");
    if (status != SHARD_OK)
        return status;
    shard_index_get_info(*out, &info);
    if (bytes == SHARD_UNKNOWN || info.shard_size == bytes)
        return SHARD_OK;
    shard_index_close(*out);
    *out = NULL;
    return shard_fail(err, SHARD_ESTALE, path, SHARD_NO_OFFSET,
                      "index of another shard (expected %llu bytes, got %llu): run shardtool index",
                      (unsigned long long)info.shard_size, (unsigned long long)bytes);
}

shard_status shard_set_open_index(const shard_set *set, uint64_t i, shard_index **out,
                                  shard_error *err)
{
    *out = NULL;
    return shard_set_index_of(set->shard[i].path, set->shard[i].bytes, out, &set->alloc, err);
}
