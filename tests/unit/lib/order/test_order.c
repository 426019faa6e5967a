/* SPDX-License-Identifier: Apache-2.0 */
#include "order/order.h"

#include <stdlib.h>

#include "core/hash.h"
#include "core/rng.h"
#include "files.h"
#include "shards.h"
#include "test.h"

static const uint64_t five[] = {300, 0, 1, 500, 199};

static shard_order *open_order(const uint64_t *samples, size_t shards, shard_shuffle shuffle,
                               uint64_t seed, uint64_t memory)
{
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    shard_order *order;
    opts.shuffle = shuffle;
    opts.seed = seed;
    opts.shuffle_samples = memory;
    shard_set *set = test_counted_set(samples, shards);
    assert_int_equal(shard_order_open(&order, set, &opts, NULL), SHARD_OK);
    shard_set_close(set);
    return order;
}

static uint64_t *whole_epoch(const shard_order *order, uint64_t epoch, size_t *count)
{
    shard_order_info info;
    shard_order_get_info(order, &info);
    *count = (size_t)info.samples;
    uint64_t *ids = malloc(*count * sizeof *ids);
    assert_int_equal(shard_order_ids(order, epoch, 0, *count, ids, NULL), SHARD_OK);
    return ids;
}

static uint64_t hash_of_epoch(shard_shuffle shuffle, uint64_t seed, uint64_t epoch, uint64_t memory)
{
    size_t count;
    test_folder();
    shard_order *order = open_order(five, COUNT(five), shuffle, seed, memory);
    uint64_t *ids = whole_epoch(order, epoch, &count), hash;
    uint8_t *bytes = malloc(count * 8);
    for (size_t i = 0; i < count; i++)
        fmt_store64(bytes + 8 * i, ids[i]);
    hash = shard_hash64(bytes, count * 8, 0);
    free(bytes);
    free(ids);
    shard_order_close(order);
    return hash;
}

/* By tests/support/second_order.py, which shares no code with ours but libxxhash's. */
static void orders_are_frozen(void **state)
{
    (void)state;
    static const struct {
        uint64_t seed, epoch, shards, lanes, whole;
    } vectors[] = {
        {0, 0, 0x96991ee04e18ee58, 0x026a2bdb12c515b3, 0x683ed8eb26133671},
        {1, 0, 0x3fc3f8604b2a216f, 0x29c8f7196445a751, 0xbcb42b17bae6fe6b},
        {0, 1, 0x119ad876e46eb93a, 0x04c5083461a7daa1, 0x15e8850570395ab9},
        {INT64_MAX, UINT32_MAX, 0xbb63956db4d02c7e, 0x624b961f9c5a5c44, 0x9875519bdc439dbc},
    };
    for (size_t i = 0; i < COUNT(vectors); i++) {
        uint64_t seed = vectors[i].seed, epoch = vectors[i].epoch;
        assert_int_equal(hash_of_epoch(SHARD_SHUFFLE_SHARDS, seed, epoch, 0), vectors[i].shards);
        assert_int_equal(hash_of_epoch(SHARD_SHUFFLE_FULL, seed, epoch, 100), vectors[i].lanes);
        assert_int_equal(hash_of_epoch(SHARD_SHUFFLE_FULL, seed, epoch, 1000), vectors[i].whole);
    }
}

static void check_permutation(uint64_t samples, shard_shuffle shuffle, uint64_t memory)
{
    size_t count;
    uint64_t shards[] = {samples / 3, 0, samples - samples / 3};
    shard_order *order = open_order(shards, COUNT(shards), shuffle, samples, memory);
    uint64_t *ids = whole_epoch(order, 2, &count);
    uint8_t *seen = calloc(count, 1);
    for (size_t i = 0; i < count; i++) {
        assert_true(ids[i] < count);
        assert_int_equal(seen[ids[i]]++, 0);
    }
    free(seen);
    free(ids);
    shard_order_close(order);
}

