/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/queue.h"

#include <string.h>

/* Bytes of samples that a job should hold: what stays in a core's cache from read to write. */
enum { JOB_BYTES = 512 << 10, JOB_SAMPLES_MOST = 512 };

shard_status pack_queue_init(pack_queue *queue, pack_sink *sink, const pack_input *input,
                             const pack_plan *plan, size_t jobs_max, shard_error *err)
{
    memset(queue, 0, sizeof *queue);
    queue->sink = sink;
    queue->input = input;
    queue->plan = plan;
    queue->next_shard = plan->first_shard;
    queue->jobs_max = jobs_max;
    if (pthread_mutex_init(&queue->mutex, NULL) != 0)
        return shard_fail_memory(err);
    if (pthread_cond_init(&queue->changed, NULL) != 0) {
        pthread_mutex_destroy(&queue->mutex);
        return shard_fail_memory(err);
    }
    return SHARD_OK;
}

static void free_jobs(pack_queue *q, pack_job *job)
{
    while (job) {
        pack_job *next = job->next;
        for (size_t i = 0; job->batch && i < PACK_BATCH_MOST; i++)
            pack_sample_clear(&job->batch[i]);
        shard_alloc_free(&q->sink->alloc, job->batch);
        pack_chunk_free(&job->chunk);
        shard_alloc_free(&q->sink->alloc, job);
        job = next;
    }
}

static void free_run(pack_queue *q, pack_run *run)
{
    pack_lane_abort(&run->lane);
    free_jobs(q, run->ready);
    shard_alloc_free(&q->sink->alloc, run);
}

void pack_queue_clear(pack_queue *queue)
{
    while (queue->runs) {
        pack_run *next = queue->runs->next;
        free_run(queue, queue->runs);
        queue->runs = next;
    }
    free_jobs(queue, queue->free_jobs);
    queue->free_jobs = NULL;
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->mutex);
}

/* ---- stopping ---- */

static void stop_locked(pack_queue *q, const shard_error *why)
{
    if (!q->stopped)
        q->error = *why;
    q->stopped = true;
    pthread_cond_broadcast(&q->changed);
}

void pack_queue_stop(pack_queue *queue, const shard_error *why)
{
    pthread_mutex_lock(&queue->mutex);
    stop_locked(queue, why);
    pthread_mutex_unlock(&queue->mutex);
}

/* ---- lanes ---- */

static bool is_stream(const pack_queue *q)
{
    return q->input->type->next != NULL;
}

static void stop_without_memory(pack_queue *q)
{
    shard_error err;
    shard_fail_memory(&err);
    stop_locked(q, &err);
}

/* Samples a job, the same in every run of the same input: frames end where jobs do. */
static uint64_t samples_per_job(pack_queue *q, uint64_t first, uint64_t last)
{
    uint64_t size;
    if (is_stream(q) || first == last)
        return 1;
    if (!q->input->type->typical_size(q->input, first, last, &size)) {
        stop_without_memory(q);
        return 1;
    }
    uint64_t count = JOB_BYTES / (size + 1);
    return count < 1 ? 1 : count > JOB_SAMPLES_MOST ? JOB_SAMPLES_MOST : count;
}

static pack_run *new_run(pack_queue *q)
{
    pack_run *run = shard_alloc_zeroed(&q->sink->alloc, 1, sizeof *run);
    if (!run) {
        stop_without_memory(q);
        return NULL;
    }
    run->lane.sink = q->sink;
    run->next = q->runs;
    q->runs = run;
    return run;
}

/* The one lane of a set whose shards are counted as they come. */
static pack_run *open_rolling(pack_queue *q)
{
    pack_run *run = new_run(q);
    if (!run)
        return NULL;
    run->lane.rolls = true;
    run->lane.shards = q->plan->shards;
    run->lane.shard = q->plan->start_shard;
    run->lane.next = run->next_sample = q->plan->start_sample;
    run->last = q->plan->samples;
    run->per_job = samples_per_job(q, 0, run->last); /* as without a resume */
    run->ended = !is_stream(q) && run->next_sample >= run->last;
    return run;
}

/* The next shard that no earlier run has written. */
static pack_run *open_next(pack_queue *q)
{
    const pack_plan *plan = q->plan;
    if (plan->rolls) {
        bool opened = q->next_shard == plan->last_shard;
        q->next_shard = plan->last_shard;
        return opened ? NULL : open_rolling(q);
    }
    while (plan->done && q->next_shard < plan->last_shard &&
           plan->done[q->next_shard - plan->first_shard])
        q->next_shard++;
    if (q->next_shard >= plan->last_shard)
        return NULL;
    pack_run *run = new_run(q);
    if (!run)
        return NULL;
    run->lane.shard = q->next_shard++;
    run->first = run->next_sample = pack_plan_first(plan, run->lane.shard);
    run->last = pack_plan_first(plan, run->lane.shard + 1);
    run->lane.next = run->first;
    run->per_job = samples_per_job(q, run->first, run->last);
    return run;
}

/* The lane with the most samples left to take. */
static pack_run *find_busiest(const pack_queue *q)
{
    pack_run *found = NULL;
    for (pack_run *run = q->runs; run; run = run->next)
        if (!run->ended &&
            (!found || run->last - run->next_sample > found->last - found->next_sample))
            found = run;
    return found;
}

static bool is_in_work(const pack_queue *q, const pack_run *run)
{
    for (const pack_run *r = q->runs; r; r = r->next)
        if (r == run)
            return true;
    return false;
}

