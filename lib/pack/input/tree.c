/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/path.h"

enum { DEPTH_MAX = 256 };

typedef struct {
    pack_file_list *list;
    uint32_t root;
    const pack_walk_rules *rules;
    shard_error *err;

    char path[SHARD_PATH_MAX]; /* of the present folder, with a final '/', relative to the root */
    size_t path_size;
    struct {
        dev_t device;
        ino_t inode;
    } above[DEPTH_MAX]; /* folders on the way down: a link back to one is a cycle */
    int depth;
} walk;

/* A folder's entry. A subfolder's name ends with '/', which is how it sorts among the keys of
 * files. */
typedef struct {
    const char *name;
    size_t size, key_size;
    bool is_folder;
} entry;

typedef struct {
    entry *entry;
    size_t count, capacity;
    fmt_arena arena;
} listing;

static shard_status walk_folder(walk *w, int fd);

static shard_status fail_entry(walk *w, const char *name, const char *what, int code,
                               shard_error *err)
{
    char path[2 * SHARD_PATH_MAX];
    const char *root = w->list->root[w->root].path;
    snprintf(path, sizeof path, "%s/%s%s", root, w->path, name);
    return shard_fail_errno(err, path, what, code);
}

/* ---- what is in a folder ---- */

static shard_status add_entry(walk *w, listing *l, const char *name, bool is_folder)
{
    char text[NAME_MAX + 2];
    int size = snprintf(text, sizeof text, "%s%s", name, is_folder ? "/" : "");
    fmt_name split;
    size_t key_size = (size_t)size;
    if (!is_folder &&
        pack_names_split(w->list->names, name, (size_t)size, &split) == FMT_NAME_COMPONENT)
        key_size = split.key_size;
    const char *copy = fmt_arena_text(&l->arena, text, (size_t)size);
    if (!copy ||
        !shard_alloc_grow(&w->list->alloc, &l->entry, &l->capacity, l->count + 1, sizeof *l->entry))
        return shard_fail_memory(w->err);
    l->entry[l->count++] = (entry){copy, (size_t)size, key_size, is_folder};
    return SHARD_OK;
}

