/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/feed.h"

#include <string.h>

#include "order/delay.h"

enum { SHUFFLE_SAMPLES_DEFAULT = 4096 }; /* they are held in memory, unlike those of an index */

uint64_t loader_feed_delay(const shard_loader_opts *opts)
{
    uint64_t all = opts->shuffle_samples > 0 ? opts->shuffle_samples : SHUFFLE_SAMPLES_DEFAULT;
    uint64_t held = all / opts->world_size;
    return opts->shuffle == SHARD_SHUFFLE_FULL && held > 0 ? 2 * held : 1;
}

/* An epoch has a size, or no end; else it is one round. */
static bool is_sized(const loader_feed *feed)
{
    return feed->split.epoch_size > 0;
}

/* ---- rounds ---- */

static void begin_round(loader_feed *feed, uint64_t round, loader_anchor from)
{
    feed->round = round;
    feed->departures = from.first;
    feed->arrived = feed->round_over = false;
    feed->delay_key = shard_order_key(feed->shared->seed, round, SHARD_KEY_DELAY, feed->split.rank);
    loader_inflow_begin(&feed->inflow, round, from);
}

/* Arrivals up to this one are over, when so many samples have left: see order/delay.h. */
static uint64_t first_needed(const loader_feed *feed, uint64_t departures)
{
    return departures >= feed->delay ? departures - feed->delay + 1 : 0;
}

/*
 * Pass over what a state says is surely over; the rest is read, and leaves without being delivered.
 * Not while the loader is opened: it reads, and reading can take its time.
 */
static shard_status catch_up(loader_feed *feed, shard_error *err)
{
    uint64_t departures = feed->due, needed = first_needed(feed, departures);
    feed->due = 0;
    while (feed->inflow.arrivals < needed && !feed->inflow.over)
        SHARD_TRY(loader_inflow_skip(&feed->inflow, err));
    feed->departures = needed;
    feed->discard = departures - needed;
    feed->arrived = departures > 0;
    return SHARD_OK;
}

void loader_feed_init(loader_feed *feed, loader_shared *shared, const shard_loader_opts *opts,
                      const shard_split *split, const shard_state *state, const fmt_alloc *alloc)
{
    feed->shared = shared;
    feed->split = *split;
    feed->delay = loader_feed_delay(opts);
    feed->epoch = state->epoch;
    feed->position = state->position;
    feed->alloc = *alloc;
    feed->inflow = (loader_inflow){.set = shared->set,
                                   .shards = &shared->shards,
                                   .wanted = &shared->fields->wanted,
                                   .budget = &shared->budget,
                                   .seed = shared->seed,
                                   .keeps_indexes = opts->keep_indexes,
                                   .shuffles_shards = opts->shuffle != SHARD_SHUFFLE_NONE,
                                   .rank = opts->rank,
                                   .world_size = opts->world_size};
    begin_round(feed, state->round, (loader_anchor){state->shard, state->first});
    feed->due = state->departures;
}

void loader_feed_clear(loader_feed *feed)
{
    if (!feed->shared)
        return;
    for (size_t i = 0; i < feed->turns; i++)
        loader_inflow_give(&feed->inflow, feed->turn[i].sample);
    loader_inflow_clear(&feed->inflow);
    shard_alloc_free(&feed->alloc, feed->turn);
    *feed = (loader_feed){0};
}

/* ---- the heap ---- */

static void swap(loader_turn *a, loader_turn *b)
{
    loader_turn t = *a;
    *a = *b;
    *b = t;
}

static shard_status push(loader_feed *feed, uint64_t time, loader_held *sample, shard_error *err)
{
    if (!shard_alloc_grow(&feed->alloc, &feed->turn, &feed->turn_capacity, feed->turns + 1,
                          sizeof *feed->turn)) {
        loader_inflow_give(&feed->inflow, sample);
        return shard_fail_memory(err);
    }
    loader_turn *turn = feed->turn;
    size_t i = feed->turns++;
    turn[i] = (loader_turn){time, sample};
    for (; i > 0 && turn[i].time < turn[(i - 1) / 2].time; i = (i - 1) / 2)
        swap(&turn[i], &turn[(i - 1) / 2]);
    return SHARD_OK;
}

