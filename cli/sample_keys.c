/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_keys.h"

#include <stdlib.h>

#define NO_INDEX UINT32_MAX

void sample_keys_init(sample_keys *keys, const cli *c, const shard_set *set)
{
    shard_set_info info;
    shard_set_get_info(set, &info);
    *keys = (sample_keys){.cli = c, .set = set};
    keys->slot = cli_allocate((size_t)info.shards, sizeof *keys->slot);
}

void sample_keys_clear(sample_keys *keys)
{
    for (uint32_t i = 0; i < keys->open_count; i++)
        shard_index_close(keys->open[i].index);
    free(keys->slot);
    *keys = (sample_keys){0};
}

/* A place for one more index: a free one, or that of the index whose last use is longest ago. */
static uint32_t make_room(sample_keys *keys)
{
    uint32_t oldest = 0;
    if (keys->open_count < SAMPLE_KEYS_OPEN)
        return keys->open_count++;
    for (uint32_t i = 1; i < SAMPLE_KEYS_OPEN; i++)
        if (keys->open[i].used < keys->open[oldest].used)
            oldest = i;
    keys->slot[keys->open[oldest].shard] = 0;
    shard_index_close(keys->open[oldest].index);
    return oldest;
}

static int open_index(sample_keys *keys, uint64_t shard)
{
    shard_index *index;
    shard_error err;
    shard_status status = shard_set_open_index(keys->set, shard, &index, &err);
    if (status == SHARD_ENOTFOUND) {
        keys->slot[shard] = NO_INDEX;
        return EXIT_OK;
    }
    if (status != SHARD_OK)
        return cli_error(keys->cli, &err);
    uint32_t i = make_room(keys);
    keys->open[i].index = index;
    keys->open[i].shard = shard;
    keys->slot[shard] = i + 1;
    return EXIT_OK;
}

int sample_keys_find(sample_keys *keys, shard_set_place place, const char **key, size_t *size)
{
    shard_index_sample sample;
    shard_error err;
    *key = NULL;
    if (keys->slot[place.shard] == 0) {
        int code = open_index(keys, place.shard);
        if (code != EXIT_OK)
            return code;
    }
    uint32_t slot = keys->slot[place.shard];
    if (slot == NO_INDEX)
        return EXIT_OK;
    keys->open[slot - 1].used = ++keys->clock;
    if (shard_index_get_sample(keys->open[slot - 1].index, place.sample, &sample, &err) != SHARD_OK)
        return cli_error(keys->cli, &err);
    *key = sample.key;
    *size = sample.key_size;
    return EXIT_OK;
}
