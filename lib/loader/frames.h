/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decompressed frames, each decompressed once as long as it is kept: samples of a frame are wanted
 * one after the other, or by batches that follow each other.
 */
#ifndef LOADER_FRAMES_H
#define LOADER_FRAMES_H

#include <pthread.h>

#include "batch/budget.h"
#include "container/zstd.h"
#include "loader/shards.h"

typedef struct loader_frame {
    uint64_t shard, number;
    uint64_t begin; /* of its content in the tar */
    size_t size;
    size_t room; /* bytes that are counted for it: of its buffer */
    shard_buffer content;
    bool ready; /* else a thread is at it */
    uint32_t pins;
    struct loader_frame *next_of_bucket;
    struct loader_frame *newer, *older;
} loader_frame;

enum { LOADER_FRAME_BUCKETS = 4096 };

typedef struct {
    shard_budget *budget;
    uint64_t limit, used; /* bytes of buffers */
    pthread_mutex_t mutex;
    pthread_cond_t ready;
    loader_frame *bucket[LOADER_FRAME_BUCKETS];
    loader_frame *newest, *oldest;
} loader_frames;

/* What a thread decompresses with. Zeros at first. */
typedef struct {
    shard_zstd_frame_decoder *decoder;
    shard_buffer stored;
} loader_unzip;

/* At most `limit` bytes are kept beyond those in use. */
void loader_frames_init(loader_frames *frames, shard_budget *budget, uint64_t limit);
void loader_frames_clear(loader_frames *frames); /* zeros allowed */

/* Copy bytes `begin` to `end` of the shard's tar to `out`. Any thread, with its own `unzip`. */
shard_status loader_frames_read(loader_frames *frames, loader_unzip *unzip,
                                const loader_shard *shard, uint64_t begin, uint64_t end,
                                uint8_t *out, shard_error *err);
void loader_unzip_clear(loader_unzip *unzip, shard_budget *budget);

#endif
