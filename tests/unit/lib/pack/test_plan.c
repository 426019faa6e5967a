/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/plan.h"

#include "test.h"

static void samples_are_spread_evenly(void **state)
{
    (void)state;
    for (uint64_t shards = 1; shards < 40; shards++)
        for (uint64_t samples = 0; samples < 100; samples++) {
            pack_plan plan = {.shards = shards, .samples = samples};
            assert_int_equal(pack_plan_first(&plan, 0), 0);
            assert_int_equal(pack_plan_first(&plan, shards), samples);
            for (uint64_t i = 0; i < shards; i++) {
                uint64_t size = pack_plan_first(&plan, i + 1) - pack_plan_first(&plan, i);
                assert_in_range(size, samples / shards, (samples + shards - 1) / shards);
            }
        }
}

static void a_fixed_number_fills_all_but_the_last(void **state)
{
    (void)state;
    pack_plan plan = {.per_shard = 30, .samples = 100, .shards = 4};
    static const uint64_t firsts[] = {0, 30, 60, 90, 100};
    for (uint64_t i = 0; i < COUNT(firsts); i++)
        assert_int_equal(pack_plan_first(&plan, i), firsts[i]);
    plan.samples = 90;
    assert_int_equal(pack_plan_first(&plan, 3), 90);
    plan.per_shard = UINT64_MAX;
    assert_int_equal(pack_plan_first(&plan, 0), 0);
    assert_int_equal(pack_plan_first(&plan, 1), 90);
}

static void large_numbers_do_not_wrap(void **state)
{
    (void)state;
    const uint64_t shards = 1000000000, samples = UINT64_MAX - 1;
    pack_plan plan = {.shards = shards, .samples = samples};
    assert_int_equal(pack_plan_first(&plan, shards), samples);
    for (uint64_t i = 0; i < shards; i += 99999989) {
        uint64_t size = pack_plan_first(&plan, i + 1) - pack_plan_first(&plan, i);
        assert_in_range(size, samples / shards, samples / shards + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_are_spread_evenly),
        cmocka_unit_test(a_fixed_number_fills_all_but_the_last),
        cmocka_unit_test(large_numbers_do_not_wrap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
