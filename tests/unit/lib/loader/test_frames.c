/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/frames.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/rng.h"
#include "files.h"
#include "order/permutation.h"
#include "shards.h"
#include "test.h"

/* Frames of test_write_shard hold 1000 bytes; their buffers have 4 KiB. */
enum { SAMPLES = 50, FRAME = 1000, ROOM = 4096 };

static const char *const names[] = {"a.tar.zst", "b.tar.zst", NULL};

typedef struct {
    tar_bytes tar[2];
    test_allocator allocator;
    fmt_alloc alloc;
    shard_set *set;
    loader_shards shards;
    loader_shard *shard[2];
    shard_budget budget;
    loader_frames frames;
    loader_unzip unzip;
} bench;

static void set_up(bench *b, uint64_t limit)
{
    *b = (bench){0};
    test_folder();
    for (int s = 0; s < 2; s++) {
        for (int i = 0; i < SAMPLES; i++)
            test_add_sample(&b->tar[s], s * SAMPLES + i);
        tar_bytes_end(&b->tar[s]);
        test_write_shard(names[s], &b->tar[s], true);
    }
    b->alloc = test_fmt_alloc(&b->allocator);
    b->set = test_open_set(names, NULL);
    assert_int_equal(loader_shards_init(&b->shards, b->set, NULL, &b->alloc, NULL), SHARD_OK);
    for (uint64_t s = 0; s < 2; s++)
        assert_int_equal(loader_shards_pin(&b->shards, s, &b->shard[s], NULL), SHARD_OK);
    b->budget = (shard_budget){.limit = 1 << 24, .alloc = b->alloc};
    loader_frames_init(&b->frames, &b->budget, limit);
}

static void tear_down(bench *b)
{
    loader_unzip_clear(&b->unzip, &b->budget);
    loader_frames_clear(&b->frames);
    loader_frames_clear(&b->frames);
    assert_int_equal(b->budget.used, 0);
    loader_shards_clear(&b->shards);
    assert_int_equal(b->allocator.live, 0);
    shard_set_close(b->set);
    tar_bytes_free(&b->tar[0]);
    tar_bytes_free(&b->tar[1]);
}

/* Read into memory of exactly this size, and compare. */
static shard_status read_range(bench *b, loader_unzip *unzip, int s, uint64_t begin, uint64_t end,
                               shard_error *err)
{
    uint8_t *out = malloc(end > begin ? end - begin : 1);
    assert_non_null(out);
    shard_status status = loader_frames_read(&b->frames, unzip, b->shard[s], begin, end, out, err);
    if (status == SHARD_OK && memcmp(out, b->tar[s].bytes + begin, end - begin) != 0)
        status = SHARD_ECHECKSUM;
    free(out);
    return status;
}

static void damage(const char *name, size_t from)
{
    size_t size;
    uint8_t *bytes = test_read_file(test_path(name), &size);
    memset(bytes + from, 0xa5, size - from);
    test_write_file(test_path(name), bytes, size);
    free(bytes);
}

static void any_range_is_read(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 1 << 20);
    uint64_t size = b.tar[0].size;
    for (uint64_t begin = 0; begin < 2100; begin += 97)
        for (uint64_t length = 0; length < 3100; length += 211)
            assert_int_equal(read_range(&b, &b.unzip, 0, begin, begin + length, NULL), SHARD_OK);
    assert_int_equal(read_range(&b, &b.unzip, 0, 0, size, NULL), SHARD_OK);
    assert_int_equal(read_range(&b, &b.unzip, 0, size - 1, size, NULL), SHARD_OK);
    assert_int_equal(read_range(&b, &b.unzip, 0, FRAME, 2 * FRAME, NULL), SHARD_OK);
    assert_int_equal(read_range(&b, &b.unzip, 0, FRAME - 1, FRAME + 1, NULL), SHARD_OK);
    tear_down(&b);
}

static uint64_t bucket_of_first(uint64_t shard)
{
    return shard_order_mix(shard_order_mix(shard)) % LOADER_FRAME_BUCKETS;
}

/* Frames of one number in one bucket: the second shard passes for one whose first frame is there.
 */
static void frames_of_different_shards_are_not_mixed_up(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 1 << 20);
    b.shard[1]->number = 2;
    while (bucket_of_first(b.shard[1]->number) != bucket_of_first(0))
        b.shard[1]->number++;
    for (int round = 0; round < 2; round++)
        for (uint64_t at = 0; at + FRAME <= b.tar[0].size; at += FRAME)
            for (int s = 0; s < 2; s++)
                assert_int_equal(read_range(&b, &b.unzip, s, at, at + FRAME, NULL), SHARD_OK);
    tear_down(&b);
}

