/* SPDX-License-Identifier: Apache-2.0 */
#include "wids.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* wids joins URLs to the folder of its file: below that the rest of the path, else all of it. */
static const char *url_of(const char *shard, const char *path, char absolute[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    if (strncmp(shard, path, folder) == 0)
        return shard + folder;
    return realpath(shard, absolute) ? absolute : shard;
}

static int add_shard(const cli *c, const shard_set *set, uint64_t i, const char *path, record *list)
{
    shard_set_shard shard;
    shard_index *index;
    shard_index_info info;
    shard_error err;
    char absolute[PATH_MAX];
    shard_set_get_shard(set, i, &shard);
    if (shard_set_open_index(set, i, &index, &err) != SHARD_OK)
        return cli_error(c, &err);
    shard_index_get_info(index, &info);
    shard_index_close(index);
    const char *url = url_of(shard.path, path, absolute);
    record *item = record_item(list);
    record_name(item, "url", url, strlen(url));
    record_number(item, "nsamples", info.samples);
    record_number(item, "filesize", info.shard_size);
    return EXIT_OK;
}

static int fail(const cli *c, const char *path)
{
    shard_error err = {.status = errno == ENOENT ? SHARD_ENOTFOUND : SHARD_EIO,
                       .sys_errno = errno,
                       .offset = SHARD_NO_OFFSET};
    snprintf(err.url, sizeof err.url, "%s", path);
    snprintf(err.message, sizeof err.message, "cannot write: %s", strerror(errno));
    return cli_error(c, &err);
}

/* Under another name first, so that there is all of the file or none. */
static int save(const cli *c, record *file, const char *path)
{
    char part[PATH_MAX + 8];
    snprintf(part, sizeof part, "%s.part", path);
    FILE *out = fopen(part, "w");
    bool ok = out && record_write(file, out);
    if (out && fclose(out) != 0)
        ok = false;
    if (ok && rename(part, path) == 0)
        return EXIT_OK;
    int code = fail(c, path);
    if (out)
        remove(part);
    return code;
}

int wids_write(const cli *c, const shard_set *set, uint64_t shards, const char *path)
{
    record *file = record_new();
    record_text(file, "__kind__", "wids-shard-index-v1");
    record_number(file, "wids_version", 1);
    record *list = record_array(file, "shardlist");
    int code = EXIT_OK;
    for (uint64_t i = 0; i < shards && code == EXIT_OK; i++)
        code = add_shard(c, set, i, path, list);
    if (code == EXIT_OK)
        code = save(c, file, path);
    record_free(file);
    return code;
}
