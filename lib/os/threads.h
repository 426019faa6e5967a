/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that do one thing and end: the only place where the library makes any. */
#ifndef OS_THREADS_H
#define OS_THREADS_H

#include <pthread.h>
#include <stdint.h>

enum { SHARD_THREADS_MOST = 1024 };

typedef struct {
    pthread_t thread[SHARD_THREADS_MOST];
    uint32_t count;
} shard_threads;

/* Start up to `wanted` threads; where the system gives fewer, fewer do the work. */
void shard_threads_start(shard_threads *threads, uint32_t wanted, void *(*work)(void *),
                         void *context);
void shard_threads_join(shard_threads *threads);

#endif
