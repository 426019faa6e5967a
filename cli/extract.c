/* SPDX-License-Identifier: Apache-2.0 */
#include "extract.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

SHARD_PRINTF(5, 6)
static shard_status fail(shard_error *err, shard_status status, const char *url, int code,
                         const char *text, ...)
{
    va_list arguments;
    *err = (shard_error){.status = status, .sys_errno = code, .offset = SHARD_NO_OFFSET};
    snprintf(err->url, sizeof err->url, "%s", url);
    va_start(arguments, text);
    vsnprintf(err->message, sizeof err->message, text, arguments);
    va_end(arguments);
    return status;
}

static shard_status fail_errno(shard_error *err, const char *url, const char *what, int code)
{
    shard_status status = code == EEXIST ? SHARD_EEXIST : SHARD_EIO;
    return fail(err, status, url, code, "%s: %s", what, strerror(code));
}

shard_status extract_open(extract *e, const char *path, bool replace, shard_error *err)
{
    *e = (extract){.root = -1, .path = path, .replace = replace, .folder = -1};
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return fail_errno(err, path, "cannot make the folder", errno);
    e->root = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return e->root >= 0 ? SHARD_OK : fail_errno(err, path, "cannot open the folder", errno);
}

static void leave_folder(extract *e)
{
    if (e->folder >= 0 && e->folder != e->root)
        close(e->folder);
    e->folder = -1;
}

void extract_close(extract *e)
{
    leave_folder(e);
    if (e->root >= 0)
        close(e->root);
}

/* Relative, and made of names other than "", "." and "..": "./a" is taken for "a". */
static shard_status check_name(const char *name, shard_error *err)
{
    bool empty = true;
    if (name[0] == '/')
        return fail(err, SHARD_EDATA, name, 0, "refused: a path from the root");
    for (const char *part = name; *part;) {
        size_t size = strcspn(part, "/");
        if (size == 2 && strncmp(part, "..", 2) == 0)
            return fail(err, SHARD_EDATA, name, 0, "refused: \"..\" leads out of the folder");
        empty = size == 0 || (size == 1 && *part == '.');
        part += size + (part[size] == '/');
    }
    return empty ? fail(err, SHARD_EDATA, name, 0, "refused: not the name of a file") : SHARD_OK;
}

/* One folder further down; symbolic links are not followed. Closes `above`, unless that is the
 * root. */
static int enter(extract *e, int above, const char *part)
{
    int fd = openat(above, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && (mkdirat(above, part, 0777) == 0 || errno == EEXIST))
        fd = openat(above, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    int code = errno;
    if (above != e->root)
        close(above);
    errno = code;
    return fd;
}

static shard_status enter_folder(extract *e, const char *name, size_t size, shard_error *err)
{
    char path[sizeof e->folder_path];
    if (size >= sizeof path)
        return fail(err, SHARD_ELIMIT, name, 0, "path is too long");
    if (e->folder >= 0 && strlen(e->folder_path) == size &&
        strncmp(e->folder_path, name, size) == 0)
        return SHARD_OK;
    leave_folder(e);
    memcpy(path, name, size);
    path[size] = 0;
    memcpy(e->folder_path, path, size + 1);
    int fd = e->root;
    char *rest = path;
    while (*rest && fd >= 0) {
        char *part = rest, *slash = strchr(rest, '/');
        rest = slash ? slash + 1 : rest + strlen(rest);
        if (slash)
            *slash = 0;
        if (*part && strcmp(part, ".") != 0)
            fd = enter(e, fd, part);
    }
    e->folder = fd;
    if (fd >= 0)
        return SHARD_OK;
    return fail_errno(err, name,
                      errno == ELOOP || errno == ENOTDIR
                          ? "refused: something other than a folder stands in the way"
                          : "cannot make its folder",
                      errno);
}

shard_status extract_create(extract *e, const char *name, int *fd, shard_error *err)
{
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    shard_status status = check_name(name, err);
    if (status == SHARD_OK)
        status = enter_folder(e, name, slash ? (size_t)(slash - name) : 0, err);
    if (status != SHARD_OK)
        return status;
    if (e->replace && unlinkat(e->folder, base, 0) != 0 && errno != ENOENT)
        return fail_errno(err, name, "cannot replace", errno);
    *fd = openat(e->folder, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (*fd >= 0)
        return SHARD_OK;
    return fail_errno(err, name, errno == EEXIST ? "exists (--force replaces it)" : "cannot create",
                      errno);
}

void extract_remove(extract *e, const char *name)
{
    const char *slash = strrchr(name, '/');
    if (e->folder >= 0)
        unlinkat(e->folder, slash ? slash + 1 : name, 0);
}
