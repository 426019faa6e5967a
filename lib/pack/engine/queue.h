/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who works on what, and whose turn it is: jobs are taken from lanes by any thread and written to
 * each lane in the order in which they were taken.
 *
 * Memory: there are `jobs_max` jobs, each with its chunk; who finds none free waits. There is no
 * deadlock, since the job that is next in a lane was taken by a thread that has it in hand or put
 * it here.
 */
#ifndef PACK_QUEUE_H
#define PACK_QUEUE_H

#include <pthread.h>

#include "pack/engine/lane.h"
#include "pack/input/input.h"
#include "pack/plan.h"

enum { PACK_BATCH_MOST = 256 }; /* samples of a stream in one job */

typedef struct pack_run pack_run;

/* A run of samples of one lane. */
typedef struct pack_job {
    pack_run *run;
    uint64_t number;      /* among the jobs of its lane */
    uint64_t first, last; /* samples of a list; for a stream the batch has them */
    pack_chunk chunk;
    bool has_turn; /* its thread may write to the lane */

    pack_sample *batch; /* of a stream */
    size_t batch_count;
    struct pack_job *next;
} pack_job;

/* A lane that jobs are taken from. */
struct pack_run {
    pack_lane lane;
    uint64_t first, last, next_sample; /* of a list */
    uint64_t per_job;
    bool ended; /* no more jobs to take */
    uint64_t taken, written;
    bool busy;       /* a thread writes to the lane */
    pack_job *ready; /* waiting for their turn, ascending */
    struct pack_run *next;
};

/* What a thread does with a job's chunk when it is its turn, and with a lane when all is written.
 */
typedef struct {
    shard_status (*write)(void *context, pack_lane *lane, pack_chunk *chunk, shard_error *err);
    shard_status (*finish)(void *context, pack_lane *lane, shard_error *err);
    void *context;
} pack_writer;

typedef struct {
    pack_sink *sink;
    const pack_input *input;
    const pack_plan *plan;

    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t changed;
    bool stopped;
    shard_error error; /* why; status SHARD_OK: not at all */
    pack_run *runs;    /* lanes in work */
    uint64_t next_shard;
    bool input_busy; /* a thread reads from the stream */
    pack_job *free_jobs;
    size_t jobs, jobs_max;
    fmt_json *skips; /* what a lane left that wrote no shard behind it */
} pack_queue;

shard_status pack_queue_init(pack_queue *queue, pack_sink *sink, const pack_input *input,
                             const pack_plan *plan, size_t jobs_max, shard_error *err);

/* Removes what was not finished. */
void pack_queue_clear(pack_queue *queue);

/*
 * The next job, of the lane `*mine` if that has one; NULL when there is no more, or the queue is
 * stopped. From a stream, the caller then reads the batch and calls pack_queue_batch_read.
 */
pack_job *pack_queue_take(pack_queue *queue, pack_run **mine);
void pack_queue_batch_read(pack_queue *queue, pack_job *job, bool ended);

/* Wait for the job's turn. False: the queue is stopped. */
bool pack_queue_wait_turn(pack_queue *queue, pack_job *job);

/* The job's chunk is complete: it is written now, or by whoever writes the one before it. */
void pack_queue_put(pack_queue *queue, pack_job *job, const pack_writer *writer);

/* Stop all threads, for this reason. The first one counts. */
void pack_queue_stop(pack_queue *queue, const shard_error *why);

#endif
