/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/index.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dali.h"
#include "each_shard.h"
#include "record.h"
#include "set.h"
#include "verbs.h"
#include "wids.h"

typedef struct {
    common common;
    const char *output, *manifest, *wids;
    bool no_checksums, missing, dali, from_dali, missing_end;
    uint64_t jobs;
} index_args;

#define FIELD(name) offsetof(index_args, name)

static const opt opts[] = {
    {'o', "output", OPT_FILE, FIELD(output), 0, "FILE",
     "write the index of a single shard to FILE; - is standard output"},
    {0, "missing", OPT_FLAG, FIELD(missing), 0, NULL,
     "only shards without an index, or with one of another size"},
    {0, "no-checksums", OPT_FLAG, FIELD(no_checksums), 0, NULL,
     "read headers only: many times faster, and verify has less to go by"},
    {0, "manifest", OPT_FILE, FIELD(manifest), 0, "FILE",
     "then write a manifest of the shards, in the order given"},
    {0, "dali", OPT_FLAG, FIELD(dali), 0, NULL,
     "also write NAME.idx for readers.webdataset of NVIDIA DALI"},
    {0, "wids", OPT_FILE, FIELD(wids), 0, "FILE",
     "also write a wids index (JSON) of the set, for random access in Python"},
    {0, "from-dali", OPT_FLAG, FIELD(from_dali), 0, NULL,
     "take offsets from NAME.idx instead of reading the shard; headers must agree"},
    {0, "missing-end", OPT_FLAG, FIELD(missing_end), 0, NULL,
     "accept tars without an end mark, as some writers leave them"},
    {'j', "jobs", OPT_NUMBER, FIELD(jobs), 0, "N",
     "shards at once; else as many as there are cores"},
};

static const opt_example examples[] = {
    {"shardtool index 'cc3m-{0000..0331}.tar' --manifest cc3m.shards.json",
     "index shards that another tool wrote, and make a set of them"},
    {"shardtool index --dali train-*.tar", "indexes for DALI too"},
};

typedef struct {
    each_shard all;
    const index_args *args;
    uint64_t samples, bytes, kept;
} indexing;

/* ---- one shard ---- */

static shard_status build(const indexing *in, const shard_set_shard *shard, const char *path,
                          shard_error *err)
{
    char dali[4200];
    shard_index_build_opts o = SHARD_INDEX_BUILD_OPTS_INIT;
    o.cancel = in->all.cli->cancel;
    o.no_checksums = in->args->no_checksums;
    o.missing_end_ok = in->args->missing_end;
    dali_path(dali, sizeof dali, shard->path);
    if (in->args->from_dali)
        o.dali_index = dali;
    return shard_index_build(shard->path, path, &o, err);
}

static shard_status export_dali(const shard_set_shard *shard, const shard_index *index,
                                shard_error *err)
{
    char path[4200];
    dali_path(path, sizeof path, shard->path);
    return shard_index_export_dali(index, path, err);
}

static void report(indexing *in, const shard_set_shard *shard, const shard_index *index, bool kept)
{
    shard_index_info info;
    shard_index_get_info(index, &info);
    in->samples += info.samples;
    in->bytes += info.shard_size;
    in->kept += kept;
    if (!in->all.cli->common->json)
        return;
    record *line = record_new();
    record_name(line, "shard", shard->path, strlen(shard->path));
    record_number(line, "samples", info.samples);
    record_number(line, "components", info.components);
    record_number(line, "bytes", info.shard_size);
    record_number(line, "index_bytes", info.file_size);
    record_bool(line, "kept", kept);
    record_print(line, stdout);
}

static shard_status index_shard(indexing *in, const shard_set_shard *shard, uint64_t i,
                                shard_error *err)
{
    char path[4200];
    shard_index *index = NULL;
    shard_status status = SHARD_ENOTFOUND;
    snprintf(path, sizeof path, "%s%s", shard->path, SHARD_INDEX_SUFFIX);
    if (in->args->missing)
        status = shard_set_open_index(in->all.set, i, &index, err);
    bool kept = status == SHARD_OK;
    if (!kept)
        status = build(in, shard, path, err);
    if (status == SHARD_OK && !kept)
        status = shard_set_open_index(in->all.set, i, &index, err);
    if (status == SHARD_OK && in->args->dali)
        status = export_dali(shard, index, err);
    pthread_mutex_lock(&in->all.mutex);
    if (status == SHARD_OK)
        report(in, shard, index, kept);
    pthread_mutex_unlock(&in->all.mutex);
    shard_index_close(index);
    return status;
}

