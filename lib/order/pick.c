/* SPDX-License-Identifier: Apache-2.0 */
/* From positions of an epoch to the samples that stand there. */
#include "order/order.h"

/* ---- shards-1: permuted shards, one after the other ---- */

static shard_status begin_shards(shard_order_cursor *c, shard_error *err)
{
    const shard_order *order = c->order;
    shard_permutation permutation;
    size_t count = order->shards;
    if (!shard_alloc_grow(&order->alloc, &c->begin, &c->begin_capacity, count + 1,
                          sizeof *c->begin) ||
        !shard_alloc_grow(&order->alloc, &c->shard, &c->shard_capacity, count, sizeof *c->shard))
        return shard_fail_memory(err);
    shard_permutation_init(&permutation, count, order->info.seed, c->epoch, SHARD_KEY_SHARDS);
    c->begin[0] = 0;
    for (size_t i = 0; i < count; i++) {
        c->shard[i] = shard_permutation_at(&permutation, i);
        c->begin[i + 1] = c->begin[i] + order->first[c->shard[i] + 1] - order->first[c->shard[i]];
    }
    return SHARD_OK;
}

/* The last shard that begins at or before the position, so never an empty one. */
static uint64_t pick_from_shards(const shard_order_cursor *c, uint64_t position)
{
    size_t low = 0, high = c->order->shards;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (c->begin[middle] <= position)
            low = middle;
        else
            high = middle;
    }
    return c->order->first[c->shard[low]] + (position - c->begin[low]);
}

/* ---- lanes-1 ---- */

static void begin_lanes(shard_order_cursor *c)
{
    const shard_order_info *info = &c->order->info;
    shard_permutation_init(&c->blocks, info->samples / info->block, info->seed, c->epoch,
                           SHARD_KEY_BLOCKS);
    if (info->tail < info->samples)
        shard_permutation_init(&c->tail, info->samples - info->tail, info->seed, c->epoch,
                               SHARD_KEY_TAIL);
}

/* Sample `within` of block number `j` in the permuted row of blocks; the short one stands last. */
static uint64_t sample_of_block(const shard_order_cursor *c, uint64_t j, uint64_t within)
{
    uint64_t block = j < c->blocks.size ? shard_permutation_at(&c->blocks, j) : j;
    return block * c->order->info.block + within;
}

static uint64_t pick_from_tail(const shard_order_cursor *c, uint64_t position)
{
    const shard_order_info *info = &c->order->info;
    uint64_t i = info->tail + shard_permutation_at(&c->tail, position - info->tail);
    return sample_of_block(c, i / info->block, i % info->block);
}

static uint64_t pick_arrival(const shard_order_cursor *c, uint32_t lane, uint64_t arrival)
{
    const shard_order_info *info = &c->order->info;
    return sample_of_block(c, arrival / info->block * info->lanes + lane, arrival % info->block);
}

#define NONE UINT32_MAX

/* The positions of one lane, from list entry `i` on: in pieces without large gaps. */
static shard_status pick_from_lane(shard_order_cursor *c, uint32_t lane, uint32_t i,
                                   const uint64_t *positions, uint64_t *ids, shard_error *err)
{
    const shard_order_info *info = &c->order->info;
    shard_delay delay = {.key = shard_order_key(info->seed, c->epoch, SHARD_KEY_DELAY, lane),
                         .arrivals = info->tail / info->lanes,
                         .delay = info->delay};
    while (i != NONE) {
        uint64_t first = positions[i] / info->lanes, end = first + 1;
        for (uint32_t j = c->next[i]; j != NONE; j = c->next[j]) {
            uint64_t q = positions[j] / info->lanes;
            if (q > end + 2 * info->delay || q - first >= SHARD_DELAY_MAX)
                break;
            end = q + 1;
        }
        SHARD_TRY(shard_delay_find(&c->window, &delay, first, end, &c->order->alloc, err));
        for (; i != NONE && positions[i] / info->lanes < end; i = c->next[i])
            ids[i] = pick_arrival(c, lane,
                                  c->window.arrival[positions[i] / info->lanes - c->window.first]);
    }
    return SHARD_OK;
}

