/* SPDX-License-Identifier: Apache-2.0 */
#include "os/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "files.h"
#include "test.h"

static int setup(void **state)
{
    (void)state;
    test_folder();
    return 0;
}

static void a_file_is_there_byte_for_byte(void **state)
{
    (void)state;
    enum { SIZE = 100001 };
    uint8_t *bytes = malloc(SIZE);
    shard_map map;
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    test_write_file(test_path("a"), bytes, SIZE);
    assert_int_equal(shard_map_open(&map, test_path("a"), NULL), SHARD_OK);
    assert_int_equal(map.size, SIZE);
    assert_memory_equal(map.data, bytes, SIZE);
    shard_map_close(&map);
    assert_null(map.data);
    shard_map_close(&map);
    free(bytes);
}

static void an_empty_file_has_no_bytes(void **state)
{
    (void)state;
    shard_map map;
    test_write_file(test_path("a"), "", 0);
    assert_int_equal(shard_map_open(&map, test_path("a"), NULL), SHARD_OK);
    assert_int_equal(map.size, 0);
    shard_map_close(&map);
}

/* Replacing a file leaves the bytes of the old one where they are. */
static void a_map_outlives_its_name(void **state)
{
    (void)state;
    shard_map map;
    test_write_file(test_path("a"), "old bytes", 9);
    test_write_file(test_path("b"), "new", 3);
    assert_int_equal(shard_map_open(&map, test_path("a"), NULL), SHARD_OK);
    assert_int_equal(rename(test_path("b"), test_path("a")), 0);
    assert_text(map.data, map.size, "old bytes");
    shard_map_close(&map);
}

static void what_cannot_be_mapped_is_named(void **state)
{
    (void)state;
    shard_map map;
    shard_error err;
    assert_int_equal(shard_map_open(&map, test_path("none"), &err), SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("none"));
    assert_int_equal(err.sys_errno, ENOENT);
    shard_map_close(&map);
    assert_int_equal(mkdir(test_path("folder"), 0777), 0);
    assert_int_equal(shard_map_open(&map, test_path("folder"), &err), SHARD_EINVAL);
    assert_string_equal(err.url, test_path("folder"));
    assert_string_equal(err.message, "not a regular file");
    shard_map_close(&map);
    assert_int_equal(shard_map_open(&map, "/dev/null", NULL), SHARD_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_is_there_byte_for_byte, setup),
        cmocka_unit_test_setup(an_empty_file_has_no_bytes, setup),
        cmocka_unit_test_setup(a_map_outlives_its_name, setup),
        cmocka_unit_test_setup(what_cannot_be_mapped_is_named, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
