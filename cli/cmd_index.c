/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/index.h>

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "parallel.h"
#include "progress.h"
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

/* What all threads share. */
typedef struct {
    const cli *cli;
    const index_args *args;
    const shard_set *set;
    uint64_t shards;

    pthread_mutex_t mutex; /* of all below */
    progress progress;
    uint64_t done, samples, bytes, kept;
    int code;
} indexing;

static void join_path(char *out, size_t capacity, const char *shard, const char *suffix)
{
    snprintf(out, capacity, "%s%s", shard, suffix);
}

/* DALI's own tool names it so: what stands before the first dot, and ".idx". */
static void dali_path(char *out, size_t capacity, const char *shard)
{
    const char *slash = strrchr(shard, '/'), *base = slash ? slash + 1 : shard;
    size_t stem = (size_t)(base - shard) + strcspn(base + 1, ".") + 1;
    snprintf(out, capacity, "%.*s.idx", (int)stem, shard);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Two shards whose names differ behind the first dot alone have one name for DALI. */
static int check_dali_paths(const indexing *in)
{
    char **path = cli_allocate((size_t)in->shards, sizeof *path);
    int code = EXIT_OK;
    for (uint64_t i = 0; i < in->shards; i++) {
        char name[4200];
        shard_set_shard shard;
        shard_set_get_shard(in->set, i, &shard);
        dali_path(name, sizeof name, shard.path);
        path[i] = strcpy(cli_allocate(strlen(name) + 1, 1), name);
    }
    qsort(path, (size_t)in->shards, sizeof *path, compare_texts);
    for (uint64_t i = 1; i < in->shards && code == EXIT_OK; i++)
        if (strcmp(path[i - 1], path[i]) == 0)
            code = cli_usage("index", "two shards would have the DALI index %s", path[i]);
    for (uint64_t i = 0; i < in->shards; i++)
        free(path[i]);
    free(path);
    return code;
}

/* ---- one shard ---- */

static shard_status build(const indexing *in, const shard_set_shard *shard, const char *path,
                          shard_error *err)
{
    char dali[4200];
    shard_index_build_opts o = SHARD_INDEX_BUILD_OPTS_INIT;
    o.cancel = in->cli->cancel;
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
    if (!in->cli->common->json)
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
    join_path(path, sizeof path, shard->path, SHARD_INDEX_SUFFIX);
    if (in->args->missing)
        status = shard_set_open_index(in->set, i, &index, err);
    bool kept = status == SHARD_OK;
    if (!kept)
        status = build(in, shard, path, err);
    if (status == SHARD_OK && !kept)
        status = shard_set_open_index(in->set, i, &index, err);
    if (status == SHARD_OK && in->args->dali)
        status = export_dali(shard, index, err);
    pthread_mutex_lock(&in->mutex);
    if (status == SHARD_OK)
        report(in, shard, index, kept);
    pthread_mutex_unlock(&in->mutex);
    shard_index_close(index);
    return status;
}

static void work(void *context, size_t i)
{
    indexing *in = context;
    shard_set_shard shard;
    shard_error err;
    shard_set_get_shard(in->set, i, &shard);
    shard_status status = index_shard(in, &shard, i, &err);
    pthread_mutex_lock(&in->mutex);
    in->done++;
    if (status != SHARD_OK) {
        int code = cli_error(in->cli, &err);
        in->code = in->code > code ? in->code : code;
    }
    if (in->cli->progress)
        progress_show(&in->progress, "shards", in->done, in->shards, in->bytes);
    pthread_mutex_unlock(&in->mutex);
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
    const char **path = shard_paths(in->set, in->shards);
    shard_status status = shard_manifest_create(in->args->manifest, path, (size_t)in->shards, &err);
    free(path);
    return status == SHARD_OK ? EXIT_OK : cli_error(in->cli, &err);
}

static int finish(indexing *in)
{
    int code = in->code;
    if (code == EXIT_OK && in->args->manifest)
        code = write_manifest(in);
    if (code == EXIT_OK && in->args->wids)
        code = wids_write(in->cli, in->set, in->shards, in->args->wids);
    if (code != EXIT_OK)
        return code;
    double seconds = progress_seconds(&in->progress);
    cli_note(in->cli, "indexed %s in %s, %s, %.1f s, %s/s", text_things(in->samples, "sample"),
             text_things(in->shards, "shard"), text_size(in->bytes), seconds,
             text_size(seconds > 0 ? (uint64_t)((double)in->bytes / seconds) : 0));
    if (in->kept > 0)
        cli_note(in->cli, "%s of them had an index", text_count(in->kept));
    return EXIT_OK;
}

static int index_all(indexing *in)
{
    if (pthread_mutex_init(&in->mutex, NULL) != 0)
        cli_die_memory();
    progress_begin(&in->progress);
    parallel_run((size_t)in->shards, in->args->jobs, in->cli->cancel, work, in);
    progress_clear_line();
    pthread_mutex_destroy(&in->mutex);
    if (shard_cancel_is_set(in->cli->cancel))
        return cli_error(in->cli, &(shard_error){.status = SHARD_ECANCEL});
    return finish(in);
}

static int report_output(indexing *in, const shard_set_shard *shard)
{
    shard_index *index;
    shard_error err;
    if (shard_index_open(&index, in->args->output, NULL, &err) != SHARD_OK)
        return cli_error(in->cli, &err);
    report(in, shard, index, false);
    shard_index_close(index);
    return EXIT_OK;
}

/* One shard, whose index goes where the user says. */
static int index_to(indexing *in)
{
    shard_set_shard shard;
    shard_error err;
    shard_set_get_shard(in->set, 0, &shard);
    if (in->args->manifest || in->args->wids || in->args->dali || in->args->missing)
        return cli_usage("index", "--output writes an index to a place of your own and nothing "
                                  "beside it: leave out --manifest, --wids, --dali and --missing");
    bool to_stdout = strcmp(in->args->output, "-") == 0;
    if (to_stdout && isatty(STDOUT_FILENO))
        return cli_usage("index", "an index is not for a terminal: name a file or a pipe");
    if (in->shards != 1)
        return cli_usage("index", "--output is for a single shard, not %" PRIu64, in->shards);
    if (build(in, &shard, in->args->output, &err) != SHARD_OK)
        return cli_error(in->cli, &err);
    return to_stdout ? EXIT_OK : report_output(in, &shard);
}

static int run(cli *c, void *args, int count, char **operands)
{
    indexing in = {.cli = c, .args = args};
    shard_set *set;
    shard_set_info info;
    shard_error err;
    shard_set_opts set_opts = SHARD_SET_OPTS_INIT;
    set_opts.no_indexes = true; /* they may be stale: that is why we are here */
    if (count == 0)
        return cli_usage(c->verb->name, "SHARD is missing");
    if (shard_set_open(&set, (const char *const *)operands, (size_t)count, &set_opts, &err) !=
        SHARD_OK)
        return cli_error(c, &err);
    shard_set_get_info(set, &info);
    in.set = set;
    in.shards = info.shards;
    bool has_stdin = count == 1 && strcmp(operands[0], "-") == 0;
    int code;
    if (has_stdin && !in.args->output)
        code = cli_usage(c->verb->name, "where should the index of standard input go? (--output)");
    else if (in.args->output)
        code = index_to(&in);
    else
        code = in.args->dali ? check_dali_paths(&in) : EXIT_OK;
    if (code == EXIT_OK && !in.args->output)
        code = index_all(&in);
    shard_set_close(set);
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
