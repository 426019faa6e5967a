/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/reader.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "each_shard.h"
#include "extract.h"
#include "record.h"
#include "set.h"
#include "verbs.h"

typedef struct {
    common common;
    const char *folder;
    opt_list components;
    bool force;
    uint64_t jobs;
} unpack_args;

#define FIELD(name) offsetof(unpack_args, name)

static const opt opts[] = {
    {'C', "folder", OPT_FOLDER, FIELD(folder), 0, "DIR",
     "write below DIR, which is made; else here"},
    {0, "component", OPT_LIST, FIELD(components), 0, "COMP,...", "only these components"},
    {'f', "force", OPT_FLAG, FIELD(force), 0, NULL, "replace files that exist"},
    {'j', "jobs", OPT_NUMBER, FIELD(jobs), 0, "N",
     "shards at once; else as many as there are cores"},
};

static const opt_example examples[] = {
    {"shardtool unpack out.shards.json -C images", "back to a tree of files"},
    {"shardtool unpack --component txt,json out-000.tar", "only what is small"},
};

typedef struct {
    each_shard all;
    const unpack_args *args;
    uint64_t files, bytes, links;
    bool stopped;
} unpacking;

static bool is_wanted(const unpack_args *a, const shard_member *m)
{
    if (a->components.count == 0)
        return true;
    for (size_t i = 0; m->is_component && i < a->components.count; i++)
        if (strcmp(a->components.word[i], m->component) == 0)
            return true;
    return false;
}

static shard_status fail_write(const char *name, shard_error *err)
{
    *err = (shard_error){.status = SHARD_EIO, .sys_errno = errno, .offset = SHARD_NO_OFFSET};
    snprintf(err->url, sizeof err->url, "%s", name);
    snprintf(err->message, sizeof err->message, "cannot write: %s", strerror(errno));
    return SHARD_EIO;
}

static shard_status write_all(int fd, const char *bytes, size_t size, const char *name,
                              shard_error *err)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_write(name, err);
        bytes += n;
        size -= (size_t)n;
    }
    return SHARD_OK;
}

static shard_status copy_payload(shard_reader *reader, int fd, const char *name, shard_error *err)
{
    for (;;) {
        const void *data;
        size_t size;
        shard_status status = shard_reader_payload(reader, &data, &size, err);
        if (status != SHARD_OK || size == 0)
            return status;
        status = write_all(fd, data, size, name, err);
        if (status != SHARD_OK)
            return status;
    }
}

static shard_status unpack_file(extract *out, shard_reader *reader, const shard_member *m,
                                shard_error *err)
{
    char name[4097]; /* the member's own is gone when its payload is read */
    int fd;
    snprintf(name, sizeof name, "%s", m->path);
    shard_status status = extract_create(out, name, &fd, err);
    if (status != SHARD_OK)
        return status;
    status = copy_payload(reader, fd, name, err);
    if (close(fd) != 0 && status == SHARD_OK)
        status = fail_write(name, err);
    if (status != SHARD_OK)
        extract_remove(out, name);
    return status;
}

static bool is_stopped(unpacking *u)
{
    pthread_mutex_lock(&u->all.mutex);
    bool stopped = u->stopped;
    pthread_mutex_unlock(&u->all.mutex);
    return stopped;
}

static void count(unpacking *u, const shard_member *m, bool is_file)
{
    pthread_mutex_lock(&u->all.mutex);
    u->files += is_file;
    u->bytes += is_file ? m->payload_size : 0;
    u->links += !is_file && m->kind != SHARD_MEMBER_DIRECTORY;
    if (u->all.cli->progress)
        progress_show(&u->all.progress, "files", u->files, UINT64_MAX, u->bytes);
    pthread_mutex_unlock(&u->all.mutex);
}

/* An error over a file that was to be written says out of which shard it came. */
static void name_shard(shard_error *err, const char *shard)
{
    char name[sizeof err->url];
    if (strcmp(err->url, shard) == 0)
        return;
    snprintf(name, sizeof name, "%s", err->url);
    snprintf(err->url, sizeof err->url, "%.*s: %.*s", (int)sizeof name / 4, shard,
             (int)sizeof name / 2, name);
}

static shard_status unpack_members(unpacking *u, extract *out, shard_reader *reader,
                                   const char *path, shard_error *err)
{
    shard_member m;
    shard_status status;
    while ((status = shard_reader_next(reader, &m, err)) == SHARD_OK && !is_stopped(u)) {
        bool is_file = m.kind == SHARD_MEMBER_FILE;
        if (is_file && !is_wanted(u->args, &m))
            continue;
        if (is_file && (status = unpack_file(out, reader, &m, err)) != SHARD_OK) {
            name_shard(err, path);
            return status;
        }
        count(u, &m, is_file);
    }
    return status == SHARD_END ? SHARD_OK : status;
}

static shard_status unpack_shard(unpacking *u, const char *path, shard_error *err)
{
    shard_reader_opts reader_opts = SHARD_READER_OPTS_INIT;
    shard_reader *reader;
    extract out;
    reader_opts.cancel = u->all.cli->cancel;
    shard_status status = shard_reader_open(&reader, path, &reader_opts, err);
    if (status != SHARD_OK)
        return status;
    status = extract_open(&out, u->args->folder ? u->args->folder : ".", u->args->force, err);
    if (status == SHARD_OK)
        status = unpack_members(u, &out, reader, path, err);
    extract_close(&out);
    shard_reader_close(reader);
    return status;
}

static void work(each_shard *all, uint64_t i)
{
    unpacking *u = (unpacking *)all;
    shard_set_shard shard;
    shard_error err;
    if (is_stopped(u))
        return;
    shard_set_get_shard(all->set, i, &shard);
    if (unpack_shard(u, shard.path, &err) == SHARD_OK)
        return;
    pthread_mutex_lock(&all->mutex);
    if (!u->stopped) /* the first error is the one that is told */
        each_shard_fail(all, &err);
    u->stopped = true;
    pthread_mutex_unlock(&all->mutex);
}

static int tell(const unpacking *u)
{
    if (u->all.code != EXIT_OK)
        return u->all.code;
    if (u->all.cli->common->json) {
        record *line = record_new();
        record_number(line, "files", u->files);
        record_number(line, "bytes", u->bytes);
        record_number(line, "links_left_out", u->links);
        record_real(line, "seconds", progress_seconds(&u->all.progress));
        record_print(line, stdout);
    }
    cli_note(u->all.cli, "unpacked %s, %s", text_things(u->files, "file"), text_size(u->bytes));
    if (u->links > 0)
        cli_note(u->all.cli, "left out %s links and special files", text_count(u->links));
    return EXIT_OK;
}

static int run(cli *c, void *args, int operand_count, char **operands)
{
    unpacking u = {.args = args};
    int code = each_shard_open(&u.all, c, operand_count, operands);
    if (code == EXIT_OK)
        code = each_shard_run(&u.all, u.args->jobs, work);
    each_shard_close(&u.all);
    return code == EXIT_OK ? tell(&u) : code;
}

const verb verb_unpack = {
    .name = "unpack",
    .summary = "write the files of shards below a folder",
    .operands = "SET...",
    .text = "Write each member as a file under its name. Names that lead out of the folder are "
            "refused, "
            "symbolic links are neither made nor followed, files that exist are not "
            "replaced.\n\n" SET_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(unpack_args),
    .run = run,
};
