/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "shardset/set.h"

/* Numbers go through the whole set, so one shard that was not counted leaves none. */
static shard_status fail_without_index(const shard_set *set, shard_error *err)
{
    size_t i = 0;
    while (i + 1 < set->shards && set->shard[i].samples != SHARD_UNKNOWN)
        i++;
    return shard_fail(err, SHARD_ENOTFOUND, set->shard[i].path, SHARD_NO_OFFSET,
                      "has no index, so samples have no numbers (shardtool index makes one)");
}

shard_status shard_set_locate(const shard_set *set, uint64_t id, shard_set_place *out,
                              shard_error *err)
{
    /* The answer is the last shard that begins at or before id, so never an empty one. */
    size_t low = 0, high = set->shards;
    if (set->samples == SHARD_UNKNOWN)
        return fail_without_index(set, err);
    if (id >= set->samples)
        return shard_fail(err, SHARD_ENOTFOUND, set->manifest_path, SHARD_NO_OFFSET,
                          "no sample %llu of %llu", (unsigned long long)id,
                          (unsigned long long)set->samples);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (set->shard[middle].first_sample <= id)
            low = middle;
        else
            high = middle;
    }
    *out = (shard_set_place){low, id - set->shard[low].first_sample};
    return SHARD_OK;
}

static shard_status find_in(const shard_set *set, size_t shard, const char *key, size_t size,
                            shard_set_place *out, bool *found, shard_error *err)
{
    shard_index *index;
    SHARD_TRY(shard_set_open_index(set, shard, &index, err));
    out->shard = shard;
    shard_status status = shard_index_find(index, key, size, &out->sample, err);
    shard_index_close(index);
    *found = status == SHARD_OK;
    return status == SHARD_ENOTFOUND ? SHARD_OK : status;
}

static int compare(const char *a, const char *key, size_t size)
{
    size_t a_size = strlen(a);
    int order = memcmp(a, key, a_size < size ? a_size : size);
    return order != 0 ? order : (a_size > size) - (a_size < size);
}

/* The last shard with samples whose first key is at or before this one; `shards` where there is
 * none. */
static size_t shard_of_key(const shard_set *set, const char *key, size_t size)
{
    const fmt_manifest_shard *shard = set->manifest.shard;
    size_t low = 0, high = set->shards, found = set->shards;
    while (low < high) {
        size_t middle = low + (high - low) / 2, probe = middle;
        while (probe > low && shard[probe].samples == 0)
            probe--;
        if (shard[probe].samples > 0 && compare(shard[probe].first_key, key, size) > 0) {
            high = probe;
        } else {
            if (shard[probe].samples > 0)
                found = probe;
            low = middle + 1;
        }
    }
    return found;
}

shard_status shard_set_find(const shard_set *set, const char *key, size_t key_size,
                            shard_set_place *out, shard_error *err)
{
    size_t first = 0, last = set->shards;
    if (set->manifest.sorted) {
        first = shard_of_key(set, key, key_size);
        last = first < set->shards ? first + 1 : first;
    }
    for (size_t i = first; i < last; i++) {
        bool found;
        SHARD_TRY(find_in(set, i, key, key_size, out, &found, err));
        if (found)
            return SHARD_OK;
    }
    return shard_fail(err, SHARD_ENOTFOUND, set->manifest_path, SHARD_NO_OFFSET,
                      "no sample \"%.*s\"", (int)(key_size < 200 ? key_size : 200), key);
}
