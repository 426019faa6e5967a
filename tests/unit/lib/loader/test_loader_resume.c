/* SPDX-License-Identifier: Apache-2.0 */
/* States: what is left of an epoch is the same wherever it goes on. */
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

enum { SAMPLES = 61 };

static const char *const names[] = {"a.tar", "b.tar.zst", NULL};

static void make_set(void)
{
    test_folder();
    test_make_shard(names[0], 0, 23);
    test_make_shard(names[1], 23, SAMPLES - 23);
}

static shard_loader_opts options(uint32_t batch, shard_shuffle shuffle)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.batch = batch;
    o.shuffle = shuffle;
    o.seed = 9;
    o.epoch = 4;
    o.shuffle_samples = 20;
    o.threads = 2;
    o.prefetch = 2;
    return o;
}

static void the_rest_is_the_same_from_each_batch_and_for_any_threads(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 2, 3, 8};
    make_set();
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
        shard_loader_opts o = options(4, (shard_shuffle)shuffle);
        delivery whole = test_deliver(names, &o);
        for (size_t n = 0; n < whole.batches; n++) {
            char text[SHARD_STATE_SIZE];
            delivery d = {0};
            delivery_stop_after(&d, names, &o, n, text);
            shard_loader_opts again = options(4, (shard_shuffle)shuffle);
            again.seed = again.epoch = 0;
            again.threads = threads[n % COUNT(threads)];
            again.resume = text;
            shard_loader *loader = test_loader(names, &again);
            delivery_take_epoch(&d, loader);
            shard_loader_close(loader);
            assert_true(delivery_same(&d, &whole));
            delivery_clear(&d);
        }
        delivery_clear(&whole);
    }
}

/* What ranks of this world deliver from a state on, all together. */
static void take_ranks(shard_loader_opts o, uint32_t world, delivery *d)
{
    o.world_size = world;
    for (o.rank = 0; o.rank < world; o.rank++) {
        shard_loader *loader = test_loader(names, &o);
        delivery_take_epoch(d, loader);
        shard_loader_close(loader);
    }
}

static void the_rest_is_the_same_samples_in_batches_and_ranks_of_any_number(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 3, 7, 100}, worlds[] = {1, 2, 3, 7};
    make_set();
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++)
        for (size_t n = 0; n <= SAMPLES / 4; n++) {
            char text[SHARD_STATE_SIZE];
            uint64_t ids[SAMPLES];
            delivery d = {0};
            shard_loader_opts o = options(4, (shard_shuffle)shuffle);
            delivery_stop_after(&d, names, &o, n, text);
            o = options(batches[n % COUNT(batches)], (shard_shuffle)shuffle);
            o.resume = text;
            o.threads = 1;
            take_ranks(o, worlds[n / 4 % COUNT(worlds)], &d);
            assert_int_equal(d.valid, SAMPLES);
            delivery_sorted_ids(&d, ids);
            for (uint64_t i = 0; i < SAMPLES; i++)
                assert_int_equal(ids[i], i);
            delivery_clear(&d);
        }
}

static void in_stored_order_the_rest_is_the_same_sequence_in_batches_of_any_size(void **state)
{
    (void)state;
    static const uint32_t batches[] = {1, 3, 7, 100};
    make_set();
    for (size_t b = 0; b < COUNT(batches); b++) {
        char text[SHARD_STATE_SIZE];
        delivery d = {0};
        shard_loader_opts o = options(4, SHARD_SHUFFLE_SHARDS);
        delivery whole = test_deliver(names, &o);
        delivery_stop_after(&d, names, &o, 5, text);
        o.batch = batches[b];
        o.resume = text;
        shard_loader *loader = test_loader(names, &o);
        delivery_take_epoch(&d, loader);
        shard_loader_close(loader);
        assert_true(delivery_same_samples(&d, &whole));
        delivery_clear(&d);
        delivery_clear(&whole);
    }
}

