/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/order.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "order_report.h"
#include "record.h"
#include "sample_keys.h"
#include "set.h"
#include "verbs.h"

typedef struct {
    common common;
    int shuffle;
    uint64_t seed, epoch, from, count, shuffle_samples, batch, world_size, class_samples;
    bool has_from, has_count, stats, has_batch, has_world_size, has_class_samples;
} order_args;

#define FIELD(name) offsetof(order_args, name)

static const opt opts[] = {
    {0, "shuffle", OPT_CHOICE, FIELD(shuffle), 0, "none|shards|full",
     "none: as stored (default); shards: whole shards in a new order each epoch; full: blocks of "
     "samples in a new order, and mixed"},
    {0, "seed", OPT_NUMBER, FIELD(seed), 0, "S", "another seed gives another order; else 0"},
    {0, "epoch", OPT_NUMBER, FIELD(epoch), 0, "E", "counted from 0, the default"},
    {0, "shuffle-samples", OPT_NUMBER, FIELD(shuffle_samples), 0, "N",
     "full: samples that are mixed at a time, over all ranks; else 16384. A set that is no larger "
     "is permuted as a whole"},
    {0, "from", OPT_NUMBER, FIELD(from), FIELD(has_from), "P", "first position; else 0"},
    {0, "count", OPT_NUMBER, FIELD(count), FIELD(has_count), "N",
     "positions; else all to the end of the epoch"},
    {0, "stats", OPT_FLAG, FIELD(stats), 0, NULL,
     "how well the order mixes, and what it costs to read, instead of the order"},
    {0, "batch", OPT_NUMBER, FIELD(batch), FIELD(has_batch), "N",
     "with --stats: samples of a batch, over all ranks; else 1024"},
    {0, "world-size", OPT_NUMBER, FIELD(world_size), FIELD(has_world_size), "W",
     "with --stats: ranks that share the batches; else 1"},
    {0, "class-samples", OPT_NUMBER, FIELD(class_samples), FIELD(has_class_samples), "N",
     "with --stats: neighbours in the set that are alike; else a thousandth of the set, at least "
     "1000, at most a tenth"},
};

static const opt_example examples[] = {
    {"shardtool order out.shards.json --shuffle full --epoch 3 | head", "how epoch 3 begins"},
    {"shardtool order out.shards.json --shuffle full --from 777777777 --count 5",
     "a few samples from its middle, at once"},
    {"shardtool order out.shards.json --shuffle full --stats --batch 4096 --world-size 64",
     "is this shuffle good enough, and are blocks read more than once"},
};

#define ORDER_TEXT                                                                                 \
    "Print the order of an epoch, a line each: position, number of the sample in the set, and "    \
    "its key. It is worked out from the counts of the shards, the seed and the epoch, the same "   \
    "everywhere, and from any position at once; a manifest is enough. Keys come from the "         \
    "indexes; for a shard without one there is \"-\".\n\n"                                         \
    "--stats tells what to expect of it. Variance inflation: how much more the mean of a batch "   \
    "varies than with a perfect shuffle, as a factor, for a set that is sorted by class; 2 is as " \
    "if the batches were half as large, and a set that was shuffled when it was packed has 1 "     \
    "with any order. Shards in a batch, same-shard neighbours: the same seen from the shards, "    \
    "beside what random picks would give. Read amplification: how often a block is read, since "   \
    "each rank reads the whole blocks it has samples of; 1 where the ranks divide the lanes. "     \
    "Shuffle memory: samples that wait for their turn. Of sets above 4 million samples a part is " \
    "looked at; \"-\" is what cannot be known, such as batches of a set smaller than "             \
    "one.\n\n" SET_TEXT " Without a manifest each shard needs its index."

enum { BATCH_DEFAULT = 1024, BATCH_MOST = 1 << 24 };

typedef struct {
    const cli *cli;
    const shard_set *set;
    const shard_order *order;
    const order_args *args;
    sample_keys keys;
} listing;

/* ---- positions, one a line ---- */

static void print_json(uint64_t position, uint64_t id, const char *key, size_t size,
                       const char *shard)
{
    record *line = record_new();
    record_number(line, "position", position);
    record_number(line, "id", id);
    key ? record_name(line, "key", key, size) : record_null(line, "key");
    record_name(line, "shard", shard, strlen(shard));
    record_print(line, stdout);
}

static void print_text(uint64_t position, uint64_t id, const char *key, size_t size)
{
    printf("%" PRIu64 "\t%" PRIu64 "\t", position, id);
    text_print_name(stdout, key ? key : "-", key ? size : 1);
    putchar('\n');
}

static int print_sample(listing *l, uint64_t position, uint64_t id)
{
    shard_set_place place;
    shard_set_shard shard;
    shard_error err;
    const char *key;
    size_t size = 0;
    if (shard_set_locate(l->set, id, &place, &err) != SHARD_OK)
        return cli_error(l->cli, &err);
    int code = sample_keys_find(&l->keys, place, &key, &size);
    if (code != EXIT_OK)
        return code;
    shard_set_get_shard(l->set, place.shard, &shard);
    if (l->cli->common->json)
        print_json(position, id, key, size, shard.path);
    else
        print_text(position, id, key, size);
    return EXIT_OK;
}

static int print_chunk(listing *l, uint64_t first, size_t count, uint64_t *ids)
{
    shard_error err;
    int code = EXIT_OK;
    if (shard_order_ids(l->order, l->args->epoch, first, count, ids, &err) != SHARD_OK)
        return cli_error(l->cli, &err);
    for (size_t i = 0; i < count && code == EXIT_OK; i++) {
        if (shard_cancel_is_set(l->cli->cancel))
            return cli_error(l->cli, &(shard_error){.status = SHARD_ECANCEL});
        code = print_sample(l, first + i, ids[i]);
    }
    return code;
}

