/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a batch's making: samples that were bad, and the view that the caller gets. */
#include <string.h>

#include "core/rng.h"
#include "loader/job.h"

enum { SUBSTITUTES_MOST = 100 };

/* ---- bad samples ---- */

/* More room in the slot's bytes; whole samples that stand there are pointed at anew. */
static shard_status grow_bytes(loader_job *job, loader_shared *shared, size_t size,
                               shard_error *err)
{
    shard_slot *slot = &job->slot;
    uintptr_t before = (uintptr_t)slot->bytes.bytes;
    SHARD_TRY(shard_buffer_reserve(&slot->bytes, job->bytes_used + size, &shared->budget, err));
    for (uint32_t i = 0; slot->samples && i < shared->fields->layout.rows; i++)
        for (size_t j = 0; slot->valid[i] && j < slot->samples[i].count; j++) {
            shard_sample_component *c = loader_row_components(job, i);
            c[j].data = slot->bytes.bytes + ((uintptr_t)c[j].data - before);
        }
    return SHARD_OK;
}

/* Room for the stored bytes of a sample that is read alone. */
static shard_status room_alone(loader_job *job, loader_worker *worker, size_t size, uint8_t **out,
                               shard_error *err)
{
    loader_shared *shared = worker->shared;
    if (!shared->fields->keeps_bytes) {
        SHARD_TRY(shard_buffer_reserve(&worker->scratch, size, &shared->budget, err));
        *out = worker->scratch.bytes;
        return SHARD_OK;
    }
    SHARD_TRY(grow_bytes(job, shared, size, err));
    *out = job->slot.bytes.bytes + job->bytes_used;
    job->bytes_used += size;
    return SHARD_OK;
}

static shard_status read_alone(loader_job *job, loader_worker *worker, uint32_t i,
                               const loader_shard *shard, shard_error *err)
{
    const shard_extent *extent = &job->row[i].extent;
    uint8_t *bytes;
    if (job->slot.samples)
        SHARD_TRY(shard_buffer_reserve(&job->slot.components,
                                       job->components_used * sizeof(shard_sample_component),
                                       &worker->shared->budget, err));
    SHARD_TRY(room_alone(job, worker, (size_t)(extent->end - extent->begin), &bytes, err));
    if (extent->end > extent->begin)
        SHARD_TRY(loader_read(worker, shard, extent->begin, extent->end, bytes, err));
    return loader_make_row(worker, job, i, shard, bytes, err);
}

/* Read and decode one sample alone. */
static shard_status make_alone(loader_job *job, loader_worker *worker, uint32_t i, uint64_t id,
                               shard_error *err)
{
    loader_shard *shard = NULL;
    job->row[i].bad = false;
    if (job->streamed)
        return loader_decode_row(worker, job, i, loader_row_components(job, i), err);
    shard_status status = loader_place_row(job, worker->shared, i, id, &shard, err);
    if (status == SHARD_OK)
        status = read_alone(job, worker, i, shard, err);
    if (shard)
        loader_shards_unpin(&worker->shared->shards, shard);
    return status;
}

/* Decoders do not know where the sample stands. */
static void add_place(const loader_job *job, const loader_shared *shared, uint32_t i,
                      shard_error *err)
{
    if (err->url[0] || job->streamed)
        return;
    strncpy(err->url, shared->set->shard[job->row[i].shard].path, sizeof err->url - 1);
    err->offset = job->row[i].extent.begin;
}

/* Keep what the caller is to be told of. */
static shard_status note_bad(loader_job *job, loader_shared *shared, uint32_t i, uint64_t id,
                             const shard_error *why, shard_error *err)
{
    size_t size = strlen(why->message) + 1;
    job->bad_samples++;
    if (!shared->tell_bad)
        return SHARD_OK;
    SHARD_TRY(shard_buffer_reserve(&job->bad, job->bad_samples * sizeof(loader_bad),
                                   &shared->budget, err));
    SHARD_TRY(shard_buffer_reserve(&job->slot.text, job->text_used + size, &shared->budget, err));
    memcpy(job->slot.text.bytes + job->text_used, why->message, size);
    ((loader_bad *)(void *)job->bad.bytes)[job->bad_samples - 1] =
        (loader_bad){.id = id,
                     .key = job->row[i].key,
                     .message = job->text_used,
                     .path = job->streamed ? "" : shared->set->shard[job->row[i].shard].path,
                     .status = why->status,
                     .offset = why->offset};
    job->text_used += size;
    return SHARD_OK;
}

