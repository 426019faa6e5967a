/* SPDX-License-Identifier: Apache-2.0 */
/* From what the caller asked for to what the loader does. */
#include <string.h>

#include <shard/cpu.h>

#include "loader/loader.h"

enum { BATCH_DEFAULT = 64, BATCH_MOST = 1 << 20, PREFETCH_LEAST = 1, PREFETCH_MOST = 1024 };

/* ---- numbers ---- */

static shard_status check_numbers(const shard_loader_opts *o, shard_error *err)
{
    const char *why = NULL;
    if (o->rank >= o->world_size)
        why = "rank is not below world_size";
    else if (o->batch > BATCH_MOST || o->world_size > BATCH_MOST)
        why = "batch and world_size are at most 2^20";
    else if (o->endless && (o->epoch_size > 0 || o->drop_last))
        why = "an endless epoch has no size and no last batch";
    else if (o->epoch_size >= SHARD_ORDER_SAMPLES_MAX)
        why = "epoch_size is not below 2^40";
    else if (o->epoch >= SHARD_ORDER_EPOCHS_MAX)
        why = "epoch is not below 2^32";
    else if (o->end_epoch > 0 && o->end_epoch <= o->epoch)
        why = "end_epoch is not behind epoch";
    else if ((unsigned)o->on_bad > SHARD_BAD_MASK)
        why = "no such policy for bad samples";
    else if ((unsigned)o->shuffle > SHARD_SHUFFLE_FULL)
        why = "no such shuffle";
    else if (o->seed >= SHARD_ORDER_SEED_MAX || o->shuffle_samples > SHARD_DELAY_MAX)
        why = "seed is below 2^63, shuffle_samples at most 2^24";
    else if (o->field_count > 0 && !o->fields)
        why = "fields are missing";
    else if (o->prefetch > PREFETCH_MOST || o->threads > SHARD_THREADS_MOST)
        why = "prefetch and threads are at most 1024";
    return why ? shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "options: %s", why)
               : SHARD_OK;
}

static shard_status resolve_numbers(shard_loader_opts *o, shard_error *err)
{
    if (o->batch == 0)
        o->batch = BATCH_DEFAULT;
    if (o->world_size == 0)
        o->world_size = 1;
    if (o->threads == 0)
        o->threads =
            shard_cpu_count() < SHARD_THREADS_MOST ? shard_cpu_count() : SHARD_THREADS_MOST;
    if (o->memory == 0)
        o->memory = 1 << 30;
    return check_numbers(o, err);
}

/* ---- where to begin ---- */

/*
 * Whether samples can be found by their numbers: all shards are counted, and the first says that it
 * can be read from anywhere. Otherwise the set is read from front to end.
 */
static shard_status choose_way(shard_loader *loader, shard_error *err)
{
    shard_set_info info;
    shard_index *index;
    shard_index_info first;
    shard_set_get_info(loader->set, &info);
    loader->streams = true;
    if (info.samples == SHARD_UNKNOWN || info.shards == 0)
        return SHARD_OK;
    shard_status status = shard_set_open_index(loader->set, 0, &index, err);
    if (status != SHARD_OK)
        return status == SHARD_ENOTFOUND ? SHARD_OK : status;
    shard_index_get_info(index, &first);
    shard_index_close(index);
    loader->streams = !(first.codec == SHARD_CODEC_PLAIN ||
                        (first.codec == SHARD_CODEC_ZSTD && first.frames > 0));
    return SHARD_OK;
}

static shard_status open_order(shard_loader *loader, uint64_t seed, shard_error *err)
{
    shard_order_opts opts = SHARD_ORDER_OPTS_INIT;
    opts.allocator = loader->opts.allocator;
    opts.shuffle = loader->opts.shuffle;
    opts.seed = seed;
    opts.shuffle_samples = loader->opts.shuffle_samples;
    return shard_order_open(&loader->order, loader->set, &opts, err);
}

/* Of a stream, an epoch without a size is one round through the shards. */
static uint64_t epoch_size(const shard_loader *loader, uint64_t samples)
{
    const shard_loader_opts *o = &loader->opts;
    if (o->endless)
        return UINT64_MAX;
    return o->epoch_size > 0 || loader->streams ? o->epoch_size : samples;
}

