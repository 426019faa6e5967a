/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>

#include "loader/shards.h"

#include <dirent.h>
#include <stdio.h>

#include "delivery.h"
#include "files.h"
#include "shards.h"
#include "test.h"

enum { SHARDS = 300, OPEN_MOST = 256, SPARE = 30 };

static const char *const names[] = {"s-{000..299}.tar", NULL};

static void make_set(void)
{
    test_folder();
    for (int i = 0; i < SHARDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "s-%03d.tar", i);
        test_make_shard(name, i * 2, 2);
    }
}

static size_t open_files(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

typedef struct {
    test_allocator allocator;
    fmt_alloc alloc;
    shard_set *set;
    loader_shards shards;
} table;

static void set_up(table *t)
{
    *t = (table){0};
    t->alloc = test_fmt_alloc(&t->allocator);
    t->set = test_open_set(names, NULL);
    assert_int_equal(loader_shards_init(&t->shards, t->set, NULL, &t->alloc, NULL), SHARD_OK);
}

static void tear_down(table *t)
{
    loader_shards_clear(&t->shards);
    loader_shards_clear(&t->shards);
    assert_int_equal(t->allocator.live, 0);
    shard_set_close(t->set);
}

static void a_shard_is_open_once_however_often_it_is_wanted(void **state)
{
    (void)state;
    table t;
    loader_shard *first, *second;
    make_set();
    set_up(&t);
    assert_int_equal(loader_shards_pin(&t.shards, 7, &first, NULL), SHARD_OK);
    assert_int_equal(loader_shards_pin(&t.shards, 7, &second, NULL), SHARD_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(first->number, 7);
    assert_int_equal(first->pins, 2);
    assert_int_equal(first->opened.info.samples, 2);
    assert_int_equal(t.shards.count, 1);
    loader_shards_unpin(&t.shards, first);
    loader_shards_unpin(&t.shards, second);
    assert_int_equal(t.shards.count, 1); /* it stays open */
    tear_down(&t);
}

static void those_not_used_for_longest_are_closed_and_opened_again(void **state)
{
    (void)state;
    table t;
    loader_shard *shard;
    make_set();
    set_up(&t);
    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < SHARDS; i++) {
            assert_int_equal(loader_shards_pin(&t.shards, i, &shard, NULL), SHARD_OK);
            assert_int_equal(shard->number, i);
            loader_shards_unpin(&t.shards, shard);
            assert_true(t.shards.count <= OPEN_MOST);
            if (i == 200) /* is used in between: stays */
                assert_int_equal(loader_shards_pin(&t.shards, 0, &shard, NULL), SHARD_OK);
            if (i == 200)
                loader_shards_unpin(&t.shards, shard);
            if (i == 280)
                assert_true(t.shards.at[0] && !t.shards.at[1] && !t.shards.at[24]);
        }
    tear_down(&t);
}

static void none_in_use_is_closed(void **state)
{
    (void)state;
    table t;
    loader_shard *shard[SHARDS];
    make_set();
    set_up(&t);
    for (uint64_t i = 0; i < SHARDS; i++)
        assert_int_equal(loader_shards_pin(&t.shards, i, &shard[i], NULL), SHARD_OK);
    assert_int_equal(t.shards.count, SHARDS);
    for (uint64_t i = 0; i < SHARDS; i++) {
        assert_ptr_equal(t.shards.at[i], shard[i]);
        loader_shards_unpin(&t.shards, shard[i]);
    }
    tear_down(&t);
}

/* They are shown to callers, who may still look when the shard is closed. */
static void names_of_components_outlive_their_shard(void **state)
{
    (void)state;
    table t;
    loader_shard *shard;
    make_set();
    set_up(&t);
    assert_int_equal(loader_shards_pin(&t.shards, 0, &shard, NULL), SHARD_OK);
    const char *name = shard->opened.names[0];
    loader_shards_unpin(&t.shards, shard);
    for (uint64_t i = 1; i < SHARDS; i++) {
        assert_int_equal(loader_shards_pin(&t.shards, i, &shard, NULL), SHARD_OK);
        assert_ptr_equal(shard->opened.names[0], name);
        loader_shards_unpin(&t.shards, shard);
    }
    assert_null(t.shards.at[0]);
    assert_string_equal(name, "cls");
    tear_down(&t);
}

static void a_shard_that_cannot_be_opened_leaves_the_others(void **state)
{
    (void)state;
    table t;
    loader_shard *shard;
    shard_error err;
    make_set();
    set_up(&t);
    assert_int_equal(remove(test_path("s-005.tar")), 0);
    assert_int_equal(loader_shards_pin(&t.shards, 5, &shard, &err), SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("s-005.tar"));
    assert_null(shard);
    assert_int_equal(t.shards.count, 0);
    assert_int_equal(loader_shards_pin(&t.shards, 6, &shard, &err), SHARD_OK);
    loader_shards_unpin(&t.shards, shard);
    tear_down(&t);
}

static void a_loader_of_many_shards_keeps_some_open(void **state)
{
    (void)state;
    make_set();
    size_t before = open_files();
    for (int shuffle = SHARD_SHUFFLE_NONE; shuffle <= SHARD_SHUFFLE_FULL; shuffle++) {
        shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
        uint64_t ids[SHARDS * 2];
        delivery d = {0};
        o.batch = 8;
        o.threads = 2;
        o.prefetch = 2;
        o.shuffle = (shard_shuffle)shuffle;
        shard_loader *loader = test_loader(names, &o);
        while (delivery_take(&d, loader, 1, NULL) == SHARD_OK)
            assert_true(open_files() - before <= OPEN_MOST + SPARE);
        shard_loader_close(loader);
        assert_int_equal(open_files(), before);
        assert_int_equal(d.valid, SHARDS * 2);
        delivery_sorted_ids(&d, ids);
        for (uint64_t i = 0; i < COUNT(ids); i++)
            assert_int_equal(ids[i], i);
        delivery_clear(&d);
    }
}

static void a_batch_of_more_shards_than_stay_open_is_made(void **state)
{
    (void)state;
    make_set();
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    o.batch = SHARDS * 2;
    o.shuffle = SHARD_SHUFFLE_FULL;
    o.prefetch = 1;
    delivery d = test_deliver(names, &o);
    assert_int_equal(d.valid, SHARDS * 2);
    delivery_clear(&d);
}

/* A quarter of what the process may have open: OPEN_MOST of the usual number. */
static void limit_open_files(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 4 * OPEN_MOST;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void)
{
    limit_open_files();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shard_is_open_once_however_often_it_is_wanted),
        cmocka_unit_test(those_not_used_for_longest_are_closed_and_opened_again),
        cmocka_unit_test(none_in_use_is_closed),
        cmocka_unit_test(names_of_components_outlive_their_shard),
        cmocka_unit_test(a_shard_that_cannot_be_opened_leaves_the_others),
        cmocka_unit_test(a_loader_of_many_shards_keeps_some_open),
        cmocka_unit_test(a_batch_of_more_shards_than_stay_open_is_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
