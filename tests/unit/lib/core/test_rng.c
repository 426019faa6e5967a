/* SPDX-License-Identifier: Apache-2.0 */
#include "core/rng.h"

#include <stdlib.h>

#include "test.h"

/*
 * By Python's xxhash, which shares no code with ours but libxxhash's:
 * xxh3_64_intdigest(struct.pack("<QQ", seed, counter)) * bound >> 64
 */
static void numbers_are_frozen(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, counter, bound, number;
    } vectors[] = {
        {0, 0, 10, 8},
        {0, 1, 10, 0},
        {1, 0, 1000, 0x98},
        {1, 1, 1000, 0x1a8},
        {42, 7, 1, 0},
        {42, 7, 2, 1},
        {42, 7, 0x100000000, 0xb2ae66a2},
        {42, 7, 0x100000001, 0xb2ae66a3},
        {123456789, 0x10000000000, 0x1000000003039, 0xc679a764b75f},
        {UINT64_MAX, UINT64_MAX, UINT64_MAX, 0x722a202f07a4b312},
        {0, 0, UINT64_MAX, 0xd0a66a65c7528967},
        {0x8000000000000000, 3, 0x8000000000000000, 0x70a591dd619cc60a},
        {7, UINT64_MAX - 1, 0xffffffff, 0x5a15327f},
    };
    for (size_t i = 0; i < COUNT(vectors); i++)
        assert_int_equal(shard_rng_below(vectors[i].seed, vectors[i].counter, vectors[i].bound),
                         vectors[i].number);
}

static void orders_are_frozen(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed;
        uint8_t order[10];
    } vectors[] = {
        {0, {2, 5, 1, 6, 9, 0, 7, 4, 8, 3}},
        {1, {6, 8, 5, 0, 2, 1, 7, 4, 9, 3}},
        {UINT64_MAX, {2, 8, 3, 5, 0, 7, 9, 1, 4, 6}},
    };
    for (size_t i = 0; i < COUNT(vectors); i++) {
        uint8_t bytes[10];
        struct {
            uint64_t number, again;
            uint8_t odd;
        } wide[10];
        for (uint8_t j = 0; j < 10; j++) {
            bytes[j] = j;
            wide[j].number = wide[j].again = wide[j].odd = j;
        }
        shard_rng_shuffle(bytes, 10, 1, vectors[i].seed);
        shard_rng_shuffle(wide, 10, sizeof *wide, vectors[i].seed);
        assert_memory_equal(bytes, vectors[i].order, 10);
        for (size_t j = 0; j < 10; j++) {
            assert_int_equal(wide[j].number, vectors[i].order[j]);
            assert_int_equal(wide[j].again, vectors[i].order[j]);
            assert_int_equal(wide[j].odd, vectors[i].order[j]);
        }
    }
}

static void few_elements_are_left_alone(void **state)
{
    (void)state;
    uint8_t one = 7;
    shard_rng_shuffle(NULL, 0, 16, 1);
    shard_rng_shuffle(&one, 1, 1, 1);
    assert_int_equal(one, 7);
}

static void every_number_is_as_likely(void **state)
{
    (void)state;
    enum { BOUND = 7, DRAWS = 70000, EXPECTED = DRAWS / BOUND, SIX_SIGMA = 560 };
    int count[BOUND] = {0};
    for (uint64_t i = 0; i < DRAWS; i++)
        count[shard_rng_below(99, i, BOUND)]++;
    for (int i = 0; i < BOUND; i++)
        assert_in_range(count[i], EXPECTED - SIX_SIGMA, EXPECTED + SIX_SIGMA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_frozen),
        cmocka_unit_test(orders_are_frozen),
        cmocka_unit_test(few_elements_are_left_alone),
        cmocka_unit_test(every_number_is_as_likely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