static void the_state_is_the_same_on_all_ranks(void **state)
{
    (void)state;
    make_set();
    char first[SHARD_STATE_SIZE], text[SHARD_STATE_SIZE];
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    o.world_size = 3;
    for (o.rank = 0; o.rank < 3; o.rank++) {
        delivery d = {0};
        delivery_stop_after(&d, names, &o, 2, o.rank == 0 ? first : text);
        delivery_clear(&d);
        if (o.rank > 0)
            assert_string_equal(first, text);
    }
    assert_non_null(strstr(first, "\"lanes-1\",\"seed\":9,\"epoch\":4,\"position\":24,"));
}

static void at_the_end_of_an_epoch_it_is_the_next_one(void **state)
{
    (void)state;
    make_set();
    for (int ask_for_end = 0; ask_for_end < 2; ask_for_end++) {
        char text[SHARD_STATE_SIZE];
        delivery d = {0};
        shard_error err;
        shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
        shard_loader *loader = test_loader(names, &o);
        assert_int_equal(delivery_take(&d, loader, (SAMPLES + 3) / 4 + (size_t)ask_for_end, &err),
                         ask_for_end ? SHARD_END : SHARD_OK);
        assert_int_equal(shard_loader_get_state(loader, text, &err), SHARD_OK);
        shard_loader_close(loader);
        delivery_clear(&d);
        assert_non_null(strstr(text, "\"epoch\":5,\"position\":0,"));
        o.epoch = 5;
        delivery next = test_deliver(names, &o);
        o.epoch = 0;
        o.resume = text;
        d = test_deliver(names, &o);
        assert_true(delivery_same(&d, &next));
        delivery_clear(&d);
        delivery_clear(&next);
    }
}

static void what_a_dropped_last_batch_left_is_not_delivered_later(void **state)
{
    (void)state;
    make_set();
    char text[SHARD_STATE_SIZE];
    delivery d = {0};
    shard_loader_opts o = options(10, SHARD_SHUFFLE_FULL);
    o.drop_last = true;
    delivery_stop_after(&d, names, &o, 6, text);
    assert_non_null(strstr(text, "\"epoch\":5,\"position\":0,"));
    delivery_clear(&d);
}

static void it_goes_on_inside_epochs_that_are_not_the_set(void **state)
{
    (void)state;
    make_set();
    for (int endless = 0; endless < 2; endless++) {
        char text[SHARD_STATE_SIZE];
        shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
        o.epoch = 1;
        o.endless = endless;
        o.epoch_size = endless ? 0 : 150;
        delivery whole = {0}, d = {0};
        shard_error err;
        shard_loader *loader = test_loader(names, &o);
        assert_int_equal(delivery_take(&whole, loader, 30, &err), SHARD_OK);
        shard_loader_close(loader);
        delivery_stop_after(&d, names, &o, 19, text);
        assert_non_null(strstr(text, "\"epoch\":1,\"position\":76,"));
        o.resume = text;
        loader = test_loader(names, &o);
        assert_int_equal(delivery_take(&d, loader, 11, &err), SHARD_OK);
        shard_loader_close(loader);
        assert_true(delivery_same(&d, &whole));
        delivery_clear(&d);
        delivery_clear(&whole);
    }
}

static void an_endless_epoch_has_no_state_past_its_limit(void **state)
{
    (void)state;
    test_folder();
    test_make_shard(names[0], 0, 200);
    test_make_shard(names[1], 200, 200);
    char text[SHARD_STATE_SIZE];
    shard_error err;
    shard_state parsed;
    delivery d = {0};
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    o.endless = true;
    delivery_stop_after(&d, names, &o, 1, text);
    assert_int_equal(shard_state_parse(&parsed, text, strlen(text), &err), SHARD_OK);
    parsed.position = SHARD_ORDER_SAMPLES_MAX - 8;
    assert_int_equal(shard_state_format(&parsed, text, &err), SHARD_OK);
    o.resume = text;
    o.epoch = 0;
    shard_loader *loader = test_loader(names, &o);
    assert_int_equal(delivery_take(&d, loader, 1, &err), SHARD_OK);
    assert_int_equal(shard_loader_get_state(loader, text, &err), SHARD_OK);
    assert_int_equal(delivery_take(&d, loader, 1, &err), SHARD_OK);
    assert_int_equal(shard_loader_get_state(loader, text, &err), SHARD_EUNSUPPORTED);
    shard_loader_close(loader);
    delivery_clear(&d);
}

