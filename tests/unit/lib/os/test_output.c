/* SPDX-License-Identifier: Apache-2.0 */
#include "os/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "files.h"
#include "test.h"

static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    test_folder();
    return 0;
}

static void check_contents(const char *path, const void *bytes, size_t size)
{
    size_t got;
    uint8_t *contents = test_read_file(path, &got);
    assert_int_equal(got, size);
    assert_memory_equal(contents, bytes, size);
    free(contents);
}

static void a_file_appears_when_it_is_complete(void **state)
{
    (void)state;
    shard_output out;
    const char *path = test_path("a.bin");
    assert_int_equal(shard_output_open(&out, path, &alloc, NULL), SHARD_OK);
    assert_int_equal(shard_output_write(&out, "hello", 5, NULL), SHARD_OK);
    assert_false(test_file_exists(path));
    assert_true(test_file_exists(test_path(".a.bin.partial")));
    assert_int_equal(shard_output_commit(&out, true, NULL), SHARD_OK);
    check_contents(path, "hello", 5);
    assert_false(test_file_exists(test_path(".a.bin.partial")));
}

static void nothing_is_left_of_an_aborted_one(void **state)
{
    (void)state;
    shard_output out;
    test_write_file(test_path("a.bin"), "old", 3);
    assert_int_equal(shard_output_open(&out, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    assert_int_equal(shard_output_write(&out, "new", 3, NULL), SHARD_OK);
    shard_output_abort(&out);
    check_contents(test_path("a.bin"), "old", 3);
    assert_false(test_file_exists(test_path(".a.bin.partial")));
    shard_output_abort(&(shard_output){0});
}

static void small_and_large_writes_keep_their_order(void **state)
{
    (void)state;
    enum { LARGE = SHARD_OUTPUT_BUFFER + 1, ROUNDS = 5 };
    static uint8_t large[LARGE], expected[ROUNDS * (3 + LARGE)];
    shard_output out;
    size_t n = 0;
    assert_int_equal(shard_output_open(&out, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    for (int i = 0; i < ROUNDS; i++) {
        memset(large, i, sizeof large);
        assert_int_equal(shard_output_write(&out, "abc", 3, NULL), SHARD_OK);
        assert_int_equal(shard_output_write(&out, large, LARGE, NULL), SHARD_OK);
        memcpy(expected + n, "abc", 3);
        memcpy(expected + n + 3, large, LARGE);
        n += 3 + LARGE;
        assert_int_equal(out.size, n);
    }
    assert_int_equal(shard_output_commit(&out, false, NULL), SHARD_OK);
    check_contents(test_path("a.bin"), expected, n);
}

static void bytes_can_be_taken_back(void **state)
{
    (void)state;
    shard_output out;
    assert_int_equal(shard_output_open(&out, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    assert_int_equal(shard_output_write(&out, "good bad", 8, NULL), SHARD_OK);
    assert_int_equal(shard_output_truncate(&out, 5, NULL), SHARD_OK);
    assert_int_equal(shard_output_write(&out, "end", 3, NULL), SHARD_OK);
    assert_int_equal(shard_output_commit(&out, false, NULL), SHARD_OK);
    check_contents(test_path("a.bin"), "good end", 8);
}

static void two_writers_do_not_mix(void **state)
{
    (void)state;
    shard_output first, second;
    shard_error err;
    assert_int_equal(shard_output_open(&first, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    assert_int_equal(shard_output_open(&second, test_path("a.bin"), &alloc, &err), SHARD_EBUSY);
    assert_string_equal(err.url, test_path("a.bin"));
    assert_int_equal(shard_output_commit(&first, false, NULL), SHARD_OK);
}

static void what_a_killed_writer_left_is_used_again(void **state)
{
    (void)state;
    shard_output out;
    test_write_file(test_path(".a.bin.partial"), "rubbish, and more of it", 23);
    assert_int_equal(shard_output_open(&out, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    assert_int_equal(shard_output_write(&out, "x", 1, NULL), SHARD_OK);
    assert_int_equal(shard_output_commit(&out, false, NULL), SHARD_OK);
    check_contents(test_path("a.bin"), "x", 1);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    shard_output out;
    shard_error err;
    assert_int_equal(shard_output_open(&out, test_path("no/a.bin"), &alloc, &err), SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("no/a.bin"));
}

/* RLIMIT_FSIZE stands in for a full disk: writes past it fail (with SIGXFSZ ignored). */
static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    static uint8_t bytes[200000];
    shard_output out;
    shard_error err = {0};
    struct rlimit old, small = {100000, RLIM_INFINITY};
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(shard_output_open(&out, test_path("a.bin"), &alloc, NULL), SHARD_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    shard_status status = shard_output_write(&out, bytes, sizeof bytes, &err);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(status, SHARD_EIO);
    assert_int_equal(err.sys_errno, EFBIG);
    assert_string_equal(err.url, test_path("a.bin"));
    shard_output_abort(&out);
    assert_false(test_file_exists(test_path(".a.bin.partial")));
}

static bool write_one(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_alloc failing = test_fmt_alloc(allocator);
    shard_output out;
    shard_error err;
    shard_status status = shard_output_open(&out, test_path("a.bin"), &failing, &err);
    if (status == SHARD_OK)
        status = shard_output_commit(&out, false, &err);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(write_one, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_appears_when_it_is_complete, setup),
        cmocka_unit_test_setup(nothing_is_left_of_an_aborted_one, setup),
        cmocka_unit_test_setup(small_and_large_writes_keep_their_order, setup),
        cmocka_unit_test_setup(bytes_can_be_taken_back, setup),
        cmocka_unit_test_setup(two_writers_do_not_mix, setup),
        cmocka_unit_test_setup(what_a_killed_writer_left_is_used_again, setup),
        cmocka_unit_test_setup(a_folder_that_is_not_there_is_named, setup),
        cmocka_unit_test_setup(a_full_disk_is_an_error, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
