/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: system calls that fail, or at which something happens, as SHIM_FAIL says: rules
 * parted by
 * ';', of which the first that applies counts.
 *
 *     CALL:ACTION[:path=TEXT][:nth=N][:every=N][:after=BYTES][:max=BYTES]
 *
 * CALL     open (and openat), read, pread, write, pwrite, close, fsync, ftruncate, rename, unlink,
 * flock, mmap, fstat, mkstemp ACTION   an errno such as ENOSPC: the call fails with it and does
 * nothing else; SHORT: it moves at most `max` bytes; SHRINK, GROW, GONE: before it, its file is cut
 * to half, gets a byte more, is unlinked; SLOW: it takes a millisecond longer; a signal such as
 * SIGKILL: before it, the thread gets that signal path     only calls on a file whose path holds
 * TEXT, or ends with it if a '$' follows nth only the N-th such call; every: each N-th; else all
 * after    such calls write BYTES in all, and fail from then on
 *
 * SHIM_LOG=FILE: append a line "CALL PATH" for each call.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { RULES_MAX = 8, PATH_SIZE = 4400 };
enum { DO_FAIL, DO_SHORT, DO_SHRINK, DO_GROW, DO_GONE, DO_SLOW, DO_SIGNAL };

typedef struct {
    char call[16], path[256];
    int action, number; /* errno or signal */
    long nth, every, after, max;
    atomic_long calls, bytes;
} rule;

static const struct {
    const char *name;
    int action, number;
} actions[] = {
    {"ENOSPC", DO_FAIL, ENOSPC},
    {"EIO", DO_FAIL, EIO},
    {"EINTR", DO_FAIL, EINTR},
    {"EDQUOT", DO_FAIL, EDQUOT},
    {"ENOENT", DO_FAIL, ENOENT},
    {"EACCES", DO_FAIL, EACCES},
    {"ENOMEM", DO_FAIL, ENOMEM},
    {"EMFILE", DO_FAIL, EMFILE},
    {"ENOSYS", DO_FAIL, ENOSYS},
    {"EAGAIN", DO_FAIL, EAGAIN},
    {"ENOLCK", DO_FAIL, ENOLCK},
    {"EWOULDBLOCK", DO_FAIL, EWOULDBLOCK},
    {"SHORT", DO_SHORT, 0},
    {"SHRINK", DO_SHRINK, 0},
    {"GROW", DO_GROW, 0},
    {"GONE", DO_GONE, 0},
    {"SLOW", DO_SLOW, 0},
    {"SIGKILL", DO_SIGNAL, 9},
    {"SIGTERM", DO_SIGNAL, SIGTERM},
    {"SIGINT", DO_SIGNAL, SIGINT},
};

static rule rules[RULES_MAX];
static size_t rule_count;
static int log_fd = -1;
static _Thread_local bool inside; /* what the shim itself calls is left alone */

/* ---- rules ---- */

static void die(const char *what)
{
    fprintf(stderr, "fault_shim: %s in SHIM_FAIL\n", what);
    _exit(99);
}

static void take_field(rule *r, const char *field)
{
    const char *equals = strchr(field, '=');
    size_t size = equals ? (size_t)(equals - field) : 0;
    long value = equals ? atol(equals + 1) : 0;
    if (size == 4 && strncmp(field, "path", size) == 0)
        snprintf(r->path, sizeof r->path, "%s", equals + 1);
    else if (size == 3 && strncmp(field, "nth", size) == 0)
        r->nth = value;
    else if (size == 5 && strncmp(field, "every", size) == 0)
        r->every = value;
    else if (size == 5 && strncmp(field, "after", size) == 0)
        r->after = value;
    else if (size == 3 && strncmp(field, "max", size) == 0)
        r->max = value;
    else
        die("unknown field");
}