static void a_frame_that_is_kept_is_not_read_again(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 1 << 24);
    assert_int_equal(read_range(&b, &b.unzip, 0, 0, b.tar[0].size, NULL), SHARD_OK);
    size_t asked = b.allocator.asked;
    damage(names[0], 0);
    assert_int_equal(read_range(&b, &b.unzip, 0, 0, b.tar[0].size, NULL), SHARD_OK);
    assert_int_equal(b.allocator.asked, asked);
    assert_int_not_equal(read_range(&b, &b.unzip, 1, 0, FRAME, NULL), SHARD_ECHECKSUM);
    tear_down(&b);
}

static void past_the_limit_the_oldest_frames_go(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 10 * ROOM);
    for (uint64_t at = 0; at + FRAME <= b.tar[0].size; at += FRAME) {
        assert_int_equal(read_range(&b, &b.unzip, 0, at, at + FRAME, NULL), SHARD_OK);
        assert_true(b.frames.used <= 10 * ROOM);
        assert_int_equal(read_range(&b, &b.unzip, 0, 0, 1, NULL), SHARD_OK); /* used: stays */
    }
    assert_int_equal(b.frames.used, 10 * ROOM);
    assert_true(b.budget.used <= 12 * ROOM);
    damage(names[0], 0);
    assert_int_equal(read_range(&b, &b.unzip, 0, 0, FRAME, NULL), SHARD_OK);
    assert_int_not_equal(read_range(&b, &b.unzip, 0, FRAME, FRAME + 1, NULL), SHARD_OK);
    tear_down(&b);
}

static void without_any_limit_left_frames_are_read_all_the_same(void **state)
{
    (void)state;
    bench b;
    set_up(&b, 0);
    for (int round = 0; round < 2; round++)
        assert_int_equal(read_range(&b, &b.unzip, 0, 0, b.tar[0].size, NULL), SHARD_OK);
    assert_true(b.frames.used <= ROOM);
    tear_down(&b);
}

static void a_damaged_frame_is_named_and_not_kept(void **state)
{
    (void)state;
    bench b;
    shard_error err;
    shard_index_frame frame;
    set_up(&b, 1 << 20);
    assert_int_equal(shard_index_get_frame(b.shard[0]->opened.index, 3, &frame, NULL), SHARD_OK);
    size_t size;
    uint8_t *good = test_read_file(test_path(names[0]), &size);
    damage(names[0], frame.stored_begin);
    for (int i = 0; i < 2; i++) {
        shard_status status = read_range(&b, &b.unzip, 0, 2500, 3500, &err);
        assert_true(status == SHARD_EFORMAT || status == SHARD_EDATA);
        assert_string_equal(err.url, test_path(names[0]));
        assert_int_equal(err.offset, frame.stored_begin);
    }
    assert_int_equal(read_range(&b, &b.unzip, 0, 0, 3 * FRAME, &err), SHARD_OK);
    test_write_file(test_path(names[0]), good, size);
    assert_int_equal(read_range(&b, &b.unzip, 0, 2500, 3500, &err), SHARD_OK);
    free(good);
    tear_down(&b);
}

/* ---- many threads ---- */

typedef struct {
    bench *bench;
    uint64_t seed;
    shard_status status;
} reader;

static void *read_at_random(void *context)
{
    reader *r = context;
    loader_unzip unzip = {0};
    for (uint64_t i = 0; i < 300 && r->status == SHARD_OK; i++) {
        int s = (int)shard_rng_below(r->seed, i * 3, 2);
        uint64_t begin = shard_rng_below(r->seed, i * 3 + 1, r->bench->tar[s].size - 3000);
        uint64_t size = shard_rng_below(r->seed, i * 3 + 2, 3000);
        r->status = read_range(r->bench, &unzip, s, begin, begin + size, NULL);
    }
    loader_unzip_clear(&unzip, &r->bench->budget);
    return NULL;
}

static void *own_realloc(void *context, void *old, size_t size)
{
    (void)context;
    return realloc(old, size);
}

static void own_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static void threads_read_side_by_side(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    bench b;
    pthread_t thread[THREADS];
    reader readers[THREADS];
    set_up(&b, 8 * ROOM);
    b.budget.alloc =
        (fmt_alloc){own_realloc, own_free, NULL}; /* the test's counts for one thread */
    for (uint64_t i = 0; i < THREADS; i++) {
        readers[i] = (reader){&b, i, SHARD_OK};
        assert_int_equal(pthread_create(&thread[i], NULL, read_at_random, &readers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(readers[i].status, SHARD_OK);
    }
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_range_is_read),
        cmocka_unit_test(frames_of_different_shards_are_not_mixed_up),
        cmocka_unit_test(a_frame_that_is_kept_is_not_read_again),
        cmocka_unit_test(past_the_limit_the_oldest_frames_go),
        cmocka_unit_test(without_any_limit_left_frames_are_read_all_the_same),
        cmocka_unit_test(a_damaged_frame_is_named_and_not_kept),
        cmocka_unit_test(threads_read_side_by_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
