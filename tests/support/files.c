/* SPDX-License-Identifier: Apache-2.0 */
#include "files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static void die(const char *what)
{
    perror(what);
    abort();
}

static int remove_entry(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info;
    (void)type;
    (void)walk;
    return remove(path);
}

static void remove_folder(void)
{
    if (*folder)
        nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_folder(void)
{
    if (!*folder)
        atexit(remove_folder);
    remove_folder();
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/shard-test-XXXXXX", base ? base : "/tmp");
    if (!mkdtemp(folder))
        die(folder);
    return folder;
}

const char *test_path(const char *name)
{
    static char paths[8][512];
    static int next;
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

void test_write_file(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
        die(path);
}

uint8_t *test_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END) != 0)
        die(path);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size + 1);
    if (!bytes || fread(bytes, 1, *size, file) != *size)
        die(path);
    fclose(file);
    return bytes;
}

int test_file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}