static void take_rule(rule *r, char *text)
{
    char *rest = NULL, *call = strtok_r(text, ":", &rest), *name = strtok_r(NULL, ":", &rest);
    if (!call || !name)
        die("no call and action");
    snprintf(r->call, sizeof r->call, "%s", call);
    size_t i = 0;
    while (i < sizeof actions / sizeof *actions && strcmp(actions[i].name, name) != 0)
        i++;
    if (i == sizeof actions / sizeof *actions)
        die("unknown action");
    r->action = actions[i].action;
    r->number = actions[i].number;
    r->after = -1;
    for (char *field; (field = strtok_r(NULL, ":", &rest)) != NULL;)
        take_field(r, field);
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("SHIM_FAIL"), *log = getenv("SHIM_LOG");
    char *rest = NULL, *copy = strdup(text ? text : "");
    inside = true;
    for (char *one = strtok_r(copy, ";", &rest); one; one = strtok_r(NULL, ";", &rest)) {
        if (rule_count == RULES_MAX)
            die("too many rules");
        take_rule(&rules[rule_count++], one);
    }
    free(copy);
    if (log)
        log_fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    inside = false;
}

/* ---- paths ---- */

static void path_of_fd(int fd, char out[PATH_SIZE])
{
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, out, PATH_SIZE - 1);
    out[size > 0 ? size : 0] = 0;
}

static void path_at(int folder, const char *path, char out[PATH_SIZE])
{
    if (path[0] == '/' || folder == AT_FDCWD) {
        snprintf(out, PATH_SIZE, "%s", path);
        return;
    }
    path_of_fd(folder, out);
    size_t size = strlen(out);
    snprintf(out + size, PATH_SIZE - size, "/%s", path);
}

/* ---- what happens ---- */

static void change_file(const rule *r, const char *path)
{
    struct stat info;
    if (r->action == DO_GONE) {
        unlink(path);
    } else if (stat(path, &info) == 0) {
        off_t size = r->action == DO_GROW ? info.st_size + 1 : info.st_size / 2;
        if (truncate(path, size) != 0)
            die("cannot truncate the file");
    }
}

static bool is_due(rule *r)
{
    long call = atomic_fetch_add(&r->calls, 1) + 1;
    return (r->nth == 0 || call == r->nth) && (r->every == 0 || call % r->every == 0);
}

static bool is_meant(const rule *r, const char *path)
{
    size_t size = strlen(r->path), length = strlen(path);
    if (size == 0 || r->path[size - 1] != '$')
        return strstr(path, r->path) != NULL;
    return length >= size - 1 && strncmp(path + length - (size - 1), r->path, size - 1) == 0;
}

/* The rule that applies to this call now, or NULL. */
static rule *find_rule(const char *call, const char *path)
{
    if (log_fd >= 0)
        dprintf(log_fd, "%s %s\n", call, path);
    for (size_t i = 0; i < rule_count; i++)
        if (strcmp(rules[i].call, call) == 0 && is_meant(&rules[i], path) && is_due(&rules[i]))
            return &rules[i];
    return NULL;
}

/*
 * Before a call: true if it is to fail, with errno set. `*size`, where there is one, is made
 * smaller for a short one.
 */
static bool disturb(const char *call, const char *path, size_t *size)
{
    if (inside)
        return false;
    int code = errno;
    inside = true;
    rule *r = find_rule(call, path);
    bool fails = r && r->action == DO_FAIL;
    if (r && r->action == DO_SHORT && size && *size > (size_t)r->max)
        *size = (size_t)r->max;
    if (fails && r->after >= 0 && size) {
        long before = atomic_fetch_add(&r->bytes, (long)*size), left = r->after - before;
        fails = left <= 0;
        if (!fails && *size > (size_t)left)
            *size = (size_t)left;
    }
    if (r && r->action >= DO_SHRINK && r->action <= DO_GONE)
        change_file(r, path);
    if (r && r->action == DO_SLOW)
        usleep(1000);
    inside = false;
    if (r && r->action == DO_SIGNAL)
        raise(r->number);
    errno = fails ? r->number : code;
    return fails;
}

