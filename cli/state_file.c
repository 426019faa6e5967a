/* SPDX-License-Identifier: Apache-2.0 */
#include "state_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int fail(const cli *c, const char *path, const char *what, int code)
{
    shard_error err = {.status = code == ENOENT ? SHARD_ENOTFOUND : SHARD_EIO,
                       .sys_errno = code,
                       .offset = SHARD_NO_OFFSET};
    snprintf(err.url, sizeof err.url, "%s", path);
    snprintf(err.message, sizeof err.message, "%s: %s", what, strerror(code));
    return cli_error(c, &err);
}

int state_file_read(const cli *c, const char *path, char out[STATE_FILE_MOST])
{
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(c, path, "cannot open", errno);
    size_t size = fread(out, 1, STATE_FILE_MOST - 1, file);
    int code = ferror(file) ? errno : 0;
    fclose(file);
    out[size] = 0;
    return code == 0 ? EXIT_OK : fail(c, path, "cannot read", code);
}

/* Written aside, then moved over: who is killed meanwhile keeps the state before. */
int state_file_write(const cli *c, const char *path, const char *state)
{
    char aside[4200];
    if ((size_t)snprintf(aside, sizeof aside, "%s.tmp", path) >= sizeof aside)
        return fail(c, path, "cannot create", ENAMETOOLONG);
    FILE *file = fopen(aside, "we");
    if (!file)
        return fail(c, aside, "cannot create", errno);
    bool ok = fprintf(file, "%s\n", state) > 0 && fflush(file) == 0 && fsync(fileno(file)) == 0;
    int code = errno;
    ok = fclose(file) == 0 && ok;
    if (ok && rename(aside, path) == 0)
        return EXIT_OK;
    code = ok ? errno : code;
    unlink(aside);
    return fail(c, path, "cannot write", code);
}
