/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a task's samples and making rows of them. */
#include <string.h>

#include "loader/job.h"
#include "os/clock.h"

shard_status loader_worker_init(loader_worker *worker, loader_shared *shared,
                                const shard_allocator *allocator, shard_error *err)
{
    const fmt_alloc *alloc = &shared->budget.alloc;
    worker->shared = shared;
    worker->tar = shard_alloc_zeroed(alloc, 1, sizeof *worker->tar);
    if (!worker->tar)
        return shard_fail_memory(err);
    return loader_decoders_init(&worker->decoders, shared->fields, allocator, alloc, err);
}

void loader_worker_clear(loader_worker *worker)
{
    if (!worker->shared)
        return;
    shard_budget *budget = &worker->shared->budget;
    loader_decoders_clear(&worker->decoders);
    loader_unzip_clear(&worker->unzip, budget);
    shard_buffer_clear(&worker->scratch, budget);
    shard_buffer_clear(&worker->components, budget);
    shard_alloc_free(&budget->alloc, worker->tar);
    *worker = (loader_worker){0};
}

bool loader_is_bad_sample(shard_status status)
{
    switch (status) {
    case SHARD_EDATA:
    case SHARD_EFORMAT:
    case SHARD_ECHECKSUM:
    case SHARD_ETRUNCATED:
    case SHARD_EUNSUPPORTED:
    case SHARD_ELIMIT:
        return true;
    default:
        return false;
    }
}

shard_status loader_read(loader_worker *worker, const loader_shard *shard, uint64_t begin,
                         uint64_t end, uint8_t *out, shard_error *err)
{
    loader_shared *shared = worker->shared;
    atomic_fetch_add_explicit(&shared->bytes, end - begin, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared->reads, 1, memory_order_relaxed);
    if (shard_opened_is_plain(&shard->opened))
        return shard_opened_read(&shard->opened, begin, out, (size_t)(end - begin), err);
    return loader_frames_read(&shared->frames, &worker->unzip, shard, begin, end, out, err);
}

/* ---- one row ---- */

static uint64_t random_of(const loader_shared *shared, const loader_place *place)
{
    return shard_order_key(shared->seed, place->epoch, SHARD_KEY_PIXELS, place->position);
}

shard_status loader_decode_row(loader_worker *worker, loader_job *job, uint32_t row,
                               const shard_sample_component *components, shard_error *err)
{
    loader_row *r = &job->row[row];
    job->slot.valid[row] = 1;
    if (job->slot.samples) {
        job->slot.samples[row] = (shard_sample){.key_size = r->key_size, .count = r->components};
        return SHARD_OK;
    }
    loader_sample sample = {(const char *)job->slot.text.bytes + r->key, components, r->components,
                            random_of(worker->shared, &job->rows.place[row])};
    shard_status status = loader_decode(&worker->decoders, &sample, &job->slot, row, err);
    r->bad = status != SHARD_OK && status != SHARD_ENOMEM && status != SHARD_ECANCEL;
    return status;
}

/* Find the components in the bytes. */
static shard_status match_row(loader_worker *worker, loader_job *job, uint32_t row,
                              const loader_shard *shard, const uint8_t *bytes,
                              shard_sample_component **out, shard_error *err)
{
    const loader_shared *shared = worker->shared;
    const loader_row *r = &job->row[row];
    shard_extent extent = r->extent;
    extent.sample.key = (const char *)job->slot.text.bytes + r->key;
    if (job->slot.samples) {
        *out = loader_row_components(job, row);
    } else {
        SHARD_TRY(shard_buffer_reserve(&worker->components, r->components * sizeof **out,
                                       &worker->shared->budget, err));
        *out = (shard_sample_component *)(void *)worker->components.bytes;
    }
    return shard_extent_match(&shard->opened, &extent, &shared->fields->wanted, bytes,
                              shared->no_checksums, worker->tar, *out, err);
}

shard_status loader_make_row(loader_worker *worker, loader_job *job, uint32_t row,
                             const loader_shard *shard, const uint8_t *bytes, shard_error *err)
{
    shard_sample_component *components;
    shard_status status = match_row(worker, job, row, shard, bytes, &components, err);
    job->row[row].bad = loader_is_bad_sample(status);
    return status == SHARD_OK ? loader_decode_row(worker, job, row, components, err) : status;
}

/* ---- a task ---- */

static shard_status read_run(loader_job *job, loader_worker *worker, const loader_run *run,
                             const loader_shard *shard, uint8_t **out, shard_error *err)
{
    loader_shared *shared = worker->shared;
    *out = job->slot.bytes.bytes + run->at;
    if (!shared->fields->keeps_bytes) {
        SHARD_TRY(shard_buffer_reserve(&worker->scratch, (size_t)(run->end - run->begin),
                                       &shared->budget, err));
        *out = worker->scratch.bytes;
    }
    if (run->end == run->begin)
        return SHARD_OK;
    return loader_read(worker, shard, run->begin, run->end, *out, err);
}

static shard_status make_rows(loader_job *job, loader_worker *worker, const loader_run *run,
                              const loader_shard *shard, const uint8_t *bytes, shard_error *err)
{
    for (uint32_t i = run->first; i < run->first + run->count; i++) {
        uint32_t row = job->sorted[i];
        shard_status status =
            loader_make_row(worker, job, row, shard, bytes + (job->row[row].at - run->at), err);
        if (status != SHARD_OK && !job->row[row].bad)
            return status;
    }
    return SHARD_OK;
}

static shard_status fill_run(loader_job *job, loader_worker *worker, const loader_run *run,
                             shard_error *err)
{
    loader_shared *shared = worker->shared;
    loader_shard *shard;
    uint8_t *bytes;
    uint64_t began = shard_clock_ns();
    SHARD_TRY(
        loader_shards_pin(&shared->shards, job->row[job->sorted[run->first]].shard, &shard, err));
    shard_status status = read_run(job, worker, run, shard, &bytes, err);
    uint64_t read = shard_clock_ns();
    if (status == SHARD_OK)
        status = make_rows(job, worker, run, shard, bytes, err);
    loader_shards_unpin(&shared->shards, shard);
    atomic_fetch_add_explicit(&shared->read_ns, read - began, memory_order_relaxed);
    atomic_fetch_add_explicit(&shared->decode_ns, shard_clock_ns() - read, memory_order_relaxed);
    return status;
}

static shard_status fill_streamed(loader_job *job, loader_worker *worker, const loader_run *run,
                                  shard_error *err)
{
    uint32_t row = job->sorted[run->first];
    uint64_t began = shard_clock_ns();
    shard_status status = loader_decode_row(worker, job, row, loader_row_components(job, row), err);
    atomic_fetch_add_explicit(&worker->shared->decode_ns, shard_clock_ns() - began,
                              memory_order_relaxed);
    return job->row[row].bad ? SHARD_OK : status;
}

/* A run that cannot be read may be one bad sample's fault: then each is tried alone. */
shard_status loader_job_fill(loader_job *job, loader_worker *worker, uint32_t task,
                             shard_error *err)
{
    const loader_task *t = &job->task[task];
    for (uint32_t i = t->first; i < t->first + t->count; i++) {
        const loader_run *run = &job->run[i];
        shard_status status =
            job->streamed ? fill_streamed(job, worker, run, err) : fill_run(job, worker, run, err);
        if (loader_is_bad_sample(status)) {
            for (uint32_t j = run->first; j < run->first + run->count; j++)
                job->row[job->sorted[j]].bad = true;
            continue;
        }
        SHARD_TRY(status);
    }
    return SHARD_OK;
}
