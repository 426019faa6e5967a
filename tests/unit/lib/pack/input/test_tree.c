/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "test.h"

static pack_names names;
static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    names = (pack_names){0};
    test_folder();
    return 0;
}

static void make_folder(const char *name)
{
    assert_int_equal(mkdir(test_path(name), 0777), 0);
}

static void make_file(const char *name)
{
    test_write_file(test_path(name), "x", 1);
}

static void make_link(const char *name, const char *target)
{
    assert_int_equal(symlink(target, test_path(name)), 0);
}

/* What a walk came to. */
typedef struct {
    char text[4096]; /* "PATH|" of each file */
    pack_ignored ignored;
    int unreadable;
    shard_error why;   /* of the last one */
    shard_status stop; /* with it the walk stops at what it cannot read */
} walked;

static shard_status on_unreadable(void *context, const shard_error *why, shard_error *err)
{
    walked *w = context;
    w->unreadable++;
    w->why = *why;
    if (w->stop != SHARD_OK && err)
        *err = *why;
    return w->stop;
}

static shard_status walk(walked *w, const char *folder, pack_walk_rules rules, bool sort,
                         const fmt_alloc *with, shard_error *err)
{
    pack_file_list list;
    uint32_t root;
    size_t n = 0;
    rules.unreadable = on_unreadable;
    rules.context = w;
    w->ignored = (pack_ignored){0};
    pack_file_list_init(&list, &names, &w->ignored, with);
    shard_status status = pack_file_list_root(&list, folder, &root, err);
    if (status == SHARD_OK)
        status = pack_tree_walk(&list, root, &rules, err);
    if (sort)
        pack_file_list_sort(&list);
    w->text[0] = 0;
    for (size_t i = 0; i < list.count && n < sizeof w->text; i++)
        n += (size_t)snprintf(w->text + n, sizeof w->text - n, "%s|", list.file[i].path);
    pack_file_list_clear(&list);
    return status;
}

static void check_walk(pack_walk_rules rules, const char *paths)
{
    walked w = {0};
    shard_error err;
    if (walk(&w, test_path(""), rules, false, &alloc, &err) != SHARD_OK)
        fail_msg("%s: %s", err.url, err.message);
    assert_string_equal(w.text, paths);
}

static int count_open_files(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder && readdir(folder))
        count++;
    if (folder)
        closedir(folder);
    return count;
}

/* Folders sort among the keys of files: that is what lets one tree pass without a sort. */
static void files_come_in_the_order_of_their_keys(void **state)
{
    (void)state;
    static const char *const folders[] = {"a", "a-b", "a/c", "b.c", "empty"};
    static const char *const paths[] = {"a.txt",     "a!.txt",      "a0.txt",  "a/z.txt",
                                        "a-b/x.txt", "a/c/y.b.txt", "a/c.txt", "b.c/x.txt",
                                        "b.cls",     "b.d.e",       "\xff.x",  "a.cls"};
    walked plain = {0}, sorted = {0};
    for (size_t i = 0; i < COUNT(folders); i++)
        make_folder(folders[i]);
    for (size_t i = 0; i < COUNT(paths); i++)
        make_file(paths[i]);
    for (int last_dot = 0; last_dot < 2; last_dot++) {
        names.last_dot = last_dot;
        assert_int_equal(walk(&plain, test_path(""), (pack_walk_rules){0}, false, &alloc, NULL),
                         SHARD_OK);
        assert_int_equal(walk(&sorted, test_path(""), (pack_walk_rules){0}, true, &alloc, NULL),
                         SHARD_OK);
        assert_string_equal(plain.text, sorted.text);
    }
    names.last_dot = false;
    check_walk((pack_walk_rules){0},
               "a.cls|a.txt|a!.txt|a-b/x.txt|a/c.txt|a/c/y.b.txt|a/z.txt|a0.txt|b.cls|b.d.e|"
               "b.c/x.txt|\xff.x|");
}

static void an_empty_tree_has_no_files(void **state)
{
    (void)state;
    make_folder("a");
    make_folder("a/b");
    check_walk((pack_walk_rules){0}, "");
}