static void each_epoch_is_a_permutation(void **state)
{
    (void)state;
    static const uint64_t samples[] = {1, 2, 5, 7, 97, 191, 192, 193, 1000, 4096, 65537, 100003};
    static const uint64_t memory[] = {1, 3, 4, 10, 100, 1000, 16384, 1 << 20};
    test_folder();
    for (size_t i = 0; i < COUNT(samples); i++) {
        check_permutation(samples[i], SHARD_SHUFFLE_NONE, 0);
        check_permutation(samples[i], SHARD_SHUFFLE_SHARDS, 0);
        for (size_t j = 0; j < COUNT(memory); j++)
            check_permutation(samples[i], SHARD_SHUFFLE_FULL, memory[j]);
    }
}

static void any_piece_is_a_piece_of_the_whole(void **state)
{
    (void)state;
    static const shard_shuffle kinds[] = {SHARD_SHUFFLE_NONE, SHARD_SHUFFLE_SHARDS,
                                          SHARD_SHUFFLE_FULL};
    uint64_t shards[] = {3000, 1, 5000, 2003};
    test_folder();
    for (size_t k = 0; k < COUNT(kinds); k++) {
        size_t count;
        uint64_t piece[700];
        shard_order *order = open_order(shards, COUNT(shards), kinds[k], 4, 800);
        uint64_t *ids = whole_epoch(order, 6, &count);
        for (uint64_t i = 0; i < 200; i++) {
            uint64_t first = shard_rng_below(1, i, count);
            uint64_t size = shard_rng_below(2, i, COUNT(piece));
            size = first + size <= count ? size : count - first;
            assert_int_equal(shard_order_ids(order, 6, first, (size_t)size, piece, NULL), SHARD_OK);
            assert_memory_equal(piece, ids + first, size * sizeof *piece);
        }
        free(ids);
        shard_order_close(order);
    }
}

/*
 * How much more the means of batches vary than they would if each were a random pick, when all
 * samples of a class stand together: the variance inflation factor.
 */
static double inflation(const uint64_t *ids, size_t count, size_t batch, uint64_t samples_a_class)
{
    double sum = 0;
    size_t batches = count / batch;
    for (size_t b = 0; b < batches; b++) {
        int64_t total = 0;
        for (size_t i = 0; i < batch; i++)
            total += shard_rng_below(77, ids[b * batch + i] / samples_a_class, 2) ? 1 : -1;
        double mean = (double)total / (double)batch;
        sum += mean * mean;
    }
    return sum / (double)batches * (double)batch;
}

static void batches_of_a_sorted_set_are_mixed(void **state)
{
    (void)state;
    enum { SAMPLES = 1 << 20, BATCH = 1024, CLASS = 1000 };
    static const uint64_t shards[] = {SAMPLES};
    double body = 0, tail = 0;
    test_folder();
    for (uint64_t seed = 0; seed < 4; seed++) {
        size_t count;
        shard_order *order = open_order(shards, 1, SHARD_SHUFFLE_FULL, seed, 16384);
        uint64_t *ids = whole_epoch(order, 0, &count);
        body += inflation(ids, count, BATCH, CLASS) / 4;
        tail += inflation(ids + count - 16 * BATCH, 16 * BATCH, BATCH, CLASS) / 4;
        free(ids);
        shard_order_close(order);
    }
    print_message("variance inflation: %.2f, of the last 16 batches %.2f\n", body, tail);
    assert_true(body < 2);
    assert_true(tail < 2.5);
}

static void digests(const uint64_t *samples, uint64_t seed, uint64_t memory, uint32_t *of_set,
                    uint32_t *of_opts)
{
    shard_order_info info;
    shard_order *order = open_order(samples, COUNT(five), SHARD_SHUFFLE_FULL, seed, memory);
    shard_order_get_info(order, &info);
    assert_string_equal(info.name, "lanes-1");
    assert_int_equal(info.seed, seed);
    *of_set = info.set_digest;
    *of_opts = shard_order_opts_digest(order, 1000);
    assert_true(*of_opts != shard_order_opts_digest(order, 999));
    shard_order_close(order);
}