static bool disturb_fd(const char *call, int fd, size_t *size)
{
    char path[PATH_SIZE];
    int code = errno;
    if (inside)
        return false;
    path_of_fd(fd, path);
    errno = code;
    return disturb(call, path, size);
}

/* ---- calls ---- */

#define REAL(name)                              \
    static __typeof__(name) *real;              \
    if (!real) {                                \
        void *symbol = dlsym(RTLD_NEXT, #name); \
        memcpy(&real, &symbol, sizeof real);    \
    }

#define MODE(flags, last)                  \
    mode_t mode = 0;                       \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list arguments;                 \
        va_start(arguments, last);         \
        mode = va_arg(arguments, mode_t);  \
        va_end(arguments);                 \
    }

int openat(int folder, const char *name, int flags, ...)
{
    char path[PATH_SIZE];
    REAL(openat)
    MODE(flags, flags)
    path_at(folder, name, path);
    return disturb("open", path, NULL) ? -1 : real(folder, name, flags, mode);
}

int open(const char *name, int flags, ...)
{
    REAL(open)
    MODE(flags, flags)
    return disturb("open", name, NULL) ? -1 : real(name, flags, mode);
}

int mkstemp(char *name)
{
    REAL(mkstemp)
    return disturb("mkstemp", name, NULL) ? -1 : real(name);
}

ssize_t read(int fd, void *bytes, size_t size)
{
    REAL(read)
    return disturb_fd("read", fd, &size) ? -1 : real(fd, bytes, size);
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset)
{
    REAL(pread)
    return disturb_fd("pread", fd, &size) ? -1 : real(fd, bytes, size, offset);
}

ssize_t write(int fd, const void *bytes, size_t size)
{
    REAL(write)
    return disturb_fd("write", fd, &size) ? -1 : real(fd, bytes, size);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset)
{
    REAL(pwrite)
    return disturb_fd("pwrite", fd, &size) ? -1 : real(fd, bytes, size, offset);
}

int close(int fd)
{
    REAL(close)
    bool fails = disturb_fd("close", fd, NULL);
    int code = errno, result = real(fd); /* the descriptor is gone in any case, as on Linux */
    if (!fails)
        return result;
    errno = code;
    return -1;
}

int fsync(int fd)
{
    REAL(fsync)
    return disturb_fd("fsync", fd, NULL) ? -1 : real(fd);
}

int ftruncate(int fd, off_t size)
{
    REAL(ftruncate)
    return disturb_fd("ftruncate", fd, NULL) ? -1 : real(fd, size);
}

int flock(int fd, int operation)
{
    REAL(flock)
    return disturb_fd("flock", fd, NULL) ? -1 : real(fd, operation);
}

int fstat(int fd, struct stat *out)
{
    REAL(fstat)
    return disturb_fd("fstat", fd, NULL) ? -1 : real(fd, out);
}

/* Matched by the name that a file is to get. */
int rename(const char *from, const char *to)
{
    REAL(rename)
    return disturb("rename", to, NULL) ? -1 : real(from, to);
}

int unlink(const char *path)
{
    REAL(unlink)
    return disturb("unlink", path, NULL) ? -1 : real(path);
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    REAL(mmap)
    return fd >= 0 && disturb_fd("mmap", fd, NULL)
               ? MAP_FAILED
               : real(address, size, protection, flags, fd, offset);
}

/* The names of a program that was built for large files. */
int open64(const char *name, int flags, ...)
{
    MODE(flags, flags)
    return open(name, flags, mode);
}

int openat64(int folder, const char *name, int flags, ...)
{
    MODE(flags, flags)
    return openat(folder, name, flags, mode);
}

ssize_t pread64(int fd, void *bytes, size_t size, off64_t offset)
{
    return pread(fd, bytes, size, offset);
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t offset)
{
    return pwrite(fd, bytes, size, offset);
}

int ftruncate64(int fd, off64_t size)
{
    return ftruncate(fd, size);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return mmap(address, size, protection, flags, fd, offset);
}
