/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/loader.h"

#include <string.h>
#include <time.h>

#include "core/opts.h"
#include "os/clock.h"

/* ---- opening ---- */

static void init_sync(shard_loader *loader)
{
    pthread_condattr_t monotonic;
    pthread_mutex_init(&loader->mutex, NULL);
    pthread_cond_init(&loader->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&loader->ready, &monotonic);
    pthread_condattr_destroy(&monotonic);
    loader->has_sync = true;
}

static shard_status init_shared(shard_loader *loader, shard_error *err)
{
    loader_shared *shared = &loader->shared;
    shared->fields = &loader->fields;
    shared->set = loader->set;
    shared->seed = loader->opts.seed;
    shared->no_checksums = loader->opts.no_checksums;
    shared->on_bad = loader->opts.on_bad;
    shared->tell_bad = loader->opts.tell_bad;
    shared->tell_context = loader->opts.tell_context;
    shared->budget.limit = loader->opts.memory;
    shared->budget.alloc = loader->alloc;
    shard_device_init_host(&shared->device, &loader->alloc);
    loader_frames_init(&shared->frames, &shared->budget, loader->opts.memory / 4);
    return loader_shards_init(&shared->shards, loader->set, loader->stop, &loader->alloc, err);
}

static shard_status init_place(shard_loader *loader, shard_error *err)
{
    const shard_state *place = &loader->place;
    if (loader->streams) {
        loader_feed_init(&loader->feed, &loader->shared, &loader->opts, &loader->split, place,
                         &loader->alloc);
        return SHARD_OK;
    }
    return loader_rows_init(&loader->rows, loader->order, &loader->split, place->epoch,
                            place->position, &loader->alloc, err);
}

static shard_status init_ring(shard_loader *loader, shard_error *err)
{
    loader->jobs = loader->free_jobs = loader->opts.prefetch + 1;
    loader->job = shard_alloc_zeroed(&loader->alloc, loader->jobs, sizeof *loader->job);
    loader->worker =
        shard_alloc_zeroed(&loader->alloc, loader->opts.threads, sizeof *loader->worker);
    loader->turn = shard_alloc_zeroed(&loader->alloc, loader->jobs, sizeof(loader_job *));
    if (!loader->job || !loader->worker || !loader->turn)
        return shard_fail_memory(err);
    for (uint32_t i = 0; i < loader->jobs; i++)
        SHARD_TRY(loader_job_init(&loader->job[i], &loader->shared, err));
    for (; loader->workers < loader->opts.threads; loader->workers++)
        SHARD_TRY(loader_worker_init(&loader->worker[loader->workers], &loader->shared,
                                     loader->opts.allocator, err));
    return init_place(loader, err);
}

static shard_status start(shard_loader *loader, shard_error *err)
{
    shard_threads_start(&loader->threads, loader->opts.threads, loader_work, loader);
    if (loader->threads.count > 0)
        return SHARD_OK;
    return shard_fail(err, SHARD_EIO, NULL, SHARD_NO_OFFSET, "the system gives no thread");
}

static shard_status set_up(shard_loader *loader, const char *const *urls, size_t count,
                           shard_error *err)
{
    if (shard_cancel_new(&loader->stop) != SHARD_OK)
        return shard_fail_memory(err);
    init_sync(loader);
    SHARD_TRY(loader_resolve(loader, urls, count, err));
    SHARD_TRY(init_shared(loader, err));
    SHARD_TRY(init_ring(loader, err));
    return start(loader, err);
}

shard_status shard_loader_open(shard_loader **out, const char *const *urls, size_t count,
                               const shard_loader_opts *opts, shard_error *err)
{
    shard_loader_opts o;
    *out = NULL;
    uint64_t began = shard_clock_ns();
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    shard_loader *loader = shard_alloc_zeroed(&alloc, 1, sizeof *loader);
    if (!loader)
        return shard_fail_memory(err);
    loader->opts = o;
    loader->alloc = alloc;
    loader->opened_ns = began;
    shard_status status = set_up(loader, urls, count, err);
    if (status != SHARD_OK) {
        shard_loader_close(loader);
        return status;
    }
    *out = loader;
    return SHARD_OK;
}

/* ---- closing ---- */

static void stop_threads(shard_loader *loader)
{
    if (!loader->has_sync)
        return;
    shard_cancel_set(loader->stop);
    pthread_mutex_lock(&loader->mutex);
    loader->stopping = true;
    pthread_cond_broadcast(&loader->work);
    pthread_mutex_unlock(&loader->mutex);
    shard_threads_join(&loader->threads);
}

