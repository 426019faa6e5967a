/* SPDX-License-Identifier: Apache-2.0 */
/* The files of a tree or list, in the order of their keys: 16 bytes and a path each. */
#ifndef PACK_FILE_LIST_H
#define PACK_FILE_LIST_H

#include "arena.h"
#include "pack/input/input.h"

typedef struct {
    const char *path; /* relative to its root */
    uint16_t key_size;
    uint16_t component_size; /* the component begins at path + key_size + 1 */
    uint32_t root;
} pack_file;

/* A folder that paths are relative to. */
typedef struct {
    int fd;
    const char *path; /* for errors */
} pack_root;

typedef struct {
    pack_file *file;
    size_t count, capacity;
    pack_root *root;
    size_t roots, root_capacity;
    fmt_arena arena;
    const pack_names *names;
    pack_ignored *ignored;
    fmt_alloc alloc;
} pack_file_list;

void pack_file_list_init(pack_file_list *list, const pack_names *names, pack_ignored *ignored,
                         const fmt_alloc *alloc);
void pack_file_list_clear(pack_file_list *list);

/* Open a folder that paths will be relative to; `*number` is its number. */
shard_status pack_file_list_root(pack_file_list *list, const char *path, uint32_t *number,
                                 shard_error *err);

/* Add a path; one whose name is no component is counted as ignored. */
shard_status pack_file_list_add(pack_file_list *list, uint32_t root, const char *path, size_t size,
                                shard_error *err);

/* Bring the files into the order of their keys and components. */
void pack_file_list_sort(pack_file_list *list);

/* Do two files belong to one sample? */
bool pack_file_same_key(const pack_file *a, const pack_file *b);

/* "ROOT/PATH", for errors. */
void pack_file_name(const pack_file_list *list, const pack_file *file, char *out, size_t capacity);

#endif
