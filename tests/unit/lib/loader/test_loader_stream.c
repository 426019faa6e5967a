/* SPDX-License-Identifier: Apache-2.0 */
/* Shards that are read from front to end: without indexes, or of gzip. */
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

enum { SAMPLES = 61, SHARDS = 5 };

static const char *const names[] = {"a.tar", "b.tar.gz", "c.tar", "d.tar.zst", "e.tar", NULL};
static const int count[SHARDS] = {13, 1, 20, 20, 7};

static void make_set(bool indexed)
{
    int first = 0;
    test_folder();
    for (int s = 0; s < SHARDS; s++) {
        tar_bytes tar = {0};
        for (int i = 0; i < count[s]; i++)
            test_add_sample(&tar, first++);
        tar_bytes_end(&tar);
        test_write_shard(names[s], &tar, indexed && s != 1);
        tar_bytes_free(&tar);
    }
}

static shard_loader_opts options(uint32_t batch, shard_shuffle shuffle)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.batch = batch;
    o.shuffle = shuffle;
    o.seed = 9;
    o.shuffle_samples = 10;
    o.threads = 2;
    o.prefetch = 2;
    return o;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Each of the keys k0000 to k0060 so many times. */
static void check_keys(const delivery *d, size_t times)
{
    char(*keys)[DELIVERY_KEY] = calloc(d->rows + 1, sizeof *keys);
    size_t found = 0;
    for (size_t i = 0; i < d->rows; i++)
        if (d->row[i].valid)
            memcpy(keys[found++], d->row[i].key, DELIVERY_KEY);
    assert_int_equal(found, SAMPLES * times);
    qsort(keys, found, sizeof *keys, by_text);
    for (size_t i = 0; i < found; i++) {
        char key[DELIVERY_KEY];
        snprintf(key, sizeof key, "k%04d", (int)(i / times));
        assert_string_equal(keys[i], key);
    }
    free(keys);
}

static void each_sample_comes_once_a_round(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 4, 64};
    make_set(false);
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++)
        for (size_t b = 0; b < COUNT(batches); b++) {
            shard_loader_opts o = options(batches[b], (shard_shuffle)shuffle);
            shard_loader *loader = test_loader(names, &o);
            delivery first = {0}, second = {0};
            delivery_take_epoch(&first, loader);
            delivery_take_epoch(&second, loader);
            check_keys(&first, 1);
            check_keys(&second, 1);
            assert_int_equal(delivery_same_samples(&first, &second), shuffle == SHARD_SHUFFLE_NONE);
            delivery_clear(&first);
            delivery_clear(&second);
            shard_loader_close(loader);
        }
}

static void without_shuffle_the_order_is_as_stored(void **state)
{
    (void)state;
    make_set(false);
    shard_loader_opts o = options(7, SHARD_SHUFFLE_NONE);
    delivery d = test_deliver(names, &o);
    for (size_t i = 0; i < SAMPLES; i++) {
        char key[DELIVERY_KEY];
        snprintf(key, sizeof key, "k%04d", (int)i);
        assert_string_equal(d.row[i].key, key);
        assert_true(d.row[i].id == SHARD_UNKNOWN);
    }
    delivery_clear(&d);
}

static void one_shard_without_an_index_is_enough_to_stream_all(void **state)
{
    (void)state;
    make_set(true); /* all but the gzip one */
    shard_loader_opts o = options(7, SHARD_SHUFFLE_FULL);
    shard_loader_info info;
    shard_loader *loader = test_loader(names, &o);
    shard_loader_get_info(loader, &info);
    assert_string_equal(info.order, "stream-1");
    assert_true(info.samples == SHARD_UNKNOWN && info.epoch_batches == SHARD_UNKNOWN);
    shard_loader_close(loader);
}

static void an_indexed_set_of_gzip_is_streamed(void **state)
{
    (void)state;
    static const char *const one[] = {"x.tar.gz", NULL};
    shard_loader_info info;
    test_folder();
    test_make_shard("x.tar.gz", 0, 9);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_NONE);
    shard_loader *loader = test_loader(one, &o);
    shard_loader_get_info(loader, &info);
    assert_string_equal(info.order, "stream-1");
    delivery d = {0};
    delivery_take_epoch(&d, loader);
    assert_int_equal(d.valid, 9);
    delivery_clear(&d);
    shard_loader_close(loader);
}

static void threads_change_nothing(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 3, 8};
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    delivery whole = test_deliver(names, &o);
    for (size_t t = 0; t < COUNT(threads); t++) {
        o.threads = threads[t];
        delivery d = test_deliver(names, &o);
        assert_true(delivery_same(&d, &whole));
        delivery_clear(&d);
    }
    delivery_clear(&whole);
}

