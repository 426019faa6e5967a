/* SPDX-License-Identifier: Apache-2.0 */
/* What a loader allocates: nothing while it runs, no more than it may, and nothing that it keeps.
 */
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

static const shard_field fields[] = {
    {.component = "cls", .kind = SHARD_FIELD_INTEGER},
    {.component = "txt", .kind = SHARD_FIELD_BYTES},
};
static const char *const plain[] = {"a.tar", "b.tar", "c.tar", NULL};
static const char *const zipped[] = {"a.tar.zst", "b.tar.zst", "c.tar.zst", NULL};

static void make_set(const char *const *names, int samples)
{
    test_folder();
    for (int i = 0; i < 3; i++)
        test_make_shard(names[i], i * samples / 3, (i + 1) * samples / 3 - i * samples / 3);
}

static shard_loader_opts options(uint32_t batch)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.fields = fields;
    o.field_count = COUNT(fields);
    o.batch = batch;
    o.shuffle = SHARD_SHUFFLE_FULL;
    o.shuffle_samples = 200;
    o.threads = 2;
    return o;
}

/* ---- an allocator that several threads may ask ---- */

typedef struct {
    _Atomic size_t calls, live, peak; /* the latter two in bytes */
} meter;

static void *meter_realloc(void *context, void *old, size_t size)
{
    meter *m = context;
    size_t before = old ? malloc_usable_size(old) : 0;
    void *memory = realloc(old, size);
    assert_non_null(memory);
    size_t live = atomic_fetch_add(&m->live, malloc_usable_size(memory) - before) +
                  malloc_usable_size(memory) - before;
    for (size_t peak = m->peak;
         live > peak && !atomic_compare_exchange_weak(&m->peak, &peak, live);)
        ;
    atomic_fetch_add(&m->calls, 1);
    return memory;
}

static void meter_free(void *context, void *memory)
{
    meter *m = context;
    if (memory)
        atomic_fetch_sub(&m->live, malloc_usable_size(memory));
    free(memory);
}

/* ---- in steady state ---- */

/* Of which batches on no more than `most` blocks are allocated. */
static void check_allocations(const char *const *names, shard_loader_opts o, size_t most)
{
    enum { WARM = 50 }; /* more than an epoch: all shards are open */
    meter m = {0};
    shard_allocator allocator = {meter_realloc, meter_free, &m};
    shard_error err;
    size_t warm = 0, batches = 0;
    o.allocator = &allocator;
    shard_loader *loader = test_loader(names, &o);
    while (batches < 200) {
        const shard_batch *batch;
        shard_status status = shard_loader_next(loader, &batch, &err);
        if (status == SHARD_END)
            continue;
        assert_int_equal(status, SHARD_OK);
        shard_loader_release(loader, batch);
        if (++batches == WARM)
            warm = m.calls;
    }
    assert_true(warm > 0 && m.calls <= warm + most);
    shard_loader_close(loader);
    assert_int_equal(m.live, 0);
}

static void once_warm_nothing_is_allocated(void **state)
{
    (void)state;
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names, 600);
        for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
            shard_loader_opts o = options(16);
            o.shuffle = (shard_shuffle)shuffle;
            o.threads = 1;
            check_allocations(names, o, 0);
            o.field_count = 0;
            check_allocations(names, o, 0);
        }
    }
}

/* A thread whose first task comes late gets its own buffers then: two, and what decompresses. */
static void once_warm_many_threads_allocate_what_is_their_own(void **state)
{
    (void)state;
    make_set(plain, 600);
    shard_loader_opts o = options(16);
    o.threads = 8;
    check_allocations(plain, o, 8 * 2);
}

/* Not all frames can be kept, and each takes the place of another. */
static void frames_that_follow_each_other_allocate_nothing(void **state)
{
    (void)state;
    make_set(zipped, 600);
    shard_loader_opts o = options(16);
    o.threads = 1;
    o.memory = 3 << 20;
    check_allocations(zipped, o, 0);
}

/* ---- the limit ---- */

