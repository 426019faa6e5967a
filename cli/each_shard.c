/* SPDX-License-Identifier: Apache-2.0 */
#include "each_shard.h"

#include <stdatomic.h>
#include <string.h>

#include <shard/cpu.h>

enum { THREADS_MAX = 256 };

int each_shard_open(each_shard *all, const cli *c, int count, char **operands)
{
    shard_set_opts opts = SHARD_SET_OPTS_INIT;
    shard_set_info info;
    shard_error err;
    opts.no_indexes = true;
    all->cli = c;
    if (count == 0)
        return cli_usage(c->verb->name, "%.*s is missing", (int)strcspn(c->verb->operands, "."),
                         c->verb->operands);
    if (shard_set_open(&all->set, (const char *const *)operands, (size_t)count, &opts, &err) !=
        SHARD_OK)
        return cli_error(c, &err);
    if (pthread_mutex_init(&all->mutex, NULL) != 0)
        cli_die_memory();
    shard_set_get_info(all->set, &info);
    all->shards = info.shards;
    return EXIT_OK;
}

void each_shard_close(each_shard *all)
{
    if (!all->set)
        return;
    shard_set_close(all->set);
    pthread_mutex_destroy(&all->mutex);
}

/* ---- threads ---- */

typedef struct {
    each_shard *all;
    each_shard_fn work;
    atomic_uint_fast64_t next;
} team;

static void *member(void *argument)
{
    team *t = argument;
    uint64_t i;
    while (!shard_cancel_is_set(t->all->cli->cancel) &&
           (i = atomic_fetch_add(&t->next, 1)) < t->all->shards)
        t->work(t->all, i);
    return NULL;
}

static void run_threads(team *t, uint64_t wanted)
{
    pthread_t thread[THREADS_MAX];
    size_t started = 0;
    wanted = wanted < THREADS_MAX ? wanted : THREADS_MAX;
    wanted = wanted < t->all->shards ? wanted : t->all->shards;
    while (started + 1 < wanted && pthread_create(&thread[started], NULL, member, t) == 0)
        started++;
    member(t); /* this thread is one of them */
    for (size_t i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
}

int each_shard_run(each_shard *all, uint64_t threads, each_shard_fn work)
{
    team t = {.all = all, .work = work};
    progress_begin(&all->progress);
    run_threads(&t, threads > 0 ? threads : shard_cpu_count());
    progress_clear_line();
    if (shard_cancel_is_set(all->cli->cancel))
        return cli_error(all->cli, &(shard_error){.status = SHARD_ECANCEL});
    return EXIT_OK;
}

/* ---- what they tell ---- */

void each_shard_fail(each_shard *all, const shard_error *err)
{
    int code = cli_error(all->cli, err);
    all->code = all->code > code ? all->code : code;
}

void each_shard_done(each_shard *all, uint64_t bytes)
{
    all->done++;
    if (all->cli->progress)
        progress_show(&all->progress, "shards", all->done, all->shards, bytes);
}