static pack_run *choose_run(pack_queue *q, pack_run *mine)
{
    if (mine && is_in_work(q, mine) && !mine->ended)
        return mine;
    pack_run *run = open_next(q);
    return run ? run : find_busiest(q);
}

/* ---- jobs ---- */

/* A job to be filled; NULL when as many as may be are in use. */
static pack_job *new_job(pack_queue *q)
{
    pack_job *job = q->free_jobs;
    if (job) {
        q->free_jobs = job->next;
        return job;
    }
    if (q->jobs == q->jobs_max)
        return NULL;
    job = shard_alloc_zeroed(&q->sink->alloc, 1, sizeof *job);
    if (!job) {
        stop_without_memory(q);
        return NULL;
    }
    const shard_pack_opts *opts = q->sink->opts;
    pack_chunk_init(&job->chunk, q->sink->outs->codec, opts->mtime, &q->sink->alloc);
    pack_chunk_limit(&job->chunk, opts->max_size, opts->max_samples);
    q->jobs++;
    return job;
}

static void recycle(pack_queue *q, pack_job *job)
{
    job->next = q->free_jobs;
    q->free_jobs = job;
    pthread_cond_broadcast(&q->changed);
}

/* Give the job a run of samples of this lane. Jobs of a list end at multiples of per_job. */
static void assign(pack_queue *q, pack_job *job, pack_run *run)
{
    job->run = run;
    job->number = run->taken++;
    job->has_turn = false;
    pack_chunk_reset(&job->chunk);
    if (is_stream(q)) {
        q->input_busy = true;
        return;
    }
    uint64_t begin = run->next_sample - run->first;
    uint64_t end = run->first + (begin / run->per_job + 1) * run->per_job;
    job->first = run->next_sample;
    job->last = end < run->last ? end : run->last;
    run->next_sample = job->last;
    run->ended = job->last == run->last;
}

pack_job *pack_queue_take(pack_queue *queue, pack_run **mine)
{
    pack_job *job = NULL;
    pthread_mutex_lock(&queue->mutex);
    while (!queue->stopped) {
        pack_run *run = choose_run(queue, *mine);
        if (!run)
            break;
        *mine = run;
        if (!queue->input_busy && (job = new_job(queue)) != NULL) {
            assign(queue, job, run);
            break;
        }
        if (!queue->stopped)
            pthread_cond_wait(&queue->changed, &queue->mutex);
    }
    pthread_mutex_unlock(&queue->mutex);
    return job;
}

void pack_queue_batch_read(pack_queue *queue, pack_job *job, bool ended)
{
    pthread_mutex_lock(&queue->mutex);
    queue->input_busy = false;
    job->run->ended = job->run->ended || ended;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

/* ---- turns ---- */

bool pack_queue_wait_turn(pack_queue *queue, pack_job *job)
{
    pthread_mutex_lock(&queue->mutex);
    pack_run *run = job->run;
    while (!queue->stopped && !job->has_turn) {
        if (!run->busy && run->written == job->number) {
            run->busy = true;
            job->has_turn = true;
        } else {
            pthread_cond_wait(&queue->changed, &queue->mutex);
        }
    }
    bool stopped = queue->stopped;
    pthread_mutex_unlock(&queue->mutex);
    return !stopped;
}

static void insert_ready(pack_run *run, pack_job *job)
{
    pack_job **place = &run->ready;
    while (*place && (*place)->number < job->number)
        place = &(*place)->next;
    job->next = *place;
    *place = job;
}

/* Write a job whose turn it is; called and left with the mutex held. */
static void write_job(pack_queue *q, pack_job *job, const pack_writer *writer)
{
    shard_error err;
    pack_run *run = job->run;
    run->busy = true;
    pthread_mutex_unlock(&q->mutex);
    shard_status status = writer->write(writer->context, &run->lane, &job->chunk, &err);
    pthread_mutex_lock(&q->mutex);
    run->busy = false;
    run->written++;
    recycle(q, job);
    if (status != SHARD_OK)
        stop_locked(q, &err);
}

static void remove_run(pack_queue *q, pack_run *run)
{
    pack_run **place = &q->runs;
    while (*place != run)
        place = &(*place)->next;
    *place = run->next;
    if (run->lane.skips && !q->skips) {
        q->skips = run->lane.skips;
        run->lane.skips = NULL;
    }
    free_run(q, run);
}

/* All is written: finish the lane's shard; called and left with the mutex held. */
static void finish_run(pack_queue *q, pack_run *run, const pack_writer *writer)
{
    shard_error err;
    run->busy = true;
    pthread_mutex_unlock(&q->mutex);
    shard_status status = writer->finish(writer->context, &run->lane, &err);
    pthread_mutex_lock(&q->mutex);
    run->busy = false;
    if (status != SHARD_OK)
        stop_locked(q, &err);
    else
        remove_run(q, run);
    pthread_cond_broadcast(&q->changed);
}

void pack_queue_put(pack_queue *queue, pack_job *job, const pack_writer *writer)
{
    pthread_mutex_lock(&queue->mutex);
    pack_run *run = job->run;
    if (queue->stopped)
        recycle(queue, job);
    else if (job->has_turn)
        write_job(queue, job, writer);
    else
        insert_ready(run, job);
    while (!queue->stopped && !run->busy && run->ready && run->ready->number == run->written) {
        pack_job *next = run->ready;
        run->ready = next->next;
        write_job(queue, next, writer);
    }
    if (!queue->stopped && !run->busy && run->ended && run->written == run->taken)
        finish_run(queue, run, writer);
    pthread_mutex_unlock(&queue->mutex);
}