static void check_limit(const char *const *names, shard_loader_opts o)
{
    enum { TABLES = 2 << 20 }; /* rows in advance, indexes, the loader itself */
    meter m = {0};
    shard_allocator allocator = {meter_realloc, meter_free, &m};
    shard_loader_stats stats;
    shard_error err;
    o.allocator = &allocator;
    shard_loader *loader = test_loader(names, &o);
    for (int i = 0; i < 200; i++) {
        const shard_batch *batch;
        shard_status status = shard_loader_next(loader, &batch, &err);
        shard_loader_get_stats(loader, &stats);
        assert_true(stats.memory > 0 && stats.memory <= o.memory);
        if (status == SHARD_OK)
            shard_loader_release(loader, batch);
        else if (status != SHARD_END)
            fail_msg("%s %d %d", err.message, (int)(o.memory >> 20), (int)o.field_count);
    }
    shard_loader_close(loader);
    assert_true(m.peak <= o.memory + TABLES);
}

static void it_stays_within_its_memory(void **state)
{
    (void)state;
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names, 6000);
        for (uint64_t memory = 2 << 20; memory <= 64 << 20; memory *= 2)
            for (int raw = 0; raw < 2; raw++) {
                shard_loader_opts o = options(64);
                o.memory = memory;
                o.field_count = raw ? 0 : COUNT(fields);
                check_limit(names, o);
            }
    }
}

static shard_status fill(void *context, const shard_decode_input *input, void *out, size_t size,
                         shard_error *err)
{
    (void)context;
    (void)err;
    memset(out, input->key[4], size);
    return SHARD_OK;
}

static void memory_for_less_than_its_batches_is_refused_with_advice(void **state)
{
    (void)state;
    make_set(plain, 30);
    shard_field large = {.component = "cls",
                         .kind = SHARD_FIELD_CUSTOM,
                         .dtype = SHARD_F32,
                         .dims = 1,
                         .shape = {1 << 16},
                         .decode = fill};
    shard_loader_opts o = options(16);
    shard_loader *loader;
    shard_error err;
    o.fields = &large;
    o.field_count = 1;
    o.memory = 7 << 20; /* a batch has 4 MiB */
    assert_int_equal(test_open_loader(&loader, plain, &o, &err), SHARD_ENOMEM);
    assert_non_null(strstr(err.message, "the limit is 7 MiB"));
    assert_non_null(strstr(err.message, "allow more memory, fewer threads, or smaller batches"));
    assert_null(loader);
    for (uint64_t memory = 9 << 20; memory <= 32 << 20; memory += 1 << 20) {
        o.memory = memory; /* of two batches and more */
        delivery d = test_deliver(plain, &o);
        assert_int_equal(d.valid, 30);
        delivery_clear(&d);
    }
}

static void memory_that_turns_out_too_small_ends_it_with_advice(void **state)
{
    (void)state;
    static const char *const names[] = {"a.tar", NULL};
    tar_bytes tar = {0};
    char *text = malloc((1 << 20) + 1);
    test_folder();
    memset(text, 'x', 1 << 20);
    text[1 << 20] = 0;
    for (int i = 0; i < 12; i++) {
        char path[32];
        snprintf(path, sizeof path, "k%04d.txt", i);
        tar_bytes_file(&tar, path, i >= 8 ? text : "small");
    }
    tar_bytes_end(&tar);
    test_write_shard("a.tar", &tar, true);
    tar_bytes_free(&tar);
    free(text);
    shard_loader_opts o = options(4);
    shard_error err;
    delivery d = {0};
    o.shuffle = SHARD_SHUFFLE_NONE;
    o.fields = fields + 1;
    o.field_count = 1;
    o.memory = 3 << 20;
    shard_loader *loader = test_loader(names, &o);
    assert_int_equal(delivery_take(&d, loader, SIZE_MAX, &err), SHARD_ENOMEM);
    assert_non_null(strstr(err.message, "allow more memory, fewer threads, or smaller batches"));
    assert_int_equal(d.batches, 2);
    shard_loader_close(loader);
    delivery_clear(&d);
}

/* ---- without memory ---- */

typedef struct {
    const char *const *names;
    shard_loader_opts opts;
    size_t valid; /* of two batches */
} run;

