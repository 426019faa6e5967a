/* SPDX-License-Identifier: Apache-2.0 */
#include "order_stats.h"

#include <stdlib.h>
#include <string.h>

#include "block_reads.h"

enum {
    CHUNK_LEAST = 1 << 16,
    CHUNK_MOST = 1 << 21,
    LOOK_ALL = 1 << 22, /* samples; of larger sets, so many: */
    LOOK_EDGE = 1 << 19,
    LOOK_BODY = 1 << 21,
    LOOK_MOST = 1 << 24, /* where blocks are mixed over very many */
    STRETCHES = 8,
    CLASSES = 1000,
};

typedef struct {
    const cli *cli;
    const order_stats_opts *opts;
    order_stats *stats;
    shard_order_info info;
    uint64_t edge;       /* batches of the head, and of the tail */
    double class_powers; /* sum of the squares of the classes' parts of the set */

    double deviation[ORDER_PARTS]; /* sums over batches */
    uint64_t looked[ORDER_PARTS];
    uint64_t shards, neighbours, same_shard;
    block_reads reads;

    uint64_t *ids, *sorted;
    uint64_t shard, shard_begin, shard_end; /* the one that was looked up last */
} gathering;

/* Any place costs the work of the places that it was mixed with. */
uint64_t order_stats_chunk(const shard_order_info *info)
{
    uint64_t span = info->lanes * info->delay;
    if (span < CHUNK_LEAST)
        return CHUNK_LEAST;
    return span < CHUNK_MOST ? span : CHUNK_MOST;
}

static uint64_t shard_of(gathering *g, uint64_t id)
{
    shard_set_place place;
    shard_set_shard shard;
    if (id >= g->shard_begin && id < g->shard_end)
        return g->shard;
    if (shard_set_locate(g->opts->set, id, &place, NULL) != SHARD_OK)
        return SHARD_UNKNOWN; /* cannot be: an order's ids are the set's */
    shard_set_get_shard(g->opts->set, place.shard, &shard);
    g->shard = place.shard;
    g->shard_begin = shard.first_sample;
    g->shard_end = shard.first_sample + shard.samples;
    return g->shard;
}

/* ---- one batch ---- */

static double square(double x)
{
    return x * x;
}

/* The part of the set that a class is. */
static double class_part(const gathering *g, uint64_t number)
{
    uint64_t size = g->stats->class_samples, left = g->info.samples - number * size;
    return (double)(left < size ? left : size) / (double)g->info.samples;
}

/*
 * Let each class have a label of 1 or -1 at random. The mean label of a batch then lies this far,
 * squared and on average over all labels, from the mean of the set: the sum over all classes of the
 * squared difference between its part of the batch and its part of the set.
 */
static double deviation(const gathering *g, size_t count)
{
    double sum = g->class_powers;
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t number = g->sorted[i] / g->stats->class_samples;
        for (end = i + 1; end < count && g->sorted[end] / g->stats->class_samples == number;)
            end++;
        double part = class_part(g, number);
        sum += square((double)(end - i) / (double)count - part) - square(part);
    }
    return sum;
}

