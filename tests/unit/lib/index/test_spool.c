/* SPDX-License-Identifier: Apache-2.0 */
#include "index/spool.h"

#include "files.h"
#include "test.h"

static void rows_come_back_in_order(void **state)
{
    (void)state;
    enum { ROWS = 500000, PIECE = 777 }; /* 4 MB: most of it in the file */
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_spool spool;
    shard_spool_init(&spool, sizeof(uint64_t), test_folder(), &alloc);
    for (uint64_t i = 0; i < ROWS; i++)
        assert_int_equal(shard_spool_append(&spool, &i, 1, NULL), SHARD_OK);
    assert_int_equal(spool.rows, ROWS);
    assert_true(spool.capacity < 2 * SHARD_SPOOL_MEMORY);
    for (uint64_t first = 0; first < ROWS;) {
        uint64_t rows[PIECE];
        size_t count = PIECE;
        assert_int_equal(shard_spool_read(&spool, first, rows, &count, NULL), SHARD_OK);
        assert_true(count > 0);
        for (size_t i = 0; i < count; i++)
            assert_true(rows[i] == first + i);
        first += count;
    }
    shard_spool_clear(&spool);
}

static void large_appends_cross_the_buffer(void **state)
{
    (void)state;
    static uint8_t bytes[3 * SHARD_SPOOL_MEMORY + 5], back[sizeof bytes];
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_spool spool;
    size_t count = sizeof back;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7 >> 3);
    shard_spool_init(&spool, 1, test_folder(), &alloc);
    assert_int_equal(shard_spool_append(&spool, bytes, 5, NULL), SHARD_OK);
    assert_int_equal(shard_spool_append(&spool, bytes + 5, sizeof bytes - 5, NULL), SHARD_OK);
    assert_int_equal(shard_spool_read(&spool, 0, back, &count, NULL), SHARD_OK);
    assert_int_equal(count, sizeof bytes);
    assert_memory_equal(back, bytes, sizeof bytes);
    shard_spool_clear(&spool);
}

static void a_folder_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    static uint8_t bytes[SHARD_SPOOL_MEMORY + 1];
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_spool spool;
    shard_error err;
    test_folder();
    shard_spool_init(&spool, 1, test_path("none"), &alloc);
    assert_int_equal(shard_spool_append(&spool, bytes, sizeof bytes, &err), SHARD_ENOTFOUND);
    shard_spool_clear(&spool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_back_in_order),
        cmocka_unit_test(large_appends_cross_the_buffer),
        cmocka_unit_test(a_folder_that_is_not_there_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