static loader_held *pop(loader_feed *feed)
{
    loader_turn *turn = feed->turn;
    loader_held *sample = turn[0].sample;
    size_t count = --feed->turns;
    turn[0] = turn[count];
    for (size_t i = 0, child; (child = 2 * i + 1) < count; i = child) {
        child += child + 1 < count && turn[child + 1].time < turn[child].time;
        if (turn[i].time <= turn[child].time)
            break;
        swap(&turn[i], &turn[child]);
    }
    return sample;
}

/* ---- departures ---- */

/* What is to come leaves later than the earliest that is here. */
static bool is_earliest_certain(const loader_feed *feed)
{
    return feed->turns > 0 &&
           (feed->inflow.over || feed->turn[0].time < feed->inflow.arrivals << 32);
}

/* The next sample of this round to leave; NULL when it is over. */
static shard_status depart(loader_feed *feed, loader_held **out, shard_error *err)
{
    while (!is_earliest_certain(feed)) {
        uint64_t arrival = feed->inflow.arrivals;
        loader_held *sample = NULL;
        if (!feed->inflow.over)
            SHARD_TRY(loader_inflow_next(&feed->inflow, &sample, err));
        if (sample)
            SHARD_TRY(
                push(feed, shard_delay_time(feed->delay_key, feed->delay, arrival), sample, err));
        else if (feed->turns == 0)
            break;
    }
    *out = feed->turns > 0 ? pop(feed) : NULL;
    feed->departures += *out != NULL;
    feed->arrived = feed->arrived || *out;
    return SHARD_OK;
}

static shard_status depart_new(loader_feed *feed, loader_held **out, shard_error *err)
{
    for (;;) {
        SHARD_TRY(depart(feed, out, err));
        if (!*out || feed->discard == 0)
            return SHARD_OK;
        feed->discard--;
        loader_inflow_give(&feed->inflow, *out);
    }
}

/* The next sample, of this round or, where an epoch is not one round, of the next one. */
static shard_status next_sample(loader_feed *feed, loader_held **out, shard_error *err)
{
    SHARD_TRY(depart_new(feed, out, err));
    while (!*out && is_sized(feed)) {
        if (!feed->arrived)
            return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                              "rank %u of %u has no samples: %llu shards hold none for it",
                              feed->split.rank, feed->split.world_size,
                              (unsigned long long)feed->shared->set->shards);
        if (feed->round + 1 >= SHARD_ORDER_EPOCHS_MAX)
            return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET, "no round after 2^32");
        begin_round(feed, feed->round + 1, (loader_anchor){0});
        SHARD_TRY(depart_new(feed, out, err));
    }
    return SHARD_OK;
}

/* ---- batches ---- */

static shard_status append(loader_job *job, loader_shared *shared, uint32_t i,
                           const loader_held *sample, shard_error *err)
{
    shard_slot *slot = &job->slot;
    loader_row *row = &job->row[i];
    size_t parts = job->components_used + sample->part_count;
    *row = (loader_row){.at = job->bytes_used,
                        .size = sample->size,
                        .component = job->components_used,
                        .components = sample->part_count};
    SHARD_TRY(shard_buffer_reserve(&slot->bytes, row->at + sample->size, &shared->budget, err));
    SHARD_TRY(loader_keep_key(job, shared, i, sample->key.bytes, sample->key_size, err));
    SHARD_TRY(shard_buffer_reserve(&slot->components, parts * sizeof(shard_sample_component),
                                   &shared->budget, err));
    if (sample->size > 0)
        memcpy(slot->bytes.bytes + row->at, sample->bytes.bytes, sample->size);
    for (uint32_t j = 0; j < sample->part_count; j++) {
        const loader_part *part = (const loader_part *)(const void *)sample->parts.bytes + j;
        shard_sample_component *c = loader_row_components(job, i) + j;
        *c = (shard_sample_component){.name = part->name, .size = part->size};
    }
    job->bytes_used += sample->size;
    job->components_used = parts;
    return SHARD_OK;
}

