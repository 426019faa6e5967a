/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/key_set.h"

#include "test.h"

enum { MANY = 100000 };

static uint64_t key(uint64_t i)
{
    return i * 0x9e3779b97f4a7c15;
}

static void keys_are_known_from_the_second_time_on(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    pack_key_set set;
    bool known;
    pack_key_set_init(&set, &alloc);
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(pack_key_set_add(&set, key(i), &known));
        assert_false(known);
    }
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(pack_key_set_add(&set, key(i), &known));
        assert_true(known);
    }
    assert_int_equal(set.count, MANY);
    assert_in_range(set.slots * sizeof *set.slot, 16 * MANY, 32 * MANY);
    pack_key_set_clear(&set);
    assert_int_equal(allocator.live, 0);
}

/* Hashes that begin at one slot must not be taken for each other; some of these end at the last. */
static void hashes_of_one_slot_are_kept_apart(void **state)
{
    (void)state;
    fmt_alloc alloc = shard_alloc_from(NULL);
    pack_key_set set;
    bool known;
    pack_key_set_init(&set, &alloc);
    for (int pass = 0; pass < 2; pass++)
        for (uint64_t i = 0; i < 400; i++) {
            assert_true(pack_key_set_add(&set, i << 32 | 0xffff, &known));
            assert_int_equal(known, pass == 1);
        }
    pack_key_set_clear(&set);
}

static void zero_is_a_hash_like_others(void **state)
{
    (void)state;
    fmt_alloc alloc = shard_alloc_from(NULL);
    pack_key_set set;
    bool known;
    pack_key_set_init(&set, &alloc);
    assert_true(pack_key_set_add(&set, 0, &known));
    assert_false(known);
    assert_true(pack_key_set_add(&set, UINT64_MAX, &known));
    assert_false(known);
    assert_true(pack_key_set_add(&set, 0, &known));
    assert_true(known);
    pack_key_set_clear(&set);
}

static void a_cleared_set_is_empty_and_of_use(void **state)
{
    (void)state;
    fmt_alloc alloc = shard_alloc_from(NULL);
    pack_key_set set;
    bool known;
    pack_key_set_init(&set, &alloc);
    for (int pass = 0; pass < 3; pass++) {
        assert_true(pack_key_set_add(&set, 7, &known));
        assert_false(known);
        pack_key_set_clear(&set);
    }
    pack_key_set_clear(&set);
}

static bool add_many(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    pack_key_set set;
    bool known, ok = true;
    pack_key_set_init(&set, &alloc);
    for (uint64_t i = 1; i <= MANY && ok; i++)
        ok = pack_key_set_add(&set, key(i), &known);
    for (uint64_t i = 1; i <= set.count; i++) { /* a failure loses nothing */
        assert_true(pack_key_set_add(&set, key(i), &known));
        assert_true(known);
    }
    pack_key_set_clear(&set);
    return ok;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(add_many, NULL), 5, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_known_from_the_second_time_on),
        cmocka_unit_test(hashes_of_one_slot_are_kept_apart),
        cmocka_unit_test(zero_is_a_hash_like_others),
        cmocka_unit_test(a_cleared_set_is_empty_and_of_use),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