/* From each batch, in batches of another size, and with memory for few or for all samples. */
static void the_rest_is_the_same_from_each_batch(void **state)
{
    (void)state;
    static const uint64_t memory[] = {1, 3, 10, 200};
    make_set(false);
    for (size_t m = 0; m < COUNT(memory); m++) {
        shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
        o.shuffle_samples = memory[m];
        delivery whole = test_deliver(names, &o);
        for (size_t n = 0; n < whole.batches; n++) {
            char text[SHARD_STATE_SIZE];
            delivery d = {0};
            delivery_stop_after(&d, names, &o, n, text);
            shard_loader_opts again = o;
            again.batch = 1 + (uint32_t)n % 9;
            again.threads = 1 + (uint32_t)n % 3;
            again.resume = text;
            shard_loader *loader = test_loader(names, &again);
            delivery_take_epoch(&d, loader);
            shard_loader_close(loader);
            assert_true(delivery_same_samples(&d, &whole));
            delivery_clear(&d);
        }
        delivery_clear(&whole);
    }
}

static void a_later_round_is_found_again_too(void **state)
{
    (void)state;
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    o.endless = true;
    for (size_t n = 0; n < 40; n += 3) {
        char text[SHARD_STATE_SIZE];
        shard_error err;
        delivery d = {0}, whole = {0};
        shard_loader *loader = test_loader(names, &o);
        assert_int_equal(delivery_take(&whole, loader, 50, &err), SHARD_OK);
        shard_loader_close(loader);
        delivery_stop_after(&d, names, &o, n, text);
        shard_loader_opts again = o;
        again.resume = text;
        loader = test_loader(names, &again);
        assert_int_equal(delivery_take(&d, loader, 50 - n, &err), SHARD_OK);
        shard_loader_close(loader);
        assert_true(delivery_same_samples(&d, &whole));
        delivery_clear(&d);
        delivery_clear(&whole);
    }
}

/* In epochs of two rounds: each rank has shards of its own, and all have as many batches. */
static void ranks_share_the_shards(void **state)
{
    (void)state;
    make_set(false);
    for (uint32_t world = 2; world <= 3; world++) {
        size_t batches = 0;
        shard_loader_opts o = options(3, SHARD_SHUFFLE_SHARDS);
        o.world_size = world;
        o.epoch_size = (uint64_t)world * 30;
        for (o.rank = 0; o.rank < world; o.rank++) {
            delivery d = test_deliver(names, &o);
            assert_int_equal(d.valid, 30);
            assert_true(batches == 0 || batches == d.batches);
            batches = d.batches;
            delivery_clear(&d);
        }
    }
}

static void what_needs_counts_is_refused(void **state)
{
    (void)state;
    shard_loader *loader;
    shard_error err;
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_NONE);
    o.world_size = 2;
    assert_int_equal(test_open_loader(&loader, names, &o, &err), SHARD_EINVAL);
    assert_non_null(strstr(err.message, "epoch_size"));
    o = options(4, SHARD_SHUFFLE_NONE);
    o.on_bad = SHARD_BAD_SUBSTITUTE;
    assert_int_equal(test_open_loader(&loader, names, &o, &err), SHARD_EINVAL);
    assert_non_null(strstr(err.message, "shardtool index"));
}

static void a_rank_without_samples_is_an_error(void **state)
{
    (void)state;
    shard_error err;
    const shard_batch *batch;
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_NONE);
    o.world_size = 7;
    o.rank = 6; /* of five shards it has none */
    o.endless = true;
    shard_loader *loader = test_loader(names, &o);
    assert_int_equal(shard_loader_next(loader, &batch, &err), SHARD_EDATA);
    assert_non_null(strstr(err.message, "rank 6"));
    shard_loader_close(loader);
}

static void a_state_of_another_rank_or_set_is_refused(void **state)
{
    (void)state;
    static const char *const fewer[] = {"a.tar", "c.tar", NULL};
    char text[SHARD_STATE_SIZE];
    shard_loader *loader;
    shard_error err;
    delivery d = {0};
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    o.endless = true;
    delivery_stop_after(&d, names, &o, 2, text);
    delivery_clear(&d);
    o.resume = text;
    assert_int_equal(test_open_loader(&loader, fewer, &o, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"set\""));
    o.world_size = 2;
    assert_int_equal(test_open_loader(&loader, names, &o, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"opts\""));
}

static void damage_is_an_error_with_its_place(void **state)
{
    (void)state;
    static const char *const one[] = {"a.tar", NULL};
    shard_error err;
    tar_bytes tar = {0};
    test_folder();
    for (int i = 0; i < 5; i++)
        test_add_sample(&tar, i);
    test_write_file(test_path("a.tar"), tar.bytes, tar.size - 300); /* and no end mark */
    tar_bytes_free(&tar);
    shard_loader_opts o = options(2, SHARD_SHUFFLE_NONE);
    delivery d = {0};
    shard_loader *loader = test_loader(one, &o);
    assert_int_equal(delivery_take(&d, loader, 100, &err), SHARD_ETRUNCATED);
    assert_string_equal(err.url, test_path("a.tar"));
    assert_true(err.offset != SHARD_NO_OFFSET);
    delivery_clear(&d);
    shard_loader_close(loader);
}

