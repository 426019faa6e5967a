/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/verify.h>

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

#include "cli.h"
#include "each_shard.h"
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
    each_shard all;
    shard_verify_opts opts;
    uint64_t samples, components, bytes, problems, bad_shards, without_index;
} verifying;

static void on_problem(void *context, const shard_error *problem)
{
    verifying *v = context;
    pthread_mutex_lock(&v->all.mutex);
    cli_report(v->all.cli, problem);
    pthread_mutex_unlock(&v->all.mutex);
}

static void add(verifying *v, const shard_verify_report *report)
{
    v->samples += report->samples;
    v->components += report->components;
    v->bytes += report->bytes;
    v->problems += report->problems;
}

static void work(each_shard *all, uint64_t i)
{
    verifying *v = (verifying *)all;
    shard_verify_report report;
    shard_error err;
    shard_status status = shard_verify_shard(all->set, i, &v->opts, &report, &err);
    pthread_mutex_lock(&all->mutex);
    add(v, &report);
    v->bad_shards += report.problems > 0;
    v->without_index += !report.has_index;
    if (status != SHARD_OK)
        each_shard_fail(all, &err);
    each_shard_done(all, v->bytes);
    pthread_mutex_unlock(&all->mutex);
}

static void verify_manifest(verifying *v)
{
    shard_verify_report report;
    shard_error err;
    if (shard_verify_manifest(v->all.set, &v->opts, &report, &err) != SHARD_OK)
        each_shard_fail(&v->all, &err);
    v->problems += report.problems;
}

static int tell(const verifying *v)
{
    if (v->all.cli->common->json) {
        record *line = record_new();
        record_number(line, "shards", v->all.shards);
        record_number(line, "samples", v->samples);
        record_number(line, "components", v->components);
        record_number(line, "bytes", v->bytes);
        record_number(line, "problems", v->problems);
        record_number(line, "bad_shards", v->bad_shards);
        record_number(line, "without_index", v->without_index);
        record_real(line, "seconds", progress_seconds(&v->all.progress));
        record_print(line, stdout);
    }
    if (v->without_index > 0)
        cli_note(v->all.cli, "%s without an index: only the tar itself was checked",
                 text_things(v->without_index, "shard"));
    if (v->problems == 0)
        cli_note(v->all.cli, "all is well: %s in %s, %s", text_things(v->samples, "sample"),
                 text_things(v->all.shards, "shard"), text_size(v->bytes));
    else
        cli_note(v->all.cli, "%s, in %s of %s", text_things(v->problems, "problem"),
                 text_count(v->bad_shards), text_things(v->all.shards, "shard"));
    return v->all.code != EXIT_OK ? v->all.code : v->problems > 0 ? EXIT_DATA : EXIT_OK;
}

static int verify(verifying *v, const verify_args *a)
{
    v->opts.cancel = v->all.cli->cancel;
    v->opts.problems_max = a->problems < UINT32_MAX ? (uint32_t)a->problems : UINT32_MAX;
    v->opts.on_problem = on_problem;
    v->opts.context = v;
    int code = each_shard_run(&v->all, a->jobs, work);
    if (code != EXIT_OK)
        return code;
    verify_manifest(v);
    return tell(v);
}

static int run(cli *c, void *args, int count, char **operands)
{
    verifying v = {.opts = SHARD_VERIFY_OPTS_INIT};
    int code = each_shard_open(&v.all, c, count, operands);
    if (code == EXIT_OK)
        code = verify(&v, args);
    each_shard_close(&v.all);
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