/* ---- states that do not fit ---- */

static shard_status try_state(const shard_loader_opts *o, const char *text, shard_error *err)
{
    shard_loader *loader;
    shard_loader_opts with = *o;
    with.resume = text;
    shard_status status = test_open_loader(&loader, names, &with, err);
    shard_loader_close(loader);
    return status;
}

static void a_state_of_another_run_is_refused_by_name(void **state)
{
    (void)state;
    make_set();
    char text[SHARD_STATE_SIZE];
    delivery d = {0};
    shard_error err;
    shard_loader_opts good = options(4, SHARD_SHUFFLE_FULL), o;
    delivery_stop_after(&d, names, &good, 3, text);
    delivery_clear(&d);
    assert_int_equal(try_state(&good, text, &err), SHARD_OK);

    o = good;
    o.shuffle = SHARD_SHUFFLE_SHARDS;
    assert_int_equal(try_state(&o, text, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"order\" differs (expected shards-1, got lanes-1)"));
    o = good;
    o.seed = 10;
    assert_int_equal(try_state(&o, text, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"seed\" differs"));
    o = good;
    o.shuffle_samples = 21;
    assert_int_equal(try_state(&o, text, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"opts\" differs"));
    o = good;
    o.epoch_size = SAMPLES - 1;
    assert_int_equal(try_state(&o, text, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"opts\" differs"));
    o = good;
    o.endless = true;
    assert_int_equal(try_state(&o, text, &err), SHARD_ESTALE);
    test_make_shard(names[0], 0, 24);
    assert_int_equal(try_state(&good, text, &err), SHARD_ESTALE);
    assert_non_null(strstr(err.message, "\"set\" differs"));
}

static void a_state_that_is_none_is_refused(void **state)
{
    (void)state;
    make_set();
    char text[SHARD_STATE_SIZE];
    delivery d = {0};
    shard_error err;
    shard_state parsed;
    shard_loader_opts o = options(4, SHARD_SHUFFLE_FULL);
    assert_int_equal(try_state(&o, "", &err), SHARD_EFORMAT);
    assert_int_equal(try_state(&o, "{}", &err), SHARD_EFORMAT);
    delivery_stop_after(&d, names, &o, 3, text);
    delivery_clear(&d);
    assert_int_equal(shard_state_parse(&parsed, text, strlen(text), &err), SHARD_OK);
    parsed.position = SAMPLES + 1;
    assert_int_equal(shard_state_format(&parsed, text, &err), SHARD_OK);
    assert_int_equal(try_state(&o, text, &err), SHARD_EFORMAT);
    assert_non_null(strstr(err.message, "position"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rest_is_the_same_from_each_batch_and_for_any_threads),
        cmocka_unit_test(the_rest_is_the_same_samples_in_batches_and_ranks_of_any_number),
        cmocka_unit_test(in_stored_order_the_rest_is_the_same_sequence_in_batches_of_any_size),
        cmocka_unit_test(the_state_is_the_same_on_all_ranks),
        cmocka_unit_test(at_the_end_of_an_epoch_it_is_the_next_one),
        cmocka_unit_test(what_a_dropped_last_batch_left_is_not_delivered_later),
        cmocka_unit_test(it_goes_on_inside_epochs_that_are_not_the_set),
        cmocka_unit_test(an_endless_epoch_has_no_state_past_its_limit),
        cmocka_unit_test(a_state_of_another_run_is_refused_by_name),
        cmocka_unit_test(a_state_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
