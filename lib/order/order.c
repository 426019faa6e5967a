/* SPDX-License-Identifier: Apache-2.0 */
/* Opening an order: from a set and options to the scheme's parameters. */
#include "order/order.h"

#include "core/hash.h"
#include "core/opts.h"

enum {
    SHUFFLE_SAMPLES_DEFAULT = 16384,
    LANES_MOST = 192, /* 2^6 * 3: most world sizes divide it */
    ARRIVALS_A_BLOCK = 6,
};

static const char *const scheme_name[] = {
    [SHARD_SHUFFLE_NONE] = "stored-1",
    [SHARD_SHUFFLE_SHARDS] = "shards-1",
    [SHARD_SHUFFLE_FULL] = "lanes-1",
};

/* ---- parameters ---- */

/* As many as leave each lane at least four samples of memory: 192, 96, 48, 24, 12, 6, 3, 1. */
static uint32_t choose_lanes(uint64_t memory)
{
    uint32_t lanes = LANES_MOST;
    while (lanes > 1 && memory / lanes < 4)
        lanes = lanes == 3 ? 1 : lanes / 2;
    return lanes;
}

/*
 * A lane has a share of the memory: a block that is being taken from, and delay / 2 samples that
 * wait. A sixth for the block keeps the variance of a batch's mean below twice that of a perfect
 * shuffle, for batches of up to a sixteenth of the memory, when all samples of a block are alike.
 */
static void choose_lanes_scheme(shard_order_info *info, uint64_t memory)
{
    if (info->samples <= memory) { /* all of it is the tail */
        info->block = info->samples;
        info->lanes = 1;
        info->delay = 1;
        info->tail = 0;
        return;
    }
    info->lanes = choose_lanes(memory);
    uint64_t share = memory / info->lanes;
    info->block = share / ARRIVALS_A_BLOCK > 0 ? share / ARRIVALS_A_BLOCK : 1;
    info->delay = share > info->block ? 2 * (share - info->block) : 1;
    uint64_t full_blocks = info->samples / info->block;
    info->tail = full_blocks / info->lanes * info->lanes * info->block;
}

static void choose_scheme(shard_order *order, uint64_t shuffle_samples)
{
    shard_order_info *info = &order->info;
    info->name = scheme_name[order->shuffle];
    info->block = info->delay = info->lanes = 1;
    info->tail = info->samples;
    if (order->shuffle == SHARD_SHUFFLE_FULL)
        choose_lanes_scheme(info, shuffle_samples);
}

/* ---- digests ---- */

uint32_t shard_order_opts_digest(const shard_order *order, uint64_t epoch_size)
{
    uint8_t bytes[32];
    fmt_store64(bytes, order->info.block);
    fmt_store64(bytes + 8, order->info.lanes);
    fmt_store64(bytes + 16, order->info.delay);
    fmt_store64(bytes + 24, epoch_size);
    return (uint32_t)(shard_hash64(bytes, sizeof bytes, 0) >> 32);
}

/* What a set is, whatever its shards are called and wherever they lie. */
static uint32_t digest_set(const shard_set *set, uint64_t shards)
{
    uint64_t running = shards;
    for (uint64_t i = 0; i < shards; i++) {
        shard_set_shard shard;
        uint8_t bytes[16];
        shard_set_get_shard(set, i, &shard);
        fmt_store64(bytes, shard.samples);
        fmt_store64(bytes + 8, shard.bytes);
        running = shard_hash64(bytes, sizeof bytes, running);
    }
    return (uint32_t)(running >> 32);
}

/* ---- the object ---- */

static shard_status check(const shard_order_opts *o, const shard_set_info *set, shard_error *err)
{
    if ((unsigned)o->shuffle > SHARD_SHUFFLE_FULL)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "no such shuffle: %d",
                          (int)o->shuffle);
    if (o->seed >= SHARD_ORDER_SEED_MAX)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "seed (expected less than 2^63, got %llu)", (unsigned long long)o->seed);
    if (set->samples == 0)
        return shard_fail(err, SHARD_EDATA, set->manifest, SHARD_NO_OFFSET,
                          "the set has no samples");
    if (set->samples >= SHARD_ORDER_SAMPLES_MAX)
        return shard_fail(err, SHARD_ELIMIT, set->manifest, SHARD_NO_OFFSET,
                          "samples (expected less than 2^40, got %llu)",
                          (unsigned long long)set->samples);
    if (o->shuffle_samples > SHARD_DELAY_MAX)
        return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                          "shuffle_samples (expected at most 2^24, got %llu)",
                          (unsigned long long)o->shuffle_samples);
    return SHARD_OK;
}

static shard_status copy_shards(shard_order *order, const shard_set *set, shard_error *err)
{
    order->first =
        shard_alloc_zeroed(&order->alloc, (size_t)order->shards + 1, sizeof *order->first);
    if (!order->first)
        return shard_fail_memory(err);
    for (size_t i = 0; i < order->shards; i++) {
        shard_set_shard shard;
        shard_set_get_shard(set, i, &shard);
        order->first[i + 1] = order->first[i] + shard.samples;
    }
    return SHARD_OK;
}

static shard_status fill(shard_order *order, const shard_set *set, const shard_order_opts *o,
                         shard_error *err)
{
    shard_set_info info;
    shard_set_place place;
    shard_set_get_info(set, &info);
    if (info.samples == SHARD_UNKNOWN) /* says which shard is not counted */
        SHARD_TRY(shard_set_locate(set, 0, &place, err));
    SHARD_TRY(check(o, &info, err));
    order->shuffle = o->shuffle;
    order->shards = (size_t)info.shards;
    order->info.samples = info.samples;
    order->info.seed = o->seed;
    choose_scheme(order, o->shuffle_samples > 0 ? o->shuffle_samples : SHUFFLE_SAMPLES_DEFAULT);
    order->info.set_digest = digest_set(set, info.shards);
    return o->shuffle == SHARD_SHUFFLE_SHARDS ? copy_shards(order, set, err) : SHARD_OK;
}

shard_status shard_order_open(shard_order **out, const shard_set *set, const shard_order_opts *opts,
                              shard_error *err)
{
    shard_order_opts o;
    *out = NULL;
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    shard_order *order = shard_alloc_zeroed(&alloc, 1, sizeof *order);
    if (!order)
        return shard_fail_memory(err);
    order->alloc = alloc;
    shard_status status = fill(order, set, &o, err);
    if (status != SHARD_OK) {
        shard_order_close(order);
        return status;
    }
    *out = order;
    return SHARD_OK;
}

void shard_order_close(shard_order *order)
{
    if (!order)
        return;
    fmt_alloc alloc = order->alloc;
    shard_alloc_free(&alloc, order->first);
    shard_alloc_free(&alloc, order);
}

void shard_order_get_info(const shard_order *order, shard_order_info *out)
{
    *out = order->info;
}
