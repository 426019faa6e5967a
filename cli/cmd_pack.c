/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/pack.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "part.h"
#include "progress.h"
#include "record.h"
#include "verbs.h"

enum { LABEL_NONE, LABEL_DIR };
enum { COMPRESS_NAME, COMPRESS_NONE, COMPRESS_ZST, COMPRESS_GZ };

typedef struct {
    common common;
    const char *files_from, *base, *table, *key, *manifest, *part;
    bool nul;
    opt_list files, fields, renames, require;
    int split, links, label_from, missing, compress, on_error;
    uint64_t seed, resize_shorter, quality, level, max_size, max_samples, jobs, memory;
    bool shuffle, has_label_from, jpeg_baseline, strip, resume, force, sync, dry_run;
    bool has_size, has_quality;
} pack_args;

#define FIELD(name) offsetof(pack_args, name)

static const opt opts[] = {
    {'C', "base", OPT_FOLDER, FIELD(base), 0, "DIR",
     "paths in --files-from and in a table are relative to DIR"},
    {0, "files-from", OPT_FILE, FIELD(files_from), 0, "FILE",
     "pack the files that FILE lists, one a line; - reads the list from standard input"},
    {'0', "null", OPT_FLAG, FIELD(nul), 0, NULL, "names in --files-from end with NUL bytes"},
    {0, "from", OPT_FILE, FIELD(table), 0, "TABLE",
     "pack a table, .jsonl or .csv, a sample a row, in the order of its rows"},
    {0, "key", OPT_TEXT, FIELD(key), 0, "COLUMN",
     "the table's column of keys; else \"key\" or \"__key__\""},
    {0, "files", OPT_LIST, FIELD(files), 0, "COLUMN[=COMP],...",
     "columns that are paths of files; else those where one of the first thousand values is one"},
    {0, "fields", OPT_LIST, FIELD(fields), 0, "COLUMN=COMP,...",
     "columns that become a component of their own; the others go to .json"},
    {0, "split", OPT_CHOICE, FIELD(split), 0, "first|last",
     "the dot of a file's name at which its key ends: the first one (as webdataset reads names), "
     "or "
     "the last"},
    {0, "map", OPT_LIST, FIELD(renames), 0, "FROM=TO,...", "call components otherwise: jpeg=jpg"},
    {0, "links", OPT_CHOICE, FIELD(links), 0, "follow|skip|error",
     "what to do with symbolic links"},
    {0, "label-from", OPT_CHOICE, FIELD(label_from), FIELD(has_label_from), "dir",
     "add .cls: the number of the sample's class folder, counted in sorted order"},
    {0, "require", OPT_LIST, FIELD(require), 0, "COMP,...",
     "components that each sample must have"},
    {0, "missing", OPT_CHOICE, FIELD(missing), 0, "error|skip",
     "what to do with a sample that lacks one"},
    {0, "shuffle", OPT_NUMBER, FIELD(seed), FIELD(shuffle), "SEED",
     "pack in a random order that SEED decides; else by ascending keys"},
    {0, "jpeg-baseline", OPT_FLAG, FIELD(jpeg_baseline), 0, NULL,
     "turn progressive JPEG into baseline, without loss: decodes 2 to 3 times as fast"},
    {0, "resize-shorter", OPT_NUMBER, FIELD(resize_shorter), FIELD(has_size), "N",
     "scale JPEG down to N pixels on the shorter side; never up"},
    {0, "quality", OPT_NUMBER, FIELD(quality), FIELD(has_quality), "Q",
     "of resized JPEG, 1 to 100; else 90"},
    {0, "strip", OPT_FLAG, FIELD(strip), 0, NULL,
     "drop JPEG metadata but colour profile and orientation"},
    {0, "max-size", OPT_SIZE, FIELD(max_size), 0, "SIZE",
     "bytes of tar a shard, with a counter (%06d) in OUT"},
    {0, "max-samples", OPT_NUMBER, FIELD(max_samples), 0, "N", "samples a shard, likewise"},
    {0, "compress", OPT_CHOICE, FIELD(compress), 0, "name|none|zst|gz",
     "compress shards; name: as their suffix says"},
    {0, "level", OPT_NUMBER, FIELD(level), 0, "N", "zstd 1 to 19, else 3; gzip 1 to 9, else 6"},
    {0, "manifest", OPT_FILE, FIELD(manifest), 0, "FILE", "write the manifest to FILE"},
    {0, "part", OPT_TEXT, FIELD(part), 0, "I/N",
     "pack only the I-th of N equal parts of the shards; auto: as Slurm, Kubernetes (auto/N), MPI "
     "or "
     "torchrun say; then join the parts with shardtool merge"},
    {0, "on-error", OPT_CHOICE, FIELD(on_error), 0, "error|skip",
     "what to do with a file that cannot be read or an image that cannot be decoded"},
    {0, "resume", OPT_FLAG, FIELD(resume), 0, NULL, "go on where an interrupted pack stopped"},
    {'f', "force", OPT_FLAG, FIELD(force), 0, NULL, "replace shards that exist"},
    {0, "sync", OPT_FLAG, FIELD(sync), 0, NULL, "flush each file to disk before it gets its name"},
    {'n', "dry-run", OPT_FLAG, FIELD(dry_run), 0, NULL, "say what would be written, touch nothing"},
    {'j', "jobs", OPT_NUMBER, FIELD(jobs), 0, "N", "threads; else as many as there are cores"},
    {0, "memory", OPT_SIZE, FIELD(memory), 0, "SIZE",
     "for buffers and images, besides 50 to 100 bytes a file for its name; else 32 MiB a thread, "
     "and up to 256 MiB for an image that is resized or made baseline"},
};

