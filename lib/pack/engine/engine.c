/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/engine.h"

#include <shard/cpu.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "os/threads.h"
#include "pack/engine/large.h"
#include "pack/engine/progress.h"
#include "pack/engine/queue.h"

enum {
    FLUSH_BYTES = 4 << 20,    /* a chunk that holds more waits for its turn and empties itself */
    JOB_MEMORY = 24 << 20,    /* the most that a job holds: that, a large sample, a packed frame */
    THREAD_MEMORY = 32 << 20, /* default for each thread */
    IMAGE_MEMORY = 256 << 20, /* and for its image: a progressive one of 40 megapixels */
    BATCH_BYTES = 1 << 20,    /* of a stream's batch, from which on it takes no more samples */
    JOBS_A_THREAD = 3,
};

typedef struct {
    pack_sink *sink;
    pack_input *input;
    const pack_plan *plan;
    pack_queue queue;
    pack_progress progress;
    uint32_t threads;
    uint64_t image_memory; /* what a thread may use for one image */
    /* Of the stream's next sample, its number and the shard it goes into; who reads it holds the
     * input. */
    uint64_t stream_position, stream_shard;
    pthread_mutex_t totals_mutex;
    pack_totals *totals;
} engine;

/* What each thread has of its own. */
typedef struct {
    engine *e;
    shard_encoders encoders;
    pack_filler filler;
    uint64_t told_in; /* of the filler's bytes, those that the progress knows */
    pack_sample sample;
    pack_run *run;
    pack_totals totals;
    shard_error err;
} worker;

/* ---- samples that fail ---- */

static bool is_about_the_sample(shard_status status)
{
    switch (status) {
    case SHARD_EIO:
    case SHARD_ENOTFOUND:
    case SHARD_EFORMAT:
    case SHARD_ETRUNCATED:
    case SHARD_ECHECKSUM:
    case SHARD_EUNSUPPORTED:
    case SHARD_ELIMIT:
    case SHARD_EDATA:
        return true;
    default:
        return false;
    }
}

static bool may_skip(const worker *w, shard_status status)
{
    return w->e->sink->opts->on_error == SHARD_PACK_SKIP && is_about_the_sample(status);
}

/* "FILE: why", without what changes from run to run. */
static void skip_reason(const shard_error *err, char *out, size_t capacity)
{
    snprintf(out, capacity, "%s%s%s", err->url, *err->url ? ": " : "", err->message);
}

static shard_status skip_sample(worker *w, pack_chunk *chunk, const pack_sample *sample)
{
    char reason[sizeof w->err.url + sizeof w->err.message + 2];
    skip_reason(&w->err, reason, sizeof reason);
    w->totals.skipped++;
    return pack_chunk_skip_sample(chunk, sample->key, reason, &w->err);
}

/* ---- writing ---- */

static shard_status write_chunk(void *context, pack_lane *lane, pack_chunk *chunk, shard_error *err)
{
    worker *w = context;
    uint64_t samples = chunk->consumed, size = pack_chunk_stored_size(chunk);
    SHARD_TRY(pack_lane_write(lane, chunk, &w->encoders, err));
    pack_progress_add(&w->e->progress, samples, w->filler.bytes_in - w->told_in, size);
    w->told_in = w->filler.bytes_in;
    return SHARD_OK;
}

static shard_status finish_lane(void *context, pack_lane *lane, shard_error *err)
{
    worker *w = context;
    return pack_lane_finish(lane, &w->encoders, err);
}

/* Write what the job has so far, and keep the turn. */
static shard_status flush(worker *w, pack_job *job)
{
    SHARD_TRY(pack_chunk_close(&job->chunk, &w->err));
    if (!pack_queue_wait_turn(&w->e->queue, job))
        return shard_fail(&w->err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "stopped");
    return write_chunk(w, &job->run->lane, &job->chunk, &w->err);
}

static shard_status stream_large(worker *w, pack_job *job, const pack_sample *sample)
{
    bool fatal;
    pack_lane *lane = &job->run->lane;
    SHARD_TRY(flush(w, job));
    uint64_t before = lane->is_open ? lane->writer.out.size : 0;
    shard_status status =
        pack_large_write(lane, sample, &w->filler, &w->encoders, job->chunk.mtime, &fatal, &w->err);
    if (status == SHARD_OK)
        pack_progress_add(&w->e->progress, 1, 0, lane->writer.out.size - before);
    if (status == SHARD_OK || fatal || !may_skip(w, status))
        return status;
    return skip_sample(w, &job->chunk, sample);
}

/* ---- filling ---- */

