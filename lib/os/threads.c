/* SPDX-License-Identifier: Apache-2.0 */
#include "os/threads.h"

void shard_threads_start(shard_threads *threads, uint32_t wanted, void *(*work)(void *),
                         void *context)
{
    uint32_t most = wanted < SHARD_THREADS_MOST ? wanted : SHARD_THREADS_MOST;
    threads->count = 0;
    while (threads->count < most &&
           pthread_create(&threads->thread[threads->count], NULL, work, context) == 0)
        threads->count++;
}

void shard_threads_join(shard_threads *threads)
{
    for (uint32_t i = 0; i < threads->count; i++)
        pthread_join(threads->thread[i], NULL);
    threads->count = 0;
}