static void digests_tell_sets_and_options_apart(void **state)
{
    (void)state;
    static const uint64_t other[] = {300, 1, 0, 500, 199};
    uint32_t set, opts, set_of_other, opts_of_other;
    test_folder();
    digests(five, 1, 100, &set, &opts);
    digests(other, 1, 100, &set_of_other, &opts_of_other);
    assert_true(set != set_of_other && opts == opts_of_other);
    digests(five, 1, 200, &set_of_other, &opts_of_other);
    assert_true(set == set_of_other && opts != opts_of_other);
    digests(five, 2, 100, &set_of_other, &opts_of_other);
    assert_true(set == set_of_other && opts == opts_of_other);
}

static void wrong_arguments_are_refused(void **state)
{
    (void)state;
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    shard_order *order;
    shard_error err;
    uint64_t ids[10];
    test_folder();
    shard_set *set = test_counted_set(five, COUNT(five));
    opts.seed = SHARD_ORDER_SEED_MAX;
    assert_int_equal(shard_order_open(&order, set, &opts, &err), SHARD_EINVAL);
    opts.seed = 0;
    opts.shuffle = (shard_shuffle)3;
    assert_int_equal(shard_order_open(&order, set, &opts, &err), SHARD_EINVAL);
    opts.shuffle = SHARD_SHUFFLE_FULL;
    opts.shuffle_samples = UINT64_MAX;
    assert_int_equal(shard_order_open(&order, set, &opts, &err), SHARD_ELIMIT);
    opts.shuffle_samples = 0;
    assert_int_equal(shard_order_open(&order, set, &opts, &err), SHARD_OK);
    assert_int_equal(shard_order_ids(order, 0, 991, 10, ids, &err), SHARD_EINVAL);
    assert_int_equal(shard_order_ids(order, 0, 1001, 0, ids, &err), SHARD_EINVAL);
    assert_int_equal(shard_order_ids(order, 0, 990, 10, ids, &err), SHARD_OK);
    assert_int_equal(shard_order_ids(order, SHARD_ORDER_EPOCHS_MAX, 0, 1, ids, &err), SHARD_EINVAL);
    shard_order_close(order);
    shard_set_close(set);
    static const uint64_t none[] = {0, 0};
    set = test_counted_set(none, COUNT(none));
    assert_int_equal(shard_order_open(&order, set, NULL, &err), SHARD_EDATA);
    shard_set_close(set);
}

static void a_shard_that_is_not_counted_is_named(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tar", "b.tar", NULL};
    tar_bytes tar = {0};
    shard_order *order;
    shard_error err;
    test_folder();
    test_make_shard("a.tar", 0, 3);
    test_add_sample(&tar, 9);
    tar_bytes_end(&tar);
    test_write_shard("b.tar", &tar, false);
    tar_bytes_free(&tar);
    shard_set *set = test_open_set(names, NULL);
    assert_int_equal(shard_order_open(&order, set, NULL, &err), SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("b.tar"));
    shard_set_close(set);
}

static bool open_and_ask(test_allocator *allocator, void *context)
{
    shard_allocator own = test_shard_allocator(allocator);
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    shard_order *order;
    uint64_t ids[50];
    opts.allocator = &own;
    opts.shuffle_samples = 100;
    for (int kind = SHARD_SHUFFLE_NONE; kind <= SHARD_SHUFFLE_FULL; kind++) {
        opts.shuffle = (shard_shuffle)kind;
        if (shard_order_open(&order, context, &opts, NULL) != SHARD_OK)
            return false;
        shard_status status = shard_order_ids(order, 0, 500, COUNT(ids), ids, NULL);
        shard_order_close(order);
        if (status != SHARD_OK)
            return false;
    }
    return true;
}

static void short_memory_is_an_error(void **state)
{
    (void)state;
    test_folder();
    shard_set *set = test_counted_set(five, COUNT(five));
    assert_true(test_every_allocation(open_and_ask, set) >= 8);
    shard_set_close(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orders_are_frozen),
        cmocka_unit_test(each_epoch_is_a_permutation),
        cmocka_unit_test(any_piece_is_a_piece_of_the_whole),
        cmocka_unit_test(batches_of_a_sorted_set_are_mixed),
        cmocka_unit_test(digests_tell_sets_and_options_apart),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(a_shard_that_is_not_counted_is_named),
        cmocka_unit_test(short_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
