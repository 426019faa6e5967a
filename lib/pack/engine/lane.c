/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/lane.h"

#include <string.h>

#include <shard/index.h>

#include "tar/tar_header.h"

shard_status pack_sink_init(pack_sink *sink, const pack_outs *outs, const shard_pack_opts *opts,
                            const fmt_alloc *alloc, shard_error *err)
{
    memset(sink, 0, sizeof *sink);
    sink->outs = outs;
    sink->opts = opts;
    sink->alloc = *alloc;
    return pthread_mutex_init(&sink->mutex, NULL) == 0 ? SHARD_OK : shard_fail_memory(err);
}

void pack_sink_clear(pack_sink *sink)
{
    pthread_mutex_destroy(&sink->mutex);
}

/* ---- one shard ---- */

static shard_status open_shard(pack_lane *lane, shard_error *err)
{
    pack_sink *sink = lane->sink;
    if (lane->is_open)
        return SHARD_OK;
    SHARD_TRY(pack_outs_name(sink->outs, lane->shard, lane->path, err));
    if (!sink->outs->is_stdout && !sink->may_replace)
        SHARD_TRY(pack_outs_absent(lane->path, err));
    SHARD_TRY(shard_writer_open(&lane->writer, lane->path, sink->outs->codec, &sink->alloc, err));
    shard_index_builder_init(&lane->builder, lane->path, sink->outs->folder, true, &sink->alloc);
    lane->is_open = true;
    lane->samples = 0;
    lane->labels = (pack_label_run){0};
    return SHARD_OK;
}

static shard_status save_index(pack_lane *lane, const uint8_t *hash, shard_error *err)
{
    char path[SHARD_PATH_MAX];
    shard_index_facts facts = {.shard_size = lane->writer.out.size,
                               .tar_size = lane->writer.tar_size,
                               .codec = lane->writer.codec,
                               .hash = hash};
    SHARD_TRY(shard_path_append(lane->path, SHARD_INDEX_SUFFIX, path, err));
    return shard_index_builder_save(&lane->builder, &facts, path, lane->sink->opts->sync, err);
}

/* The index gets its name before the shard does, so a shard that is there has its index. */
static shard_status complete(pack_lane *lane, const shard_encoders *encoders, uint64_t *bytes,
                             shard_error *err)
{
    uint8_t hash[SHARD_HASH_SIZE];
    bool last_frame = lane->writer.codec == SHARD_CODEC_ZSTD;
    SHARD_TRY(shard_writer_end_tar(&lane->writer, encoders, err));
    if (last_frame)
        SHARD_TRY(shard_index_builder_frame(&lane->builder, lane->writer.out.size,
                                            lane->writer.tar_size, err));
    SHARD_TRY(shard_writer_end_file(&lane->writer, hash, err));
    *bytes = lane->writer.out.size;
    if (!lane->sink->outs->is_stdout)
        SHARD_TRY(save_index(lane, hash, err));
    return shard_writer_commit(&lane->writer, lane->sink->opts->sync, err);
}

static shard_status record(pack_lane *lane, uint64_t bytes, shard_error *err)
{
    pack_sink *sink = lane->sink;
    fmt_json *skips = lane->skips;
    shard_status status = SHARD_OK;
    lane->skips = NULL;
    pthread_mutex_lock(&sink->mutex);
    sink->shards++;
    sink->bytes_out += bytes;
    if (sink->journal)
        status = pack_journal_add(sink->journal, lane->shard, lane->next, skips, err);
    else
        fmt_json_free(skips);
    pthread_mutex_unlock(&sink->mutex);
    return status;
}

static shard_status close_shard(pack_lane *lane, const shard_encoders *encoders, shard_error *err)
{
    uint64_t bytes = 0;
    shard_status status = complete(lane, encoders, &bytes, err);
    shard_index_builder_clear(&lane->builder);
    if (status != SHARD_OK)
        shard_writer_abort(&lane->writer);
    lane->is_open = false;
    if (status == SHARD_OK)
        status = record(lane, bytes, err);
    lane->shard++;
    return status;
}

/* Finish all shards before this one. */
static shard_status advance(pack_lane *lane, uint64_t shard, const shard_encoders *encoders,
                            shard_error *err)
{
    while (lane->shard < shard) {
        SHARD_TRY(open_shard(lane, err));
        SHARD_TRY(close_shard(lane, encoders, err));
    }
    return SHARD_OK;
}

shard_status pack_lane_finish(pack_lane *lane, const shard_encoders *encoders, shard_error *err)
{
    if (lane->shards > 0)
        return advance(lane, lane->shards, encoders, err);
    bool nothing_new = lane->rolls && !lane->is_open && lane->next > 0;
    if (nothing_new) /* the last shard was full when the samples ended */
        return SHARD_OK;
    SHARD_TRY(open_shard(lane, err));
    return close_shard(lane, encoders, err);
}

void pack_lane_abort(pack_lane *lane)
{
    fmt_json_free(lane->skips);
    lane->skips = NULL;
    if (!lane->is_open)
        return;
    shard_writer_abort(&lane->writer);
    shard_index_builder_clear(&lane->builder);
    lane->is_open = false;
}

/* ---- what was left out ---- */

static shard_status add_skip(pack_lane *lane, const char *name, const char *reason,
                             shard_error *err)
{
    fmt_json *skip = fmt_json_new_object();
    if (!lane->skips)
        lane->skips = fmt_json_new_array();
    bool ok = skip && lane->skips &&
              fmt_json_set(skip, "name", fmt_json_new_string(name, strlen(name))) == FMT_OK &&
              fmt_json_set(skip, "reason", fmt_json_new_string(reason, strlen(reason))) == FMT_OK;
    if (ok && fmt_json_append(lane->skips, skip) == FMT_OK)
        return SHARD_OK;
    if (!ok)
        fmt_json_free(skip);
    return shard_fail_memory(err);
}
/* ---- samples ---- */