static void what_is_not_packed_is_counted(void **state)
{
    (void)state;
    walked w = {0};
    make_file("README");
    make_file(".hidden");
    make_folder("__meta__");
    make_file("__meta__/a.json");
    make_file("a.txt");
    assert_int_equal(mkfifo(test_path("pipe.txt"), 0666), 0);
    assert_int_equal(walk(&w, test_path(""), (pack_walk_rules){0}, false, &alloc, NULL), SHARD_OK);
    assert_string_equal(w.text, "a.txt|");
    assert_int_equal(w.ignored.no_extension, 1);
    assert_int_equal(w.ignored.hidden, 1);
    assert_int_equal(w.ignored.reserved, 1);
    assert_int_equal(w.ignored.special, 1);
}

static void links_are_followed_skipped_or_refused(void **state)
{
    (void)state;
    walked w = {0};
    shard_error err;
    make_folder("real");
    make_file("real/a.txt");
    make_link("real/b.txt", "a.txt");
    make_link("other", "real");
    check_walk((pack_walk_rules){.links = SHARD_PACK_LINKS_FOLLOW},
               "other/a.txt|other/b.txt|real/a.txt|real/b.txt|");
    assert_int_equal(walk(&w, test_path(""), (pack_walk_rules){.links = SHARD_PACK_LINKS_SKIP},
                          false, &alloc, NULL),
                     SHARD_OK);
    assert_string_equal(w.text, "real/a.txt|");
    assert_int_equal(w.ignored.special, 2);
    assert_int_equal(walk(&w, test_path("real"), (pack_walk_rules){.links = SHARD_PACK_LINKS_ERROR},
                          false, &alloc, &err),
                     SHARD_EIO);
    assert_string_equal(err.url, test_path("real/b.txt"));
}

static void a_link_back_to_a_folder_above_is_an_error(void **state)
{
    (void)state;
    static const char *const targets[] = {".", "..", "../.."};
    make_folder("tree");
    make_folder("tree/a");
    make_folder("tree/a/b");
    for (size_t i = 0; i < COUNT(targets); i++) {
        walked w = {0};
        shard_error err;
        int before = count_open_files();
        make_link("tree/a/b/back", targets[i]);
        assert_int_equal(walk(&w, test_path("tree"), (pack_walk_rules){0}, false, &alloc, &err),
                         SHARD_EIO);
        assert_string_equal(err.url, test_path("tree/a/b/back"));
        assert_int_equal(err.sys_errno, ELOOP);
        assert_int_equal(count_open_files(), before);
        unlink(test_path("tree/a/b/back"));
    }
}

static void a_link_to_nothing_is_the_callers_to_judge(void **state)
{
    (void)state;
    walked w = {0};
    shard_error err = {0};
    make_file("a.txt");
    make_file("z.txt");
    make_link("gone.txt", "nothing");
    assert_int_equal(walk(&w, test_path(""), (pack_walk_rules){0}, false, &alloc, &err), SHARD_OK);
    assert_string_equal(w.text, "a.txt|z.txt|");
    assert_int_equal(w.unreadable, 1);
    assert_non_null(strstr(w.why.url, "gone.txt"));
    assert_int_equal(w.why.sys_errno, ENOENT);
    w.stop = SHARD_ENOTFOUND;
    assert_int_equal(walk(&w, test_path(""), (pack_walk_rules){0}, false, &alloc, &err),
                     SHARD_ENOTFOUND);
    assert_non_null(strstr(err.url, "gone.txt"));
}

static void a_closed_folder_is_the_callers_to_judge(void **state)
{
    (void)state;
    walked w = {0};
    if (geteuid() == 0)
        skip(); /* nothing is closed to root */
    make_file("a.txt");
    make_folder("closed");
    chmod(test_path("closed"), 0);
    shard_status status = walk(&w, test_path(""), (pack_walk_rules){0}, false, &alloc, NULL);
    chmod(test_path("closed"), 0777);
    assert_int_equal(status, SHARD_OK);
    assert_string_equal(w.text, "a.txt|");
    assert_int_equal(w.unreadable, 1);
    assert_int_equal(w.why.sys_errno, EACCES);
}

/* Deeper than any tree that was made on purpose; still no crash, and no descriptor is left. */
static void a_bottomless_tree_is_refused(void **state)
{
    (void)state;
    enum { DEPTH = 300 };
    walked w = {0};
    shard_error err;
    char path[512 + 2 * DEPTH];
    int n = snprintf(path, sizeof path, "%s", test_path("deep")), before = count_open_files();
    assert_int_equal(mkdir(path, 0777), 0);
    for (int i = 0; i < DEPTH; i++) {
        n += snprintf(path + n, sizeof path - (size_t)n, "/d");
        assert_int_equal(mkdir(path, 0777), 0);
    }
    assert_int_equal(walk(&w, test_path("deep"), (pack_walk_rules){0}, false, &alloc, &err),
                     SHARD_EIO);
    assert_non_null(strstr(err.url, "deep/d/d/d"));
    assert_int_equal(count_open_files(), before);
}

