/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_MAP_H
#define OS_MAP_H

#include "core/error.h"

/* A file's bytes in memory, read-only, fetched as they are touched. */
typedef struct {
    const uint8_t *data;
    size_t size;
} shard_map;

/* Map the whole file. An empty one gives size 0. */
shard_status shard_map_open(shard_map *out, const char *path, shard_error *err);
void shard_map_close(shard_map *map);

#endif