/* Two batches; what is made ahead may have met the failure too. */
static bool take_two(test_allocator *allocator, void *context)
{
    run *r = context;
    shard_allocator own = test_shard_allocator(allocator);
    shard_loader_opts o = r->opts;
    shard_loader *loader;
    delivery d = {0};
    shard_error err;
    o.allocator = &own;
    shard_status status = test_open_loader(&loader, r->names, &o, &err);
    if (status == SHARD_OK)
        status = delivery_take(&d, loader, 2, &err);
    if (status == SHARD_OK)
        assert_int_equal(d.valid, r->valid);
    else
        assert_int_equal(status, SHARD_ENOMEM);
    shard_loader_close(loader);
    delivery_clear(&d);
    return status == SHARD_OK && allocator->asked < allocator->fail_at;
}

static void a_failed_allocation_is_an_error_and_leaves_nothing(void **state)
{
    (void)state;
    static const shard_image_opts image = {
        .size = sizeof image, .width = 8, .height = 8, .memory_max = 1 << 20};
    static const shard_field all[] = {
        {.component = "cls", .kind = SHARD_FIELD_INTEGER},
        {.component = "txt", .kind = SHARD_FIELD_BYTES},
        {.component = "jpg;png", .kind = SHARD_FIELD_IMAGE, .image = &image, .optional = true},
    };
    for (int zip = 0; zip < 2; zip++) {
        const char *const *names = zip ? zipped : plain;
        make_set(names, 60);
        run r = {names, options(5), 10};
        r.opts.threads = 1;
        r.opts.prefetch = 1;
        r.opts.fields = all;
        r.opts.field_count = COUNT(all);
        assert_true(test_every_allocation(take_two, &r) > 30);
        r.opts.field_count = 0;
        assert_true(test_every_allocation(take_two, &r) > 30);
    }
}

static void hear(void *context, const char *key, uint64_t id, const shard_error *why)
{
    size_t *heard = context;
    (void)id;
    *heard += key[0] == 'k' && why->status == SHARD_EDATA;
}

static void a_failed_allocation_leaves_nothing_of_bad_samples(void **state)
{
    (void)state;
    static const shard_field text_is_no_number = {.component = "txt", .kind = SHARD_FIELD_INTEGER};
    size_t heard = 0;
    make_set(plain, 60);
    run r = {plain, options(5), 0};
    r.opts.threads = 1;
    r.opts.prefetch = 1;
    r.opts.fields = &text_is_no_number;
    r.opts.field_count = 1;
    r.opts.on_bad = SHARD_BAD_MASK;
    r.opts.tell_bad = hear;
    r.opts.tell_context = &heard;
    assert_true(test_every_allocation(take_two, &r) > 30);
    assert_true(heard >= 10);
}

static void a_failed_allocation_leaves_nothing_of_a_resumed_manifest(void **state)
{
    (void)state;
    static const char *const names[] = {"set.shards.json", NULL};
    char text[SHARD_STATE_SIZE];
    make_set(plain, 60);
    test_make_manifest("set.shards.json", plain);
    run r = {names, options(5), 10};
    r.opts.threads = 1;
    shard_loader *loader = test_loader(names, &r.opts);
    assert_int_equal(shard_loader_get_state(loader, text, NULL), SHARD_OK);
    shard_loader_close(loader);
    r.opts.resume = text;
    assert_true(test_every_allocation(take_two, &r) > 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(once_warm_nothing_is_allocated),
        cmocka_unit_test(once_warm_many_threads_allocate_what_is_their_own),
        cmocka_unit_test(frames_that_follow_each_other_allocate_nothing),
        cmocka_unit_test(it_stays_within_its_memory),
        cmocka_unit_test(memory_for_less_than_its_batches_is_refused_with_advice),
        cmocka_unit_test(memory_that_turns_out_too_small_ends_it_with_advice),
        cmocka_unit_test(a_failed_allocation_is_an_error_and_leaves_nothing),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_of_bad_samples),
        cmocka_unit_test(a_failed_allocation_leaves_nothing_of_a_resumed_manifest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