void loader_job_tell(const loader_job *job, const loader_shared *shared)
{
    const loader_bad *bad = (const loader_bad *)(const void *)job->bad.bytes;
    const char *text = (const char *)job->slot.text.bytes;
    for (uint64_t i = 0; shared->tell_bad && i < job->bad_samples; i++) {
        shard_error why = {.status = bad[i].status, .offset = bad[i].offset};
        strncpy(why.url, bad[i].path, sizeof why.url - 1);
        strncpy(why.message, text + bad[i].message, sizeof why.message - 1);
        shared->tell_bad(shared->tell_context, text + bad[i].key, bad[i].id, &why);
    }
}

/* The same samples stand in for the same one, however often and wherever it is run. */
static uint64_t substitute_of(const loader_shared *shared, const loader_place *place,
                              uint32_t attempt)
{
    shard_set_info info;
    shard_set_get_info(shared->set, &info);
    uint64_t key =
        shard_order_key(shared->seed, place->epoch, SHARD_KEY_SUBSTITUTE, place->position);
    return shard_rng_below(key, attempt, info.samples);
}

static shard_status mend_row(loader_job *job, loader_worker *worker, uint32_t i, shard_error *err)
{
    loader_shared *shared = worker->shared;
    const loader_place *place = &job->rows.place[i];
    shard_error why = {.offset = SHARD_NO_OFFSET};
    uint64_t id = place->id;
    for (uint32_t attempt = 0; attempt < SUBSTITUTES_MOST; attempt++) {
        shard_status status = make_alone(job, worker, i, id, &why);
        if (status == SHARD_OK)
            return SHARD_OK;
        add_place(job, shared, i, &why);
        bool bad = job->row[i].bad || loader_is_bad_sample(status);
        if (!bad || shared->on_bad == SHARD_BAD_ERROR) {
            if (err)
                *err = why;
            return status;
        }
        SHARD_TRY(note_bad(job, shared, i, id, &why, err));
        if (shared->on_bad == SHARD_BAD_MASK) {
            shard_slot_blank(&job->slot, i);
            return SHARD_OK;
        }
        id = substitute_of(shared, place, attempt);
        why = (shard_error){.offset = SHARD_NO_OFFSET};
    }
    return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                      "%d samples that were to stand in for a bad one are bad too",
                      SUBSTITUTES_MOST - 1);
}

static shard_status mend(loader_job *job, loader_worker *worker, shard_error *err)
{
    for (uint32_t i = 0; i < worker->shared->fields->layout.rows; i++)
        if (job->row[i].bad)
            SHARD_TRY(mend_row(job, worker, i, err));
    return SHARD_OK;
}

/* ---- the view ---- */

static void show(loader_job *job, const loader_shared *shared)
{
    shard_slot *slot = &job->slot;
    for (uint32_t i = 0; i < shared->fields->layout.rows; i++) {
        if (!slot->valid[i])
            continue;
        slot->keys[i] = (const char *)slot->text.bytes + job->row[i].key;
        if (!slot->samples)
            continue;
        slot->samples[i].key = slot->keys[i];
        slot->samples[i].components = loader_row_components(job, i);
    }
    slot->batch.bad_count = (uint32_t)job->bad_samples;
    shard_slot_publish(slot);
}

shard_status loader_job_finish(loader_job *job, loader_worker *worker, shard_error *err)
{
    shard_status status = job->status;
    if (status == SHARD_OK)
        status = mend(job, worker, err);
    if (status == SHARD_OK)
        show(job, worker->shared);
    return status;
}