/* Only now do the bytes stay where they are. */
static void point_at_bytes(loader_job *job, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        shard_sample_component *c = loader_row_components(job, i);
        size_t at = job->row[i].at;
        for (uint32_t j = 0; j < job->row[i].components; at += c[j++].size)
            c[j].data = job->slot.bytes.bytes + at;
    }
}

/* Whether the row is one of the epoch's; where an epoch is a round, that is seen when it ends. */
static bool is_in_epoch(const loader_feed *feed, uint32_t i)
{
    uint64_t place = feed->position + (uint64_t)feed->split.rank * feed->split.batch + i;
    return is_sized(feed) ? place < feed->split.epoch_size : !feed->round_over;
}

static shard_status add_row(loader_feed *feed, loader_job *job, uint32_t i, shard_error *err)
{
    loader_held *sample = NULL;
    job->row[i] = (loader_row){0};
    if (is_in_epoch(feed, i))
        SHARD_TRY(next_sample(feed, &sample, err));
    job->rows.place[i] =
        (loader_place){.epoch = feed->round,
                       .position = feed->departures * feed->split.world_size + feed->split.rank,
                       .id = SHARD_UNKNOWN,
                       .valid = sample != NULL};
    if (!sample) {
        feed->round_over = true;
        shard_slot_blank(&job->slot, i);
        return SHARD_OK;
    }
    atomic_fetch_add_explicit(&feed->shared->bytes, sample->size, memory_order_relaxed);
    shard_status status = append(job, feed->shared, i, sample, err);
    loader_inflow_give(&feed->inflow, sample);
    job->sorted[job->sorted_count++] = i;
    job->slot.ids[i] = SHARD_UNKNOWN;
    job->slot.valid[i] = 0; /* until it is made */
    return status;
}

static void remember_place(loader_feed *feed, loader_job *job)
{
    loader_anchor anchor =
        loader_inflow_anchor(&feed->inflow, first_needed(feed, feed->departures));
    job->rows.round = feed->round;
    job->rows.departures = feed->departures;
    job->rows.shard = anchor.shard;
    job->rows.first = anchor.first;
}

static void end_epoch(loader_feed *feed, loader_job *job)
{
    job->rows.is_end = true;
    feed->epoch++;
    feed->position = 0;
    if (!is_sized(feed))
        begin_round(feed, feed->round + 1, (loader_anchor){0});
    remember_place(feed, job);
}

static shard_status add_rows(loader_feed *feed, loader_job *job, shard_error *err)
{
    job->streamed = true;
    loader_job_begin(job);
    for (uint32_t i = 0; i < feed->split.batch; i++)
        SHARD_TRY(add_row(feed, job, i, err));
    point_at_bytes(job, feed->split.batch);
    return SHARD_OK;
}

/* A round's last rows that make no batch. */
static bool is_no_batch(const loader_feed *feed, const loader_job *job)
{
    uint32_t least = feed->split.drop_last ? feed->split.batch : 1;
    return !is_sized(feed) && job->sorted_count < least;
}

shard_status loader_feed_next(loader_feed *feed, loader_job *job, shard_error *err)
{
    bool over =
        is_sized(feed) ? shard_split_batches(&feed->split, feed->position) == 0 : feed->round_over;
    job->rows = (loader_rows_batch){
        .epoch = feed->epoch, .position = feed->position, .place = job->rows.place};
    if (feed->due > 0)
        SHARD_TRY(catch_up(feed, err));
    if (!over) {
        SHARD_TRY(add_rows(feed, job, err));
        over = is_no_batch(feed, job);
    }
    if (over) {
        end_epoch(feed, job);
        return SHARD_OK;
    }
    feed->position += shard_split_global_batch(&feed->split);
    remember_place(feed, job);
    return SHARD_OK;
}