/* The same for samples that are drawn at random. */
static double random_deviation(const gathering *g)
{
    double samples = (double)g->info.samples, batch = (double)g->opts->batch;
    return (1 - g->class_powers) / batch * (samples - batch) / (samples - 1);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int part_of(const gathering *g, uint64_t number)
{
    if (number < g->edge)
        return ORDER_HEAD;
    return number >= g->stats->batches - g->edge ? ORDER_TAIL : ORDER_BODY;
}

static void add_batch(gathering *g, uint64_t number, const uint64_t *ids)
{
    size_t count = (size_t)g->opts->batch;
    int part = part_of(g, number);
    memcpy(g->sorted, ids, count * sizeof *ids);
    qsort(g->sorted, count, sizeof *g->sorted, compare);
    g->deviation[part] += deviation(g, count);
    g->looked[part]++;
    g->shards++;
    for (size_t i = 1; i < count; i++)
        g->shards += shard_of(g, g->sorted[i - 1]) != shard_of(g, g->sorted[i]);
}

static void add_neighbours(gathering *g, size_t count)
{
    uint64_t before = shard_of(g, g->ids[0]);
    for (size_t i = 1; i < count; i++) {
        uint64_t shard = shard_of(g, g->ids[i]);
        g->same_shard += shard == before;
        before = shard;
    }
    g->neighbours += count - 1;
}

/* ---- stretches of batches ---- */

/* Batches from number `first` on, the last of which may be cut off by the epoch's end. */
static int add_chunk(gathering *g, uint64_t first, uint64_t count)
{
    uint64_t batch = g->opts->batch, position = first * batch;
    uint64_t left = g->info.samples - position;
    uint64_t samples = count * batch < left ? count * batch : left;
    uint64_t ahead = samples < left ? 1 : 0; /* so that no pair of neighbours is missed */
    shard_error err;
    if (shard_cancel_is_set(g->cli->cancel))
        return cli_error(g->cli, &(shard_error){.status = SHARD_ECANCEL});
    if (shard_order_ids(g->opts->order, g->opts->epoch, position, (size_t)(samples + ahead), g->ids,
                        &err) != SHARD_OK)
        return cli_error(g->cli, &err);
    add_neighbours(g, (size_t)(samples + ahead));
    for (uint64_t i = 0; i < samples; i += batch) {
        uint64_t size = samples - i < batch ? samples - i : batch;
        block_reads_add(&g->reads, position + i, (size_t)size, g->ids + i);
        if (size == batch)
            add_batch(g, first + i / batch, g->ids + i);
    }
    return EXIT_OK;
}

static uint64_t chunk_batches(const gathering *g)
{
    uint64_t batches = order_stats_chunk(&g->info) / g->opts->batch;
    return batches > 0 ? batches : 1;
}

static int add_stretch(gathering *g, uint64_t first, uint64_t count)
{
    uint64_t most = chunk_batches(g);
    int code = EXIT_OK;
    for (uint64_t end = first + count; first < end && code == EXIT_OK; first += most)
        code = add_chunk(g, first, end - first < most ? end - first : most);
    return code;
}

static uint64_t at_most(uint64_t samples, uint64_t batch, uint64_t batches)
{
    uint64_t wanted = samples / batch + 1;
    return wanted < batches ? wanted : batches;
}

/* Of the head its beginning, of the tail its end, of the body stretches that blocks fit into. */
static int look_at_some(gathering *g)
{
    uint64_t batch = g->opts->batch, body = g->stats->batches - 2 * g->edge;
    uint64_t span = 3 * g->info.lanes * g->info.delay;
    uint64_t stretch = span > LOOK_BODY / STRETCHES ? span : LOOK_BODY / STRETCHES;
    stretch = at_most(stretch < LOOK_MOST ? stretch : LOOK_MOST, batch, body);
    uint64_t stretches = LOOK_BODY / batch / stretch;
    stretches = stretches < 1 ? 1 : stretches;
    uint64_t ends = at_most(LOOK_EDGE, batch, g->edge), gap = body / stretches - stretch;
    int code = add_stretch(g, 0, ends);
    for (uint64_t i = 0; i < stretches && code == EXIT_OK; i++)
        code = add_stretch(g, g->edge + i * (body / stretches) + gap / 2, stretch);
    return code != EXIT_OK ? code : add_stretch(g, g->stats->batches - ends, ends);
}

static int look(gathering *g)
{
    uint64_t batch = g->opts->batch, samples = g->info.samples;
    if (samples > LOOK_ALL && g->stats->batches > STRETCHES)
        return look_at_some(g);
    return add_stretch(g, 0, samples / batch + (samples % batch > 0));
}

/* ---- what random picks would give ---- */

static double power(double base, uint64_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

/* The chance that none of a batch's picks, of samples that remain, is of a shard's `samples`. */
static double chance_of_none(const gathering *g, uint64_t samples)
{
    double remain = (double)g->info.samples - (double)(g->opts->batch - 1) / 2;
    double others = 1 - (double)samples / remain;
    return g->opts->batch + samples > g->info.samples ? 0 : power(others, g->opts->batch);
}

static void expect_random(gathering *g)
{
    shard_set_info info;
    double samples = (double)g->info.samples, pairs = 0, shards = 0, none = 1;
    shard_set_get_info(g->opts->set, &info);
    for (uint64_t i = 0, last = 0; i < info.shards; i++) {
        shard_set_shard shard;
        shard_set_get_shard(g->opts->set, i, &shard);
        none = shard.samples == last ? none : chance_of_none(g, shard.samples);
        last = shard.samples;
        shards += 1 - none;
        pairs += (double)shard.samples * (double)(shard.samples - (shard.samples > 0));
    }
    g->stats->shards_random = g->stats->batches > 0 ? shards : -1;
    g->stats->same_shard_random = samples > 1 ? pairs / samples / (samples - 1) : -1;
}

/* ---- all of it ---- */

static void choose_classes(gathering *g)
{
    uint64_t samples = g->info.samples, size = g->opts->class_samples;
    uint64_t tenth = samples / 10 > 0 ? samples / 10 : 1;
    if (size == 0)
        size = samples / CLASSES > CLASSES ? samples / CLASSES : CLASSES < tenth ? CLASSES : tenth;
    size = size < samples ? size : samples;
    g->stats->class_samples = size;
    uint64_t classes = samples / size; /* whole ones */
    g->class_powers = (double)classes * square((double)size / (double)samples) +
                      square((double)(samples % size) / (double)samples);
}

static void take_memory(gathering *g)
{
    shard_set_info info;
    shard_set_get_info(g->opts->set, &info);
    if (g->opts->mixes)
        g->stats->memory_samples = g->info.lanes * (g->info.delay / 2 + g->info.block);
    g->stats->sample_bytes =
        info.bytes == SHARD_UNKNOWN ? SHARD_UNKNOWN : info.bytes / g->info.samples;
}

static void take_results(gathering *g)
{
    order_stats *s = g->stats;
    double random = random_deviation(g);
    bool varies = g->class_powers < 1 && g->opts->batch < g->info.samples;
    for (int i = 0; i < ORDER_PARTS; i++) {
        s->looked += g->looked[i];
        s->variance[i] =
            g->looked[i] > 0 && varies ? g->deviation[i] / (double)g->looked[i] / random : -1;
    }
    s->shards = s->looked > 0 ? (double)g->shards / (double)s->looked : -1;
    s->same_shard = g->neighbours > 0 ? (double)g->same_shard / (double)g->neighbours : -1;
    s->read_amplification = block_reads_amplification(&g->reads);
}

int order_stats_gather(order_stats *out, const cli *c, const order_stats_opts *opts)
{
    gathering g = {.cli = c, .opts = opts, .stats = out};
    *out = (order_stats){0};
    shard_order_get_info(opts->order, &g.info);
    out->info = g.info;
    out->batches = g.info.samples / opts->batch;
    g.edge = out->batches / 100 > 0 ? out->batches / 100 : 1;
    choose_classes(&g);
    take_memory(&g);
    block_reads_init(&g.reads, &g.info, opts->batch, opts->world_size,
                     g.info.samples < LOOK_ALL ? g.info.samples : LOOK_ALL);
    g.ids = cli_allocate((size_t)(chunk_batches(&g) * opts->batch + 1), sizeof *g.ids);
    g.sorted = cli_allocate((size_t)opts->batch, sizeof *g.sorted);
    int code = look(&g);
    if (code == EXIT_OK)
        take_results(&g);
    expect_random(&g);
    block_reads_clear(&g.reads);
    free(g.ids);
    free(g.sorted);
    return code;
}
