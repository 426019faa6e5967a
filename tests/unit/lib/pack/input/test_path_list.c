/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/path_list.h"

#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "os/path.h"
#include "test.h"

static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    test_folder();
    return 0;
}

typedef struct {
    char text[256]; /* "PATH|" of each */
    size_t size, count;
    size_t stop_after; /* 0: never */
} collected;

static shard_status collect(void *context, const char *path, size_t size, shard_error *err)
{
    collected *c = context;
    (void)err;
    assert_int_equal(strlen(path), size);
    c->size += (size_t)snprintf(c->text + c->size, sizeof c->text - c->size, "%s|", path);
    return ++c->count == c->stop_after ? SHARD_EDATA : SHARD_OK;
}

static shard_status read_list(const void *bytes, size_t size, bool nul, collected *c,
                              shard_error *err)
{
    test_write_file(test_path("list"), bytes, size);
    return pack_path_list_read(test_path("list"), nul, NULL, collect, c, &alloc, err);
}

static void each_line_is_a_path(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *paths;
        size_t size;
        bool nul;
    } lists[] = {
        {"", "", 0, false},
        {"", "", 0, true},
        {"a\nb c\n/d/e\n", "a|b c|/d/e|", 11, false},
        {"a\nb", "a|b|", 3, false},
        {"a\r\nb\r\nc\r", "a|b|c|", 8, false},
        {"a\rb\n", "a\rb|", 4, false},
        {"a\r\r\n", "a\r|", 4, false},
        {"\n\na\n", "||a|", 4, false},
        {"a\0b\nc\r\0", "a|b\nc\r|", 7, true},
        {"a\0b", "a|b|", 3, true},
    };
    for (size_t i = 0; i < COUNT(lists); i++) {
        collected c = {0};
        assert_int_equal(read_list(lists[i].bytes, lists[i].size, lists[i].nul, &c, NULL),
                         SHARD_OK);
        assert_string_equal(c.text, lists[i].paths);
    }
}

typedef struct {
    size_t count;
    const char *broken; /* the first path that is not as it should be */
} counted;

static shard_status count_numbered(void *context, const char *path, size_t size, shard_error *err)
{
    counted *c = context;
    char expected[64];
    (void)size;
    (void)err;
    snprintf(expected, sizeof expected, "folder/of/some/length/%zu.jpg", c->count++);
    assert_string_equal(path, expected);
    return SHARD_OK;
}

static void paths_cross_the_edges_of_buffers(void **state)
{
    (void)state;
    enum { PATHS = 30000 };
    size_t size = 0;
    counted c = {0};
    char *list = malloc(PATHS * 40);
    for (size_t i = 0; i < PATHS; i++)
        size += (size_t)snprintf(list + size, 40, "folder/of/some/length/%zu.jpg\n", i);
    test_write_file(test_path("list"), list, size);
    assert_int_equal(
        pack_path_list_read(test_path("list"), false, NULL, count_numbered, &c, &alloc, NULL),
        SHARD_OK);
    assert_int_equal(c.count, PATHS);
    free(list);
}

static void the_longest_path_is_taken_and_no_longer_one(void **state)
{
    (void)state;
    char list[2 + SHARD_PATH_MAX + 1];
    shard_error err;
    memset(list, 'x', sizeof list);
    memcpy(list, "a\n", 2);
    list[2 + SHARD_PATH_MAX - 1] = '\n';
    collected c = {0};
    assert_int_equal(read_list(list, 2 + SHARD_PATH_MAX, false, &c, &err), SHARD_OK);
    assert_int_equal(c.count, 2);
    list[2 + SHARD_PATH_MAX - 1] = 'x';
    list[2 + SHARD_PATH_MAX] = '\n';
    c = (collected){0};
    assert_int_equal(read_list(list, sizeof list, false, &c, &err), SHARD_EFORMAT);
    assert_string_equal(err.message, "a path of more than 4 KiB");
    assert_string_equal(err.url, test_path("list"));
    assert_int_equal(err.offset, 2);
    assert_int_equal(c.count, 1);
}

static void a_list_of_nul_ended_paths_is_told_apart(void **state)
{
    (void)state;
    collected c = {0};
    shard_error err;
    assert_int_equal(read_list("a\nb\0c\n", 6, false, &c, &err), SHARD_EFORMAT);
    assert_string_equal(err.message, "NUL in a path (is -0 missing?)");
    assert_string_equal(err.url, test_path("list"));
    assert_int_equal(err.offset, 2);
}

static void the_callers_answer_is_handed_on(void **state)
{
    (void)state;
    for (size_t stop = 1; stop <= 3; stop++) {
        collected c = {.stop_after = stop};
        assert_int_equal(read_list("a\nb\nc", 5, false, &c, NULL), SHARD_EDATA);
        assert_int_equal(c.count, stop);
    }
}

static void a_list_that_is_not_there_is_named(void **state)
{
    (void)state;
    collected c = {0};
    shard_error err;
    assert_int_equal(pack_path_list_read(test_path("none"), false, NULL, collect, &c, &alloc, &err),
                     SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("none"));
}

static bool read_with(test_allocator *allocator, void *context)
{
    fmt_alloc failing = test_fmt_alloc(allocator);
    collected c = {0};
    shard_status status = pack_path_list_read(context, false, NULL, collect, &c, &failing, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    char path[512];
    test_write_file(test_path("list"), "a\nb\n", 4);
    snprintf(path, sizeof path, "%s", test_path("list"));
    assert_in_range(test_every_allocation(read_with, path), 3, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(each_line_is_a_path, setup),
        cmocka_unit_test_setup(paths_cross_the_edges_of_buffers, setup),
        cmocka_unit_test_setup(the_longest_path_is_taken_and_no_longer_one, setup),
        cmocka_unit_test_setup(a_list_of_nul_ended_paths_is_told_apart, setup),
        cmocka_unit_test_setup(the_callers_answer_is_handed_on, setup),
        cmocka_unit_test_setup(a_list_that_is_not_there_is_named, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
