/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/set.h>

#include <unistd.h>

#include "cli.h"
#include "record.h"
#include "verbs.h"

typedef struct {
    common common;
    bool force;
} merge_args;

static const opt opts[] = {
    {'f', "force", OPT_FLAG, offsetof(merge_args, force), 0, NULL,
     "replace a manifest that exists"},
};

static const opt_example examples[] = {
    {"shardtool merge out.shards.json out.part-*.shards.json",
     "join what eight machines wrote with --part 1/8 to 8/8"},
};

static int run(cli *c, void *args, int count, char **operands)
{
    const merge_args *a = args;
    shard_error err;
    if (count < 2)
        return cli_usage(c->verb->name, "OUT and the parts' manifests are wanted");
    const char *out = operands[0];
    if (!a->force && access(out, F_OK) == 0) {
        err = (shard_error){.status = SHARD_EEXIST, .offset = SHARD_NO_OFFSET};
        snprintf(err.url, sizeof err.url, "%s", out);
        snprintf(err.message, sizeof err.message, "exists (--force replaces it)");
        return cli_error(c, &err);
    }
    const char *const *parts = (const char *const *)operands + 1;
    if (shard_manifest_merge(out, parts, (size_t)count - 1, &err) != SHARD_OK)
        return cli_error(c, &err);
    if (c->common->json) {
        record *line = record_new();
        record_text(line, "manifest", out);
        record_number(line, "parts", (uint64_t)count - 1);
        record_print(line, stdout);
    }
    cli_note(c, "joined %d parts into %s", count - 1, out);
    return EXIT_OK;
}

const verb verb_merge = {
    .name = "merge",
    .summary = "join the manifests of a set packed in parts",
    .operands = "OUT PART...",
    .text =
        "Join the manifests that pack --part I/N wrote, all N of them, into the one that a single "
        "machine would have written. Shards stay where they are, beside the manifests.",
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(merge_args),
    .run = run,
};
