/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shards of a set, several at a time: what index, verify and unpack do. Each verb's struct
 * begins with this one, and adds what its threads share.
 */
#ifndef CLI_EACH_SHARD_H
#define CLI_EACH_SHARD_H

#include <shard/set.h>

#include <pthread.h>

#include "cli.h"
#include "progress.h"

typedef struct {
    const cli *cli;
    shard_set *set;
    uint64_t shards;
    pthread_mutex_t mutex; /* of all below, of what the verb adds, and of what is printed */
    progress progress;
    uint64_t done;
    int code; /* the worst so far */
} each_shard;

/* Open the set of these operands; of indexes nothing is believed. Returns EXIT_OK, or the exit code
 * after saying what is wrong. */
int each_shard_open(each_shard *all, const cli *c, int count, char **operands);
void each_shard_close(each_shard *all);

/*
 * Call `work` with the number of each shard, on `threads` threads (0: as many as there are cores).
 * Returns EXIT_OK, or the exit code when a signal ended it.
 */
typedef void (*each_shard_fn)(each_shard *all, uint64_t i);
int each_shard_run(each_shard *all, uint64_t threads, each_shard_fn work);

/* With the mutex held: a shard failed. */
void each_shard_fail(each_shard *all, const shard_error *err);

/* With the mutex held: a shard is done; show how far that is. `bytes` so far. */
void each_shard_done(each_shard *all, uint64_t bytes);

#endif
