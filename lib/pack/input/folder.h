/* SPDX-License-Identifier: Apache-2.0 */
/* What is in one folder of a tree, in the order in which a walk takes it. */
#ifndef PACK_FOLDER_H
#define PACK_FOLDER_H

#include <sys/types.h>

#include "pack/input/file_list.h"

typedef enum { PACK_ENTRY_FILE, PACK_ENTRY_FOLDER, PACK_ENTRY_BROKEN } pack_folder_entry_kind;

/* A subfolder's name ends with '/', which is how it sorts among the keys of files. */
typedef struct {
    const char *name;
    size_t size, key_size;
    pack_folder_entry_kind kind;
    const shard_error *why; /* of a link that cannot be followed */
    void *below;            /* the walk's, of a subfolder */
} pack_folder_entry;

typedef struct {
    pack_folder_entry *entry;
    size_t count, capacity;
    uint64_t special; /* links that are skipped, and what is neither file nor folder */
    dev_t device;
    ino_t inode;
    bool is_open; /* false after an error: it could not even be opened */
    fmt_arena arena;
    fmt_alloc alloc;
} pack_folder;

void pack_folder_init(pack_folder *folder, const fmt_alloc *alloc);
void pack_folder_clear(pack_folder *folder);

/* Read and sort the folder at `path`, "" or with a final '/', below `root`. */
shard_status pack_folder_read(pack_folder *folder, const pack_root *root, const char *path,
                              const pack_names *names, shard_pack_links links, shard_error *err);

/* The system call `what` failed with `code` on `name` in that folder. */
shard_status pack_folder_fail(const pack_root *root, const char *path, const char *name,
                              const char *what, int code, shard_error *err);

#endif