static shard_status add_sample(worker *w, pack_job *job, const pack_sample *sample)
{
    bool too_large;
    shard_status status = pack_fill(&w->filler, &job->chunk, sample, &too_large, &w->err);
    if (status == SHARD_OK && too_large)
        status = stream_large(w, job, sample);
    else if (status != SHARD_OK && may_skip(w, status))
        return skip_sample(w, &job->chunk, sample);
    if (status != SHARD_OK)
        return status;
    w->totals.samples++;
    w->totals.renamed += sample->renamed;
    bool full = job->chunk.tar.size + job->chunk.packed.size >= FLUSH_BYTES;
    return full ? flush(w, job) : SHARD_OK;
}

static shard_status check_cancel(worker *w)
{
    if (!shard_cancel_is_set(w->e->sink->opts->cancel))
        return SHARD_OK;
    return shard_fail(&w->err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
}

static shard_status fill_from_list(worker *w, pack_job *job)
{
    for (uint64_t i = job->first; i < job->last; i++) {
        SHARD_TRY(check_cancel(w));
        shard_status status = w->e->input->type->get(w->e->input, i, &w->sample, &w->err);
        if (status == SHARD_OK)
            status = add_sample(w, job, &w->sample);
        else if (may_skip(w, status))
            status = skip_sample(w, &job->chunk, &w->sample);
        if (status != SHARD_OK)
            return status;
    }
    return SHARD_OK;
}

static shard_status allocate_batch(worker *w, pack_job *job)
{
    const fmt_alloc *alloc = &w->e->sink->alloc;
    if (job->batch)
        return SHARD_OK;
    job->batch = shard_alloc_zeroed(alloc, PACK_BATCH_MOST, sizeof *job->batch);
    if (!job->batch)
        return shard_fail_memory(&w->err);
    for (size_t i = 0; i < PACK_BATCH_MOST; i++)
        pack_sample_init(&job->batch[i], alloc);
    return SHARD_OK;
}

static uint64_t sample_bytes(const pack_sample *sample)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < sample->components; i++)
        bytes += sample->component[i].size;
    return bytes;
}

/* Is the stream at the end of its shard, as the plan has it? */
static bool shard_ends(const engine *e)
{
    return pack_plan_is_fixed(e->plan) &&
           e->stream_position >= pack_plan_first(e->plan, e->stream_shard + 1);
}

/*
 * The next samples of the stream, all for one shard; only one thread at a time comes here. A
 * resumed run reads batches
 * as the first one did and drops what that has written, so that frames begin and end where they
 * did.
 */
static shard_status read_batch(worker *w, pack_job *job)
{
    engine *e = w->e;
    uint64_t bytes = 0;
    job->batch_count = 0;
    SHARD_TRY(allocate_batch(w, job));
    while (shard_ends(e) && e->stream_position < e->plan->samples)
        e->stream_shard++;
    if (pack_plan_is_fixed(e->plan))
        job->chunk.shard = e->stream_shard;
    for (size_t taken = 0; taken < PACK_BATCH_MOST && bytes < BATCH_BYTES; taken++) {
        if (taken > 0 && shard_ends(e))
            break;
        pack_sample *sample = &job->batch[job->batch_count];
        SHARD_TRY(check_cancel(w));
        SHARD_TRY(e->input->type->next(e->input, sample, PACK_FRAME_MOST, &w->err));
        bytes += sample_bytes(sample);
        job->batch_count += e->stream_position++ >= e->plan->start_sample;
    }
    return SHARD_OK;
}

static shard_status fill_from_stream(worker *w, pack_job *job)
{
    shard_status status = read_batch(w, job);
    pack_queue_batch_read(&w->e->queue, job, status != SHARD_OK);
    if (status != SHARD_OK && status != SHARD_END)
        return status;
    for (size_t i = 0; i < job->batch_count; i++)
        SHARD_TRY(add_sample(w, job, &job->batch[i]));
    return SHARD_OK;
}

static shard_status do_job(worker *w, pack_job *job)
{
    job->chunk.encoders = &w->encoders;
    SHARD_TRY(w->e->input->type->next ? fill_from_stream(w, job) : fill_from_list(w, job));
    return pack_chunk_close(&job->chunk, &w->err);
}

/* ---- threads ---- */

static shard_status open_worker(worker *w, engine *e)
{
    const shard_pack_opts *opts = e->sink->opts;
    *w = (worker){.e = e};
    pack_sample_init(&w->sample, &e->sink->alloc);
    if (e->sink->outs->codec == SHARD_CODEC_ZSTD)
        SHARD_TRY(
            shard_zstd_encoder_open(&w->encoders.zstd, opts->level ? opts->level : 3, &w->err));
    if (e->sink->outs->codec == SHARD_CODEC_GZIP)
        SHARD_TRY(
            shard_gzip_encoder_open(&w->encoders.gzip, opts->level ? opts->level : 6, &w->err));
    w->filler.memory = e->image_memory;
    return pack_transform_open(&w->filler.transform, opts, e->image_memory, &e->sink->alloc,
                               &w->err);
}

