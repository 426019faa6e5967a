/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PACK_PROGRESS_H
#define PACK_PROGRESS_H

#include <pthread.h>

#include <shard/pack.h>

#include "core/error.h"
#include "pack/plan.h"

/* Counts what the threads write, and tells the caller of it now and then. */
typedef struct {
    pthread_mutex_t mutex;
    shard_pack_progress_fn on_progress;
    void *context;
    shard_pack_progress now;
    uint64_t told_ms;
} pack_progress;

shard_status pack_progress_init(pack_progress *progress, const shard_pack_opts *opts,
                                const pack_plan *plan, shard_error *err);
void pack_progress_clear(pack_progress *progress);

/* So many samples and bytes more. */
void pack_progress_add(pack_progress *progress, uint64_t samples, uint64_t bytes_in,
                       uint64_t bytes_out);

#endif