static void work(each_shard *all, uint64_t i)
{
    indexing *in = (indexing *)all;
    shard_set_shard shard;
    shard_error err;
    shard_set_get_shard(all->set, i, &shard);
    shard_status status = index_shard(in, &shard, i, &err);
    pthread_mutex_lock(&all->mutex);
    if (status != SHARD_OK)
        each_shard_fail(all, &err);
    each_shard_done(all, in->bytes);
    pthread_mutex_unlock(&all->mutex);
}

/* ---- the set ---- */

/* Names of all shards; freed by the caller, the array alone. */
static const char **shard_paths(const shard_set *set, uint64_t shards)
{
    const char **path = cli_allocate((size_t)shards, sizeof *path);
    for (uint64_t i = 0; i < shards; i++) {
        shard_set_shard shard;
        shard_set_get_shard(set, i, &shard);
        path[i] = shard.path;
    }
    return path;
}

static int write_manifest(const indexing *in)
{
    shard_error err;
    const char **path = shard_paths(in->all.set, in->all.shards);
    shard_status status =
        shard_manifest_create(in->args->manifest, path, (size_t)in->all.shards, &err);
    free(path);
    return status == SHARD_OK ? EXIT_OK : cli_error(in->all.cli, &err);
}

static int finish(indexing *in)
{
    int code = in->all.code;
    if (code == EXIT_OK && in->args->manifest)
        code = write_manifest(in);
    if (code == EXIT_OK && in->args->wids)
        code = wids_write(in->all.cli, in->all.set, in->all.shards, in->args->wids);
    if (code != EXIT_OK)
        return code;
    double seconds = progress_seconds(&in->all.progress);
    cli_note(in->all.cli, "indexed %s in %s, %s, %.1f s, %s/s", text_things(in->samples, "sample"),
             text_things(in->all.shards, "shard"), text_size(in->bytes), seconds,
             text_size(seconds > 0 ? (uint64_t)((double)in->bytes / seconds) : 0));
    if (in->kept > 0)
        cli_note(in->all.cli, "%s of them had an index", text_count(in->kept));
    return EXIT_OK;
}

static int index_all(indexing *in)
{
    int code = in->args->dali ? dali_check_paths(in->all.set, in->all.shards) : EXIT_OK;
    if (code == EXIT_OK)
        code = each_shard_run(&in->all, in->args->jobs, work);
    return code == EXIT_OK ? finish(in) : code;
}

static int report_output(indexing *in, const shard_set_shard *shard)
{
    shard_index *index;
    shard_error err;
    if (shard_index_open(&index, in->args->output, NULL, &err) != SHARD_OK)
        return cli_error(in->all.cli, &err);
    report(in, shard, index, false);
    shard_index_close(index);
    return EXIT_OK;
}

/* One shard, whose index goes where the user says. */
static int index_to(indexing *in)
{
    shard_set_shard shard;
    shard_error err;
    shard_set_get_shard(in->all.set, 0, &shard);
    if (in->args->manifest || in->args->wids || in->args->dali || in->args->missing)
        return cli_usage("index", "--output writes an index to a place of your own and nothing "
                                  "beside it: leave out --manifest, --wids, --dali and --missing");
    bool to_stdout = strcmp(in->args->output, "-") == 0;
    if (to_stdout && isatty(STDOUT_FILENO))
        return cli_usage("index", "an index is not for a terminal: name a file or a pipe");
    if (in->all.shards != 1)
        return cli_usage("index", "--output is for a single shard, not %" PRIu64, in->all.shards);
    if (build(in, &shard, in->args->output, &err) != SHARD_OK)
        return cli_error(in->all.cli, &err);
    return to_stdout ? EXIT_OK : report_output(in, &shard);
}

static int run(cli *c, void *args, int count, char **operands)
{
    indexing in = {.args = args};
    int code = each_shard_open(&in.all, c, count, operands);
    bool has_stdin = count == 1 && strcmp(operands[0], "-") == 0;
    if (code == EXIT_OK && has_stdin && !in.args->output)
        code = cli_usage("index", "where should the index of standard input go? (--output)");
    if (code == EXIT_OK)
        code = in.args->output ? index_to(&in) : index_all(&in);
    each_shard_close(&in.all);
    return code;
}

const verb verb_index = {
    .name = "index",
    .summary = "index shards that exist, by any writer",
    .operands = "SHARD...",
    .text =
        "Read shards (tar, tar.zst, tar.gz and what else decompresses to tar) and write NAME.sidx "
        "beside each: where every sample lies, its sizes and checksums. Reading is strict: a shard "
        "that is cut off or damaged gets an error, not an index.",
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(index_args),
    .run = run,
};