/* A label that is no number, in a stream: an error, or masked. */
static void bad_samples_are_errors_or_masked(void **state)
{
    (void)state;
    static const char *const one[] = {"a.tar", NULL};
    static const shard_field field = {.component = "cls", .kind = SHARD_FIELD_INTEGER};
    shard_error err;
    shard_loader_stats stats;
    tar_bytes tar = {0};
    test_folder();
    test_add_sample(&tar, 0);
    tar_bytes_file(&tar, "k0001.cls", "no number");
    test_add_sample(&tar, 2);
    tar_bytes_end(&tar);
    test_write_shard("a.tar", &tar, false);
    tar_bytes_free(&tar);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_NONE);
    o.fields = &field;
    o.field_count = 1;
    delivery d = {0};
    shard_loader *loader = test_loader(one, &o);
    assert_int_equal(delivery_take(&d, loader, 1, &err), SHARD_EDATA);
    assert_non_null(strstr(err.message, "k0001"));
    shard_loader_close(loader);
    o.on_bad = SHARD_BAD_MASK;
    loader = test_loader(one, &o);
    delivery_take_epoch(&d, loader);
    assert_int_equal(d.valid, 2);
    assert_false(d.row[1].valid);
    shard_loader_get_stats(loader, &stats);
    assert_int_equal(stats.bad_samples, 1);
    delivery_clear(&d);
    shard_loader_close(loader);
}

/* The next time the set is found by its indexes, which are those that shardtool index makes. */
static void indexes_are_kept(void **state)
{
    (void)state;
    static const char *const plain[] = {"a.tar", "c.tar", "d.tar.zst", NULL};
    static const char *const indexes[] = {"a.tar.sidx", "c.tar.sidx", "d.tar.zst.sidx"};
    static const shard_field field = {.component = "cls", .kind = SHARD_FIELD_INTEGER};
    shard_loader_info info;
    make_set(false);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    o.fields = &field; /* the other components are read for their checksums */
    o.field_count = 1;
    o.keep_indexes = true;
    delivery d = test_deliver(plain, &o);
    assert_int_equal(d.valid, 53);
    delivery_clear(&d);
    for (size_t i = 0; i < COUNT(indexes); i++) {
        size_t kept_size, made_size;
        uint8_t *kept = test_read_file(test_path(indexes[i]), &kept_size);
        test_index_shard(plain[i], true);
        uint8_t *made = test_read_file(test_path(indexes[i]), &made_size);
        assert_int_equal(kept_size, made_size);
        assert_memory_equal(kept, made, kept_size);
        free(kept);
        free(made);
    }
    shard_loader *loader = test_loader(plain, &o);
    shard_loader_get_info(loader, &info);
    assert_string_equal(info.order, "lanes-1");
    shard_loader_close(loader);
}

static bool run(test_allocator *allocator, void *context)
{
    shard_allocator own = test_shard_allocator(allocator);
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    shard_loader *loader;
    shard_error err;
    delivery d = {0};
    (void)context;
    o.allocator = &own;
    o.threads = 1;
    o.end_epoch = 1; /* so that nothing is made that is not delivered */
    if (test_open_loader(&loader, names, &o, &err) != SHARD_OK)
        return false;
    shard_status status = delivery_take(&d, loader, SAMPLES, &err);
    shard_loader_close(loader);
    delivery_clear(&d);
    return status == SHARD_END;
}

static void short_memory_is_an_error(void **state)
{
    (void)state;
    make_set(false);
    assert_true(test_every_allocation(run, NULL) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_sample_comes_once_a_round),
        cmocka_unit_test(without_shuffle_the_order_is_as_stored),
        cmocka_unit_test(one_shard_without_an_index_is_enough_to_stream_all),
        cmocka_unit_test(an_indexed_set_of_gzip_is_streamed),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(the_rest_is_the_same_from_each_batch),
        cmocka_unit_test(a_later_round_is_found_again_too),
        cmocka_unit_test(ranks_share_the_shards),
        cmocka_unit_test(what_needs_counts_is_refused),
        cmocka_unit_test(a_rank_without_samples_is_an_error),
        cmocka_unit_test(a_state_of_another_rank_or_set_is_refused),
        cmocka_unit_test(damage_is_an_error_with_its_place),
        cmocka_unit_test(bad_samples_are_errors_or_masked),
        cmocka_unit_test(indexes_are_kept),
        cmocka_unit_test(short_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