static bool is_full(const pack_lane *lane, uint64_t tar_size, uint64_t samples)
{
    const shard_pack_opts *opts = lane->sink->opts;
    if (!lane->rolls || lane->shards > 0 || lane->samples == 0)
        return false;
    uint64_t size = lane->writer.tar_size + tar_size + FMT_TAR_END_SIZE;
    return (opts->max_size > 0 && size > opts->max_size) ||
           (opts->max_samples > 0 && lane->samples + samples > opts->max_samples);
}

shard_status pack_lane_make_room(pack_lane *lane, uint64_t tar_size, uint64_t samples,
                                 const shard_encoders *encoders, shard_error *err)
{
    if (lane->is_open && is_full(lane, tar_size, samples))
        SHARD_TRY(close_shard(lane, encoders, err));
    return open_shard(lane, err);
}

void pack_lane_count(pack_lane *lane, uint32_t label)
{
    lane->samples++;
    pthread_mutex_lock(&lane->sink->mutex);
    pack_labels_add(&lane->sink->labels, &lane->labels, label);
    pthread_mutex_unlock(&lane->sink->mutex);
}

/* How far into a chunk the writing has come. */
typedef struct {
    size_t segment, sample, component, skip; /* the first of each that is left */
    uint64_t base; /* number of the input's sample at which the chunk begins */
} progress;

/*
 * How many segments go into the shard in one write: all of a plain chunk, unless the shard may be
 * full before its end; else one, a frame or piece of its own.
 */
static size_t run_of_segments(const pack_lane *lane, const pack_chunk *chunk, const progress *at)
{
    return chunk->codec == SHARD_CODEC_PLAIN && !lane->rolls ? chunk->segments - at->segment : 1;
}

/* Samples left out before number `consumed` of the chunk belong to the shard that is open now. */
static shard_status take_skips(pack_lane *lane, const pack_chunk *chunk, progress *at,
                               uint32_t consumed, shard_error *err)
{
    const char *text = (const char *)chunk->text.data;
    for (; at->skip < chunk->skips && chunk->skip[at->skip].consumed <= consumed; at->skip++) {
        const pack_chunk_skip *skip = &chunk->skip[at->skip];
        SHARD_TRY(add_skip(lane, text + skip->name, text + skip->reason, err));
    }
    return SHARD_OK;
}

/* Tell the index of samples that were written last; the shard ends where they do. */
static shard_status tell(pack_lane *lane, const pack_chunk *chunk, size_t samples,
                         uint64_t tar_size, progress *at, shard_error *err)
{
    const pack_chunk_sample *first = &chunk->sample[at->sample];
    /* Where the chunk would have begun in this shard; what wraps here wraps back when it is added.
     */
    uint64_t begin = lane->writer.tar_size - tar_size - first->tar_offset;
    SHARD_TRY(
        pack_chunk_tell(chunk, at->sample, at->component, samples, begin, &lane->builder, err));
    pthread_mutex_lock(&lane->sink->mutex);
    for (size_t i = 0; i < samples; i++) {
        pack_labels_add(&lane->sink->labels, &lane->labels, first[i].label);
        at->component += first[i].components;
    }
    pthread_mutex_unlock(&lane->sink->mutex);
    lane->samples += samples;
    at->sample += samples;
    lane->next = at->base + first[samples - 1].consumed;
    return SHARD_OK;
}

static shard_status write_run(pack_lane *lane, const pack_chunk *chunk, size_t count, progress *at,
                              const shard_encoders *encoders, shard_error *err)
{
    const pack_chunk_segment *segment = &chunk->segment[at->segment];
    shard_segment run = {.stored = pack_chunk_stored(chunk) + segment->offset, .crc = segment->crc};
    uint64_t samples = 0;
    for (size_t i = 0; i < count; i++) {
        run.stored_size += segment[i].size;
        run.tar_size += segment[i].tar_size;
        samples += segment[i].samples;
    }
    SHARD_TRY(pack_lane_make_room(lane, run.tar_size, samples, encoders, err));
    SHARD_TRY(take_skips(lane, chunk, at, chunk->sample[at->sample].consumed, err));
    SHARD_TRY(shard_writer_append(&lane->writer, &run, err));
    if (chunk->codec == SHARD_CODEC_ZSTD)
        SHARD_TRY(shard_index_builder_frame(&lane->builder, lane->writer.out.size,
                                            lane->writer.tar_size, err));
    SHARD_TRY(tell(lane, chunk, samples, run.tar_size, at, err));
    at->segment += count;
    return SHARD_OK;
}

shard_status pack_lane_write(pack_lane *lane, pack_chunk *chunk, const shard_encoders *encoders,
                             shard_error *err)
{
    progress at = {.base = lane->next};
    if (chunk->shard != SHARD_UNKNOWN)
        SHARD_TRY(advance(lane, chunk->shard, encoders, err));
    while (at.segment < chunk->segments)
        SHARD_TRY(write_run(lane, chunk, run_of_segments(lane, chunk, &at), &at, encoders, err));
    SHARD_TRY(take_skips(lane, chunk, &at, chunk->consumed, err));
    lane->next = at.base + chunk->consumed;
    pack_chunk_reset(chunk);
    return SHARD_OK;
}
