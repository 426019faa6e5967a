/* SPDX-License-Identifier: Apache-2.0 */
#include "order/delay.h"

#include <stdlib.h>

#include "core/rng.h"
#include "test.h"

typedef struct {
    uint64_t time, arrival;
} leaving;

static int by_time(const void *a, const void *b)
{
    const leaving *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

/* All arrivals, sorted as the definition says. */
static leaving *sorted(const shard_delay *d)
{
    leaving *all = malloc((size_t)d->arrivals * sizeof *all);
    for (uint64_t i = 0; i < d->arrivals; i++)
        all[i] = (leaving){shard_delay_time(d->key, d->delay, i), i};
    qsort(all, (size_t)d->arrivals, sizeof *all, by_time);
    return all;
}

static void check(const shard_delay *d)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_delay_window window = {0};
    leaving *all = sorted(d);
    for (uint64_t begin = 0, piece = 0; begin < d->arrivals; piece++) {
        uint64_t end = begin + 1 + shard_rng_below(d->key, piece, 3 * d->delay);
        end = end < d->arrivals ? end : d->arrivals;
        assert_int_equal(shard_delay_find(&window, d, begin, end, &alloc, NULL), SHARD_OK);
        for (uint64_t q = begin; q < end; q++)
            assert_int_equal(window.arrival[q - window.first], all[q].arrival);
        begin = end;
    }
    for (uint64_t q = 0; q < d->arrivals; q++) {
        assert_true(all[q].arrival < q + d->delay);
        assert_true(q < all[q].arrival + d->delay);
    }
    shard_delay_window_clear(&window, &alloc);
    free(all);
}

static void any_piece_is_as_the_definition_says(void **state)
{
    (void)state;
    static const uint64_t arrivals[] = {1, 2, 3, 10, 100, 1000, 1777};
    static const uint64_t delays[] = {1, 2, 3, 7, 50, 142, 5000};
    for (size_t i = 0; i < COUNT(arrivals); i++)
        for (size_t j = 0; j < COUNT(delays); j++)
            check(&(shard_delay){.key = i * 100 + j, .arrivals = arrivals[i], .delay = delays[j]});
}

static void a_delay_of_one_leaves_all_in_place(void **state)
{
    (void)state;
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_delay_window window = {0};
    shard_delay delay = {.key = 5, .arrivals = 100, .delay = 1};
    assert_int_equal(shard_delay_find(&window, &delay, 10, 90, &alloc, NULL), SHARD_OK);
    for (uint64_t q = 10; q < 90; q++)
        assert_int_equal(window.arrival[q - window.first], q);
    shard_delay_window_clear(&window, &alloc);
}

/* How many have come and not left, in the middle of many: half the delay. */
static void it_holds_half_its_delay(void **state)
{
    (void)state;
    enum { DELAY = 1000, AT = 50000 };
    shard_delay d = {.key = 9, .arrivals = 100000, .delay = DELAY};
    leaving *all = sorted(&d);
    uint64_t newest = 0, held;
    for (uint64_t q = 0; q < AT; q++)
        newest = all[q].arrival > newest ? all[q].arrival : newest;
    held = newest + 1 - AT;
    assert_in_range(held, DELAY * 4 / 10, DELAY * 6 / 10);
    free(all);
}

static bool find(test_allocator *allocator, void *context)
{
    (void)context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    shard_delay_window window = {0};
    shard_delay delay = {.key = 5, .arrivals = 100, .delay = 10};
    shard_status status = shard_delay_find(&window, &delay, 10, 90, &alloc, NULL);
    shard_delay_window_clear(&window, &alloc);
    return status == SHARD_OK;
}

static void short_memory_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(find, NULL), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_piece_is_as_the_definition_says),
        cmocka_unit_test(a_delay_of_one_leaves_all_in_place),
        cmocka_unit_test(it_holds_half_its_delay),
        cmocka_unit_test(short_memory_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