static void add_totals(worker *w)
{
    pack_totals *all = w->e->totals;
    pack_transform_counts images;
    pack_transform_get_counts(w->filler.transform, &images);
    pthread_mutex_lock(&w->e->totals_mutex);
    all->samples += w->totals.samples;
    all->skipped += w->totals.skipped;
    all->renamed += w->totals.renamed;
    all->bytes_in += w->filler.bytes_in;
    all->images.baselined += images.baselined;
    all->images.resized += images.resized;
    all->images.stripped += images.stripped;
    all->images.kept += images.kept;
    pthread_mutex_unlock(&w->e->totals_mutex);
}

static void close_worker(worker *w)
{
    add_totals(w);
    shard_zstd_encoder_close(w->encoders.zstd);
    shard_gzip_encoder_close(w->encoders.gzip);
    pack_transform_close(w->filler.transform);
    pack_sample_clear(&w->sample);
}

static void *work(void *context)
{
    engine *e = context;
    worker *w = shard_alloc_zeroed(&e->sink->alloc, 1, sizeof *w);
    shard_error no_memory;
    if (!w) {
        shard_fail_memory(&no_memory);
        pack_queue_stop(&e->queue, &no_memory);
        return NULL;
    }
    pack_writer writer = {write_chunk, finish_lane, w};
    pack_job *job;
    if (open_worker(w, e) != SHARD_OK)
        pack_queue_stop(&e->queue, &w->err);
    while ((job = pack_queue_take(&e->queue, &w->run)) != NULL) {
        if (do_job(w, job) != SHARD_OK)
            pack_queue_stop(&e->queue, &w->err);
        pack_queue_put(&e->queue, job, &writer);
    }
    close_worker(w);
    shard_alloc_free(&e->sink->alloc, w);
    return NULL;
}

/* This thread is one of them. */
static void run_threads(engine *e)
{
    shard_threads threads;
    shard_threads_start(&threads, e->threads - 1, work, e);
    work(e);
    shard_threads_join(&threads);
}

/* Divide the memory: where there is a limit, images get half of it. No more threads than jobs. */
static size_t divide_memory(engine *e)
{
    const shard_pack_opts *opts = e->sink->opts;
    bool images = opts->jpeg_baseline || opts->resize_shorter > 0 || opts->strip;
    e->threads = opts->threads > 0 ? opts->threads : shard_cpu_count();
    uint64_t memory = opts->memory > 0 ? opts->memory : (uint64_t)(e->threads + 1) * THREAD_MEMORY;
    uint64_t for_jobs = images && opts->memory > 0 ? memory / 2 : memory;
    uint64_t jobs = for_jobs / JOB_MEMORY;
    if (jobs < e->threads)
        e->threads = jobs > 0 ? (uint32_t)jobs : 1;
    if (jobs > (uint64_t)e->threads * JOBS_A_THREAD)
        jobs = (uint64_t)e->threads * JOBS_A_THREAD;
    e->image_memory = opts->memory > 0 ? memory / 2 / e->threads : IMAGE_MEMORY;
    return jobs > 0 ? (size_t)jobs : 1;
}

static shard_status run(engine *e, shard_error *err)
{
    size_t jobs = divide_memory(e);
    SHARD_TRY(pack_queue_init(&e->queue, e->sink, e->input, e->plan, jobs, err));
    run_threads(e);
    shard_status status = SHARD_OK;
    if (e->queue.stopped) {
        status = e->queue.error.status;
        if (err)
            *err = e->queue.error;
    }
    e->totals->skips = e->queue.skips;
    pack_queue_clear(&e->queue);
    return status;
}

shard_status pack_engine_run(pack_sink *sink, pack_input *input, const pack_plan *plan,
                             pack_totals *totals, shard_error *err)
{
    memset(totals, 0, sizeof *totals);
    engine *e = shard_alloc_zeroed(&sink->alloc, 1, sizeof *e);
    if (!e || pthread_mutex_init(&e->totals_mutex, NULL) != 0) {
        shard_alloc_free(&sink->alloc, e);
        return shard_fail_memory(err);
    }
    e->sink = sink;
    e->input = input;
    e->plan = plan;
    e->totals = totals;
    shard_status status = pack_progress_init(&e->progress, sink->opts, plan, err);
    if (status == SHARD_OK) {
        status = run(e, err);
        pack_progress_clear(&e->progress);
    }
    pthread_mutex_destroy(&e->totals_mutex);
    shard_alloc_free(&sink->alloc, e);
    return status;
}
