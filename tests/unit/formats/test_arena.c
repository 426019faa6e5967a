/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"
#include "test.h"

static void texts_stay_where_they_are(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    fmt_arena arena;
    char *text[5000];
    fmt_arena_init(&arena, &alloc);
    for (int i = 0; i < 5000; i++)
        text[i] = fmt_arena_text(&arena, "a text of some length, longer than a pointer",
                                 (size_t)(i % 44));
    for (int i = 0; i < 5000; i++)
        assert_int_equal(strlen(text[i]), i % 44);
    assert_true(arena.total < 2 * 5000 * 44);
    fmt_arena_clear(&arena);
    assert_int_equal(allocator.live, 0);
}

static void arrays_are_aligned_and_zero(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    fmt_arena arena;
    fmt_arena_init(&arena, &alloc);
    for (size_t size = 1; size < 100000; size = size * 3 + 1) {
        assert_non_null(fmt_arena_text(&arena, "x", 1));
        uint64_t *array = fmt_arena_array(&arena, size, sizeof *array);
        assert_int_equal((uintptr_t)array % sizeof(void *), 0);
        for (size_t i = 0; i < size; i++)
            assert_true(array[i] == 0);
        memset(array, 0xff, size * sizeof *array);
    }
    assert_null(fmt_arena_array(&arena, SIZE_MAX / 4, 8));
    fmt_arena_clear(&arena);
    assert_int_equal(allocator.live, 0);
}

static bool take_some(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    fmt_arena arena;
    fmt_arena_init(&arena, &alloc);
    bool ok = fmt_arena_text(&arena, "a", 1) && fmt_arena_take(&arena, 1 << 20) &&
              fmt_arena_take(&arena, 10000) && fmt_arena_array(&arena, 100, 1000);
    fmt_arena_clear(&arena);
    return ok;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(take_some, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_stay_where_they_are),
        cmocka_unit_test(arrays_are_aligned_and_zero),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
