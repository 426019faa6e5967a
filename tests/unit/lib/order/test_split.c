/* SPDX-License-Identifier: Apache-2.0 */
#include "order/split.h"

#include <stdlib.h>

#include "test.h"

enum { GLOBAL = 4032 }; /* 2^6 * 3^2 * 7: each world size below divides it */

static int compare(const void *a, const void *b)
{
    const shard_split_row *x = a, *y = b;
    if (x->epoch != y->epoch)
        return x->epoch < y->epoch ? -1 : 1;
    return x->position < y->position ? -1 : x->position > y->position;
}

/* All ranks' rows of a global batch, sorted. */
static void collect(shard_split split, uint64_t epoch, uint64_t start, shard_split_row *out)
{
    for (split.rank = 0; split.rank < split.world_size; split.rank++)
        shard_split_rows(&split, epoch, start, out + (size_t)split.rank * split.batch);
    qsort(out, (size_t)split.batch * split.world_size, sizeof *out, compare);
}

static void check_ranks(shard_split split, uint64_t epoch, uint64_t start)
{
    static const uint32_t worlds[] = {1, 2, 3, 7, 8, 64};
    static shard_split_row rows[GLOBAL];
    for (size_t w = 0; w < COUNT(worlds); w++) {
        split.world_size = worlds[w];
        split.batch = GLOBAL / worlds[w];
        collect(split, epoch, start, rows);
        uint64_t before = split.epoch_size == UINT64_MAX ? 0 : epoch * split.epoch_size;
        uint64_t from = split.epoch_size == UINT64_MAX ? epoch : 0;
        for (uint64_t i = 0; i < GLOBAL; i++) {
            assert_int_equal(rows[i].epoch, from + (before + start + i) / split.samples);
            assert_int_equal(rows[i].position, (before + start + i) % split.samples);
            assert_int_equal(rows[i].valid, start + i < split.epoch_size);
        }
    }
}

static void all_ranks_together_have_the_global_batch(void **state)
{
    (void)state;
    static const uint64_t samples[] = {1, 5, 97, 4031, 4032, 10007, 1000003};
    static const uint32_t lanes[] = {1, 3, 24, 192};
    for (size_t i = 0; i < COUNT(samples); i++)
        for (size_t j = 0; j < COUNT(lanes); j++) {
            shard_split split = {.samples = samples[i], .lanes = lanes[j]};
            split.epoch_size = samples[i];
            check_ranks(split, 3, 0);
            check_ranks(split, 0, samples[i] / 2);
            split.epoch_size = 5000;
            check_ranks(split, 0, 0);
            check_ranks(split, 7, 968);
            split.epoch_size = UINT64_MAX;
            check_ranks(split, 2, 12345);
        }
}

static void a_rank_stays_in_its_lanes(void **state)
{
    (void)state;
    shard_split_row rows[32];
    shard_split split = {.samples = 1000000,
                         .epoch_size = 1000000,
                         .lanes = 192,
                         .batch = 32,
                         .world_size = 8,
                         .rank = 5};
    for (uint64_t start = 0; start < 100 * 256; start += 256) {
        shard_split_rows(&split, 0, start, rows);
        for (size_t i = 0; i < COUNT(rows); i++)
            assert_int_equal(rows[i].position % 8, 5);
    }
}

static void batches_are_counted(void **state)
{
    (void)state;
    shard_split split = {.samples = 100,
                         .epoch_size = 100,
                         .lanes = 1,
                         .batch = 8,
                         .world_size = 3,
                         .drop_last = true};
    assert_int_equal(shard_split_batches(&split, 0), 4);
    assert_int_equal(shard_split_batches(&split, 24), 3);
    assert_int_equal(shard_split_batches(&split, 96), 0);
    split.drop_last = false;
    assert_int_equal(shard_split_batches(&split, 0), 5);
    assert_int_equal(shard_split_batches(&split, 96), 1);
    assert_int_equal(shard_split_batches(&split, 100), 0);
    assert_int_equal(shard_split_batches(&split, 120), 0);
    split.epoch_size = UINT64_MAX;
    assert_true(shard_split_batches(&split, 1 << 30) == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ranks_together_have_the_global_batch),
        cmocka_unit_test(a_rank_stays_in_its_lanes),
        cmocka_unit_test(batches_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
