/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/shards.h"

#include <string.h>

#include "os/limits.h"

/* A quarter of what the process may have open, but no more than a set with many shards is read from
 * at a time: 192 lanes, each with a dozen blocks. */
enum { OPEN_LEAST = 16, OPEN_MOST = 4096 };

shard_status loader_shards_init(loader_shards *shards, const shard_set *set,
                                const shard_cancel *cancel, const fmt_alloc *alloc,
                                shard_error *err)
{
    uint64_t files = shard_open_files_limit() / 4;
    shards->most = files < OPEN_LEAST ? OPEN_LEAST : files < OPEN_MOST ? (size_t)files : OPEN_MOST;
    shards->set = set;
    shards->cancel = cancel;
    shards->alloc = *alloc;
    fmt_arena_init(&shards->names, &shards->alloc);
    pthread_mutex_init(&shards->mutex, NULL);
    shards->at = shard_alloc_zeroed(alloc, set->shards, sizeof(loader_shard *));
    return shards->at ? SHARD_OK : shard_fail_memory(err);
}

static void close_shard(loader_shards *shards, loader_shard *shard)
{
    shard_opened_close(&shard->opened);
    shard_alloc_free(&shards->alloc, shard->names);
    shard_alloc_free(&shards->alloc, shard);
}

void loader_shards_clear(loader_shards *shards)
{
    if (!shards->set)
        return;
    for (size_t i = 0; i < shards->count; i++)
        close_shard(shards, shards->open[i]);
    shard_alloc_free(&shards->alloc, shards->open);
    shard_alloc_free(&shards->alloc, shards->at);
    shard_alloc_free(&shards->alloc, shards->name);
    fmt_arena_clear(&shards->names);
    pthread_mutex_destroy(&shards->mutex);
    *shards = (loader_shards){0};
}

/* ---- names ---- */

static const char *intern(loader_shards *shards, const char *name)
{
    for (size_t i = 0; i < shards->name_count; i++)
        if (strcmp(shards->name[i], name) == 0)
            return shards->name[i];
    const char *copy = fmt_arena_text(&shards->names, name, strlen(name));
    if (!copy || !shard_alloc_grow(&shards->alloc, &shards->name, &shards->name_capacity,
                                   shards->name_count + 1, sizeof *shards->name))
        return NULL;
    return shards->name[shards->name_count++] = copy;
}

static shard_status intern_names(loader_shards *shards, loader_shard *shard, shard_error *err)
{
    uint32_t count = shard->opened.info.component_names;
    shard->names = shard_alloc_zeroed(&shards->alloc, (size_t)count + 1, sizeof *shard->names);
    if (!shard->names)
        return shard_fail_memory(err);
    for (uint32_t id = 0; id < count; id++) {
        shard->names[id] = intern(shards, shard_index_component_name(shard->opened.index, id));
        if (!shard->names[id])
            return shard_fail_memory(err);
    }
    shard->opened.names = shard->names;
    return SHARD_OK;
}

/* ---- open and closed ---- */

/* Close the one that nobody has used for longest; where all are in use, one more is open. */
static void make_room(loader_shards *shards)
{
    size_t oldest = shards->count;
    if (shards->count < shards->most)
        return;
    for (size_t i = 0; i < shards->count; i++)
        if (shards->open[i]->pins == 0 &&
            (oldest == shards->count ||
             shards->open[i]->last_used < shards->open[oldest]->last_used))
            oldest = i;
    if (oldest == shards->count)
        return;
    shards->at[shards->open[oldest]->number] = NULL;
    close_shard(shards, shards->open[oldest]);
    shards->open[oldest] = shards->open[--shards->count];
}

static shard_status check_codec(const loader_shard *shard, shard_error *err)
{
    if (shard_opened_is_plain(&shard->opened) || shard_opened_has_frames(&shard->opened))
        return SHARD_OK;
    return shard_fail(err, SHARD_EUNSUPPORTED, shard->opened.path, SHARD_NO_OFFSET,
                      "can only be read from front to end (%s), but the set is read sample by "
                      "sample: pack it as .tar or .tar.zst",
                      shard_codec_name(shard->opened.info.codec));
}

static shard_status open_shard(loader_shards *shards, loader_shard *shard, shard_error *err)
{
    SHARD_TRY(shard_opened_open(&shard->opened, shards->set, shard->number, shards->cancel, err));
    SHARD_TRY(check_codec(shard, err));
    return intern_names(shards, shard, err);
}

static shard_status add(loader_shards *shards, uint64_t number, loader_shard **out,
                        shard_error *err)
{
    make_room(shards);
    loader_shard *shard = shard_alloc_zeroed(&shards->alloc, 1, sizeof *shard);
    if (!shard || !shard_alloc_grow(&shards->alloc, &shards->open, &shards->capacity,
                                    shards->count + 1, sizeof(loader_shard *))) {
        shard_alloc_free(&shards->alloc, shard);
        return shard_fail_memory(err);
    }
    shard->number = number;
    shard_status status = open_shard(shards, shard, err);
    if (status != SHARD_OK) {
        close_shard(shards, shard);
        return status;
    }
    shards->open[shards->count++] = shards->at[number] = *out = shard;
    return SHARD_OK;
}

shard_status loader_shards_pin(loader_shards *shards, uint64_t number, loader_shard **out,
                               shard_error *err)
{
    shard_status status = SHARD_OK;
    pthread_mutex_lock(&shards->mutex);
    *out = shards->at[number];
    if (!*out)
        status = add(shards, number, out, err);
    if (status == SHARD_OK) {
        (*out)->pins++;
        (*out)->last_used = ++shards->uses;
    }
    pthread_mutex_unlock(&shards->mutex);
    return status;
}

void loader_shards_unpin(loader_shards *shards, loader_shard *shard)
{
    pthread_mutex_lock(&shards->mutex);
    shard->pins--;
    pthread_mutex_unlock(&shards->mutex);
}

const char *loader_shards_name(loader_shards *shards, const char *name)
{
    pthread_mutex_lock(&shards->mutex);
    const char *kept = intern(shards, name);
    pthread_mutex_unlock(&shards->mutex);
    return kept;
}
