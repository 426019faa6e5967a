/* SPDX-License-Identifier: Apache-2.0 */
#include "os/map.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static shard_status map_fd(shard_map *out, int fd, const char *path, shard_error *err)
{
    struct stat info;
    if (fstat(fd, &info) != 0)
        return shard_fail_errno(err, path, "cannot stat", errno);
    if (!S_ISREG(info.st_mode))
        return shard_fail(err, SHARD_EINVAL, path, SHARD_NO_OFFSET, "not a regular file");
    out->size = (size_t)info.st_size;
    if (out->size == 0)
        return SHARD_OK;
    void *memory = mmap(NULL, out->size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (memory == MAP_FAILED)
        return shard_fail_errno(err, path, "cannot map", errno);
    out->data = memory;
    return SHARD_OK;
}

shard_status shard_map_open(shard_map *out, const char *path, shard_error *err)
{
    *out = (shard_map){0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return shard_fail_errno(err, path, "cannot open", errno);
    shard_status status = map_fd(out, fd, path, err);
    close(fd);
    return status;
}

void shard_map_close(shard_map *map)
{
    if (map->data)
        munmap((void *)(uintptr_t)map->data, map->size);
    *map = (shard_map){0};
}
