/* SPDX-License-Identifier: Apache-2.0 */
/* From samples' numbers to what is to be read, and by whom. */
#include <string.h>

#include "loader/job.h"

enum {
    RUN_MOST = 256 << 10,  /* bytes in one read, unless one sample has more */
    TASK_LEAST = 256 << 10 /* bytes that are worth a thread's turn */
};

shard_status loader_job_init(loader_job *job, loader_shared *shared, shard_error *err)
{
    const fmt_alloc *alloc = &shared->budget.alloc;
    size_t rows = shared->fields->layout.rows;
    job->rows.place = shard_alloc_zeroed(alloc, rows, sizeof *job->rows.place);
    job->row = shard_alloc_zeroed(alloc, rows, sizeof *job->row);
    job->sorted = shard_alloc_zeroed(alloc, rows, sizeof *job->sorted);
    job->run = shard_alloc_zeroed(alloc, rows, sizeof *job->run);
    job->task = shard_alloc_zeroed(alloc, rows, sizeof *job->task);
    if (!job->rows.place || !job->row || !job->sorted || !job->run || !job->task)
        return shard_fail_memory(err);
    return shard_slot_init(&job->slot, &shared->fields->layout, &shared->device, &shared->budget,
                           err);
}

void loader_job_clear(loader_job *job, loader_shared *shared)
{
    const fmt_alloc *alloc = &shared->budget.alloc;
    shard_slot_clear(&job->slot, &shared->device, &shared->budget);
    shard_buffer_clear(&job->bad, &shared->budget);
    shard_alloc_free(alloc, job->rows.place);
    shard_alloc_free(alloc, job->row);
    shard_alloc_free(alloc, job->sorted);
    shard_alloc_free(alloc, job->run);
    shard_alloc_free(alloc, job->task);
    *job = (loader_job){0};
}

/* ---- where the samples lie ---- */

void loader_job_begin(loader_job *job)
{
    job->sorted_count = 0;
    job->bytes_used = job->text_used = job->components_used = 0;
    job->bad_samples = 0;
}

shard_status loader_keep_key(loader_job *job, loader_shared *shared, uint32_t i, const void *key,
                             size_t size, shard_error *err)
{
    SHARD_TRY(
        shard_buffer_reserve(&job->slot.text, job->text_used + size + 1, &shared->budget, err));
    uint8_t *text = job->slot.text.bytes + job->text_used;
    memcpy(text, key, size);
    text[size] = 0;
    job->row[i].key = job->text_used;
    job->row[i].key_size = size;
    job->text_used += size + 1;
    return SHARD_OK;
}

/* Where it lies in its shard, and its key: that is the index's, and gone when the shard closes. */
static shard_status find_in_shard(loader_job *job, loader_shared *shared, uint32_t i,
                                  const loader_shard *shard, uint64_t number, shard_error *err)
{
    loader_row *row = &job->row[i];
    SHARD_TRY(
        shard_extent_find(&shard->opened, number, &shared->fields->wanted, &row->extent, err));
    SHARD_TRY(
        loader_keep_key(job, shared, i, row->extent.sample.key, row->extent.sample.key_size, err));
    row->shard = shard->number;
    row->component = job->components_used;
    row->components = row->extent.components;
    job->components_used += row->components;
    return SHARD_OK;
}

shard_status loader_place_row(loader_job *job, loader_shared *shared, uint32_t i, uint64_t id,
                              loader_shard **pinned, shard_error *err)
{
    shard_set_place place;
    job->slot.ids[i] = id;
    job->slot.valid[i] = 0; /* until it is made: of what stands there, nothing is this batch's */
    SHARD_TRY(shard_set_locate(shared->set, id, &place, err));
    if (*pinned && (*pinned)->number != place.shard) {
        loader_shards_unpin(&shared->shards, *pinned);
        *pinned = NULL;
    }
    if (!*pinned)
        SHARD_TRY(loader_shards_pin(&shared->shards, place.shard, pinned, err));
    return find_in_shard(job, shared, i, *pinned, place.sample, err);
}

static shard_status find_each_row(loader_job *job, loader_shared *shared, loader_shard **pinned,
                                  shard_error *err)
{
    uint32_t rows = shared->fields->layout.rows;
    loader_job_begin(job);
    for (uint32_t i = 0; i < rows; i++) {
        job->row[i] = (loader_row){0};
        if (!job->rows.place[i].valid) {
            shard_slot_blank(&job->slot, i);
            continue;
        }
        SHARD_TRY(loader_place_row(job, shared, i, job->rows.place[i].id, pinned, err));
        job->sorted[job->sorted_count++] = i;
    }
    return SHARD_OK;
}

