/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples a loader delivers, in which batches, whoever makes them. */
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

enum { SAMPLES = 97 };

static const shard_field fields[] = {
    {.component = "cls", .kind = SHARD_FIELD_INTEGER},
    {.component = "txt", .kind = SHARD_FIELD_BYTES},
};
static const char *const plain[] = {"a.tar", "b.tar", "c.tar", NULL};
static const char *const zipped[] = {"a.tar.zst", "b.tar.zst", "c.tar.zst", NULL};

/* Three shards of 40, 1 and 56 samples. */
static void make_set(const char *const *names)
{
    test_folder();
    test_make_shard(names[0], 0, 40);
    test_make_shard(names[1], 40, 1);
    test_make_shard(names[2], 41, 56);
}

static shard_loader_opts options(uint32_t batch, shard_shuffle shuffle)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.fields = fields;
    o.field_count = COUNT(fields);
    o.batch = batch;
    o.shuffle = shuffle;
    o.seed = 5;
    o.shuffle_samples = 30;
    o.threads = 2;
    o.memory = 64 << 20;
    return o;
}

/* ---- one rank ---- */

static void check_keys(const delivery *d)
{
    for (size_t i = 0; i < d->rows; i++) {
        char key[DELIVERY_KEY];
        if (!d->row[i].valid)
            continue;
        snprintf(key, sizeof key, "k%04d", (int)d->row[i].id);
        assert_string_equal(d->row[i].key, key);
    }
}

static void check_whole_set(const delivery *d)
{
    uint64_t ids[SAMPLES];
    assert_int_equal(d->valid, SAMPLES);
    delivery_sorted_ids(d, ids);
    for (uint64_t i = 0; i < SAMPLES; i++)
        assert_int_equal(ids[i], i);
    check_keys(d);
}

static void check_epochs(const char *const *names, uint32_t batch, shard_shuffle shuffle)
{
    shard_loader_opts o = options(batch, shuffle);
    shard_loader *loader = test_loader(names, &o);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        delivery d = {0};
        delivery_take_epoch(&d, loader);
        assert_int_equal(d.batches, (SAMPLES + batch - 1) / batch);
        assert_int_equal(d.rows, d.batches * batch);
        for (size_t i = 0; i < d.rows; i++) {
            assert_int_equal(d.row[i].epoch, epoch);
            assert_int_equal(d.row[i].position, i / batch * batch);
            assert_true(d.row[i].valid || i / batch == d.batches - 1);
        }
        check_whole_set(&d);
        delivery_clear(&d);
    }
    shard_loader_close(loader);
}

static void each_sample_comes_once_an_epoch(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 3, 64, 200};
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names);
        for (size_t b = 0; b < COUNT(batches); b++)
            for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++)
                check_epochs(names, batches[b], (shard_shuffle)shuffle);
    }
}

static void the_order_is_that_of_shard_order(void **state)
{
    (void)state;
    make_set(plain);
    shard_set *set = test_open_set(plain, NULL);
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
        uint64_t ids[SAMPLES];
        shard_order *order;
        shard_order_opts order_opts = SHARD_ORDER_OPTS_INIT;
        order_opts.shuffle = (shard_shuffle)shuffle;
        order_opts.seed = 5;
        order_opts.shuffle_samples = 30;
        assert_int_equal(shard_order_open(&order, set, &order_opts, NULL), SHARD_OK);
        assert_int_equal(shard_order_ids(order, 2, 0, SAMPLES, ids, NULL), SHARD_OK);
        shard_order_close(order);
        shard_loader_opts o = options(8, (shard_shuffle)shuffle);
        o.epoch = 2;
        delivery d = test_deliver(plain, &o);
        for (size_t i = 0; i < SAMPLES; i++)
            assert_int_equal(d.row[i].id, ids[i]);
        delivery_clear(&d);
    }
    shard_set_close(set);
}

static void threads_and_prefetch_change_nothing(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8}, prefetch[] = {0, 1, 2, 17};
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names);
        shard_loader_opts o = options(5, SHARD_SHUFFLE_FULL);
        o.threads = 1;
        delivery first = test_deliver(names, &o);
        for (size_t t = 0; t < COUNT(threads); t++)
            for (size_t p = 0; p < COUNT(prefetch); p++) {
                o.threads = threads[t];
                o.prefetch = prefetch[p];
                delivery d = test_deliver(names, &o);
                assert_true(delivery_same(&first, &d));
                delivery_clear(&d);
            }
        delivery_clear(&first);
    }
}