static shard_status set_split(shard_loader *loader, shard_error *err)
{
    const shard_loader_opts *o = &loader->opts;
    shard_order_info info = {.lanes = 1};
    if (!loader->streams)
        shard_order_get_info(loader->order, &info);
    loader->split = (shard_split){.samples = info.samples,
                                  .epoch_size = epoch_size(loader, info.samples),
                                  .lanes = info.lanes,
                                  .batch = o->batch,
                                  .rank = o->rank,
                                  .world_size = o->world_size,
                                  .drop_last = o->drop_last};
    bool sized = loader->split.epoch_size > 0;
    if (!sized && o->world_size > 1)
        return shard_fail(err, SHARD_EINVAL, loader->set->shard[0].path, SHARD_NO_OFFSET,
                          "shards without indexes, or of gzip, are not counted, so ranks cannot "
                          "end an epoch together: say epoch_size, or run shardtool index");
    if (!sized || shard_split_batches(&loader->split, 0) > 0)
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                      "an epoch of %llu samples does not fill one batch of %u ranks with %u rows, "
                      "and its last one is dropped",
                      (unsigned long long)loader->split.epoch_size, o->world_size, o->batch);
}

static shard_status check_stream(const shard_loader *loader, shard_error *err)
{
    if (loader->opts.on_bad != SHARD_BAD_SUBSTITUTE)
        return SHARD_OK;
    return shard_fail(err, SHARD_EINVAL, loader->set->shard[0].path, SHARD_NO_OFFSET,
                      "a sample that stands in for a bad one is found by the indexes, which are "
                      "missing here, or of gzip: run shardtool index, or mask bad samples");
}

static shard_status resolve_place(shard_loader *loader, shard_error *err)
{
    shard_loader_opts *o = &loader->opts;
    shard_state *place = &loader->place;
    *place = (shard_state){.seed = o->seed, .epoch = o->epoch};
    if (o->resume)
        SHARD_TRY(shard_state_parse(place, o->resume, strlen(o->resume), err));
    SHARD_TRY(loader_check_seed(o->seed, place, err));
    o->seed = place->seed;
    if (loader->streams)
        SHARD_TRY(check_stream(loader, err));
    else
        SHARD_TRY(open_order(loader, place->seed, err));
    SHARD_TRY(set_split(loader, err));
    loader->finished = o->end_epoch > 0 && place->epoch >= o->end_epoch;
    return o->resume ? loader_check_state(loader, place, err) : SHARD_OK;
}

/* ---- how many batches at a time ---- */

/* Bytes that a batch will take: known for tensors of fixed shape, guessed for what is ragged. */
static uint64_t batch_bytes(const shard_loader *loader)
{
    shard_set_info info;
    shard_set_get_info(loader->set, &info);
    uint64_t bytes = shard_slot_fixed_size(&loader->fields.layout);
    if ((loader->fields.keeps_bytes || loader->streams) && info.bytes != SHARD_UNKNOWN &&
        info.samples != SHARD_UNKNOWN && info.samples > 0)
        bytes += info.bytes / info.samples * loader->opts.batch * 3 / 2;
    return bytes > 0 ? bytes : 1;
}

static void resolve_prefetch(shard_loader *loader)
{
    shard_loader_opts *o = &loader->opts;
    uint64_t fitting = o->memory / 2 / batch_bytes(loader), wanted = o->threads + 2;
    if (o->prefetch > 0)
        return;
    wanted = wanted < fitting ? wanted : fitting;
    wanted = wanted > PREFETCH_LEAST ? wanted : PREFETCH_LEAST;
    o->prefetch = wanted < PREFETCH_MOST ? (uint32_t)wanted : PREFETCH_MOST;
}

shard_status loader_resolve(shard_loader *loader, const char *const *urls, size_t count,
                            shard_error *err)
{
    shard_set_opts set_opts = SHARD_SET_OPTS_INIT;
    set_opts.allocator = loader->opts.allocator;
    SHARD_TRY(resolve_numbers(&loader->opts, err));
    SHARD_TRY(shard_set_open(&loader->set, urls, count, &set_opts, err));
    SHARD_TRY(choose_way(loader, err));
    SHARD_TRY(resolve_place(loader, err));
    SHARD_TRY(loader_fields_init(&loader->fields, &loader->opts, &loader->alloc, err));
    resolve_prefetch(loader);
    return SHARD_OK;
}
