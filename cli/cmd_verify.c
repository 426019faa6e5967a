/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/verify.h>

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "cli.h"
#include "parallel.h"
#include "progress.h"
#include "record.h"
#include "set.h"
#include "verbs.h"

typedef struct {
    common common;
    uint64_t jobs, problems;
} verify_args;

#define FIELD(name) offsetof(verify_args, name)

static const opt opts[] = {
    {0, "problems", OPT_NUMBER, FIELD(problems), 0, "N", "problems told of each shard, else 10"},
    {'j', "jobs", OPT_NUMBER, FIELD(jobs), 0, "N",
     "shards at once; else as many as there are cores"},
};

static const opt_example examples[] = {
    {"shardtool verify out.shards.json", "every byte of every shard"},
};

typedef struct {
    const cli *cli;
    const shard_set *set;
    shard_verify_opts opts;
    uint64_t shards, jobs;

    pthread_mutex_t mutex; /* of all below, and of what is printed */
    progress progress;
    uint64_t done, samples, components, bytes, problems, bad_shards, without_index;
    int code;
} verifying;

static void on_problem(void *context, const shard_error *problem)
{
    verifying *v = context;
    pthread_mutex_lock(&v->mutex);
    cli_report(v->cli, problem);
    pthread_mutex_unlock(&v->mutex);
}

static void add(verifying *v, const shard_verify_report *report)
{
    v->samples += report->samples;
    v->components += report->components;
    v->bytes += report->bytes;
    v->problems += report->problems;
}

static void work(void *context, size_t i)
{
    verifying *v = context;
    shard_verify_report report;
    shard_error err;
    shard_status status = shard_verify_shard(v->set, i, &v->opts, &report, &err);
    pthread_mutex_lock(&v->mutex);
    add(v, &report);
    v->done++;
    v->bad_shards += report.problems > 0;
    v->without_index += !report.has_index;
    if (status != SHARD_OK)
        v->code = cli_error(v->cli, &err);
    if (v->cli->progress)
        progress_show(&v->progress, "shards", v->done, v->shards, v->bytes);
    pthread_mutex_unlock(&v->mutex);
}

static void verify_manifest(verifying *v)
{
    shard_verify_report report;
    shard_error err;
    if (shard_verify_manifest(v->set, &v->opts, &report, &err) != SHARD_OK)
        v->code = cli_error(v->cli, &err);
    v->problems += report.problems;
}

static int tell(const verifying *v)
{
    if (v->cli->common->json) {
        record *line = record_new();
        record_number(line, "shards", v->shards);
        record_number(line, "samples", v->samples);
        record_number(line, "components", v->components);
        record_number(line, "bytes", v->bytes);
        record_number(line, "problems", v->problems);
        record_number(line, "bad_shards", v->bad_shards);
        record_number(line, "without_index", v->without_index);
        record_real(line, "seconds", progress_seconds(&v->progress));
        record_print(line, stdout);
    }
    if (v->without_index > 0)
        cli_note(v->cli, "%s without an index: only the tar itself was checked",
                 text_things(v->without_index, "shard"));
    if (v->problems == 0)
        cli_note(v->cli, "all is well: %s in %s, %s", text_things(v->samples, "sample"),
                 text_things(v->shards, "shard"), text_size(v->bytes));
    else
        cli_note(v->cli, "%s, in %s of %s", text_things(v->problems, "problem"),
                 text_count(v->bad_shards), text_things(v->shards, "shard"));
    return v->code != EXIT_OK ? v->code : v->problems > 0 ? EXIT_DATA : EXIT_OK;
}

static int verify(verifying *v)
{
    if (pthread_mutex_init(&v->mutex, NULL) != 0)
        cli_die_memory();
    progress_begin(&v->progress);
    parallel_run((size_t)v->shards, v->jobs, v->cli->cancel, work, v);
    progress_clear_line();
    bool cancelled = shard_cancel_is_set(v->cli->cancel);
    if (!cancelled)
        verify_manifest(v);
    pthread_mutex_destroy(&v->mutex);
    return cancelled ? cli_error(v->cli, &(shard_error){.status = SHARD_ECANCEL}) : tell(v);
}

static int run(cli *c, void *args, int count, char **operands)
{
    const verify_args *a = args;
    verifying v = {.cli = c, .opts = SHARD_VERIFY_OPTS_INIT, .jobs = a->jobs};
    shard_set *set;
    shard_set_info info;
    shard_error err;
    shard_set_opts set_opts = SHARD_SET_OPTS_INIT;
    set_opts.no_indexes = true; /* a bad one is a problem to be told, not an end */
    if (count == 0)
        return cli_usage(c->verb->name, "SET is missing");
    if (shard_set_open(&set, (const char *const *)operands, (size_t)count, &set_opts, &err) !=
        SHARD_OK)
        return cli_error(c, &err);
    shard_set_get_info(set, &info);
    v.set = set;
    v.shards = info.shards;
    v.opts.cancel = c->cancel;
    v.opts.problems_max = a->problems < UINT32_MAX ? (uint32_t)a->problems : UINT32_MAX;
    v.opts.on_problem = on_problem;
    v.opts.context = &v;
    int code = verify(&v);
    shard_set_close(set);
    return code;
}

const verb verb_verify = {
    .name = "verify",
    .summary = "check every checksum, index and count",
    .operands = "SET...",
    .text =
        "Read all of SET and compare: tar headers and compressed frames with their checksums, "
        "payloads and offsets with the indexes, shards and totals with the manifest. Each problem "
        "is told with its place; the exit status is 1 if there are any.\n\n" SET_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(verify_args),
    .run = run,
};
