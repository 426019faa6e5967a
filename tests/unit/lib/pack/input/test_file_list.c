/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/file_list.h"

#include <stdio.h>

#include "core/rng.h"
#include "files.h"
#include "test.h"

typedef struct {
    pack_names names;
    pack_ignored ignored;
    pack_file_list list;
} files;

static files f;
static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    f = (files){0};
    pack_file_list_init(&f.list, &f.names, &f.ignored, &alloc);
    test_folder();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pack_file_list_clear(&f.list);
    return 0;
}

static void add(uint32_t root, const char *path)
{
    assert_int_equal(pack_file_list_add(&f.list, root, path, strlen(path), NULL), SHARD_OK);
}

static void files_are_sorted_by_key_component_and_root(void **state)
{
    (void)state;
    static const char *const order[] = {
        "a.cls",   "a.cls",  "a.txt", "a!.txt", "a/b.cls", "a/b.j.pg",
        "a/b.jpg", "a0.cls", "b.A",   "b.B",    "b.a",     "\xff.x",
    };
    for (uint64_t seed = 0; seed < 20; seed++) {
        size_t place[COUNT(order)];
        for (size_t i = 0; i < COUNT(order); i++)
            place[i] = i;
        shard_rng_shuffle(place, COUNT(place), sizeof *place, seed);
        f.list.count = 0;
        for (size_t i = 0; i < COUNT(order); i++)
            add((uint32_t)place[i], order[place[i]]);
        pack_file_list_sort(&f.list);
        for (size_t i = 0; i < COUNT(order); i++)
            assert_string_equal(f.list.file[i].path, order[i]);
        assert_int_equal(f.list.file[0].root, 0);
        assert_int_equal(f.list.file[1].root, 1);
    }
}

static void keys_and_components_are_told(void **state)
{
    (void)state;
    add(7, "dog/01.seg.PNG");
    assert_int_equal(f.list.count, 1);
    assert_int_equal(f.list.file[0].key_size, 6);
    assert_int_equal(f.list.file[0].component_size, 7);
    assert_int_equal(f.list.file[0].root, 7);
    f.names.last_dot = true;
    add(7, "dog/01.seg.PNG");
    assert_int_equal(f.list.file[1].key_size, 10);
    assert_int_equal(f.list.file[1].component_size, 3);
    assert_false(pack_file_same_key(&f.list.file[0], &f.list.file[1]));
}

static void a_sample_is_what_shares_a_key(void **state)
{
    (void)state;
    add(0, "a/b.x");
    add(1, "a/b.y");
    add(0, "a/bc.x");
    add(0, "b/b.x");
    assert_true(pack_file_same_key(&f.list.file[0], &f.list.file[1]));
    assert_false(pack_file_same_key(&f.list.file[0], &f.list.file[2]));
    assert_false(pack_file_same_key(&f.list.file[0], &f.list.file[3]));
}

static void what_is_no_component_is_counted(void **state)
{
    (void)state;
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    memcpy(long_name, "a.", 2);
    long_name[sizeof long_name - 1] = 0;
    add(0, "README");
    add(0, "dir.x/a");
    add(0, "a.");
    add(0, ".hidden");
    add(0, "a/.b.c");
    add(0, "__meta__/a.json");
    add(0, long_name);
    assert_int_equal(f.list.count, 0);
    assert_int_equal(f.ignored.no_extension, 4);
    assert_int_equal(f.ignored.hidden, 2);
    assert_int_equal(f.ignored.reserved, 1);
}

static void keys_have_a_longest(void **state)
{
    (void)state;
    char path[FMT_KEY_MAX + 4];
    shard_error err;
    memset(path, 'k', sizeof path);
    memcpy(path + FMT_KEY_MAX, ".x", 3);
    add(0, path);
    assert_int_equal(f.list.file[0].key_size, FMT_KEY_MAX);
    memcpy(path + FMT_KEY_MAX, "k.x", 4);
    assert_int_equal(pack_file_list_add(&f.list, 0, path, strlen(path), &err), SHARD_ELIMIT);
    assert_memory_equal(err.url, path, sizeof err.url - 1);
}

static void errors_name_files_by_root_and_path(void **state)
{
    (void)state;
    static const struct {
        const char *root, *name;
    } roots[] = {{".", "a.x"}, {"/", "/a.x"}, {"..", "../a.x"}};
    char out[64], small[4];
    for (size_t i = 0; i < COUNT(roots); i++) {
        uint32_t number;
        assert_int_equal(pack_file_list_root(&f.list, roots[i].root, &number, NULL), SHARD_OK);
        assert_int_equal(number, i);
        add(number, "a.x");
        pack_file_name(&f.list, &f.list.file[i], out, sizeof out);
        assert_string_equal(out, roots[i].name);
    }
    pack_file_name(&f.list, &f.list.file[2], small, sizeof small);
    assert_string_equal(small, "../");
}

static void a_root_must_be_a_folder(void **state)
{
    (void)state;
    uint32_t number;
    shard_error err;
    test_write_file(test_path("file"), "", 0);
    assert_int_equal(pack_file_list_root(&f.list, test_path("none"), &number, &err),
                     SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("none"));
    assert_int_equal(pack_file_list_root(&f.list, test_path("file"), &number, &err), SHARD_EIO);
    assert_string_equal(err.url, test_path("file"));
    assert_int_equal(f.list.roots, 0);
}

static bool add_many(test_allocator *allocator, void *context)
{
    fmt_alloc failing = test_fmt_alloc(allocator);
    pack_file_list list;
    uint32_t root;
    (void)context;
    pack_file_list_init(&list, &f.names, &f.ignored, &failing);
    shard_status status = pack_file_list_root(&list, ".", &root, NULL);
    for (int i = 0; i < 5000 && status == SHARD_OK; i++) {
        char path[32];
        size_t size = (size_t)snprintf(path, sizeof path, "folder/%d.jpg", i);
        status = pack_file_list_add(&list, root, path, size, NULL);
    }
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    pack_file_list_clear(&list);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(add_many, NULL), 10, 100);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_are_sorted_by_key_component_and_root),
        TEST(keys_and_components_are_told),
        TEST(a_sample_is_what_shares_a_key),
        TEST(what_is_no_component_is_counted),
        TEST(keys_have_a_longest),
        TEST(errors_name_files_by_root_and_path),
        TEST(a_root_must_be_a_folder),
        TEST(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