static void clear_sync(shard_loader *loader)
{
    if (!loader->has_sync)
        return;
    pthread_mutex_destroy(&loader->mutex);
    pthread_cond_destroy(&loader->work);
    pthread_cond_destroy(&loader->ready);
}

void shard_loader_close(shard_loader *loader)
{
    if (!loader)
        return;
    fmt_alloc alloc = loader->alloc;
    stop_threads(loader);
    for (uint32_t i = 0; i < loader->workers; i++)
        loader_worker_clear(&loader->worker[i]);
    if (loader->worker && loader->workers < loader->opts.threads)
        loader_worker_clear(&loader->worker[loader->workers]); /* the one that failed */
    for (uint32_t i = 0; loader->job && i < loader->jobs; i++)
        loader_job_clear(&loader->job[i], &loader->shared);
    loader_rows_clear(&loader->rows);
    loader_feed_clear(&loader->feed);
    loader_frames_clear(&loader->shared.frames);
    loader_shards_clear(&loader->shared.shards);
    loader_fields_clear(&loader->fields);
    shard_order_close(loader->order);
    shard_set_close(loader->set);
    clear_sync(loader);
    shard_cancel_free(loader->stop);
    shard_alloc_free(&alloc, loader->worker);
    shard_alloc_free(&alloc, loader->turn);
    shard_alloc_free(&alloc, loader->job);
    shard_alloc_free(&alloc, loader);
}

/* ---- batches ---- */

static shard_status fail_all(shard_loader *loader, shard_status status, const shard_error *why,
                             shard_error *err)
{
    loader->status = status;
    loader->err = *why;
    if (err)
        *err = *why;
    return status;
}

static shard_status cancel(shard_loader *loader, shard_error *err)
{
    shard_error why = {.status = SHARD_ECANCEL, .offset = SHARD_NO_OFFSET, .message = "cancelled"};
    shard_cancel_set(loader->stop);
    return fail_all(loader, SHARD_ECANCEL, &why, err);
}

/* A signal's handler may set the token and can wake nobody: so look at it now and then. */
static void wait_a_while(shard_loader *loader)
{
    enum { LOOK_UP_NS = 20 * 1000 * 1000, SECOND_NS = 1000 * 1000 * 1000 };
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += LOOK_UP_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    loader->caller_waits = true;
    loader_wake(loader);
    pthread_cond_timedwait(&loader->ready, &loader->mutex, &until);
    loader->caller_waits = false;
}

/* Where to go on once this batch, or end of an epoch, was given. */
static void move_place(shard_loader *loader, const loader_rows_batch *rows)
{
    shard_state *place = &loader->place;
    uint64_t step = shard_split_global_batch(&loader->split), size = loader->split.epoch_size;
    uint64_t position = rows->position + step;
    place->epoch = rows->is_end ? rows->epoch + 1 : rows->epoch;
    place->position = rows->is_end ? 0 : size > 0 && position > size ? size : position;
    place->round = rows->round;
    place->departures = rows->departures;
    place->shard = rows->shard;
    place->first = rows->first;
}

static void free_job(shard_loader *loader, loader_job *job)
{
    job->stage = LOADER_JOB_FREE;
    loader->free_jobs++;
    loader_wake(loader);
}

static shard_status give(shard_loader *loader, loader_job *job, const shard_batch **out)
{
    loader->given++;
    move_place(loader, &job->rows);
    if (job->rows.is_end) {
        free_job(loader, job);
        return SHARD_END;
    }
    job->stage = LOADER_JOB_LENT;
    if (loader->batches++ == 0)
        loader->first_ns = shard_clock_ns() - loader->opened_ns;
    loader->samples += job->slot.batch.valid_count;
    loader->bad_samples += job->bad_samples;
    *out = &job->slot.batch;
    return SHARD_OK;
}

/* The batch that comes next, where it is ready; else NULL. */
static loader_job *next_ready(const shard_loader *loader)
{
    loader_job *job = loader->turn[loader->given % loader->jobs];
    return loader->given < loader->planned && job->stage == LOADER_JOB_READY ? job : NULL;
}

static bool all_are_lent(const shard_loader *loader)
{
    for (uint32_t i = 0; i < loader->jobs; i++)
        if (loader->job[i].stage != LOADER_JOB_LENT)
            return false;
    return true;
}

