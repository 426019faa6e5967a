/* SPDX-License-Identifier: Apache-2.0 */
/* A loader's state: what is kept of it, and whether one that is given fits. */
#include <string.h>

#include "core/hash.h"
#include "loader/loader.h"

static const char stream_name[] = "stream-1";

/* Of shards that are not counted there are only sizes to go by. */
static uint32_t digest_stream_set(const shard_set *set)
{
    uint64_t running = set->shards;
    for (size_t i = 0; i < set->shards; i++) {
        uint8_t bytes[8];
        fmt_store64(bytes, set->shard[i].bytes);
        running = shard_hash64(bytes, sizeof bytes, running);
    }
    return (uint32_t)(running >> 32);
}

static uint32_t digest_stream_opts(const shard_loader *loader)
{
    const shard_loader_opts *o = &loader->opts;
    const uint64_t numbers[] = {loader_feed_delay(o), o->shuffle != SHARD_SHUFFLE_NONE, o->rank,
                                o->world_size, loader->split.epoch_size};
    uint8_t bytes[sizeof numbers];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        fmt_store64(bytes + 8 * i, numbers[i]);
    return (uint32_t)(shard_hash64(bytes, sizeof bytes, 0) >> 32);
}

/* All but the place. */
static shard_state identity(const shard_loader *loader)
{
    shard_state state = {.seed = loader->opts.seed};
    if (loader->streams) {
        memcpy(state.order, stream_name, sizeof stream_name);
        state.set_digest = digest_stream_set(loader->set);
        state.opts_digest = digest_stream_opts(loader);
        return state;
    }
    shard_order_info info;
    shard_order_get_info(loader->order, &info);
    memcpy(state.order, info.name, strlen(info.name));
    state.set_digest = info.set_digest;
    state.opts_digest = shard_order_opts_digest(loader->order, loader->split.epoch_size);
    return state;
}

const char *loader_order_name(const shard_loader *loader)
{
    shard_order_info info;
    if (loader->streams)
        return stream_name;
    shard_order_get_info(loader->order, &info);
    return info.name;
}

static shard_status differs(const char *field, const char *what, shard_error *err)
{
    return shard_fail(err, SHARD_ESTALE, "(state)", SHARD_NO_OFFSET,
                      "\"%s\" differs: the state is of another %s", field, what);
}

shard_status loader_check_state(const shard_loader *loader, const shard_state *state,
                                shard_error *err)
{
    shard_state own = identity(loader);
    if (strcmp(state->order, own.order) != 0)
        return shard_fail(err, SHARD_ESTALE, "(state)", SHARD_NO_OFFSET,
                          "\"order\" differs (expected %s, got %s): another kind of shuffle, or "
                          "indexes that came or went",
                          own.order, state->order);
    if (state->set_digest != own.set_digest)
        return differs("set", "set, or of other shards of it", err);
    if (state->opts_digest != own.opts_digest)
        return differs("opts",
                       loader->streams ? "shuffle_samples, epoch_size, rank or world_size"
                                       : "shuffle_samples or epoch_size",
                       err);
    if (loader->split.epoch_size > 0 && state->position > loader->split.epoch_size)
        return shard_fail(err, SHARD_EFORMAT, "(state)", SHARD_NO_OFFSET,
                          "\"position\" is past the epoch's end");
    return SHARD_OK;
}

shard_status loader_check_seed(uint64_t given, const shard_state *state, shard_error *err)
{
    return given == 0 || given == state->seed ? SHARD_OK
                                              : differs("seed", "seed than the one given", err);
}

shard_status shard_loader_get_state(const shard_loader *loader, char out[SHARD_STATE_SIZE],
                                    shard_error *err)
{
    shard_state state = identity(loader), place = loader->place;
    bool over = loader->split.epoch_size > 0 && place.position > 0 &&
                shard_split_batches(&loader->split, place.position) == 0;
    state.epoch = over ? place.epoch + 1 : place.epoch;
    state.position = over ? 0 : place.position;
    state.round = place.round;
    state.departures = place.departures;
    state.shard = place.shard;
    state.first = place.first;
    if (state.position >= SHARD_ORDER_SAMPLES_MAX || state.epoch >= SHARD_ORDER_EPOCHS_MAX)
        return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                          "there is no state past 2^40 samples of an epoch, or 2^32 epochs");
    return shard_state_format(&state, out, err);
}