static const opt_example examples[] = {
    {"shardtool pack ./images 'out-<000..099>.tar'",
     "a folder of images and whatever stands beside them, in 100 shards"},
    {"shardtool pack ./train 'train-{000..127}.tar' --label-from dir --shuffle 1 --map jpeg=jpg",
     "an image folder: class folders become .cls, samples are mixed"},
    {"shardtool pack captions.zip 'cc-%06d.tar.zst' --max-size 1GiB",
     "an archive, without unpacking it, in compressed shards"},
    {"shardtool pack --from rows.jsonl --fields caption=txt 'rows-{00..15}.tar'",
     "a table: columns of paths are read, the caption becomes .txt, the rest .json"},
};

static const char text[] =
    "Files that share a key become a sample: dog/01.jpg and dog/01.cls are components jpg and cls "
    "of "
    "sample dog/01. Shards are plain tar (or .tar.zst, .tar.gz) that every reader of WebDataset "
    "shards "
    "takes; beside each stands an index, NAME.sidx, and beside the set a manifest, "
    "NAME.shards.json, "
    "written last.\n"
    "\n"
    "SRC is a folder, a file, or an archive (tar, tar.zst, tar.gz, zip, cpio, 7z; - is a tar on "
    "standard input). OUT names the shards: out-<000..099>.tar (or {000..099}) for just that many, "
    "out-%06d.tar for as many as needed, - for one tar on standard output.\n"
    "\n"
    "The same input and options give the same bytes, whatever the number of threads. Times are "
    "those "
    "of SOURCE_DATE_EPOCH, else 0.";

/* ---- operands ---- */

/* Where the last number of a name stands; false without one. */
static bool find_number(const char *name, size_t *begin, size_t *end)
{
    size_t at = strlen(name);
    while (at > 0 && !(name[at - 1] >= '0' && name[at - 1] <= '9'))
        at--;
    *end = at;
    while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9')
        at--;
    *begin = at;
    return *end > *begin;
}

/* Is `b` the name after `a`, as in out-007.tar, out-008.tar? */
static bool follows(const char *a, const char *b)
{
    size_t begin, end, b_begin, b_end;
    if (!find_number(a, &begin, &end) || !find_number(b, &b_begin, &b_end))
        return false;
    return begin == b_begin && strncmp(a, b, begin) == 0 && strcmp(a + end, b + b_end) == 0 &&
           strtoull(a + begin, NULL, 10) + 1 == strtoull(b + b_begin, NULL, 10);
}

/*
 * The outputs are the last operand, with those before it that count up to it: what a shell makes of
 * an unquoted out-{000..099}.tar. Returns how many there are.
 */
static int count_outputs(int count, char **operands)
{
    int outputs = count > 0;
    while (outputs < count && follows(operands[count - outputs - 1], operands[count - outputs]))
        outputs++;
    return outputs;
}

/* ---- what is said ---- */

typedef struct {
    const cli *cli;
    progress progress;
} telling;

static void on_progress(void *context, const shard_pack_progress *now)
{
    telling *t = context;
    if (t->cli->progress)
        progress_show(&t->progress, "samples", now->samples, now->samples_total, now->bytes_out);
}

