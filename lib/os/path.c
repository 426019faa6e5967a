/* SPDX-License-Identifier: Apache-2.0 */
#include "os/path.h"

#include <stdio.h>
#include <string.h>

static shard_status check(int size, const char *path, shard_error *err)
{
    if (size >= 0 && size < SHARD_PATH_MAX)
        return SHARD_OK;
    return shard_fail(err, SHARD_EINVAL, path, SHARD_NO_OFFSET, "path is too long");
}

shard_status shard_path_folder(const char *path, char out[SHARD_PATH_MAX], shard_error *err)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return check(snprintf(out, SHARD_PATH_MAX, "."), path, err);
    int size = slash == path ? 1 : (int)(slash - path);
    return check(snprintf(out, SHARD_PATH_MAX, "%.*s", size, path), path, err);
}

shard_status shard_path_join(const char *folder, const char *name, char out[SHARD_PATH_MAX],
                             shard_error *err)
{
    if (strcmp(folder, ".") == 0)
        return check(snprintf(out, SHARD_PATH_MAX, "%s", name), name, err);
    const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
    return check(snprintf(out, SHARD_PATH_MAX, "%s%s%s", folder, slash, name), name, err);
}

shard_status shard_path_append(const char *path, const char *suffix, char out[SHARD_PATH_MAX],
                               shard_error *err)
{
    return check(snprintf(out, SHARD_PATH_MAX, "%s%s", path, suffix), path, err);
}

const char *shard_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