/* Sort the positions by lane, keeping their order in each. */
static shard_status deal(shard_order_cursor *c, const uint64_t *positions, size_t count,
                         shard_error *err)
{
    const shard_order_info *info = &c->order->info;
    const fmt_alloc *alloc = &c->order->alloc;
    if (!shard_alloc_grow(alloc, &c->lane, &c->lane_capacity, info->lanes, sizeof *c->lane) ||
        !shard_alloc_grow(alloc, &c->next, &c->next_capacity, count, sizeof *c->next))
        return shard_fail_memory(err);
    for (uint32_t lane = 0; lane < info->lanes; lane++)
        c->lane[lane] = NONE;
    for (size_t i = count; i > 0; i--) {
        uint32_t lane = (uint32_t)(positions[i - 1] % info->lanes);
        if (positions[i - 1] >= info->tail)
            continue;
        c->next[i - 1] = c->lane[lane];
        c->lane[lane] = (uint32_t)(i - 1);
    }
    return SHARD_OK;
}

static shard_status pick_from_lanes(shard_order_cursor *c, const uint64_t *positions, size_t count,
                                    uint64_t *ids, shard_error *err)
{
    SHARD_TRY(deal(c, positions, count, err));
    for (size_t i = 0; i < count; i++)
        if (positions[i] >= c->order->info.tail)
            ids[i] = pick_from_tail(c, positions[i]);
    for (uint32_t lane = 0; lane < c->order->info.lanes; lane++)
        SHARD_TRY(pick_from_lane(c, lane, c->lane[lane], positions, ids, err));
    return SHARD_OK;
}

/* ---- any ---- */

static shard_status begin_epoch(shard_order_cursor *c, const shard_order *order, uint64_t epoch,
                                shard_error *err)
{
    if (c->ready && c->order == order && c->epoch == epoch)
        return SHARD_OK;
    c->order = order;
    c->epoch = epoch;
    c->ready = false;
    if (order->shuffle == SHARD_SHUFFLE_SHARDS)
        SHARD_TRY(begin_shards(c, err));
    if (order->shuffle == SHARD_SHUFFLE_FULL)
        begin_lanes(c);
    c->ready = true;
    return SHARD_OK;
}

shard_status shard_order_pick(shard_order_cursor *cursor, const shard_order *order, uint64_t epoch,
                              const uint64_t *positions, size_t count, uint64_t *ids,
                              shard_error *err)
{
    SHARD_TRY(begin_epoch(cursor, order, epoch, err));
    if (order->shuffle == SHARD_SHUFFLE_FULL)
        return pick_from_lanes(cursor, positions, count, ids, err);
    for (size_t i = 0; i < count; i++)
        ids[i] = order->shuffle == SHARD_SHUFFLE_SHARDS ? pick_from_shards(cursor, positions[i])
                                                        : positions[i];
    return SHARD_OK;
}

void shard_order_cursor_clear(shard_order_cursor *cursor, const fmt_alloc *alloc)
{
    shard_delay_window_clear(&cursor->window, alloc);
    shard_alloc_free(alloc, cursor->next);
    shard_alloc_free(alloc, cursor->lane);
    shard_alloc_free(alloc, cursor->begin);
    shard_alloc_free(alloc, cursor->shard);
    *cursor = (shard_order_cursor){0};
}

shard_status shard_order_ids(const shard_order *order, uint64_t epoch, uint64_t first, size_t count,
                             uint64_t *ids, shard_error *err)
{
    shard_order_cursor cursor = {0};
    if (epoch >= SHARD_ORDER_EPOCHS_MAX || first > order->info.samples ||
        count > order->info.samples - first || count >= NONE)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "no positions %llu to %llu in epoch %llu: it has %llu samples",
                          (unsigned long long)first, (unsigned long long)(first + count),
                          (unsigned long long)epoch, (unsigned long long)order->info.samples);
    for (size_t i = 0; i < count; i++)
        ids[i] = first + i; /* positions, which give way to ids one by one */
    shard_status status = shard_order_pick(&cursor, order, epoch, ids, count, ids, err);
    shard_order_cursor_clear(&cursor, &order->alloc);
    return status;
}