static void on_plan(void *context, const char *shard, uint64_t samples)
{
    const telling *t = context;
    if (t->cli->common->json) {
        record *line = record_new();
        record_name(line, "shard", shard, strlen(shard));
        if (samples == UINT64_MAX)
            record_null(line, "samples");
        else
            record_number(line, "samples", samples);
        record_print(line, stdout);
    } else if (samples == UINT64_MAX) {
        text_print_name(stdout, shard, strlen(shard));
        printf(" ...\n");
    } else {
        text_print_name(stdout, shard, strlen(shard));
        printf("  %s\n", text_things(samples, "sample"));
    }
}

static void print_record(const shard_pack_summary *s, double seconds, bool dry_run, FILE *out)
{
    record *line = record_new();
    record_number(line, "samples", s->samples);
    record_number(line, "shards", s->shards);
    record_number(line, "bytes_in", s->bytes_in);
    record_number(line, "bytes_out", s->bytes_out);
    record_number(line, "skipped", s->skipped);
    record_real(line, "seconds", seconds);
    record_number(line, "resumed_shards", s->resumed);
    record_number(line, "renamed", s->renamed);
    record_number(line, "classes", s->classes);
    record *ignored = record_object(line, "ignored");
    record_number(ignored, "no_extension", s->ignored_no_extension);
    record_number(ignored, "hidden", s->ignored_hidden);
    record_number(ignored, "reserved", s->ignored_reserved);
    record_number(ignored, "special", s->ignored_special);
    record *images = record_object(line, "images");
    record_number(images, "baselined", s->jpeg_baselined);
    record_number(images, "resized", s->jpeg_resized);
    record_number(images, "stripped", s->jpeg_stripped);
    record_number(images, "kept", s->images_kept);
    record_bool(line, "labels_clustered", s->labels_clustered);
    if (*s->manifest)
        record_name(line, "manifest", s->manifest, strlen(s->manifest));
    else
        record_null(line, "manifest");
    record_bool(line, "dry_run", dry_run);
    record_print(line, out);
}

static void note_ignored(const cli *c, uint64_t count, const char *thing, const char *rest)
{
    if (count > 0)
        cli_note(c, "ignored %s%s", text_things(count, thing), rest);
}

static void note_summary(const cli *c, const shard_pack_summary *s, double seconds)
{
    uint64_t rate = seconds > 0 ? (uint64_t)((double)s->bytes_in / seconds) : 0;
    cli_note(c, "packed %s into %s: %s in, %s out, %.1f s, %s/s", text_things(s->samples, "sample"),
             text_things(s->shards, "shard"), text_size(s->bytes_in), text_size(s->bytes_out),
             seconds, text_size(rate));
    if (s->resumed > 0)
        cli_note(c, "%s of the shards were there already", text_count(s->resumed));
    if (s->jpeg_baselined + s->jpeg_resized + s->jpeg_stripped + s->images_kept > 0)
        cli_note(c, "JPEG: %s resized, %s made baseline, %s stripped, %s left as they were",
                 text_count(s->jpeg_resized), text_count(s->jpeg_baselined),
                 text_count(s->jpeg_stripped), text_count(s->images_kept));
    note_ignored(c, s->ignored_no_extension, "file", " without an extension");
    note_ignored(c, s->ignored_hidden, "hidden file", "");
    note_ignored(c, s->ignored_reserved, "file", " with a reserved name (__...__)");
    note_ignored(c, s->ignored_special, "link or special file", "");
    if (s->renamed > 0)
        cli_note(c,
                 "in %s, dots or control characters became _ so that all readers split them "
                 "alike",
                 text_things(s->renamed, "key"));
    if (s->skipped > 0)
        cli_note(c, "left out %s, listed in the manifest with the reasons",
                 text_things(s->skipped, "sample"));
    if (s->labels_clustered)
        cli_note(c, "neighbouring samples mostly share a label: --shuffle SEED mixes them, so that "
                    "training needs no large shuffle buffer");
    if (*s->manifest)
        cli_note(c, "wrote %s", s->manifest);
}

/* ---- the verb ---- */

static bool take_number(uint64_t value, uint32_t *out)
{
    *out = (uint32_t)value;
    return value <= UINT32_MAX;
}

static int set_mtime(const cli *c, shard_pack_opts *o)
{
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    char *end = NULL;
    if (!epoch || !*epoch)
        return EXIT_OK;
    o->mtime = strtoull(epoch, &end, 10);
    if (*end == 0 && *epoch >= '0' && *epoch <= '9')
        return EXIT_OK;
    return cli_usage(c->verb->name, "SOURCE_DATE_EPOCH is not a number of seconds: \"%s\"", epoch);
}

