/* SPDX-License-Identifier: Apache-2.0 */
#include "order/permutation.h"

#include <stdlib.h>

#include "test.h"

static void check_bijection(uint64_t size, uint64_t seed)
{
    shard_permutation p;
    uint8_t *seen = calloc(size, 1);
    shard_permutation_init(&p, size, seed, 3, SHARD_KEY_BLOCKS);
    for (uint64_t i = 0; i < size; i++) {
        uint64_t to = shard_permutation_at(&p, i);
        assert_true(to < size);
        assert_int_equal(seen[to], 0);
        seen[to] = 1;
    }
    free(seen);
}

static void each_number_comes_once(void **state)
{
    (void)state;
    for (uint64_t size = 1; size <= 300; size++)
        check_bijection(size, size);
    static const uint64_t sizes[] = {1023, 1024, 1025, 65537, 1000003};
    for (size_t i = 0; i < COUNT(sizes); i++)
        check_bijection(sizes[i], i);
}

static void sizes_near_the_limit_work(void **state)
{
    (void)state;
    shard_permutation p;
    uint64_t size = (UINT64_C(1) << 40) - 1;
    shard_permutation_init(&p, size, 1, 0, SHARD_KEY_BLOCKS);
    for (uint64_t i = 0; i < 1000; i++)
        assert_true(shard_permutation_at(&p, size - 1 - i) < size);
}

/* Every order of three, four and five things comes up as often as any other: chi-squared. */
static void orders_of_few_are_equally_likely(void **state)
{
    (void)state;
    static const struct {
        uint64_t size;
        uint32_t orders;
        double limit; /* of chi-squared, at 1 in 10,000 */
    } cases[] = {{3, 6, 25.7}, {4, 24, 56.0}, {5, 120, 180.8}};
    for (size_t k = 0; k < COUNT(cases); k++) {
        enum { EACH = 200 };
        uint32_t count[3125] = {0};
        double chi = 0;
        uint32_t different = 0;
        for (uint64_t seed = 0; seed < EACH * cases[k].orders; seed++) {
            shard_permutation p;
            uint32_t code = 0;
            shard_permutation_init(&p, cases[k].size, seed, 0, SHARD_KEY_TAIL);
            for (uint64_t i = 0; i < cases[k].size; i++)
                code = code * (uint32_t)cases[k].size + (uint32_t)shard_permutation_at(&p, i);
            count[code]++;
        }
        for (size_t code = 0; code < COUNT(count); code++) {
            double off = (double)count[code] - EACH;
            different += count[code] > 0;
            chi += count[code] > 0 ? off * off / EACH : 0;
        }
        assert_int_equal(different, cases[k].orders);
        assert_true(chi < cases[k].limit);
    }
}

/* A seed and the epoch before it are no neighbours: (1, 2) is not (2, 1), nor (0, 3). */
static void seeds_and_epochs_do_not_add_up(void **state)
{
    (void)state;
    assert_true(shard_order_key(1, 2, SHARD_KEY_BLOCKS, 0) !=
                shard_order_key(2, 1, SHARD_KEY_BLOCKS, 0));
    assert_true(shard_order_key(1, 2, SHARD_KEY_BLOCKS, 0) !=
                shard_order_key(0, 3, SHARD_KEY_BLOCKS, 0));
    assert_true(shard_order_key(1, 2, SHARD_KEY_BLOCKS, 0) !=
                shard_order_key(1, 2, SHARD_KEY_TAIL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_number_comes_once),
        cmocka_unit_test(sizes_near_the_limit_work),
        cmocka_unit_test(orders_of_few_are_equally_likely),
        cmocka_unit_test(seeds_and_epochs_do_not_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