static shard_status find_rows(loader_job *job, loader_shared *shared, shard_error *err)
{
    loader_shard *pinned = NULL;
    shard_status status = find_each_row(job, shared, &pinned, err);
    if (pinned)
        loader_shards_unpin(&shared->shards, pinned);
    return status;
}

/* ---- what is read together ---- */

static bool stands_before(const loader_job *job, uint32_t a, uint32_t b)
{
    const loader_row *x = &job->row[a], *y = &job->row[b];
    if (x->shard != y->shard)
        return x->shard < y->shard;
    return x->extent.begin < y->extent.begin;
}

/* Shell's sort with Ciura's gaps: in place, and at once through with what is in order. */
static void sort_rows(loader_job *job)
{
    static const uint32_t gaps[] = {1750, 701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (uint32_t i = gaps[g]; i < job->sorted_count; i++) {
            uint32_t row = job->sorted[i], at = i;
            for (; at >= gaps[g] && stands_before(job, row, job->sorted[at - gaps[g]]);
                 at -= gaps[g])
                job->sorted[at] = job->sorted[at - gaps[g]];
            job->sorted[at] = row;
        }
}

static bool continues(const loader_job *job, const loader_run *run, const loader_row *row)
{
    const loader_row *first = &job->row[job->sorted[run->first]];
    return row->shard == first->shard && row->extent.begin == run->end &&
           row->extent.end - run->begin <= RUN_MOST;
}

static void make_runs(loader_job *job)
{
    job->runs = 0;
    for (uint32_t i = 0; i < job->sorted_count; i++) {
        loader_row *row = &job->row[job->sorted[i]];
        row->size = (size_t)(row->extent.end - row->extent.begin);
        loader_run *run = job->runs > 0 ? &job->run[job->runs - 1] : NULL;
        if (!run || !continues(job, run, row)) {
            run = &job->run[job->runs++];
            *run = (loader_run){i, 0, row->extent.begin, row->extent.begin, job->bytes_used};
        }
        row->at = job->bytes_used;
        run->count++;
        run->end = row->extent.end;
        job->bytes_used += row->size;
    }
}

static void make_tasks(loader_job *job)
{
    uint64_t size = TASK_LEAST;
    job->tasks = job->tasks_taken = job->tasks_done = 0;
    for (uint32_t i = 0; i < job->runs; i++) {
        if (size >= TASK_LEAST) {
            job->task[job->tasks++] = (loader_task){i, 0};
            size = 0;
        }
        job->task[job->tasks - 1].count++;
        size += job->run[i].end - job->run[i].begin;
    }
}

/* Of a stream, each row alone: its bytes are there. */
static void make_streamed_runs(loader_job *job)
{
    job->runs = job->sorted_count;
    for (uint32_t i = 0; i < job->runs; i++)
        job->run[i] = (loader_run){i, 1, 0, job->row[job->sorted[i]].size, 0};
}

/* ---- all of it ---- */

shard_sample_component *loader_row_components(const loader_job *job, uint32_t row)
{
    return (shard_sample_component *)(void *)job->slot.components.bytes + job->row[row].component;
}

static shard_status plan_reads(loader_job *job, loader_shared *shared, shard_error *err)
{
    shard_slot *slot = &job->slot;
    SHARD_TRY(find_rows(job, shared, err));
    sort_rows(job);
    make_runs(job);
    if (shared->fields->keeps_bytes)
        SHARD_TRY(shard_buffer_reserve(&slot->bytes, job->bytes_used, &shared->budget, err));
    if (slot->samples)
        SHARD_TRY(shard_buffer_reserve(&slot->components,
                                       job->components_used * sizeof(shard_sample_component),
                                       &shared->budget, err));
    return SHARD_OK;
}

shard_status loader_job_plan(loader_job *job, loader_shared *shared, shard_error *err)
{
    job->slot.batch.epoch = job->rows.epoch;
    job->slot.batch.position = job->rows.position;
    if (job->streamed)
        make_streamed_runs(job);
    else
        SHARD_TRY(plan_reads(job, shared, err));
    make_tasks(job);
    return SHARD_OK;
}
