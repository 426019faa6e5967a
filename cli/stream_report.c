/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_report.h"

#include <sys/resource.h>

#include "record.h"

static uint64_t max_rss_bytes(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? (uint64_t)usage.ru_maxrss * 1024 : 0;
}

static const char *bottleneck_name(shard_bottleneck bottleneck)
{
    static const char *const names[] = {
        [SHARD_BOTTLENECK_NONE] = NULL,
        [SHARD_BOTTLENECK_STORAGE] = "storage",
        [SHARD_BOTTLENECK_DECODE] = "decode",
        [SHARD_BOTTLENECK_CONSUMER] = "consumer",
    };
    return names[bottleneck];
}

static double per_second(const stream_report *r, uint64_t amount)
{
    return r->seconds > 0 ? (double)amount / r->seconds : 0;
}

void stream_report_json(const stream_report *r)
{
    const shard_loader_stats *s = &r->stats;
    const char *bottleneck = bottleneck_name(s->bottleneck);
    record *line = record_new();
    record_number(line, "samples", s->samples);
    record_number(line, "batches", s->batches);
    record_number(line, "bytes", s->bytes);
    record_real(line, "seconds", r->seconds);
    record_real(line, "samples_per_s", per_second(r, s->samples));
    record_real(line, "bytes_per_s", per_second(r, s->bytes));
    record_real(line, "first_batch_s", s->first_batch_s);
    record_real(line, "wait_s", s->wait_s);
    record_real(line, "order_s", s->order_s);
    record_real(line, "read_s", s->read_s);
    record_real(line, "decode_s", s->decode_s);
    record_real(line, "idle_s", s->idle_s);
    record_number(line, "reads", s->reads);
    record_number(line, "bad_samples", s->bad_samples);
    record_number(line, "threads", r->info.threads);
    record_number(line, "rank", r->info.rank);
    record_number(line, "world_size", r->info.world_size);
    record_text(line, "order", r->info.order);
    record_number(line, "buffer_bytes", s->memory);
    record_number(line, "max_rss_bytes", max_rss_bytes());
    bottleneck ? record_text(line, "bottleneck", bottleneck) : record_null(line, "bottleneck");
    r->state ? record_text(line, "state", r->state) : record_null(line, "state");
    record_print(line, stdout);
}

void stream_report_text(const cli *c, const stream_report *r)
{
    const shard_loader_stats *s = &r->stats;
    static const char *const advice[] = {
        [SHARD_BOTTLENECK_NONE] = "too few batches to say who was waited for",
        [SHARD_BOTTLENECK_STORAGE] = "storage was waited for",
        [SHARD_BOTTLENECK_DECODE] = "decoding was waited for: more threads, or smaller images",
        [SHARD_BOTTLENECK_CONSUMER] = "batches were ready when they were asked for",
    };
    cli_note(c, "%s in %s %s, %.2f s: %s samples/s, %s/s", text_things(s->samples, "sample"),
             text_count(s->batches), s->batches == 1 ? "batch" : "batches", r->seconds,
             text_count((uint64_t)per_second(r, s->samples)),
             text_size((uint64_t)per_second(r, s->bytes)));
    cli_note(c,
             "first batch after %.3f s, waited %.2f s; threads: order %.2f s, read %.2f s, "
             "decode %.2f s, idle %.2f s",
             s->first_batch_s, s->wait_s, s->order_s, s->read_s, s->decode_s, s->idle_s);
    if (s->bad_samples > 0)
        cli_note(c, "%s", text_things(s->bad_samples, "bad sample"));
    cli_note(c, "%s", advice[s->bottleneck]);
}
