/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader: some jobs, each a batch, and the threads that work on them. A thread takes the
 * oldest task that nobody has; where there is none it plans the next batch, if a job is free.
 * Batches leave in order, whoever was done first.
 */
#ifndef LOADER_LOADER_H
#define LOADER_LOADER_H

#include <shard/loader.h>

#include "loader/feed.h"
#include "loader/job.h"
#include "os/threads.h"

struct shard_loader {
    shard_loader_opts opts; /* resolved: no zeros where a default stands for them */
    fmt_alloc alloc;
    shard_cancel *stop; /* what sources are asked: set by closing, and when the caller cancels */
    shard_set *set;
    bool streams; /* front to end, by `feed`; else by `order` and `rows` */
    shard_order *order;
    shard_split split;
    loader_fields fields;
    loader_rows rows;
    loader_feed feed;
    loader_shared shared;

    loader_job *job;
    uint32_t jobs;
    loader_job **turn; /* batch number n that is planned and not given is made in turn[n % jobs] */
    loader_worker *worker;
    uint32_t workers, workers_started;
    shard_threads threads;

    pthread_mutex_t mutex;
    pthread_cond_t work;  /* for threads: a task, or a free job */
    pthread_cond_t ready; /* for the caller: the next batch, or a failure */
    uint32_t idle;        /* threads that wait */
    uint32_t free_jobs;
    bool caller_waits;
    uint64_t ready_ns, pace_ns; /* when a batch was ready last; between two of them, about */
    bool has_sync;              /* the three above are made */
    bool planning;              /* a thread works out the next batch's rows */
    bool finished;              /* the last epoch's end is planned */
    bool stopping;
    uint64_t planned, given; /* numbers of batches */
    shard_status status;     /* of what ended all */
    shard_error err;

    shard_state place; /* behind the last batch that was given */
    uint64_t opened_ns, first_ns, wait_ns, idle_ns, batches, samples, bad_samples;
};

/* Check the options and fill in what follows from the set. (options.c) */
shard_status loader_resolve(shard_loader *loader, const char *const *urls, size_t count,
                            shard_error *err);

/* (resume.c) */
shard_status loader_check_seed(uint64_t given, const shard_state *state, shard_error *err);
shard_status loader_check_state(const shard_loader *loader, const shard_state *state,
                                shard_error *err);
const char *loader_order_name(const shard_loader *loader);

/*
 * Under the mutex: wake a thread that waits, if there is something to do. A few free jobs are worth
 * waking somebody, one is not, unless the caller waits: small batches are made faster than threads
 * are woken. (work.c)
 */
void loader_wake(shard_loader *loader);

/* The threads' work, until the loader stops. (work.c) */
void *loader_work(void *loader);

#endif
