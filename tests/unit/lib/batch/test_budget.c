/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/budget.h"

#include "test.h"

static shard_budget make(test_allocator *allocator, uint64_t limit)
{
    return (shard_budget){.limit = limit, .alloc = test_fmt_alloc(allocator)};
}

static void what_is_taken_counts_until_it_is_given_back(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    shard_budget budget = make(&allocator, 100);
    assert_int_equal(shard_budget_take(&budget, 60, NULL), SHARD_OK);
    assert_int_equal(shard_budget_take(&budget, 40, NULL), SHARD_OK);
    assert_int_equal(shard_budget_take(&budget, 1, NULL), SHARD_ENOMEM);
    assert_int_equal(budget.used, 100);
    shard_budget_give(&budget, 60);
    assert_int_equal(shard_budget_take(&budget, 60, NULL), SHARD_OK);
    assert_int_equal(allocator.asked, 0);
}

static void past_the_limit_the_message_says_what_to_change(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    shard_error err;
    shard_budget budget = make(&allocator, 8 << 20);
    assert_int_equal(shard_budget_take(&budget, 5 << 20, &err), SHARD_OK);
    assert_int_equal(shard_budget_take(&budget, 4 << 20, &err), SHARD_ENOMEM);
    assert_int_equal(err.status, SHARD_ENOMEM);
    assert_non_null(strstr(err.message, "5 MiB are in use"));
    assert_non_null(strstr(err.message, "the limit is 8 MiB"));
    assert_non_null(strstr(err.message, "more memory, fewer threads, or smaller batches"));
    assert_int_equal(budget.used, 5 << 20);
}

static void numbers_that_overflow_are_past_the_limit(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    shard_budget budget = make(&allocator, 100);
    shard_buffer buffer = {0};
    assert_int_equal(shard_budget_take(&budget, 50, NULL), SHARD_OK);
    assert_int_equal(shard_budget_take(&budget, UINT64_MAX, NULL), SHARD_ENOMEM);
    assert_int_equal(shard_budget_take(&budget, UINT64_MAX - 40, NULL), SHARD_ENOMEM);
    assert_int_equal(shard_buffer_reserve(&buffer, SIZE_MAX, &budget, NULL), SHARD_ENOMEM);
    assert_int_equal(shard_buffer_reserve(&buffer, SIZE_MAX / 2 + 9, &budget, NULL), SHARD_ENOMEM);
    assert_int_equal(budget.used, 50);
}

static void a_buffer_grows_in_powers_of_two_and_their_halves(void **state)
{
    (void)state;
    static const struct {
        size_t size, capacity;
    } cases[] = {{1, 4096},     {4096, 4096},       {4097, 6144},
                 {6144, 6144},  {6145, 8192},       {8192, 8192},
                 {8193, 12288}, {1 << 20, 1 << 20}, {(1 << 20) + 1, 3 << 19}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        test_allocator allocator = {0};
        shard_budget budget = make(&allocator, UINT64_MAX);
        shard_buffer buffer = {0};
        assert_int_equal(shard_buffer_capacity(cases[i].size), cases[i].capacity);
        assert_int_equal(shard_buffer_reserve(&buffer, cases[i].size, &budget, NULL), SHARD_OK);
        assert_int_equal(buffer.capacity, cases[i].capacity);
        assert_int_equal(budget.used, cases[i].capacity);
        shard_buffer_clear(&buffer, &budget);
        assert_int_equal(budget.used, 0);
        assert_int_equal(allocator.live, 0);
    }
}

static void a_buffer_keeps_its_content_and_never_shrinks(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    shard_budget budget = make(&allocator, 1 << 20);
    shard_buffer buffer = {0};
    assert_int_equal(shard_buffer_reserve(&buffer, 10, &budget, NULL), SHARD_OK);
    memcpy(buffer.bytes, "0123456789", 10);
    assert_int_equal(shard_buffer_reserve(&buffer, 50000, &budget, NULL), SHARD_OK);
    assert_memory_equal(buffer.bytes, "0123456789", 10);
    size_t asked = allocator.asked, capacity = buffer.capacity;
    assert_int_equal(shard_buffer_reserve(&buffer, 10, &budget, NULL), SHARD_OK);
    assert_int_equal(shard_buffer_reserve(&buffer, 50000, &budget, NULL), SHARD_OK);
    assert_int_equal(buffer.capacity, capacity);
    assert_int_equal(allocator.asked, asked);
    shard_buffer_clear(&buffer, &budget);
    shard_buffer_clear(&buffer, &budget);
    assert_int_equal(budget.used, 0);
}

static void a_buffer_that_cannot_grow_is_as_it_was(void **state)
{
    (void)state;
    test_allocator allocator = {.fail_at = 2};
    shard_budget budget = make(&allocator, 10000);
    shard_buffer buffer = {0};
    assert_int_equal(shard_buffer_reserve(&buffer, 10, &budget, NULL), SHARD_OK);
    memcpy(buffer.bytes, "0123456789", 10);
    assert_int_equal(shard_buffer_reserve(&buffer, 5000, &budget, NULL), SHARD_ENOMEM); /* malloc */
    assert_int_equal(shard_buffer_reserve(&buffer, 50000, &budget, NULL), SHARD_ENOMEM); /* limit */
    assert_int_equal(buffer.capacity, 4096);
    assert_int_equal(budget.used, 4096);
    assert_memory_equal(buffer.bytes, "0123456789", 10);
    shard_buffer_clear(&buffer, &budget);
    assert_int_equal(allocator.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_counts_until_it_is_given_back),
        cmocka_unit_test(past_the_limit_the_message_says_what_to_change),
        cmocka_unit_test(numbers_that_overflow_are_past_the_limit),
        cmocka_unit_test(a_buffer_grows_in_powers_of_two_and_their_halves),
        cmocka_unit_test(a_buffer_keeps_its_content_and_never_shrinks),
        cmocka_unit_test(a_buffer_that_cannot_grow_is_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
