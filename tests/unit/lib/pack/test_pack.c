/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of pack; what it makes is tested through the program (tests/cli). */
#include <shard/pack.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "tar_bytes.h"
#include "test.h"

enum { FAILURES_LEAST = 30, FAILURES_MOST = 3000 };

typedef struct {
    const char *source, *table; /* one of them */
    const char *out;
} packed;

static void make_tree(void)
{
    static const char *const names[] = {"in/cat/1.jpg", "in/cat/1.txt", "in/dog/2.jpg",
                                        "in/dog/2.txt"};
    mkdir(test_path("in"), 0777);
    mkdir(test_path("in/cat"), 0777);
    mkdir(test_path("in/dog"), 0777);
    for (size_t i = 0; i < COUNT(names); i++)
        test_write_file(test_path(names[i]), names[i], strlen(names[i]));
}

static void make_table(void)
{
    static const char rows[] = "{\"key\":\"a\",\"file\":\"in/cat/1.jpg\",\"n\":1}\n"
                               "{\"key\":\"b\",\"file\":\"in/dog/2.jpg\",\"n\":2}\n";
    make_tree();
    test_write_file(test_path("rows.jsonl"), rows, sizeof rows - 1);
}

static void make_archive(void)
{
    tar_bytes tar = {0};
    tar_bytes_file(&tar, "cat/1.txt", "one");
    tar_bytes_file(&tar, "dog/2.txt", "two");
    tar_bytes_end(&tar);
    test_write_file(test_path("in.tar"), tar.bytes, tar.size);
    tar_bytes_free(&tar);
}

static void remove_outputs(const char *folder)
{
    DIR *all = opendir(folder);
    assert_non_null(all);
    for (struct dirent *e; (e = readdir(all)) != NULL;)
        if (strncmp(e->d_name, "out", 3) == 0 || strncmp(e->d_name, ".out", 4) == 0)
            unlink(test_path(e->d_name));
    closedir(all);
}

/* What a run without memory leaves must be what --force takes over. */
static bool pack_with(test_allocator *allocator, void *context)
{
    const packed *p = context;
    char source[512], table[512], out[512];
    const char *sources[] = {source}, *outs[] = {out};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    shard_pack_summary summary;
    shard_error err = {.status = SHARD_OK};
    shard_allocator failing = test_shard_allocator(allocator);
    snprintf(source, sizeof source, "%s", p->source ? test_path(p->source) : "");
    snprintf(table, sizeof table, "%s", p->table ? test_path(p->table) : "");
    snprintf(out, sizeof out, "%s", test_path(p->out));
    opts.allocator = &failing;
    opts.sources = sources;
    opts.source_count = p->source != NULL;
    opts.table = p->table ? table : NULL;
    opts.outs = outs;
    opts.out_count = 1;
    opts.max_samples = strchr(out, '%') ? 1 : 0;
    opts.threads = 1;
    opts.force = true;
    opts.label_from_dir = p->source != NULL;
    shard_status status = shard_pack(&opts, &summary, &err);
    if (status != SHARD_OK && status != SHARD_ENOMEM)
        fail_msg("%s: %s", err.url, err.message);
    return status == SHARD_OK;
}

static void check(const packed *p)
{
    packed copy = *p;
    assert_in_range(test_every_allocation(pack_with, &copy), FAILURES_LEAST, FAILURES_MOST);
    test_allocator none = {0};
    assert_true(pack_with(&none, &copy));
}

static void a_tree_with_short_memory(void **state)
{
    (void)state;
    const char *folder = test_folder();
    make_tree();
    check(&(packed){.source = "in", .out = "out-<0..1>.tar"});
    remove_outputs(folder);
    check(&(packed){.source = "in", .out = "out-%d.tar.zst"});
    remove_outputs(folder);
    check(&(packed){.source = "in", .out = "out.tar.gz"});
}

static void a_table_with_short_memory(void **state)
{
    (void)state;
    test_folder();
    make_table();
    check(&(packed){.table = "rows.jsonl", .out = "out-<0..1>.tar"});
}

static void an_archive_with_short_memory(void **state)
{
    (void)state;
    test_folder();
    make_archive();
    check(&(packed){.source = "in.tar", .out = "out-<0..1>.tar"});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tree_with_short_memory),
        cmocka_unit_test(a_table_with_short_memory),
        cmocka_unit_test(an_archive_with_short_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