static int set_options(const cli *c, const pack_args *a, shard_pack_opts *o)
{
    const char *why;
    o->files_from = a->files_from;
    o->files_from_nul = a->nul;
    o->base = a->base;
    o->table = a->table;
    o->table_key = a->key;
    o->table_files = a->files.word;
    o->table_file_count = a->files.count;
    o->table_fields = a->fields.word;
    o->table_field_count = a->fields.count;
    o->key_last_dot = a->split == 1;
    o->renames = a->renames.word;
    o->rename_count = a->renames.count;
    o->links = (shard_pack_links)a->links;
    o->label_from_dir = a->has_label_from;
    o->require = a->require.word;
    o->require_count = a->require.count;
    o->missing = (shard_pack_policy)a->missing;
    o->shuffle = a->shuffle;
    o->seed = a->seed;
    o->jpeg_baseline = a->jpeg_baseline;
    o->strip = a->strip;
    o->has_codec = a->compress != COMPRESS_NAME;
    o->codec = (shard_codec)(a->compress - COMPRESS_NONE);
    o->manifest = a->manifest;
    o->max_size = a->max_size;
    o->max_samples = a->max_samples;
    o->on_error = (shard_pack_policy)a->on_error;
    o->resume = a->resume;
    o->force = a->force;
    o->sync = a->sync;
    o->dry_run = a->dry_run;
    o->memory = a->memory;
    o->level = a->level <= 19 ? (int)a->level : -1;
    if (!take_number(a->resize_shorter, &o->resize_shorter) ||
        !take_number(a->quality, &o->quality) || !take_number(a->jobs, &o->threads))
        return cli_usage(c->verb->name, "a number is too large");
    if ((a->has_size && a->resize_shorter == 0) || (a->has_quality && a->quality == 0))
        return cli_usage(c->verb->name, "--resize-shorter and --quality begin at 1");
    if (a->part && !part_parse(a->part, &o->part, &o->parts, &why))
        return cli_usage(c->verb->name, "--part %s: %s", a->part, why);
    return set_mtime(c, o);
}

static int set_operands(const cli *c, const pack_args *a, int count, char **operands,
                        shard_pack_opts *o)
{
    bool has_sources = !a->files_from && !a->table;
    int outputs = count_outputs(count, operands);
    if (outputs == 0)
        return cli_usage(c->verb->name, "SRC and OUT are missing");
    if (has_sources && outputs == count)
        return cli_usage(c->verb->name, "SRC is missing");
    if (!has_sources && outputs < count)
        return cli_usage(c->verb->name, "SRC does not go with %s: \"%s\"",
                         a->table ? "--from" : "--files-from", operands[0]);
    o->sources = (const char *const *)operands;
    o->source_count = (size_t)(count - outputs);
    o->outs = (const char *const *)operands + (count - outputs);
    o->out_count = (size_t)outputs;
    if (strcmp(o->outs[0], "-") == 0 && isatty(STDOUT_FILENO) && !a->force && !a->dry_run)
        return cli_usage(c->verb->name, "a tar is not for a terminal: name a file or a pipe");
    return EXIT_OK;
}

static int run(cli *c, void *args, int count, char **operands)
{
    const pack_args *a = args;
    shard_pack_opts o = SHARD_PACK_OPTS_INIT;
    shard_pack_summary summary;
    shard_error err;
    telling t = {.cli = c};
    int code = set_options(c, a, &o);
    if (code == EXIT_OK)
        code = set_operands(c, a, count, operands, &o);
    if (code != EXIT_OK)
        return code;
    bool to_stdout = o.out_count == 1 && strcmp(o.outs[0], "-") == 0;
    o.cancel = c->cancel;
    o.on_progress = on_progress;
    o.on_plan = on_plan;
    o.context = &t;
    progress_begin(&t.progress);
    shard_status status = shard_pack(&o, &summary, &err);
    double seconds = progress_seconds(&t.progress);
    progress_clear_line();
    if (status != SHARD_OK) {
        code = cli_error(c, &err);
        if (summary.shards > 0 && !to_stdout)
            cli_note(c, "%s complete; the same command with --resume goes on from there",
                     text_things(summary.shards, "shard"));
        return code;
    }
    if (c->common->json)
        print_record(&summary, seconds, a->dry_run, to_stdout && !a->dry_run ? stderr : stdout);
    else if (!a->dry_run)
        note_summary(c, &summary, seconds);
    return EXIT_OK;
}

const verb verb_pack = {
    .name = "pack",
    .summary = "pack files, tables or archives into indexed shards",
    .operands = "SRC... OUT",
    .text = text,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(pack_args),
    .run = run,
};
