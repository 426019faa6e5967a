/* SPDX-License-Identifier: Apache-2.0 */
#include "index/names.h"

#include <stdio.h>

#include "test.h"

static void names_keep_their_numbers(void **state)
{
    (void)state;
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_names names;
    shard_names_init(&names, &alloc);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < 3000; i++) {
            char text[16];
            uint32_t number;
            int size = snprintf(text, sizeof text, "n%u", i);
            assert_true(shard_names_number(&names, text, (size_t)size, &number));
            assert_int_equal(number, i);
        }
    }
    assert_int_equal(names.count, 3000);
    assert_string_equal(names.name[17].text, "n17");
    shard_names_clear(&names);
}

static bool add_names(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    shard_names names;
    shard_names_init(&names, &alloc);
    bool ok = true;
    for (int i = 0; i < 40 && ok; i++) {
        char text[2] = {(char)('0' + i), 0};
        uint32_t number;
        ok = shard_names_number(&names, text, 1, &number);
    }
    shard_names_clear(&names);
    return ok;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_true(test_every_allocation(add_names, NULL) > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_numbers),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
