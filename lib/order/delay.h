/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shuffle buffer without a history. Arrivals 0, 1, 2, ... leave in the order of
 *
 *     i * 2^32 + delay * u32(key, i)
 *
 * so none leaves `delay` places or more before or after it came, and which one leaves as number q
 * follows from the arrivals around q alone. It holds about delay / 2 samples.
 */
#ifndef ORDER_DELAY_H
#define ORDER_DELAY_H

#include "core/alloc.h"
#include "core/error.h"

#define SHARD_DELAY_MAX (UINT64_C(1) << 24)

typedef struct {
    uint64_t key;
    uint64_t arrivals;
    uint64_t delay; /* 1 to SHARD_DELAY_MAX; 1 leaves everything in place */
} shard_delay;

/* A piece of what leaves: arrival[q - first] leaves as number q. Starts as zeros. */
typedef struct {
    uint64_t first;
    uint64_t *arrival;
    size_t arrival_capacity;

    uint64_t *time; /* scratch */
    uint32_t *bucket;
    size_t time_capacity, bucket_capacity;
} shard_delay_window;

/*
 * Find what leaves as numbers `begin` to `end` - 1 <= arrivals; they are then in the window.
 * `end - begin` is at most SHARD_DELAY_MAX.
 */
shard_status shard_delay_find(shard_delay_window *window, const shard_delay *delay, uint64_t begin,
                              uint64_t end, const fmt_alloc *alloc, shard_error *err);
void shard_delay_window_clear(shard_delay_window *window, const fmt_alloc *alloc);

/* When arrival `i` leaves, in 2^-32 places after arrival 0 came. Less than i * 2^32 + delay * 2^32.
 */
uint64_t shard_delay_time(uint64_t key, uint64_t delay, uint64_t i);

#endif