static void it_ends_before_the_end_epoch(void **state)
{
    (void)state;
    make_set(plain);
    shard_loader_opts o = options(10, SHARD_SHUFFLE_FULL);
    const shard_batch *batch;
    shard_error err;
    shard_loader_info info;
    o.epoch = 3;
    o.end_epoch = 5;
    shard_loader *loader = test_loader(plain, &o);
    for (uint64_t epoch = 3; epoch < 5; epoch++) {
        delivery d = {0};
        shard_loader_get_info(loader, &info);
        assert_true(info.epoch == epoch && info.position == 0);
        delivery_take_epoch(&d, loader);
        check_whole_set(&d);
        delivery_clear(&d);
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(shard_loader_next(loader, &batch, &err), SHARD_END);
    shard_loader_close(loader);
    o.end_epoch = 3;
    assert_int_equal(test_open_loader(&loader, plain, &o, &err), SHARD_EINVAL);
}

static void seed_and_epoch_change_the_order(void **state)
{
    (void)state;
    make_set(plain);
    shard_loader_opts o = options(5, SHARD_SHUFFLE_FULL);
    delivery first = test_deliver(plain, &o);
    o.seed = 6;
    delivery other_seed = test_deliver(plain, &o);
    o.seed = 5;
    o.epoch = 1;
    delivery other_epoch = test_deliver(plain, &o);
    assert_false(delivery_same_samples(&first, &other_seed));
    assert_false(delivery_same_samples(&first, &other_epoch));
    delivery_clear(&first);
    delivery_clear(&other_seed);
    delivery_clear(&other_epoch);
}

static void a_last_batch_that_is_not_full_can_be_dropped(void **state)
{
    (void)state;
    make_set(plain);
    shard_loader_opts o = options(10, SHARD_SHUFFLE_FULL);
    delivery all = test_deliver(plain, &o);
    o.drop_last = true;
    delivery d = test_deliver(plain, &o);
    assert_int_equal(d.batches, 9);
    assert_int_equal(d.valid, 90);
    assert_memory_equal(d.row, all.row, d.rows * sizeof *d.row);
    delivery_clear(&d);
    delivery_clear(&all);
    o.batch = 98;
    shard_loader *loader;
    shard_error err;
    assert_int_equal(test_open_loader(&loader, plain, &o, &err), SHARD_EDATA);
    assert_non_null(strstr(err.message, "97 samples"));
    assert_null(loader);
}

/* ---- epochs that are not the set ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Samples of places of the endless row of permutations, sorted. */
static void ids_of_places(const shard_order *order, uint64_t first, size_t count, uint64_t *ids)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            shard_order_ids(order, (first + i) / SAMPLES, (first + i) % SAMPLES, 1, &ids[i], NULL),
            SHARD_OK);
    qsort(ids, count, sizeof *ids, by_number);
}

/* Each batch holds the places that its epoch and position say, in epochs of `size`. */
static void check_batches(const delivery *d, size_t batch, uint64_t size, const shard_order *order)
{
    for (size_t at = 0; at < d->rows; at += batch) {
        uint64_t got[8], expected[8], position = d->row[at].position;
        size_t count = size - position < batch ? (size_t)(size - position) : batch, found = 0;
        for (size_t i = at; i < at + batch; i++)
            if (d->row[i].valid)
                got[found++] = d->row[i].id;
        assert_int_equal(found, count);
        qsort(got, count, sizeof *got, by_number);
        ids_of_places(order, d->row[at].epoch * size + position, count, expected);
        assert_memory_equal(got, expected, count * sizeof *got);
    }
}

static shard_order *open_order(void)
{
    shard_set *set = test_open_set(plain, NULL);
    shard_order *order;
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    opts.shuffle = SHARD_SHUFFLE_FULL;
    opts.seed = 5;
    opts.shuffle_samples = 30;
    assert_int_equal(shard_order_open(&order, set, &opts, NULL), SHARD_OK);
    shard_set_close(set);
    return order;
}

static void epochs_of_a_size_go_on_where_the_last_one_stopped(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {1, 41, 97, 250};
    make_set(plain);
    shard_order *order = open_order();
    for (size_t s = 0; s < COUNT(sizes); s++) {
        shard_loader_opts o = options(8, SHARD_SHUFFLE_FULL);
        delivery d = {0};
        o.epoch_size = sizes[s];
        shard_loader *loader = test_loader(plain, &o);
        for (uint64_t epoch = 0; d.valid < 2 * (size_t)SAMPLES; epoch++) {
            size_t before = d.valid;
            delivery_take_epoch(&d, loader);
            assert_int_equal(d.valid - before, sizes[s]);
            assert_int_equal(d.row[d.rows - 1].epoch, epoch);
        }
        shard_loader_close(loader);
        check_batches(&d, 8, sizes[s], order);
        delivery_clear(&d);
    }
    shard_order_close(order);
}

