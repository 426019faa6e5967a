/* SPDX-License-Identifier: Apache-2.0 */
#include "parallel.h"

#include <pthread.h>
#include <stdatomic.h>

#include <shard/cpu.h>

enum { THREADS_MAX = 256 };

typedef struct {
    atomic_size_t next;
    size_t count;
    const shard_cancel *cancel;
    parallel_fn work;
    void *context;
} team;

static void *member(void *argument)
{
    team *t = argument;
    size_t i;
    while (!shard_cancel_is_set(t->cancel) && (i = atomic_fetch_add(&t->next, 1)) < t->count)
        t->work(t->context, i);
    return NULL;
}

void parallel_run(size_t count, uint64_t threads, const shard_cancel *cancel, parallel_fn work,
                  void *context)
{
    team t = {.count = count, .cancel = cancel, .work = work, .context = context};
    pthread_t thread[THREADS_MAX];
    size_t wanted = threads > 0 ? (size_t)threads : shard_cpu_count();
    wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    wanted = wanted < count ? wanted : count;
    size_t started = 0;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, member, &t) == 0)
        started++;
    member(&t); /* this thread is one of them */
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}
