/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/reader.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record.h"
#include "set.h"
#include "verbs.h"

typedef struct {
    common common;
    bool details, members, shards, nul;
} ls_args;

#define FIELD(name) offsetof(ls_args, name)

static const opt opts[] = {
    {'l', "long", OPT_FLAG, FIELD(details), 0, NULL,
     "number, shard, offset in the tar and bytes of each sample, and its components' sizes"},
    {0, "members", OPT_FLAG, FIELD(members), 0, NULL,
     "list members of the tars, those too that belong to no sample; reads the shards"},
    {0, "shards", OPT_FLAG, FIELD(shards), 0, NULL, "list shards instead of samples"},
    {'0', "null", OPT_FLAG, FIELD(nul), 0, NULL, "keys alone, each ended by a NUL byte"},
};

static const opt_example examples[] = {
    {"shardtool ls out.shards.json | head", "the first keys and their components"},
    {"shardtool ls --json out-000.tar | jq -r .key", "keys for another program"},
    {"zstd -dc x.tar.zst | shardtool ls -", "a shard from a pipe"},
};

/* A sample as it is listed, from an index or from the tar itself. */
typedef struct {
    const char *key;
    size_t key_size;
    uint64_t number; /* in the set */
    const char *shard;
    uint64_t offset, bytes;
    struct {
        char name[256];
        uint64_t offset, size;
        uint32_t crc;
    } * component;
    size_t components, capacity;
    bool has_checksums;
} row;

typedef struct {
    const cli *cli;
    const ls_args *args;
    row row;
    uint64_t next; /* number of the next sample */
} listing;

/* ---- printing ---- */

static void print_json(const listing *l)
{
    const row *r = &l->row;
    record *line = record_new();
    record_number(line, "number", r->number);
    record_name(line, "key", r->key, r->key_size);
    record_name(line, "shard", r->shard, strlen(r->shard));
    record_number(line, "offset", r->offset);
    record *components = record_object(line, "components");
    for (size_t i = 0; i < r->components; i++) {
        record *c = record_object(components, r->component[i].name);
        record_number(c, "offset", r->component[i].offset);
        record_number(c, "size", r->component[i].size);
        if (r->has_checksums)
            record_number(c, "crc32c", r->component[i].crc);
    }
    record_print(line, stdout);
}

static void print_text(const char *name)
{
    text_print_name(stdout, name, strlen(name));
}

static void print_long(const listing *l)
{
    const row *r = &l->row;
    printf("%8" PRIu64 "  ", r->number);
    print_text(r->shard);
    printf("  %10" PRIu64 "  %9" PRIu64 "  ", r->offset, r->bytes);
    text_print_name(stdout, r->key, r->key_size);
    for (size_t i = 0; i < r->components; i++) {
        printf("  ");
        print_text(r->component[i].name);
        printf(":%" PRIu64, r->component[i].size);
    }
    putchar('\n');
}

static void print_row(const listing *l)
{
    const row *r = &l->row;
    if (l->args->nul) {
        fwrite(r->key, 1, r->key_size, stdout);
        putchar(0);
        return;
    }
    if (l->cli->common->json) {
        print_json(l);
        return;
    }
    if (l->args->details) {
        print_long(l);
        return;
    }
    text_print_name(stdout, r->key, r->key_size);
    for (size_t i = 0; i < r->components; i++) {
        putchar(i == 0 ? '\t' : ' ');
        print_text(r->component[i].name);
    }
    putchar('\n');
}

/* ---- rows ---- */

static void add_component(row *r, const char *name, uint64_t offset, uint64_t size, uint32_t crc)
{
    if (r->components == r->capacity) {
        r->capacity = r->capacity * 2 + 8;
        r->component = realloc(r->component, r->capacity * sizeof *r->component);
        if (!r->component)
            cli_die_memory();
    }
    snprintf(r->component[r->components].name, sizeof r->component->name, "%s", name);
    r->component[r->components].offset = offset;
    r->component[r->components].size = size;
    r->component[r->components].crc = crc;
    r->components++;
    r->bytes += size;
}

static void begin_row(listing *l, const char *key, size_t key_size, uint64_t offset)
{
    l->row.key = key;
    l->row.key_size = key_size;
    l->row.number = l->next++;
    l->row.offset = offset;
    l->row.bytes = 0;
    l->row.components = 0;
}

/* ---- from an index ---- */

static int list_sample(void *context, shard_index *index, shard_index_sample *sample)
{
    listing *l = context;
    shard_error err;
    begin_row(l, sample->key, sample->key_size, sample->first_offset);
    for (uint32_t j = 0; j < sample->components; j++) {
        shard_index_component c;
        if (shard_index_get_component(index, sample, j, &c, &err) != SHARD_OK)
            return cli_error(l->cli, &err);
        add_component(&l->row, c.name, c.payload_offset, c.payload_size, c.crc32c);
    }
    print_row(l);
    return EXIT_OK;
}

