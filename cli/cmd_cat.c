/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/set.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "set.h"
#include "verbs.h"

typedef struct {
    common common;
    bool number, force;
} cat_args;

#define FIELD(name) offsetof(cat_args, name)

static const opt opts[] = {
    {'n', "number", OPT_FLAG, FIELD(number), 0, NULL,
     "SAMPLE is a number, counted from 0 through the whole set"},
    {'f', "force", OPT_FLAG, FIELD(force), 0, NULL,
     "write bytes that are no text to a terminal too"},
};

static const opt_example examples[] = {
    {"shardtool cat out.shards.json dog/01 jpg > dog.jpg", "one component"},
    {"shardtool cat out.shards.json dog/01.txt", "the same, by the name in the tar"},
    {"shardtool cat -n out.shards.json 123456 | tar tv", "a whole sample, as a small tar"},
};

static bool is_text(const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size && i < 1024; i++)
        if (bytes[i] == 0 || bytes[i] == 0x7f || (bytes[i] < 0x20 && !strchr("\t\n\r\f", bytes[i])))
            return false;
    return true;
}

static int write_component(const cli *c, const shard_sample_component *component, bool force)
{
    if (!force && isatty(STDOUT_FILENO) && !is_text(component->data, component->size))
        return cli_usage(c->verb->name, "%s is no text, and this is a terminal (--force writes it)",
                         component->name);
    fwrite(component->data, 1, component->size, stdout);
    return EXIT_OK;
}

static bool write_stdout(void *context, const void *bytes, size_t size)
{
    (void)context;
    return fwrite(bytes, 1, size, stdout) == size;
}

/* A tar even where there is one component: what comes must not depend on what the sample holds. */
static int write_sample(const cli *c, const shard_sample *sample, bool force)
{
    if (!force && isatty(STDOUT_FILENO))
        return cli_usage(c->verb->name,
                         "the sample is written as a tar, and this is a terminal: name "
                         "a component, or pipe it to tar");
    shard_error err;
    if (shard_sample_to_tar(sample, write_stdout, NULL, &err) != SHARD_OK)
        return cli_error(c, &err);
    return EXIT_OK;
}

/* Which sample, and perhaps which component: "dog/01" and "jpg", or "dog/01.jpg" in one. */
static shard_status find(const shard_set *set, const char *name, const char **component,
                         shard_set_place *place, shard_error *err)
{
    shard_error second;
    shard_status status = shard_set_find(set, name, strlen(name), place, err);
    if (status != SHARD_ENOTFOUND || *component)
        return status;
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const char *dot = strchr(base, '.');
    if (!dot || shard_set_find(set, name, (size_t)(dot - name), place, &second) != SHARD_OK)
        return status;
    *component = dot + 1;
    return SHARD_OK;
}

/* Components are known by their names in lower case, whatever the tar says. */
static const char *to_lower(const char *name, char *out, size_t capacity)
{
    size_t size = strlen(name);
    if (size >= capacity)
        return name;
    for (size_t i = 0; i <= size; i++)
        out[i] = (char)(name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
    return out;
}

static shard_status locate(const shard_set *set, const cat_args *args, const char *name,
                           const char **component, shard_set_place *place, shard_error *err)
{
    char *end;
    if (!args->number)
        return find(set, name, component, place, err);
    errno = 0;
    unsigned long long id = strtoull(name, &end, 10);
    if (*name < '0' || *name > '9' || *end || errno == ERANGE) {
        *err = (shard_error){.status = SHARD_EINVAL, .offset = SHARD_NO_OFFSET};
        snprintf(err->message, sizeof err->message, "not the number of a sample: \"%.200s\"", name);
        return SHARD_EINVAL;
    }
    return shard_set_locate(set, id, place, err);
}

static int cat(const cli *c, const cat_args *args, const shard_set *set, const char *name,
               const char *component)
{
    shard_sample_opts sample_opts = SHARD_SAMPLE_OPTS_INIT;
    shard_set_place place;
    shard_sample sample;
    shard_error err;
    char lower[256];
    shard_status status = locate(set, args, name, &component, &place, &err);
    if (component)
        component = to_lower(component, lower, sizeof lower);
    sample_opts.component = component;
    if (status == SHARD_OK)
        status = shard_set_read_sample(set, place, &sample, &sample_opts, &err);
    if (status != SHARD_OK)
        return cli_error(c, &err);
    int code = component ? write_component(c, &sample.components[0], args->force)
                         : write_sample(c, &sample, args->force);
    shard_sample_free(&sample);
    return code;
}

static int run(cli *c, void *args, int count, char **operands)
{
    shard_set *set;
    if (count < 2 || count > 3)
        return cli_usage(c->verb->name, "SET, SAMPLE and perhaps COMPONENT are wanted");
    int code = set_open(c, 1, operands, &set);
    if (code != EXIT_OK)
        return code;
    code = cat(c, args, set, operands[1], count == 3 ? operands[2] : NULL);
    shard_set_close(set);
    return code;
}

const verb verb_cat = {
    .name = "cat",
    .summary = "write one sample or component to standard output",
    .operands = "SET SAMPLE [COMPONENT]",
    .text = "Find a sample by its key or number, through the index, and write one component as it "
            "is, or "
            "all of them as a tar. Checksums are checked. However large the set, a few KB of its "
            "indexes are read, and the sample.\n\n" SET_TEXT " Each shard needs its index.",
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(cat_args),
    .run = run,
};
