/* SPDX-License-Identifier: Apache-2.0 */
#include "shards.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>
#include <zstd.h>

#include "files.h"

enum { FRAME = 1000, NAMES_MAX = 16 };

static void die(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    abort();
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t size = strlen(name), suffix_size = strlen(suffix);
    return size > suffix_size && strcmp(name + size - suffix_size, suffix) == 0;
}

static void write_zstd(const char *path, const tar_bytes *tar)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        die(path, "cannot create");
    for (size_t at = 0; at < tar->size; at += FRAME) {
        uint8_t frame[ZSTD_COMPRESSBOUND(FRAME)];
        size_t size = tar->size - at < FRAME ? tar->size - at : FRAME;
        size_t made = ZSTD_compress(frame, sizeof frame, tar->bytes + at, size, 1);
        if (ZSTD_isError(made) || fwrite(frame, 1, made, file) != made)
            die(path, "cannot write");
    }
    fclose(file);
}

static void write_gzip(const char *path, const tar_bytes *tar)
{
    gzFile file = gzopen(path, "wb");
    if (!file || gzwrite(file, tar->bytes, (unsigned)tar->size) != (int)tar->size ||
        gzclose(file) != Z_OK)
        die(path, "cannot write");
}

void test_index_shard(const char *name, bool checksums)
{
    char path[600];
    shard_error err;
    shard_index_build_opts opts = SHARD_INDEX_BUILD_OPTS_INIT;
    opts.no_checksums = !checksums;
    snprintf(path, sizeof path, "%s.sidx", test_path(name));
    if (shard_index_build(test_path(name), path, &opts, &err) != SHARD_OK)
        die(path, err.message);
}

void test_write_shard(const char *name, const tar_bytes *tar, bool indexed)
{
    if (ends_with(name, ".zst"))
        write_zstd(test_path(name), tar);
    else if (ends_with(name, ".gz"))
        write_gzip(test_path(name), tar);
    else
        test_write_file(test_path(name), tar->bytes, tar->size);
    if (indexed)
        test_index_shard(name, true);
}

void test_add_sample(tar_bytes *tar, int number)
{
    char path[32], content[32];
    snprintf(path, sizeof path, "k%04d.cls", number);
    snprintf(content, sizeof content, "%d", number % 10);
    tar_bytes_file(tar, path, content);
    snprintf(path, sizeof path, "k%04d.txt", number);
    snprintf(content, sizeof content, "text of %d", number);
    tar_bytes_file(tar, path, content);
}

void test_make_shard(const char *name, int first, int count)
{
    tar_bytes tar = {0};
    for (int i = 0; i < count; i++)
        test_add_sample(&tar, first + i);
    tar_bytes_end(&tar);
    test_write_shard(name, &tar, true);
    tar_bytes_free(&tar);
}

/* The paths of files of the test's folder, in memory of their own. */
static size_t make_paths(const char *const *names, char paths[NAMES_MAX][600],
                         const char *pointers[NAMES_MAX])
{
    size_t count = 0;
    for (; names[count]; count++) {
        if (count == NAMES_MAX)
            die(names[count], "too many names");
        snprintf(paths[count], sizeof paths[count], "%s", test_path(names[count]));
        pointers[count] = paths[count];
    }
    return count;
}

shard_set *test_open_set(const char *const *names, const shard_set_opts *opts)
{
    char paths[NAMES_MAX][600];
    const char *pointers[NAMES_MAX];
    shard_set *set;
    shard_error err;
    size_t count = make_paths(names, paths, pointers);
    if (shard_set_open(&set, pointers, count, opts, &err) != SHARD_OK)
        die(err.url, err.message);
    return set;
}

void test_make_manifest(const char *name, const char *const *shards)
{
    char paths[NAMES_MAX][600];
    const char *pointers[NAMES_MAX];
    shard_error err;
    size_t count = make_paths(shards, paths, pointers);
    if (shard_manifest_create(test_path(name), pointers, count, &err) != SHARD_OK)
        die(err.url, err.message);
}

shard_set *test_counted_set(const uint64_t *samples, size_t shards)
{
    FILE *file = fopen(test_path("counted.shards.json"), "w");
    uint64_t total = 0;
    if (!file)
        die("counted.shards.json", "cannot create");
    for (size_t i = 0; i < shards; i++)
        total += samples[i];
    fprintf(file, "{\"format\":\"shardset\",\"version\":1,\"samples\":%llu,\"bytes\":%llu,",
            (unsigned long long)total, (unsigned long long)total * 1024);
    fprintf(file, "\"components\":{},\"shards\":%zu,\"names\":[", shards);
    for (size_t i = 0; i < shards; i++)
        fprintf(file, "%s\"s%zu.tar\"", i > 0 ? "," : "", i);
    fprintf(file, "],\"shard_samples\":[");
    for (size_t i = 0; i < shards; i++)
        fprintf(file, "%s%llu", i > 0 ? "," : "", (unsigned long long)samples[i]);
    fprintf(file, "],\"shard_bytes\":[");
    for (size_t i = 0; i < shards; i++)
        fprintf(file, "%s%llu", i > 0 ? "," : "", (unsigned long long)samples[i] * 1024);
    fprintf(file, "]}");
    fclose(file);
    const char *const names[] = {"counted.shards.json", NULL};
    return test_open_set(names, NULL);
}
