/* SPDX-License-Identifier: Apache-2.0 */
/* Manifests made out of what exists: of shards with indexes, and of the manifests of parts. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "os/path.h"
#include "shardset/manifest_builder.h"
#include "shardset/set.h"

/* The shard's name as seen from the manifest's folder. */
static shard_status relative_name(const char *folder, const char *shard, const char **out,
                                  shard_error *err)
{
    size_t size = strlen(folder);
    *out = shard;
    if (strcmp(folder, ".") != 0) {
        if (strncmp(shard, folder, size) != 0 || (shard[size] != '/' && folder[size - 1] != '/'))
            return shard_fail(err, SHARD_EINVAL, shard, SHARD_NO_OFFSET,
                              "not in the manifest's folder, %s", folder);
        *out = shard + size + (folder[size - 1] != '/');
    }
    while (strncmp(*out, "./", 2) == 0)
        *out += 2;
    return SHARD_OK;
}

static shard_status add_shard(shard_manifest_builder *b, const char *folder, const char *shard,
                              shard_error *err)
{
    const char *name;
    shard_index *index;
    SHARD_TRY(relative_name(folder, shard, &name, err));
    SHARD_TRY(shard_set_index_of(shard, SHARD_UNKNOWN, &index, &b->alloc, err));
    shard_status status = shard_manifest_builder_add(b, name, index, err);
    shard_index_close(index);
    return status;
}

shard_status shard_manifest_create(const char *path, const char *const *shards, size_t count,
                                   shard_error *err)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    char folder[SHARD_PATH_MAX];
    shard_manifest_builder b;
    SHARD_TRY(shard_path_folder(path, folder, err));
    shard_manifest_builder_init(&b, &alloc);
    shard_status status = SHARD_OK;
    for (size_t i = 0; i < count && status == SHARD_OK; i++)
        status = add_shard(&b, folder, shards[i], err);
    if (status == SHARD_OK)
        status = shard_manifest_builder_save(&b, path, 0, 0, false, err);
    shard_manifest_builder_clear(&b);
    return status;
}

/* ---- merge ---- */

/* Load each part to its place, which its manifest knows. */
static shard_status load_parts(fmt_manifest *part, const char **path, const char *const *paths,
                               size_t count, const fmt_alloc *alloc, shard_error *err)
{
    for (size_t i = 0; i < count; i++) {
        fmt_manifest loaded;
        fmt_manifest_init(&loaded, alloc);
        shard_status status = shard_manifest_load(&loaded, paths[i], err);
        if (status == SHARD_OK && loaded.parts != count)
            status = shard_fail(err, SHARD_EDATA, paths[i], SHARD_NO_OFFSET,
                                "is part %u of %u, and %zu were given", loaded.part, loaded.parts,
                                count);
        else if (status == SHARD_OK && path[loaded.part - 1])
            status = shard_fail(err, SHARD_EDATA, paths[i], SHARD_NO_OFFSET, "is part %u, as is %s",
                                loaded.part, path[loaded.part - 1]);
        if (status != SHARD_OK) {
            fmt_manifest_clear(&loaded);
            return status;
        }
        path[loaded.part - 1] = paths[i];
        part[loaded.part - 1] = loaded;
    }
    return SHARD_OK;
}

/* Names in the parts are relative to their folder; in the whole, to its own. */
static shard_status check_folder(const char *out, const char *part, shard_error *err)
{
    char here[SHARD_PATH_MAX], there[SHARD_PATH_MAX];
    struct stat a, b;
    SHARD_TRY(shard_path_folder(out, here, err));
    SHARD_TRY(shard_path_folder(part, there, err));
    if (stat(here, &a) != 0)
        return shard_fail_errno(err, here, "cannot stat", errno);
    if (stat(there, &b) != 0)
        return shard_fail_errno(err, there, "cannot stat", errno);
    if (a.st_dev == b.st_dev && a.st_ino == b.st_ino)
        return SHARD_OK;
    return shard_fail(err, SHARD_EINVAL, part, SHARD_NO_OFFSET,
                      "is not in the folder of %s, where its shards must be", out);
}

static shard_status join_parts(const char *out, const fmt_manifest *part, const char **path,
                               size_t count, const fmt_alloc *alloc, shard_error *err)
{
    shard_manifest_builder b;
    shard_manifest_builder_init(&b, alloc);
    shard_status status = SHARD_OK;
    for (size_t i = 0; i < count && status == SHARD_OK; i++) {
        status = check_folder(out, path[i], err);
        if (status == SHARD_OK)
            status = shard_manifest_builder_join(&b, &part[i], path[i], err);
    }
    if (status == SHARD_OK)
        status = shard_manifest_builder_save(&b, out, 0, 0, false, err);
    shard_manifest_builder_clear(&b);
    return status;
}

shard_status shard_manifest_merge(const char *path, const char *const *parts, size_t count,
                                  shard_error *err)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    if (count == 0)
        return shard_fail(err, SHARD_EINVAL, path, SHARD_NO_OFFSET, "no parts were named");
    fmt_manifest *part = shard_alloc_zeroed(&alloc, count, sizeof *part);
    const char **part_path = shard_alloc_zeroed(&alloc, count, sizeof *part_path);
    shard_status status = part && part_path ? SHARD_OK : shard_fail_memory(err);
    if (status == SHARD_OK)
        status = load_parts(part, part_path, parts, count, &alloc, err);
    if (status == SHARD_OK)
        status = join_parts(path, part, part_path, count, &alloc, err);
    for (size_t i = 0; part && part_path && i < count; i++)
        if (part_path[i])
            fmt_manifest_clear(&part[i]);
    shard_alloc_free(&alloc, part);
    shard_alloc_free(&alloc, part_path);
    return status;
}
