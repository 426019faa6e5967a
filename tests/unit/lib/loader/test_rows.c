/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rows.h"

#include <stdlib.h>

#include "files.h"
#include "shards.h"
#include "test.h"

enum { BATCH_MOST = 64 };

static shard_status try_order(shard_order **out, uint64_t samples, shard_shuffle shuffle,
                              const shard_allocator *allocator)
{
    const uint64_t counts[] = {samples / 3, samples - samples / 3};
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    test_folder();
    shard_set *set = test_counted_set(counts, 2);
    opts.allocator = allocator;
    opts.shuffle = shuffle;
    opts.shuffle_samples = 500;
    shard_status status = shard_order_open(out, set, &opts, NULL);
    shard_set_close(set);
    return status;
}

static shard_order *open_order(uint64_t samples, shard_shuffle shuffle)
{
    shard_order *order;
    assert_int_equal(try_order(&order, samples, shuffle, NULL), SHARD_OK);
    return order;
}

static shard_split split_of(const shard_order *order, uint32_t batch, uint64_t epoch_size)
{
    shard_order_info info;
    shard_order_get_info(order, &info);
    return (shard_split){.samples = info.samples,
                         .epoch_size = epoch_size > 0 ? epoch_size : info.samples,
                         .lanes = info.lanes,
                         .batch = batch,
                         .world_size = 1};
}

/* Each row is the sample that the order has at its place. */
static void check_batch(const shard_order *order, const loader_rows_batch *b, uint32_t batch)
{
    for (uint32_t i = 0; i < batch; i++) {
        uint64_t id;
        if (!b->place[i].valid)
            continue;
        assert_int_equal(
            shard_order_ids(order, b->place[i].epoch, b->place[i].position, 1, &id, NULL),
            SHARD_OK);
        assert_int_equal(b->place[i].id, id);
    }
}

static size_t count_valid(const loader_rows_batch *b, uint32_t batch)
{
    size_t valid = 0;
    for (uint32_t i = 0; i < batch; i++)
        valid += b->place[i].valid;
    return valid;
}

/* From a position of epoch 2 through epoch 3. */
static void check_rows(shard_order *order, uint32_t batch, uint64_t epoch_size, uint64_t position)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    loader_place place[BATCH_MOST];
    loader_rows_batch b = {.place = place};
    shard_split split = split_of(order, batch, epoch_size);
    loader_rows rows = {0};
    assert_int_equal(loader_rows_init(&rows, order, &split, 2, position, &alloc, NULL), SHARD_OK);
    for (uint64_t epoch = 2; epoch < 4; epoch++, position = 0) {
        uint64_t valid = 0, left = split.epoch_size - position;
        for (uint64_t at = position; at < split.epoch_size; at += batch) {
            assert_int_equal(loader_rows_next(&rows, &b, NULL), SHARD_OK);
            assert_false(b.is_end);
            assert_true(b.epoch == epoch && b.position == at);
            check_batch(order, &b, batch);
            valid += count_valid(&b, batch);
        }
        assert_int_equal(valid, left);
        assert_int_equal(loader_rows_next(&rows, &b, NULL), SHARD_OK);
        assert_true(b.is_end && b.epoch == epoch && b.place == place);
    }
    loader_rows_clear(&rows);
}

static void batches_hold_what_the_order_has_at_their_places(void **state)
{
    (void)state;
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
        shard_order *order = open_order(2000, (shard_shuffle)shuffle);
        check_rows(order, 1, 0, 0);
        check_rows(order, 7, 0, 0);
        check_rows(order, 64, 0, 1000);
        check_rows(order, 64, 0, 2000); /* an epoch's end */
        check_rows(order, 13, 777, 5);
        check_rows(order, 13, 4500, 0); /* over several permutations */
        shard_order_close(order);
    }
}

static void epochs_longer_than_what_is_worked_out_at_a_time_go_on(void **state)
{
    (void)state;
    shard_order *order = open_order(50000, SHARD_SHUFFLE_SHARDS);
    check_rows(order, 64, 0, 31);
    shard_order_close(order);
}

static void there_is_no_epoch_past_the_last(void **state)
{
    (void)state;
    shard_error err;
    fmt_alloc alloc = shard_alloc_from(NULL);
    loader_place place[BATCH_MOST];
    loader_rows_batch b = {.place = place};
    shard_order *order = open_order(40, SHARD_SHUFFLE_FULL);
    shard_split split = split_of(order, 40, 0);
    loader_rows rows = {0};
    assert_int_equal(
        loader_rows_init(&rows, order, &split, SHARD_ORDER_EPOCHS_MAX - 1, 0, &alloc, NULL),
        SHARD_OK);
    assert_int_equal(loader_rows_next(&rows, &b, &err), SHARD_OK);
    assert_int_equal(loader_rows_next(&rows, &b, &err), SHARD_OK);
    assert_true(b.is_end);
    assert_int_equal(loader_rows_next(&rows, &b, &err), SHARD_ELIMIT);
    assert_non_null(strstr(err.message, "epoch"));
    loader_rows_clear(&rows);
    shard_order_close(order);
}

/* The order's memory is that of the rows too. */
static bool take_some(test_allocator *allocator, void *context)
{
    shard_allocator own = test_shard_allocator(allocator);
    fmt_alloc alloc = test_fmt_alloc(allocator);
    loader_place place[BATCH_MOST];
    loader_rows_batch b = {.place = place};
    shard_order *order;
    loader_rows rows = {0};
    shard_status status = try_order(&order, 2000, *(shard_shuffle *)context, &own);
    if (status == SHARD_OK) {
        shard_split split = split_of(order, 7, 0);
        status = loader_rows_init(&rows, order, &split, 0, 0, &alloc, NULL);
    }
    for (int i = 0; i < 5 && status == SHARD_OK; i++)
        status = loader_rows_next(&rows, &b, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    loader_rows_clear(&rows);
    loader_rows_clear(&rows);
    shard_order_close(order);
    return status == SHARD_OK;
}

static void a_failed_allocation_leaves_what_may_be_cleared(void **state)
{
    (void)state;
    for (shard_shuffle shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++)
        assert_true(test_every_allocation(take_some, &shuffle) >= 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_hold_what_the_order_has_at_their_places),
        cmocka_unit_test(epochs_longer_than_what_is_worked_out_at_a_time_go_on),
        cmocka_unit_test(there_is_no_epoch_past_the_last),
        cmocka_unit_test(a_failed_allocation_leaves_what_may_be_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
