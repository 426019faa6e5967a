/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch on its way: planned by one thread, which finds out where its samples lie, then filled by
 * any number of threads in tasks of some 256 KiB each, then mended by one where samples were bad.
 */
#ifndef LOADER_JOB_H
#define LOADER_JOB_H

#include "batch/slot.h"
#include "loader/decoders.h"
#include "loader/frames.h"
#include "loader/rows.h"

typedef struct {
    uint64_t shard;       /* its number; not of a stream */
    shard_extent extent;  /* not of a stream; its key stands in the slot's text */
    size_t at, size;      /* of its stored bytes in the slot, where they are kept */
    size_t key, key_size; /* in the slot's text */
    size_t component;     /* in the slot's components, of a loader without fields or a stream */
    uint32_t components;
    bool bad;
} loader_row;

/* Rows whose extents stand one behind the other in a shard: one read. */
typedef struct {
    uint32_t first, count; /* in `sorted` */
    uint64_t begin, end;   /* of the shard's tar */
    size_t at;             /* in the slot's bytes, where they are kept */
} loader_run;

typedef struct {
    uint32_t first, count; /* runs */
} loader_task;

/* A bad sample that the caller is told of when the batch is given. */
typedef struct {
    uint64_t id;
    size_t key, message; /* in the slot's text */
    const char *path;    /* the set's */
    shard_status status;
    uint64_t offset;
} loader_bad;

typedef enum {
    LOADER_JOB_FREE = 0,
    LOADER_JOB_PLANNING,
    LOADER_JOB_FILLING,
    LOADER_JOB_READY,
    LOADER_JOB_LENT,
} loader_job_stage;

typedef struct {
    shard_slot slot; /* first, so that a batch leads back here */
    loader_rows_batch rows;
    loader_row *row;
    uint32_t *sorted; /* rows that are read, by place */
    uint32_t sorted_count;
    loader_run *run;
    uint32_t runs;
    loader_task *task;
    uint32_t tasks;
    size_t bytes_used, text_used, components_used; /* of the slot's buffers */
    bool streamed;                                 /* the samples' bytes came with the rows */
    uint64_t bad_samples;                          /* substituted or masked */
    shard_buffer bad;                              /* as many loader_bad, if anybody is told */

    /* Under the loader's mutex. */
    loader_job_stage stage;
    uint32_t tasks_taken, tasks_done;
    shard_status status; /* of all threads that worked on it; the first that failed */
    shard_error err;
} loader_job;

/* What all jobs of a loader share. */
typedef struct {
    const loader_fields *fields;
    const shard_set *set;
    loader_shards shards;
    loader_frames frames;
    shard_budget budget;
    shard_device device;
    uint64_t seed;
    bool no_checksums;
    shard_bad_sample on_bad;
    shard_bad_sample_fn tell_bad;
    void *tell_context;
    _Atomic uint64_t bytes, reads;
    _Atomic uint64_t order_ns, read_ns, decode_ns;
} loader_shared;

/* What one thread works with. */
typedef struct {
    loader_shared *shared;
    loader_decoders decoders;
    loader_unzip unzip;
    shard_buffer scratch;    /* stored bytes that are not kept */
    shard_buffer components; /* of one sample, of a loader with fields */
    fmt_tar_reader *tar;
} loader_worker;

/* `worker` holds zeros. On failure it holds what may be cleared. */
shard_status loader_worker_init(loader_worker *worker, loader_shared *shared,
                                const shard_allocator *allocator, shard_error *err);
void loader_worker_clear(loader_worker *worker);

/* `job` holds zeros. On failure it holds what may be cleared. */
shard_status loader_job_init(loader_job *job, loader_shared *shared, shard_error *err);
void loader_job_clear(loader_job *job, loader_shared *shared);

/* Find the samples of job->rows, where they did not come with them, and divide the work into tasks.
 * (plan.c) */
shard_status loader_job_plan(loader_job *job, loader_shared *shared, shard_error *err);

/* Forget what the job held before: no rows, and nothing in the slot's buffers. (plan.c) */
void loader_job_begin(loader_job *job);

/* Keep a copy of row `i`'s key, with a NUL behind it, in the slot's text. (plan.c) */
shard_status loader_keep_key(loader_job *job, loader_shared *shared, uint32_t i, const void *key,
                             size_t size, shard_error *err);

/* The row's components in the slot. */
shard_sample_component *loader_row_components(const loader_job *job, uint32_t row);

/* Do one task. Bad samples are marked; an error is one that no other sample helps against. (fill.c)
 */
shard_status loader_job_fill(loader_job *job, loader_worker *worker, uint32_t task,
                             shard_error *err);

/* After all tasks, or a failure: deal with bad samples, let go of the shards, and show the batch.
 * (mend.c) */
shard_status loader_job_finish(loader_job *job, loader_worker *worker, shard_error *err);

/* Tell the caller of the batch's bad samples. (mend.c) */
void loader_job_tell(const loader_job *job, const loader_shared *shared);

/* ---- for fill.c and mend.c ---- */

/* Read bytes of a shard's tar. */
shard_status loader_read(loader_worker *worker, const loader_shard *shard, uint64_t begin,
                         uint64_t end, uint8_t *out, shard_error *err);

/*
 * Find the sample of row `i`, which gets its place behind all others of the slot. Its shard is then
 * in `*pinned`, where another one may have been, which is let go; NULL: none is. (plan.c)
 */
shard_status loader_place_row(loader_job *job, loader_shared *shared, uint32_t i, uint64_t id,
                              loader_shard **pinned, shard_error *err);

/* Make row `row` of the sample whose extent stands in `bytes`, and mark it where that is bad; not
 * of a stream. `shard` is the row's, pinned. */
shard_status loader_make_row(loader_worker *worker, loader_job *job, uint32_t row,
                             const loader_shard *shard, const uint8_t *bytes, shard_error *err);

/* Make row `row` of these components, and mark it where they are bad. */
shard_status loader_decode_row(loader_worker *worker, loader_job *job, uint32_t row,
                               const shard_sample_component *components, shard_error *err);

/* Whether reading a sample failed for a reason that another one may not have. */
bool loader_is_bad_sample(shard_status status);

#endif
