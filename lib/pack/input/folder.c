/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/path.h"

typedef struct {
    pack_folder *folder;
    const pack_root *root;
    const char *path;
    const pack_names *names;
    shard_pack_links links;
    int fd;
    shard_error *err;
} reading;

void pack_folder_init(pack_folder *folder, const fmt_alloc *alloc)
{
    *folder = (pack_folder){.alloc = *alloc};
    fmt_arena_init(&folder->arena, &folder->alloc);
}

void pack_folder_clear(pack_folder *folder)
{
    fmt_arena_clear(&folder->arena);
    shard_alloc_free(&folder->alloc, folder->entry);
    folder->entry = NULL;
    folder->count = folder->capacity = 0;
}

shard_status pack_folder_fail(const pack_root *root, const char *path, const char *name,
                              const char *what, int code, shard_error *err)
{
    char full[2 * SHARD_PATH_MAX];
    size_t size = strlen(path);
    if (!*name && size > 0) /* the folder itself */
        size--;
    snprintf(full, sizeof full, "%s/%.*s%s", root->path, (int)size, path, name);
    return shard_fail_errno(err, full, what, code);
}

static shard_status fail(const reading *r, const char *name, const char *what, int code,
                         shard_error *err)
{
    return pack_folder_fail(r->root, r->path, name, what, code, err);
}

/* ---- entries ---- */

static shard_status add(reading *r, const char *name, pack_folder_entry_kind kind,
                        const shard_error *why)
{
    pack_folder *f = r->folder;
    char text[NAME_MAX + 2];
    int size = snprintf(text, sizeof text, "%s%s", name, kind == PACK_ENTRY_FOLDER ? "/" : "");
    fmt_name split;
    pack_folder_entry e = {
        .size = (size_t)size, .key_size = (size_t)size, .kind = kind, .why = why};
    if (kind == PACK_ENTRY_FILE &&
        pack_names_split(r->names, name, e.size, &split) == FMT_NAME_COMPONENT)
        e.key_size = split.key_size;
    e.name = fmt_arena_text(&f->arena, text, e.size);
    if (!e.name || !shard_alloc_grow(&f->alloc, &f->entry, &f->capacity, f->count + 1, sizeof e))
        return shard_fail_memory(r->err);
    f->entry[f->count++] = e;
    return SHARD_OK;
}

static unsigned char type_of(const struct stat *info)
{
    return S_ISLNK(info->st_mode)   ? DT_LNK
           : S_ISDIR(info->st_mode) ? DT_DIR
           : S_ISREG(info->st_mode) ? DT_REG
                                    : DT_FIFO;
}

/* A link to nothing is the walk's caller's to judge. */
static shard_status add_broken(reading *r, const char *name, int code)
{
    shard_error *why = fmt_arena_take(&r->folder->arena, sizeof *why);
    if (!why)
        return shard_fail_memory(r->err);
    fail(r, name, "cannot follow the link (--on-error skip leaves it out)", code, why);
    return add(r, name, PACK_ENTRY_BROKEN, why);
}

static shard_status add_link(reading *r, const char *name)
{
    struct stat info;
    if (r->links == SHARD_PACK_LINKS_ERROR)
        return fail(r, name, "symbolic link", ELOOP, r->err);
    if (r->links != SHARD_PACK_LINKS_SKIP && fstatat(r->fd, name, &info, 0) != 0)
        return add_broken(r, name, errno);
    unsigned char type = r->links == SHARD_PACK_LINKS_SKIP ? DT_LNK : type_of(&info);
    if (type == DT_DIR || type == DT_REG)
        return add(r, name, type == DT_DIR ? PACK_ENTRY_FOLDER : PACK_ENTRY_FILE, NULL);
    r->folder->special++;
    return SHARD_OK;
}

static shard_status add_item(reading *r, const struct dirent *item)
{
    struct stat info;
    unsigned char type = item->d_type;
    if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
        return SHARD_OK;
    if (type == DT_UNKNOWN && fstatat(r->fd, item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        type = type_of(&info);
    switch (type) {
    case DT_DIR:
        return add(r, item->d_name, PACK_ENTRY_FOLDER, NULL);
    case DT_REG:
        return add(r, item->d_name, PACK_ENTRY_FILE, NULL);
    case DT_LNK:
        return add_link(r, item->d_name);
    default:
        r->folder->special++;
        return SHARD_OK;
    }
}

static int compare(const void *a_, const void *b_)
{
    const pack_folder_entry *a = a_, *b = b_;
    int order = memcmp(a->name, b->name, a->key_size < b->key_size ? a->key_size : b->key_size);
    if (order == 0)
        order = (a->key_size > b->key_size) - (a->key_size < b->key_size);
    return order != 0 ? order : strcmp(a->name + a->key_size, b->name + b->key_size);
}

static shard_status read_all(reading *r, DIR *stream)
{
    const struct dirent *item;
    pack_folder *f = r->folder;
    errno = 0;
    while ((item = readdir(stream)) != NULL) {
        SHARD_TRY(add_item(r, item));
        errno = 0;
    }
    if (errno != 0)
        return fail(r, "", "cannot read", errno, r->err);
    if (f->count > 0)
        qsort(f->entry, f->count, sizeof *f->entry, compare);
    return SHARD_OK;
}

/* ---- the folder ---- */

/* Takes over the descriptor. */
static shard_status read_open(reading *r)
{
    struct stat info;
    DIR *stream = fstat(r->fd, &info) == 0 ? fdopendir(r->fd) : NULL;
    if (!stream) {
        int code = errno;
        close(r->fd);
        return fail(r, "", "cannot read", code, r->err);
    }
    r->folder->is_open = true;
    r->folder->device = info.st_dev;
    r->folder->inode = info.st_ino;
    shard_status status = read_all(r, stream);
    closedir(stream);
    return status;
}

shard_status pack_folder_read(pack_folder *folder, const pack_root *root, const char *path,
                              const pack_names *names, shard_pack_links links, shard_error *err)
{
    reading r = {folder, root, path, names, links, -1, err};
    r.fd = openat(root->fd, *path ? path : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (r.fd >= 0)
        return read_open(&r);
    return fail(&r, "", "cannot open", errno, err);
}
