/* SPDX-License-Identifier: Apache-2.0 */
#include "order_report.h"

#include <inttypes.h>

#include "record.h"

/* ---- text ---- */

static void begin(const char *name)
{
    printf("%-21s  ", name);
}

/* A number that may be unknown. */
static void print_real(double value, int digits)
{
    if (value < 0)
        printf("-");
    else
        printf("%.*f", digits, value);
}

static void print_scheme(const order_stats *s, const order_stats_opts *opts)
{
    begin("order");
    printf("%s, seed %" PRIu64 ", epoch %" PRIu64 ", %s\n", s->info.name, s->info.seed, opts->epoch,
           text_things(s->info.samples, "sample"));
    begin("block");
    printf("%s (consecutive samples that stay near each other)\n",
           text_things(s->info.block, "sample"));
    begin("lanes");
    printf("%" PRIu32 " (streams of blocks that are read in turn)\n", s->info.lanes);
    begin("delay");
    printf("%s (a sample moves by less inside its lane)\n", text_things(s->info.delay, "place"));
}

static void print_memory(const order_stats *s)
{
    begin("shuffle memory");
    printf("%s", text_things(s->memory_samples, "sample"));
    if (s->sample_bytes != SHARD_UNKNOWN)
        printf(", about %s", text_size(s->memory_samples * s->sample_bytes));
    printf(" (over all ranks)\n");
}

static void print_batches(const order_stats *s, const order_stats_opts *opts)
{
    begin("batches");
    printf("%s of %s, over all ranks", text_count(s->batches), text_things(opts->batch, "sample"));
    if (s->looked < s->batches)
        printf("; %s looked at", text_count(s->looked));
    printf("\n");
}

static void print_mixing(const order_stats *s)
{
    begin("variance inflation");
    print_real(s->variance[ORDER_BODY], 2);
    printf(" (1: as a perfect shuffle; below 2 is good)\n");
    begin("  first 1%");
    print_real(s->variance[ORDER_HEAD], 2);
    printf("\n");
    begin("  last 1%");
    print_real(s->variance[ORDER_TAIL], 2);
    printf("\n");
    begin("  the worst case");
    printf("%s of the set in a row are alike, and no others\n",
           text_things(s->class_samples, "sample"));
    begin("shards in a batch");
    print_real(s->shards, 2);
    printf(" (random picks: ");
    print_real(s->shards_random, 2);
    printf(")\n");
    begin("same-shard neighbours");
    print_real(s->same_shard, 3);
    printf(" of all (random picks: ");
    print_real(s->same_shard_random, 3);
    printf(")\n");
}

void order_report_text(const order_stats *s, const order_stats_opts *opts)
{
    print_scheme(s, opts);
    print_memory(s);
    print_batches(s, opts);
    print_mixing(s);
    begin("read amplification");
    print_real(s->read_amplification, 2);
    printf(" for %s (samples in the blocks they read, over samples they use)\n",
           text_things(opts->world_size, "rank"));
}

/* ---- JSON ---- */

static void set_real(record *r, const char *key, double value)
{
    value < 0 ? record_null(r, key) : record_real(r, key, value);
}

void order_report_json(const order_stats *s, const order_stats_opts *opts)
{
    record *line = record_new();
    record_text(line, "order", s->info.name);
    record_number(line, "seed", s->info.seed);
    record_number(line, "epoch", opts->epoch);
    record_number(line, "samples", s->info.samples);
    record_number(line, "block", s->info.block);
    record_number(line, "lanes", s->info.lanes);
    record_number(line, "delay", s->info.delay);
    record_number(line, "tail", s->info.tail);
    record_number(line, "memory_samples", s->memory_samples);
    s->sample_bytes == SHARD_UNKNOWN
        ? record_null(line, "memory_bytes")
        : record_number(line, "memory_bytes", s->memory_samples * s->sample_bytes);
    record_number(line, "batch", opts->batch);
    record_number(line, "world_size", opts->world_size);
    record_number(line, "class_samples", s->class_samples);
    record_number(line, "batches", s->batches);
    record_number(line, "looked", s->looked);
    record *variance = record_object(line, "variance_inflation");
    set_real(variance, "head", s->variance[ORDER_HEAD]);
    set_real(variance, "body", s->variance[ORDER_BODY]);
    set_real(variance, "tail", s->variance[ORDER_TAIL]);
    set_real(line, "shards_a_batch", s->shards);
    set_real(line, "shards_a_batch_random", s->shards_random);
    set_real(line, "same_shard", s->same_shard);
    set_real(line, "same_shard_random", s->same_shard_random);
    set_real(line, "read_amplification", s->read_amplification);
    record_print(line, stdout);
}
