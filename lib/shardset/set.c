/* SPDX-License-Identifier: Apache-2.0 */
#include "shardset/set.h"

#include <string.h>

#include "core/opts.h"
#include "os/path.h"

static bool is_manifest(const char *url)
{
    static const char suffix[] = ".json";
    size_t size = strlen(url);
    return size >= sizeof suffix && strcmp(url + size - (sizeof suffix - 1), suffix) == 0;
}

static shard_status fill(shard_set *set, const char *const *urls, size_t count, bool no_indexes,
                         shard_error *err)
{
    if (count == 0)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "no shards were named");
    if (count == 1 && is_manifest(urls[0]))
        return shard_set_from_manifest(set, urls[0], err);
    for (size_t i = 0; i < count; i++)
        if (is_manifest(urls[i]))
            return shard_fail(err, SHARD_EINVAL, urls[i], SHARD_NO_OFFSET,
                              "a manifest stands alone (shardtool merge joins several)");
    return shard_set_from_list(set, urls, count, no_indexes, err);
}

/* Number the samples through; from a shard of unknown count on, numbers are unknown too. */
static void number_samples(shard_set *set)
{
    set->samples = set->bytes = 0;
    for (size_t i = 0; i < set->shards; i++) {
        shard_set_shard *shard = &set->shard[i];
        shard->first_sample = set->samples;
        if (set->samples == SHARD_UNKNOWN || shard->samples == SHARD_UNKNOWN)
            set->samples = SHARD_UNKNOWN;
        else
            set->samples += shard->samples;
        if (set->bytes == SHARD_UNKNOWN || shard->bytes == SHARD_UNKNOWN)
            set->bytes = SHARD_UNKNOWN;
        else
            set->bytes += shard->bytes;
    }
}

shard_status shard_set_open(shard_set **out, const char *const *urls, size_t count,
                            const shard_set_opts *opts, shard_error *err)
{
    shard_set_opts o;
    *out = NULL;
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    shard_set *set = shard_alloc_zeroed(&alloc, 1, sizeof *set);
    if (!set)
        return shard_fail_memory(err);
    set->alloc = alloc;
    fmt_arena_init(&set->arena, &set->alloc);
    fmt_manifest_init(&set->manifest, &set->alloc);
    shard_status status = fill(set, urls, count, o.no_indexes, err);
    if (status != SHARD_OK) {
        shard_set_close(set);
        return status;
    }
    number_samples(set);
    *out = set;
    return SHARD_OK;
}

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