static void a_walk_can_be_cancelled(void **state)
{
    (void)state;
    walked w = {0};
    shard_cancel *cancel;
    int before = count_open_files();
    make_file("a.txt");
    assert_int_equal(shard_cancel_new(&cancel), SHARD_OK);
    shard_cancel_set(cancel);
    assert_int_equal(
        walk(&w, test_path(""), (pack_walk_rules){.cancel = cancel}, false, &alloc, NULL),
        SHARD_ECANCEL);
    assert_int_equal(count_open_files(), before);
    shard_cancel_free(cancel);
}

/* Folders in folders, read by several threads: the same files in the same order. */
static void threads_change_nothing(void **state)
{
    (void)state;
    walked alone = {0}, together = {0};
    for (int i = 0; i < 60; i++) {
        char name[64];
        snprintf(name, sizeof name, "f%02d", i);
        make_folder(name);
        snprintf(name, sizeof name, "f%02d/below", i);
        make_folder(name);
        snprintf(name, sizeof name, "f%02d/below/x%d.txt", i, i);
        make_file(name);
        snprintf(name, sizeof name, "f%02d/a.txt", i);
        make_file(name);
        snprintf(name, sizeof name, "f%02d/gone.txt", i);
        make_link(name, "nothing");
    }
    assert_int_equal(walk(&alone, test_path(""), (pack_walk_rules){0}, false, &alloc, NULL),
                     SHARD_OK);
    for (uint32_t threads = 2; threads < 40; threads += 7) {
        together = (walked){0};
        assert_int_equal(walk(&together, test_path(""), (pack_walk_rules){.threads = threads},
                              false, &alloc, NULL),
                         SHARD_OK);
        assert_string_equal(together.text, alone.text);
        assert_int_equal(together.unreadable, 60);
    }
}

/* It stops in the middle, with threads ahead of it. */
static void an_error_ends_a_walk_of_threads(void **state)
{
    (void)state;
    int before = count_open_files();
    for (int i = 0; i < 60; i++) {
        char name[64];
        snprintf(name, sizeof name, "f%02d", i);
        make_folder(name);
        snprintf(name, sizeof name, "f%02d/gone.txt", i);
        make_link(name, "nothing");
    }
    walked w = {.stop = SHARD_EIO};
    shard_error err;
    assert_int_equal(walk(&w, test_path(""), (pack_walk_rules){.threads = 4}, false, &alloc, &err),
                     SHARD_EIO);
    assert_int_equal(w.unreadable, 1);
    assert_non_null(strstr(err.url, "f00/gone.txt"));
    assert_int_equal(count_open_files(), before);
}

static bool walk_with(test_allocator *allocator, void *context)
{
    fmt_alloc failing = test_fmt_alloc(allocator);
    walked w = {0};
    int before = count_open_files();
    shard_status status = walk(&w, context, (pack_walk_rules){0}, false, &failing, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    assert_int_equal(count_open_files(), before);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    char folder[512];
    make_folder("a");
    make_folder("a/b");
    for (int i = 0; i < 40; i++) {
        char name[32];
        snprintf(name, sizeof name, "a/b/%d.txt", i);
        make_file(name);
    }
    snprintf(folder, sizeof folder, "%s", test_path(""));
    assert_in_range(test_every_allocation(walk_with, folder), 10, 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(files_come_in_the_order_of_their_keys, setup),
        cmocka_unit_test_setup(an_empty_tree_has_no_files, setup),
        cmocka_unit_test_setup(what_is_not_packed_is_counted, setup),
        cmocka_unit_test_setup(links_are_followed_skipped_or_refused, setup),
        cmocka_unit_test_setup(a_link_back_to_a_folder_above_is_an_error, setup),
        cmocka_unit_test_setup(a_link_to_nothing_is_the_callers_to_judge, setup),
        cmocka_unit_test_setup(a_closed_folder_is_the_callers_to_judge, setup),
        cmocka_unit_test_setup(a_bottomless_tree_is_refused, setup),
        cmocka_unit_test_setup(a_walk_can_be_cancelled, setup),
        cmocka_unit_test_setup(threads_change_nothing, setup),
        cmocka_unit_test_setup(an_error_ends_a_walk_of_threads, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