static void an_endless_epoch_is_permutation_after_permutation(void **state)
{
    (void)state;
    make_set(plain);
    shard_loader_opts o = options(8, SHARD_SHUFFLE_FULL);
    shard_loader_info info;
    delivery d = {0};
    shard_order *order = open_order();
    o.endless = true;
    shard_loader *loader = test_loader(plain, &o);
    shard_loader_get_info(loader, &info);
    assert_true(info.epoch_batches == SHARD_UNKNOWN);
    assert_int_equal(delivery_take(&d, loader, 100, NULL), SHARD_OK);
    shard_loader_close(loader);
    assert_int_equal(d.valid, 800);
    assert_int_equal(d.row[799].epoch, 0);
    check_batches(&d, 8, UINT64_MAX, order);
    delivery_clear(&d);
    shard_order_close(order);
}

/* A batch of more than two permutations: the same samples several times. */
static void a_batch_larger_than_the_set_holds_samples_again(void **state)
{
    (void)state;
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names);
        shard_loader_opts o = options(200, SHARD_SHUFFLE_FULL);
        size_t times[SAMPLES] = {0};
        delivery d = {0};
        o.endless = true;
        shard_loader *loader = test_loader(names, &o);
        assert_int_equal(delivery_take(&d, loader, SAMPLES, NULL), SHARD_OK);
        shard_loader_close(loader);
        assert_int_equal(d.valid, (size_t)200 * SAMPLES);
        check_keys(&d);
        for (size_t i = 0; i < d.rows; i++)
            times[d.row[i].id]++;
        for (size_t i = 0; i < SAMPLES; i++)
            assert_int_equal(times[i], 200);
        delivery_clear(&d);
    }
}

/* ---- ranks ---- */

/* All ranks' rows of an epoch, sorted inside each global batch. */
static delivery deliver_ranks(shard_loader_opts o, uint32_t global)
{
    delivery rank[64] = {{0}}, all = {0};
    o.batch = global / o.world_size;
    for (o.rank = 0; o.rank < o.world_size; o.rank++)
        rank[o.rank] = test_deliver(plain, &o);
    all.row = calloc((size_t)o.world_size * rank[0].rows, sizeof *all.row);
    assert_non_null(all.row);
    for (size_t b = 0; b < rank[0].batches; b++)
        for (uint32_t r = 0; r < o.world_size; r++) {
            assert_int_equal(rank[r].batches, rank[0].batches);
            memcpy(all.row + all.rows, rank[r].row + b * o.batch, o.batch * sizeof *all.row);
            all.rows += o.batch;
        }
    for (uint32_t r = 0; r < o.world_size; r++)
        delivery_clear(&rank[r]);
    return all;
}

static int by_id(const void *a, const void *b)
{
    const delivered_row *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

static void ranks_together_have_the_global_batches_of_one(void **state)
{
    (void)state;
    static const uint32_t worlds[] = {2, 3, 7, 8, 64};
    test_folder();
    test_make_shard(plain[0], 0, 2000);
    test_make_shard(plain[1], 2000, 100);
    test_make_shard(plain[2], 2100, 1000);
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
        const uint32_t global = 1344; /* 64 * 3 * 7 */
        shard_loader_opts o = options(global, (shard_shuffle)shuffle);
        o.threads = 1;
        o.prefetch = 1;
        o.shuffle_samples = 800;
        o.epoch = 1;
        delivery one = test_deliver(plain, &o);
        for (size_t at = 0; at < one.rows; at += global)
            qsort(one.row + at, global, sizeof *one.row, by_id);
        for (size_t w = 0; w < COUNT(worlds); w++) {
            o.world_size = worlds[w];
            delivery all = deliver_ranks(o, global);
            for (size_t at = 0; at < all.rows; at += global)
                qsort(all.row + at, global, sizeof *all.row, by_id);
            assert_true(delivery_same(&one, &all));
            delivery_clear(&all);
        }
        delivery_clear(&one);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_comes_once_an_epoch),
        cmocka_unit_test(the_order_is_that_of_shard_order),
        cmocka_unit_test(threads_and_prefetch_change_nothing),
        cmocka_unit_test(it_ends_before_the_end_epoch),
        cmocka_unit_test(seed_and_epoch_change_the_order),
        cmocka_unit_test(a_last_batch_that_is_not_full_can_be_dropped),
        cmocka_unit_test(epochs_of_a_size_go_on_where_the_last_one_stopped),
        cmocka_unit_test(an_endless_epoch_is_permutation_after_permutation),
        cmocka_unit_test(a_batch_larger_than_the_set_holds_samples_again),
        cmocka_unit_test(ranks_together_have_the_global_batches_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