static shard_status next(shard_loader *loader, const shard_batch **out, shard_error *err)
{
    loader_job *job;
    if (loader->status != SHARD_OK)
        return fail_all(loader, loader->status, &loader->err, err);
    while ((job = next_ready(loader)) == NULL) {
        if (loader->finished && loader->given == loader->planned)
            return SHARD_END;
        if (shard_cancel_is_set(loader->opts.cancel))
            return cancel(loader, err);
        if (all_are_lent(loader))
            return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                              "all %u batches are with the caller: release one first",
                              loader->jobs);
        wait_a_while(loader);
    }
    if (shard_cancel_is_set(loader->opts.cancel))
        return cancel(loader, err);
    if (job->status != SHARD_OK)
        return fail_all(loader, job->status, &job->err, err);
    return give(loader, job, out);
}

shard_status shard_loader_next(shard_loader *loader, const shard_batch **out, shard_error *err)
{
    *out = NULL;
    uint64_t began = shard_clock_ns();
    pthread_mutex_lock(&loader->mutex);
    shard_status status = next(loader, out, err);
    loader->wait_ns += shard_clock_ns() - began;
    const loader_job *given = loader->turn[(loader->given - 1) % loader->jobs];
    pthread_mutex_unlock(&loader->mutex);
    if (status == SHARD_OK)
        loader_job_tell(given, &loader->shared);
    return status;
}

void shard_loader_release(shard_loader *loader, const shard_batch *batch)
{
    pthread_mutex_lock(&loader->mutex);
    for (uint32_t i = 0; i < loader->jobs; i++)
        if (&loader->job[i].slot.batch == batch && loader->job[i].stage == LOADER_JOB_LENT)
            free_job(loader, &loader->job[i]);
    pthread_mutex_unlock(&loader->mutex);
}

/* ---- what can be asked ---- */

void shard_loader_get_info(const shard_loader *loader, shard_loader_info *out)
{
    shard_set_info set;
    bool sized = loader->split.epoch_size > 0 && loader->split.epoch_size < UINT64_MAX;
    shard_set_get_info(loader->set, &set);
    *out = (shard_loader_info){.samples = set.samples,
                               .epoch_batches =
                                   sized ? shard_split_batches(&loader->split, 0) : SHARD_UNKNOWN,
                               .batch = loader->opts.batch,
                               .rank = loader->opts.rank,
                               .world_size = loader->opts.world_size,
                               .threads = loader->threads.count,
                               .prefetch = loader->opts.prefetch,
                               .order = loader_order_name(loader),
                               .seed = loader->opts.seed,
                               .epoch = loader->place.epoch,
                               .position = loader->place.position};
}

const shard_set *shard_loader_get_set(const shard_loader *loader)
{
    return loader->set;
}

/*
 * Whoever is waited for. The caller waits little: it is the one. Otherwise the threads are, and
 * then it is what they spend most of their time with.
 */
static shard_bottleneck find_bottleneck(const shard_loader_stats *s, double elapsed_s)
{
    enum { BATCHES_LEAST = 4 };
    if (s->batches < BATCHES_LEAST)
        return SHARD_BOTTLENECK_NONE;
    if (s->wait_s - s->first_batch_s < 0.1 * (elapsed_s - s->first_batch_s))
        return SHARD_BOTTLENECK_CONSUMER;
    return s->read_s > s->decode_s ? SHARD_BOTTLENECK_STORAGE : SHARD_BOTTLENECK_DECODE;
}

void shard_loader_get_stats(shard_loader *loader, shard_loader_stats *out)
{
    const double second = 1e9;
    loader_shared *shared = &loader->shared;
    pthread_mutex_lock(&loader->mutex);
    double elapsed_s = (double)(shard_clock_ns() - loader->opened_ns) / second;
    *out = (shard_loader_stats){.batches = loader->batches,
                                .samples = loader->samples,
                                .bytes = atomic_load(&shared->bytes),
                                .reads = atomic_load(&shared->reads),
                                .bad_samples = loader->bad_samples,
                                .order_s = (double)atomic_load(&shared->order_ns) / second,
                                .read_s = (double)atomic_load(&shared->read_ns) / second,
                                .decode_s = (double)atomic_load(&shared->decode_ns) / second,
                                .idle_s = (double)loader->idle_ns / second,
                                .wait_s = (double)loader->wait_ns / second,
                                .first_batch_s = (double)loader->first_ns / second,
                                .memory = atomic_load(&shared->budget.used)};
    pthread_mutex_unlock(&loader->mutex);
    out->bottleneck = find_bottleneck(out, elapsed_s);
}
