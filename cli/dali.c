/* SPDX-License-Identifier: Apache-2.0 */
#include "dali.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { PATH_SIZE = 4200 };

void dali_path(char *out, size_t capacity, const char *shard)
{
    const char *slash = strrchr(shard, '/'), *base = slash ? slash + 1 : shard;
    size_t stem = (size_t)(base - shard) + strcspn(base + 1, ".") + 1;
    snprintf(out, capacity, "%.*s.idx", (int)stem, shard);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *path_of(const shard_set *set, uint64_t i)
{
    char name[PATH_SIZE];
    shard_set_shard shard;
    shard_set_get_shard(set, i, &shard);
    dali_path(name, sizeof name, shard.path);
    return strcpy(cli_allocate(strlen(name) + 1, 1), name);
}

int dali_check_paths(const shard_set *set, uint64_t shards)
{
    char **path = cli_allocate((size_t)shards, sizeof *path);
    int code = EXIT_OK;
    for (uint64_t i = 0; i < shards; i++)
        path[i] = path_of(set, i);
    qsort(path, (size_t)shards, sizeof *path, compare_texts);
    for (uint64_t i = 1; i < shards && code == EXIT_OK; i++)
        if (strcmp(path[i - 1], path[i]) == 0)
            code = cli_usage("index", "two shards would have the DALI index %s", path[i]);
    for (uint64_t i = 0; i < shards; i++)
        free(path[i]);
    free(path);
    return code;
}
