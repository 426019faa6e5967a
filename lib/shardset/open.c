/* SPDX-License-Identifier: Apache-2.0 */
/* Opening a set, and the two ways in which it comes to know its shards. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/opts.h"
#include "naming/pattern.h"
#include "os/path.h"
#include "shardset/manifest_file.h"
#include "shardset/set.h"

/* ---- from a manifest ---- */

static shard_status copy_tables(shard_set *set, shard_error *err)
{
    const fmt_manifest *m = &set->manifest;
    set->components = fmt_arena_array(&set->arena, m->components + 1, sizeof *set->components);
    set->skips = fmt_arena_array(&set->arena, m->skips + 1, sizeof *set->skips);
    if (!set->components || !set->skips)
        return shard_fail_memory(err);
    for (size_t i = 0; i < m->components; i++)
        set->components[i] = (shard_set_component){m->component[i].name, m->component[i].count,
                                                   m->component[i].bytes};
    for (size_t i = 0; i < m->skips; i++)
        set->skips[i] = (shard_set_skip){m->skip[i].name, m->skip[i].reason};
    return SHARD_OK;
}

static shard_status from_manifest(shard_set *set, const char *path, shard_error *err)
{
    char folder[SHARD_PATH_MAX], shard_path[SHARD_PATH_MAX];
    const fmt_manifest *m = &set->manifest;
    SHARD_TRY(shard_manifest_load(&set->manifest, path, err));
    SHARD_TRY(shard_path_folder(path, folder, err));
    SHARD_TRY(copy_tables(set, err));
    set->manifest_path = fmt_arena_text(&set->arena, path, strlen(path));
    set->shards = m->shards;
    set->shard = fmt_arena_array(&set->arena, m->shards, sizeof *set->shard);
    if (!set->shard || !set->manifest_path)
        return shard_fail_memory(err);
    for (size_t i = 0; i < m->shards; i++) {
        if (shard_path_join(folder, m->shard[i].name, shard_path, NULL) != SHARD_OK)
            return shard_fail(err, SHARD_EFORMAT, path, SHARD_NO_OFFSET,
                              "the name of shard %zu is too long", i);
        shard_set_shard *shard = &set->shard[i];
        shard->path = fmt_arena_text(&set->arena, shard_path, strlen(shard_path));
        if (!shard->path)
            return shard_fail_memory(err);
        shard->samples = m->shard[i].samples;
        shard->bytes = m->shard[i].bytes;
        shard->has_hash = m->has_hashes;
        memcpy(shard->hash, m->shard[i].hash, sizeof shard->hash);
    }
    return SHARD_OK;
}

/* ---- from a list ---- */

/* Bytes of a shard; SHARD_UNKNOWN for what is not a regular file. */
static shard_status file_size(const char *path, uint64_t *out, shard_error *err)
{
    struct stat info;
    *out = SHARD_UNKNOWN;
    if (strcmp(path, "-") == 0 || strstr(path, "://"))
        return SHARD_OK;
    if (stat(path, &info) != 0)
        return shard_fail_errno(err, path, "cannot open", errno);
    if (S_ISREG(info.st_mode))
        *out = (uint64_t)info.st_size;
    return SHARD_OK;
}

/* A shard without an index is no error here: it can be streamed. */
static shard_status count_samples(shard_set *set, shard_set_shard *shard, shard_error *err)
{
    shard_index *index;
    shard_index_info info;
    shard->samples = SHARD_UNKNOWN;
    shard_status status = shard_set_index_of(shard->path, shard->bytes, &index, &set->alloc, err);
    if (status == SHARD_ENOTFOUND)
        return SHARD_OK;
    if (status != SHARD_OK)
        return status;
    shard_index_get_info(index, &info);
    shard->samples = info.samples;
    shard_index_close(index);
    return SHARD_OK;
}

static shard_status add_shard(shard_set *set, const char *path, bool no_indexes, shard_error *err)
{
    shard_set_shard *shard = &set->shard[set->shards];
    shard->path = fmt_arena_text(&set->arena, path, strlen(path));
    if (!shard->path)
        return shard_fail_memory(err);
    SHARD_TRY(file_size(path, &shard->bytes, err));
    shard->samples = SHARD_UNKNOWN;
    if (!no_indexes)
        SHARD_TRY(count_samples(set, shard, err));
    set->shards++;
    return SHARD_OK;
}

static shard_status parse(fmt_pattern *pattern, const char *url, shard_error *err)
{
    fmt_fault fault;
    fmt_status status = fmt_pattern_parse(pattern, url, strlen(url), false, &fault);
    return status == FMT_OK ? SHARD_OK : shard_fail_fmt(err, status, &fault, url, 0);
}

/* A file whose name has braces in it is that file, not a pattern. */
static bool is_plain_name(const char *url, const fmt_pattern *pattern)
{
    struct stat info;
    return pattern->parts == 1 || stat(url, &info) == 0;
}

static shard_status add_url(shard_set *set, const char *url, bool no_indexes, shard_error *err)
{
    fmt_pattern pattern;
    SHARD_TRY(parse(&pattern, url, err));
    if (is_plain_name(url, &pattern))
        return add_shard(set, url, no_indexes, err);
    for (uint64_t i = 0; i < pattern.count; i++) {
        char name[FMT_PATTERN_NAME_MAX];
        if (fmt_pattern_name(&pattern, i, name, sizeof name) != FMT_OK)
            return shard_fail(err, SHARD_ELIMIT, url, SHARD_NO_OFFSET, "name is too long");
        SHARD_TRY(add_shard(set, name, no_indexes, err));
    }
    return SHARD_OK;
}

static shard_status from_list(shard_set *set, const char *const *urls, size_t count,
                              bool no_indexes, shard_error *err)
{
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        fmt_pattern pattern;
        SHARD_TRY(parse(&pattern, urls[i], err));
        total += is_plain_name(urls[i], &pattern) ? 1 : pattern.count;
    }
    set->shard = fmt_arena_array(&set->arena, (size_t)total, sizeof *set->shard);
    if (!set->shard)
        return shard_fail_memory(err);
    for (size_t i = 0; i < count; i++)
        SHARD_TRY(add_url(set, urls[i], no_indexes, err));
    return SHARD_OK;
}

/* ---- either ---- */

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
        return from_manifest(set, urls[0], err);
    for (size_t i = 0; i < count; i++)
        if (is_manifest(urls[i]))
            return shard_fail(err, SHARD_EINVAL, urls[i], SHARD_NO_OFFSET,
                              "a manifest stands alone (shardtool merge joins several)");
    return from_list(set, urls, count, no_indexes, err);
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
