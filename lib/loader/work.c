/* SPDX-License-Identifier: Apache-2.0 */
/* What each thread does. */
#include "loader/loader.h"
#include "os/clock.h"

/* ---- under the mutex ---- */

static loader_job *job_of(const shard_loader *loader, uint64_t number)
{
    return loader->turn[number % loader->jobs];
}

static void fail_job(loader_job *job, shard_status status, const shard_error *err)
{
    if (job->status != SHARD_OK)
        return;
    job->status = status;
    job->err = *err;
}

static uint32_t count_ready(const shard_loader *loader)
{
    uint32_t ready = 0;
    for (uint64_t n = loader->given; n < loader->planned; n++)
        ready += job_of(loader, n)->stage == LOADER_JOB_READY;
    return ready;
}

/*
 * Whether the caller, who waits, is to be woken for its batch. Where batches are made faster than
 * threads are woken, only for several: it would take one and sleep again. (It looks up by itself
 * now and then.)
 */
static bool is_worth_waking(const shard_loader *loader, const loader_job *job)
{
    enum { FAST_NS = 100 * 1000 };
    bool is_last = job->rows.is_end || job->status != SHARD_OK;
    return is_last || loader->pace_ns >= FAST_NS || count_ready(loader) * 2 >= loader->jobs;
}

static void make_ready(shard_loader *loader, loader_job *job)
{
    uint64_t now = shard_clock_ns();
    loader->pace_ns = (loader->pace_ns * 7 + (now - loader->ready_ns)) / 8;
    loader->ready_ns = now;
    job->stage = LOADER_JOB_READY;
    if (loader->caller_waits && job_of(loader, loader->given)->stage == LOADER_JOB_READY &&
        is_worth_waking(loader, job))
        pthread_cond_signal(&loader->ready);
}

/* The oldest batch with a task that nobody has taken; else NULL. */
static loader_job *find_task(const shard_loader *loader)
{
    for (uint64_t n = loader->given; n < loader->planned; n++) {
        loader_job *job = job_of(loader, n);
        if (job->stage == LOADER_JOB_FILLING && job->tasks_taken < job->tasks)
            return job;
    }
    return NULL;
}

/* A job for the next batch, where that can be planned now; else NULL. All are used in turn, so that
 * none of them allocates late. */
static loader_job *find_free(const shard_loader *loader)
{
    if (loader->planning || loader->finished || loader->status != SHARD_OK)
        return NULL;
    for (uint32_t i = 0; i < loader->jobs; i++) {
        loader_job *job = &loader->job[(loader->planned + i) % loader->jobs];
        if (job->stage == LOADER_JOB_FREE)
            return job;
    }
    return NULL;
}

void loader_wake(shard_loader *loader)
{
    bool enough = loader->caller_waits || loader->free_jobs * 2 >= loader->jobs;
    if (loader->idle > 0 && (find_task(loader) || (enough && find_free(loader))))
        pthread_cond_signal(&loader->work);
}

/* ---- with the mutex free while they work ---- */

static void finish_job(shard_loader *loader, loader_worker *worker, loader_job *job)
{
    shard_error err;
    pthread_mutex_unlock(&loader->mutex);
    shard_status status = loader_job_finish(job, worker, &err);
    pthread_mutex_lock(&loader->mutex);
    if (status != SHARD_OK)
        fail_job(job, status, &err);
    make_ready(loader, job);
}

static void do_task(shard_loader *loader, loader_worker *worker, loader_job *job)
{
    shard_error err;
    uint32_t task = job->tasks_taken++;
    bool failed = job->status != SHARD_OK;
    loader_wake(loader);
    pthread_mutex_unlock(&loader->mutex);
    shard_status status = failed ? SHARD_OK : loader_job_fill(job, worker, task, &err);
    pthread_mutex_lock(&loader->mutex);
    if (status != SHARD_OK)
        fail_job(job, status, &err);
    if (++job->tasks_done == job->tasks)
        finish_job(loader, worker, job);
}

/* Which rows the batch has: one thread at a time, in order. */
static shard_status next_rows(shard_loader *loader, loader_job *job, shard_error *err)
{
    loader->planning = true;
    loader->turn[loader->planned++ % loader->jobs] = job;
    loader->free_jobs--;
    job->stage = LOADER_JOB_PLANNING;
    job->status = SHARD_OK;
    pthread_mutex_unlock(&loader->mutex);
    uint64_t began = shard_clock_ns();
    shard_status status = loader->streams ? loader_feed_next(&loader->feed, job, err)
                                          : loader_rows_next(&loader->rows, &job->rows, err);
    atomic_fetch_add_explicit(loader->streams ? &loader->shared.read_ns : &loader->shared.order_ns,
                              shard_clock_ns() - began, memory_order_relaxed);
    pthread_mutex_lock(&loader->mutex);
    loader->planning = false;
    loader->finished =
        status == SHARD_OK && job->rows.is_end && job->rows.epoch + 1 == loader->opts.end_epoch;
    loader_wake(loader);
    return status;
}

static void plan_job(shard_loader *loader, loader_worker *worker, loader_job *job)
{
    shard_error err;
    job->tasks = 0;
    shard_status status = next_rows(loader, job, &err);
    if (status == SHARD_OK && !job->rows.is_end) {
        pthread_mutex_unlock(&loader->mutex);
        uint64_t began = shard_clock_ns();
        status = loader_job_plan(job, &loader->shared, &err);
        atomic_fetch_add_explicit(&loader->shared.order_ns, shard_clock_ns() - began,
                                  memory_order_relaxed);
        pthread_mutex_lock(&loader->mutex);
    }
    if (status != SHARD_OK)
        fail_job(job, status, &err);
    if (status == SHARD_OK && job->rows.is_end) {
        make_ready(loader, job);
    } else if (status != SHARD_OK || job->tasks == 0) {
        finish_job(loader, worker, job);
    } else {
        job->stage = LOADER_JOB_FILLING; /* this thread takes the first task, and wakes another */
    }
}

static void wait_for_work(shard_loader *loader)
{
    uint64_t began = shard_clock_ns();
    loader->idle++;
    pthread_cond_wait(&loader->work, &loader->mutex);
    loader->idle--;
    loader->idle_ns += shard_clock_ns() - began;
}

void *loader_work(void *context)
{
    shard_loader *loader = context;
    loader_job *job;
    pthread_mutex_lock(&loader->mutex);
    loader_worker *worker = &loader->worker[loader->workers_started++];
    while (!loader->stopping) {
        if ((job = find_task(loader)) != NULL)
            do_task(loader, worker, job);
        else if ((job = find_free(loader)) != NULL)
            plan_job(loader, worker, job);
        else
            wait_for_work(loader);
    }
    pthread_mutex_unlock(&loader->mutex);
    return NULL;
}
