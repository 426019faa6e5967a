/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/file_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Static_assert(FMT_KEY_MAX <= UINT16_MAX, "a key's size fits pack_file");

void pack_file_list_init(pack_file_list *list, const pack_names *names, pack_ignored *ignored,
                         const fmt_alloc *alloc)
{
    *list = (pack_file_list){.names = names, .ignored = ignored, .alloc = *alloc};
    fmt_arena_init(&list->arena, &list->alloc);
}

void pack_file_list_clear(pack_file_list *list)
{
    for (size_t i = 0; i < list->roots; i++)
        close(list->root[i].fd);
    shard_alloc_free(&list->alloc, list->root);
    shard_alloc_free(&list->alloc, list->file);
    fmt_arena_clear(&list->arena);
}

shard_status pack_file_list_root(pack_file_list *list, const char *path, uint32_t *number,
                                 shard_error *err)
{
    if (!shard_alloc_grow(&list->alloc, &list->root, &list->root_capacity, list->roots + 1,
                          sizeof *list->root))
        return shard_fail_memory(err);
    pack_root *root = &list->root[list->roots];
    root->path = fmt_arena_text(&list->arena, path, strlen(path));
    if (!root->path)
        return shard_fail_memory(err);
    root->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (root->fd < 0)
        return shard_fail_errno(err, path, "cannot open", errno);
    *number = (uint32_t)list->roots++;
    return SHARD_OK;
}

static void count_ignored(pack_ignored *ignored, fmt_name_kind kind)
{
    switch (kind) {
    case FMT_NAME_HIDDEN:
        ignored->hidden++;
        break;
    case FMT_NAME_RESERVED:
        ignored->reserved++;
        break;
    default:
        ignored->no_extension++;
    }
}

shard_status pack_file_list_add(pack_file_list *list, uint32_t root, const char *path, size_t size,
                                shard_error *err)
{
    fmt_name name;
    fmt_name_kind kind = pack_names_split(list->names, path, size, &name);
    if (kind != FMT_NAME_COMPONENT) {
        count_ignored(list->ignored, kind);
        return SHARD_OK;
    }
    if (name.key_size > FMT_KEY_MAX || list->count == UINT32_MAX)
        return shard_fail(err, SHARD_ELIMIT, path, SHARD_NO_OFFSET,
                          "path is too long, or there are too many files");
    if (!shard_alloc_grow(&list->alloc, &list->file, &list->capacity, list->count + 1,
                          sizeof *list->file))
        return shard_fail_memory(err);
    const char *copy = fmt_arena_text(&list->arena, path, size);
    if (!copy)
        return shard_fail_memory(err);
    list->file[list->count++] = (pack_file){.path = copy,
                                            .key_size = (uint16_t)name.key_size,
                                            .component_size = (uint16_t)name.component_size,
                                            .root = root};
    return SHARD_OK;
}

static int compare(const void *a_, const void *b_)
{
    const pack_file *a = a_, *b = b_;
    int order = memcmp(a->path, b->path, a->key_size < b->key_size ? a->key_size : b->key_size);
    if (order == 0)
        order = (a->key_size > b->key_size) - (a->key_size < b->key_size);
    if (order == 0)
        order = strcmp(a->path + a->key_size, b->path + b->key_size);
    return order != 0 ? order : (a->root > b->root) - (a->root < b->root);
}

void pack_file_list_sort(pack_file_list *list)
{
    /* One tree comes in order, since each of its folders was sorted. */
    for (size_t i = 1; i < list->count; i++)
        if (compare(&list->file[i - 1], &list->file[i]) > 0) {
            qsort(list->file, list->count, sizeof *list->file, compare);
            return;
        }
}

bool pack_file_same_key(const pack_file *a, const pack_file *b)
{
    return a->key_size == b->key_size && memcmp(a->path, b->path, a->key_size) == 0;
}

void pack_file_name(const pack_file_list *list, const pack_file *file, char *out, size_t capacity)
{
    const char *root = list->root[file->root].path;
    if (strcmp(root, ".") == 0)
        snprintf(out, capacity, "%s", file->path);
    else
        snprintf(out, capacity, "%s%s%s", root, root[strlen(root) - 1] == '/' ? "" : "/",
                 file->path);
}
