/* SPDX-License-Identifier: Apache-2.0 */
#include "order/delay.h"

#include <string.h>

#include "order/permutation.h"

/* How much later than it came arrival `i` leaves, in 2^-32 places: one output of SplitMix64. */
static uint64_t lateness(uint64_t key, uint64_t delay, uint64_t i)
{
    return delay * (shard_order_mix(key + i * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

uint64_t shard_delay_time(uint64_t key, uint64_t delay, uint64_t i)
{
    return (i << 32) + lateness(key, delay, i);
}

static bool grow(shard_delay_window *w, size_t count, size_t buckets, const fmt_alloc *alloc)
{
    return shard_alloc_grow(alloc, &w->arrival, &w->arrival_capacity, count, sizeof *w->arrival) &&
           shard_alloc_grow(alloc, &w->time, &w->time_capacity, count, sizeof *w->time) &&
           shard_alloc_grow(alloc, &w->bucket, &w->bucket_capacity, buckets, sizeof *w->bucket);
}

/*
 * Times within a window, counted from its first arrival, fall into buckets of one place each, which
 * hold one on average: sort by bucket, then the few inside each.
 */
static void sort(shard_delay_window *w, const shard_delay *d, size_t count, size_t buckets)
{
    memset(w->bucket, 0, buckets * sizeof *w->bucket);
    for (size_t i = 0; i < count; i++)
        w->bucket[i + (lateness(d->key, d->delay, w->first + i) >> 32)]++;
    for (size_t b = 1; b < buckets; b++)
        w->bucket[b] += w->bucket[b - 1];
    for (size_t i = count; i > 0; i--) { /* from the back, so that equal times keep their order */
        uint64_t time = ((uint64_t)(i - 1) << 32) + lateness(d->key, d->delay, w->first + i - 1);
        uint32_t at = --w->bucket[time >> 32];
        w->time[at] = time;
        w->arrival[at] = w->first + i - 1;
    }
    for (size_t i = 1; i < count; i++) {
        uint64_t time = w->time[i], arrival = w->arrival[i];
        size_t at = i;
        for (; at > 0 && w->time[at - 1] > time; at--) {
            w->time[at] = w->time[at - 1];
            w->arrival[at] = w->arrival[at - 1];
        }
        w->time[at] = time;
        w->arrival[at] = arrival;
    }
}

shard_status shard_delay_find(shard_delay_window *window, const shard_delay *delay, uint64_t begin,
                              uint64_t end, const fmt_alloc *alloc, shard_error *err)
{
    /* Arrival i leaves as number i - delay + 1 at the earliest and i + delay - 1 at the latest. */
    uint64_t first = begin >= delay->delay ? begin - delay->delay + 1 : 0;
    uint64_t last = end + delay->delay - 1;
    last = last < delay->arrivals ? last : delay->arrivals;
    size_t count = (size_t)(last - first), buckets = count + (size_t)delay->delay;
    if (!grow(window, count, buckets, alloc))
        return shard_fail_memory(err);
    window->first = first;
    sort(window, delay, count, buckets);
    return SHARD_OK;
}

void shard_delay_window_clear(shard_delay_window *window, const fmt_alloc *alloc)
{
    shard_alloc_free(alloc, window->arrival);
    shard_alloc_free(alloc, window->time);
    shard_alloc_free(alloc, window->bucket);
    *window = (shard_delay_window){0};
}