static int list_index(listing *l, shard_index *index)
{
    shard_index_info info;
    shard_index_get_info(index, &info);
    l->row.has_checksums = info.has_checksums;
    return set_each_sample(l->cli, index, list_sample, l);
}

/* ---- from the tar ---- */

static const char *kind_name(shard_member_kind kind)
{
    static const char *names[] = {"file", "dir", "hardlink", "symlink", "special", "other"};
    return names[kind];
}

static void print_member(const listing *l, const shard_member *m)
{
    if (l->cli->common->json) {
        record *line = record_new();
        record_name(line, "path", m->path, m->path_size);
        record_text(line, "kind", kind_name(m->kind));
        record_number(line, "offset", m->header_offset);
        record_number(line, "payload_offset", m->payload_offset);
        record_number(line, "size", m->payload_size);
        record_print(line, stdout);
        return;
    }
    if (l->args->details)
        printf("%-8s %10" PRIu64 "  %9" PRIu64 "  ", kind_name(m->kind), m->header_offset,
               m->payload_size);
    text_print_name(stdout, m->path, m->path_size);
    putchar('\n');
}

/* A sample is complete when the next one begins. */
typedef struct {
    char key[4096];
    bool open;
} pending;

static void end_pending(listing *l, pending *p)
{
    if (p->open)
        print_row(l);
    p->open = false;
}

static void take_component(listing *l, pending *p, const shard_member *m)
{
    if (m->begins_sample) {
        end_pending(l, p);
        memcpy(p->key, m->path, m->key_size);
        begin_row(l, p->key, m->key_size, m->header_offset);
        p->open = true;
    }
    add_component(&l->row, m->component, m->payload_offset, m->payload_size, 0);
}

static int read_members(listing *l, shard_reader *reader)
{
    shard_member m;
    shard_error err;
    shard_status status;
    pending *p = cli_allocate(1, sizeof *p);
    l->row.has_checksums = false;
    while ((status = shard_reader_next(reader, &m, &err)) == SHARD_OK) {
        if (l->args->members)
            print_member(l, &m);
        else if (m.is_component)
            take_component(l, p, &m);
    }
    end_pending(l, p);
    free(p);
    return status == SHARD_END ? EXIT_OK : cli_error(l->cli, &err);
}

static int list_tar(listing *l, const char *path)
{
    shard_reader_opts opts_ = SHARD_READER_OPTS_INIT;
    shard_reader *reader;
    shard_error err;
    opts_.cancel = l->cli->cancel;
    if (shard_reader_open(&reader, path, &opts_, &err) != SHARD_OK)
        return cli_error(l->cli, &err);
    int code = read_members(l, reader);
    shard_reader_close(reader);
    return code;
}

/* ---- sets ---- */

static int list_shard(listing *l, const shard_set *set, uint64_t i)
{
    shard_set_shard shard;
    shard_index *index;
    shard_error err;
    shard_set_get_shard(set, i, &shard);
    l->row.shard = shard.path;
    if (l->args->members)
        return list_tar(l, shard.path);
    shard_status status = shard_set_open_index(set, i, &index, &err);
    if (status == SHARD_ENOTFOUND)
        return list_tar(l, shard.path);
    if (status != SHARD_OK)
        return cli_error(l->cli, &err);
    int code = list_index(l, index);
    shard_index_close(index);
    return code;
}

static void print_shard(const cli *c, const shard_set_shard *shard)
{
    bool known = shard->samples != SHARD_UNKNOWN, sized = shard->bytes != SHARD_UNKNOWN;
    if (c->common->json) {
        record *line = record_new();
        record_name(line, "shard", shard->path, strlen(shard->path));
        known ? record_number(line, "samples", shard->samples) : record_null(line, "samples");
        sized ? record_number(line, "bytes", shard->bytes) : record_null(line, "bytes");
        record_print(line, stdout);
        return;
    }
    text_print_name(stdout, shard->path, strlen(shard->path));
    printf("\t%s samples\t%s\n", known ? text_count(shard->samples) : "?",
           sized ? text_size(shard->bytes) : "?");
}

static int list_set(listing *l, const shard_set *set)
{
    shard_set_info info;
    int code = EXIT_OK;
    shard_set_get_info(set, &info);
    for (uint64_t i = 0; i < info.shards && code == EXIT_OK; i++) {
        shard_set_shard shard;
        shard_set_get_shard(set, i, &shard);
        if (l->args->shards)
            print_shard(l->cli, &shard);
        else
            code = list_shard(l, set, i);
    }
    return code;
}

static int run(cli *c, void *args, int count, char **operands)
{
    shard_set *set;
    listing l = {.cli = c, .args = args};
    int code = set_open(c, count, operands, &set);
    if (code != EXIT_OK)
        return code;
    code = list_set(&l, set);
    shard_set_close(set);
    free(l.row.component);
    return code;
}

const verb verb_ls = {
    .name = "ls",
    .summary = "list samples, members or shards",
    .operands = "SET...",
    .text =
        "List the samples of SET, a line each: key, and names of its components. Indexes are read "
        "where there are any, else the shards.\n\n" SET_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(ls_args),
    .run = run,
};