/* What an entry is, links followed. 0: to be left out. */
static shard_status resolve(walk *w, int fd, const struct dirent *item, unsigned char *type)
{
    struct stat info;
    *type = item->d_type;
    if (*type == DT_UNKNOWN && fstatat(fd, item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        *type = S_ISLNK(info.st_mode)   ? DT_LNK
                : S_ISDIR(info.st_mode) ? DT_DIR
                : S_ISREG(info.st_mode) ? DT_REG
                                        : DT_FIFO;
    if (*type != DT_LNK)
        return SHARD_OK;
    if (w->rules->links == SHARD_PACK_LINKS_ERROR)
        return fail_entry(w, item->d_name, "symbolic link", ELOOP, w->err);
    if (w->rules->links == SHARD_PACK_LINKS_SKIP) {
        *type = DT_FIFO;
        return SHARD_OK;
    }
    if (fstatat(fd, item->d_name, &info, 0) != 0) {
        shard_error why;
        fail_entry(w, item->d_name, "cannot follow the link", errno, &why);
        *type = DT_FIFO;
        return w->rules->unreadable(w->rules->context, &why, w->err);
    }
    *type = S_ISDIR(info.st_mode) ? DT_DIR : S_ISREG(info.st_mode) ? DT_REG : DT_FIFO;
    return SHARD_OK;
}

static shard_status read_entry(walk *w, listing *l, int fd, const struct dirent *item)
{
    unsigned char type;
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
        return SHARD_OK;
    SHARD_TRY(resolve(w, fd, item, &type));
    if (type != DT_DIR && type != DT_REG) {
        w->list->ignored->special++;
        return SHARD_OK;
    }
    return add_entry(w, l, item->d_name, type == DT_DIR);
}

static shard_status read_entries(walk *w, listing *l, DIR *folder)
{
    const struct dirent *item;
    errno = 0;
    while ((item = readdir(folder)) != NULL) {
        SHARD_TRY(read_entry(w, l, dirfd(folder), item));
        errno = 0;
    }
    return errno == 0 ? SHARD_OK : fail_entry(w, "", "cannot read", errno, w->err);
}

static int compare(const void *a_, const void *b_)
{
    const entry *a = a_, *b = b_;
    int order = memcmp(a->name, b->name, a->key_size < b->key_size ? a->key_size : b->key_size);
    if (order == 0)
        order = (a->key_size > b->key_size) - (a->key_size < b->key_size);
    return order != 0 ? order : strcmp(a->name + a->key_size, b->name + b->key_size);
}

/* ---- going down ---- */

static bool is_above(const walk *w, const struct stat *info)
{
    for (int i = 0; i < w->depth; i++)
        if (w->above[i].device == info->st_dev && w->above[i].inode == info->st_ino)
            return true;
    return false;
}

/* Open a subfolder and walk it; the path is the caller's to set back. */
static shard_status enter(walk *w, int above, const char *name)
{
    char bare[NAME_MAX + 2];
    struct stat info;
    snprintf(bare, sizeof bare, "%.*s", (int)strlen(name) - 1, name);
    int fd = openat(above, bare, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        shard_error why;
        fail_entry(w, bare, "cannot open", errno, &why);
        return w->rules->unreadable(w->rules->context, &why, w->err);
    }
    int code = fstat(fd, &info) != 0                         ? errno
               : is_above(w, &info) || w->depth == DEPTH_MAX ? ELOOP
                                                             : 0;
    if (code != 0) {
        close(fd);
        return fail_entry(w, bare, "cannot enter the folder", code, w->err);
    }
    w->above[w->depth].device = info.st_dev;
    w->above[w->depth].inode = info.st_ino;
    w->depth++;
    memcpy(w->path + w->path_size, name, strlen(name) + 1);
    w->path_size += strlen(name);
    shard_status status = walk_folder(w, fd);
    w->depth--;
    return status;
}

static shard_status take_entry(walk *w, int fd, const entry *e)
{
    size_t size = w->path_size;
    if (size + e->size >= sizeof w->path)
        return fail_entry(w, e->name, "cannot enter the folder", ENAMETOOLONG, w->err);
    shard_status status;
    if (e->is_folder) {
        status = enter(w, fd, e->name);
    } else {
        memcpy(w->path + size, e->name, e->size + 1);
        status = pack_file_list_add(w->list, w->root, w->path, size + e->size, w->err);
    }
    w->path_size = size;
    w->path[size] = 0;
    return status;
}

static shard_status take_entries(walk *w, listing *l, DIR *folder)
{
    SHARD_TRY(read_entries(w, l, folder));
    if (l->count > 0)
        qsort(l->entry, l->count, sizeof *l->entry, compare);
    for (size_t i = 0; i < l->count; i++)
        SHARD_TRY(take_entry(w, dirfd(folder), &l->entry[i]));
    return SHARD_OK;
}

/* Takes over `fd`. */
static shard_status walk_folder(walk *w, int fd)
{
    if (shard_cancel_is_set(w->rules->cancel)) {
        close(fd);
        return shard_fail(w->err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
    }
    DIR *folder = fdopendir(fd);
    if (!folder) {
        int code = errno;
        close(fd);
        return fail_entry(w, "", "cannot read", code, w->err);
    }
    listing l = {0};
    fmt_arena_init(&l.arena, &w->list->alloc);
    shard_status status = take_entries(w, &l, folder);
    closedir(folder);
    fmt_arena_clear(&l.arena);
    shard_alloc_free(&w->list->alloc, l.entry);
    return status;
}

shard_status pack_tree_walk(pack_file_list *list, uint32_t root, const pack_walk_rules *rules,
                            shard_error *err)
{
    int fd = openat(list->root[root].fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return shard_fail_errno(err, list->root[root].path, "cannot open", errno);
    walk *w = shard_alloc_zeroed(&list->alloc, 1, sizeof *w);
    if (!w) {
        close(fd);
        return shard_fail_memory(err);
    }
    struct stat info;
    w->list = list;
    w->root = root;
    w->rules = rules;
    w->err = err;
    if (fstat(fd, &info) == 0) {
        w->above[0].device = info.st_dev;
        w->above[0].inode = info.st_ino;
        w->depth = 1;
    }
    shard_status status = walk_folder(w, fd);
    shard_alloc_free(&list->alloc, w);
    return status;
}