static int print_range(listing *l, uint64_t count)
{
    shard_order_info info;
    shard_order_get_info(l->order, &info);
    uint64_t first = l->args->from, end = first + count, chunk = order_stats_chunk(&info);
    uint64_t *ids = cli_allocate((size_t)(count < chunk ? count + 1 : chunk), sizeof *ids);
    int code = EXIT_OK;
    sample_keys_init(&l->keys, l->cli, l->set);
    for (; first < end && code == EXIT_OK; first += chunk)
        code = print_chunk(l, first, (size_t)(end - first < chunk ? end - first : chunk), ids);
    sample_keys_clear(&l->keys);
    free(ids);
    return code;
}

static int wrong_range(const listing *l, uint64_t samples)
{
    const order_args *a = l->args;
    shard_error err = {.status = SHARD_EINVAL, .offset = SHARD_NO_OFFSET};
    if (a->epoch >= SHARD_ORDER_EPOCHS_MAX)
        snprintf(err.message, sizeof err.message, "no epoch %" PRIu64 ": the last one is %" PRIu64,
                 a->epoch, SHARD_ORDER_EPOCHS_MAX - 1);
    else if (a->has_count && a->from <= samples)
        snprintf(err.message, sizeof err.message,
                 "no %" PRIu64 " positions from %" PRIu64 " on: an epoch has %" PRIu64, a->count,
                 a->from, samples);
    else
        snprintf(err.message, sizeof err.message, "no position %" PRIu64 ": an epoch has %" PRIu64,
                 a->from, samples);
    return cli_error(l->cli, &err);
}

static int list(listing *l)
{
    const order_args *a = l->args;
    shard_order_info info;
    shard_order_get_info(l->order, &info);
    uint64_t left = a->from <= info.samples ? info.samples - a->from : 0;
    if (a->epoch >= SHARD_ORDER_EPOCHS_MAX || a->from > info.samples ||
        (a->has_count && a->count > left))
        return wrong_range(l, info.samples);
    return print_range(l, a->has_count ? a->count : left);
}

/* ---- statistics ---- */

static int print_stats(const listing *l)
{
    const order_args *a = l->args;
    uint64_t ranks = a->world_size > 0 ? a->world_size : 1;
    order_stats stats;
    order_stats_opts o = {.set = l->set,
                          .order = l->order,
                          .mixes = a->shuffle == SHARD_SHUFFLE_FULL,
                          .epoch = a->epoch,
                          .batch = a->batch,
                          .world_size = ranks,
                          .class_samples = a->class_samples};
    if (!a->has_batch) /* the next multiple */
        o.batch = (BATCH_DEFAULT + ranks - 1) / ranks * ranks;
    int code = order_stats_gather(&stats, l->cli, &o);
    if (code != EXIT_OK)
        return code;
    if (l->cli->common->json)
        order_report_json(&stats, &o);
    else
        order_report_text(&stats, &o);
    return EXIT_OK;
}

/* ---- the verb ---- */

static int check(const cli *c, const order_args *a)
{
    const char *name = c->verb->name;
    if (!a->stats && (a->has_batch || a->has_world_size || a->has_class_samples))
        return cli_usage(name, "--batch, --world-size and --class-samples go with --stats");
    if (a->stats && (a->has_from || a->has_count))
        return cli_usage(name, "--stats is about the whole epoch: no --from, no --count");
    if (a->has_class_samples && a->class_samples == 0)
        return cli_usage(name, "--class-samples is at least 1");
    if ((a->has_batch && (a->batch == 0 || a->batch > BATCH_MOST)) ||
        (a->has_world_size && (a->world_size == 0 || a->world_size > BATCH_MOST)))
        return cli_usage(name, "--batch and --world-size are 1 to %d", BATCH_MOST);
    if (a->has_batch && a->has_world_size && a->batch % a->world_size != 0)
        return cli_usage(name, "--batch is over all ranks, a multiple of --world-size");
    return EXIT_OK;
}

static int open_order(const cli *c, const order_args *a, const shard_set *set, shard_order **out)
{
    shard_order_opts order_opts = SHARD_ORDER_OPTS_INIT;
    shard_error err;
    order_opts.shuffle = (shard_shuffle)a->shuffle;
    order_opts.seed = a->seed;
    order_opts.shuffle_samples = a->shuffle_samples;
    return shard_order_open(out, set, &order_opts, &err) == SHARD_OK ? EXIT_OK : cli_error(c, &err);
}

static int run(cli *c, void *args, int count, char **operands)
{
    shard_set *set;
    shard_order *order = NULL;
    const order_args *a = args;
    int code = check(c, a);
    if (code == EXIT_OK)
        code = set_open(c, count, operands, &set);
    if (code != EXIT_OK)
        return code;
    code = open_order(c, a, set, &order);
    listing l = {.cli = c, .set = set, .order = order, .args = a};
    if (code == EXIT_OK)
        code = a->stats ? print_stats(&l) : list(&l);
    shard_order_close(order);
    shard_set_close(set);
    return code;
}

const verb verb_order = {
    .name = "order",
    .summary = "the order in which an epoch visits the samples",
    .operands = "SET...",
    .text = ORDER_TEXT,
    .opts = opts,
    .opt_count = sizeof opts / sizeof *opts,
    .examples = examples,
    .example_count = sizeof examples / sizeof *examples,
    .args_size = sizeof(order_args),
    .run = run,
};
