/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walking a tree. Threads read folders ahead of the walk, which takes them in their order: what
 * comes out does not depend on the threads.
 */
#ifndef PACK_TREE_H
#define PACK_TREE_H

#include "pack/input/file_list.h"

/* What a walk does besides adding files. */
typedef struct {
    shard_pack_links links;
    uint32_t threads; /* 0 or 1: this one alone */
    const shard_cancel *cancel;
    /* A folder cannot be read: SHARD_OK to go on without it, or the status to stop with. */
    shard_status (*unreadable)(void *context, const shard_error *why, shard_error *err);
    void *context;
} pack_walk_rules;

/* Add all files below root number `root`, folder by folder, each in the order of its keys. */
shard_status pack_tree_walk(pack_file_list *list, uint32_t root, const pack_walk_rules *rules,
                            shard_error *err);

#endif
