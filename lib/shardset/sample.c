/* SPDX-License-Identifier: Apache-2.0 */
/* One sample by its place: the index says which bytes, the tar headers in them must agree. */
#include <string.h>

#include "container/stream.h"
#include "container/zstd.h"
#include "core/opts.h"
#include "shardset/extent.h"

typedef struct {
    const shard_set *set;
    shard_opened shard;
    shard_extent extent;
    shard_wanted wanted;
    const shard_sample_opts *opts;
    uint8_t *bytes; /* of the extent */

    fmt_arena *arena;
    shard_sample *out;
    shard_error *err;
} fetch;

/* ---- which bytes ---- */

static shard_status find_extent(fetch *f, uint64_t number)
{
    shard_extent *e = &f->extent;
    SHARD_TRY(shard_extent_find(&f->shard, number, &f->wanted, e, f->err));
    if (e->components == 0)
        return shard_fail(f->err, SHARD_ENOTFOUND, f->shard.path, SHARD_NO_OFFSET,
                          "sample \"%.*s\" has no component \"%s\"", (int)e->sample.key_size,
                          e->sample.key, f->opts->component);
    if (e->end - e->begin > f->opts->bytes_max)
        return shard_fail(f->err, SHARD_ELIMIT, f->shard.path, e->begin,
                          "sample \"%.*s\" has %llu bytes, more than the limit of %llu",
                          (int)e->sample.key_size, e->sample.key,
                          (unsigned long long)(e->end - e->begin),
                          (unsigned long long)f->opts->bytes_max);
    return SHARD_OK;
}

/* ---- getting them ---- */

static shard_status stale(const fetch *f, uint64_t offset, const char *what)
{
    return shard_opened_stale(&f->shard, offset, what, f->err);
}

/* Decode one frame out of the stored bytes and keep what of it is in the range. */
static shard_status decode_frame(fetch *f, shard_zstd_frame_decoder *decoder,
                                 const shard_index_frame *frame, const uint8_t *stored)
{
    size_t size = (size_t)(frame->tar_end - frame->tar_begin);
    if (size == 0)
        return SHARD_OK;
    if (size > f->opts->bytes_max)
        return shard_fail(f->err, SHARD_ELIMIT, f->shard.path, frame->stored_begin,
                          "a frame holds %zu bytes, more than the limit of %llu", size,
                          (unsigned long long)f->opts->bytes_max);
    uint8_t *content = fmt_arena_take(f->arena, size);
    if (!content)
        return shard_fail_memory(f->err);
    shard_status status = shard_zstd_decode(
        decoder, stored, (size_t)(frame->stored_end - frame->stored_begin), content, size, f->err);
    if (status != SHARD_OK) {
        if (f->err) {
            strncpy(f->err->url, f->shard.path, sizeof f->err->url - 1);
            f->err->offset = frame->stored_begin;
        }
        return status;
    }
    uint64_t begin = frame->tar_begin > f->extent.begin ? frame->tar_begin : f->extent.begin;
    uint64_t end = frame->tar_end < f->extent.end ? frame->tar_end : f->extent.end;
    if (begin < end)
        memcpy(f->bytes + (begin - f->extent.begin), content + (begin - frame->tar_begin),
               (size_t)(end - begin));
    return SHARD_OK;
}

static shard_status decode_frames(fetch *f, uint64_t first, uint64_t last, const uint8_t *stored,
                                  uint64_t stored_begin, uint64_t stored_end)
{
    shard_zstd_frame_decoder *decoder;
    SHARD_TRY(shard_zstd_frame_decoder_open(&decoder, f->err));
    shard_status status = SHARD_OK;
    for (uint64_t i = first; i <= last && status == SHARD_OK; i++) {
        shard_index_frame frame;
        status = shard_index_get_frame(f->shard.index, i, &frame, f->err);
        if (status == SHARD_OK &&
            (frame.stored_begin < stored_begin || frame.stored_end > stored_end))
            status = stale(f, frame.stored_begin, "frames stand in another order");
        if (status == SHARD_OK)
            status = decode_frame(f, decoder, &frame, stored + (frame.stored_begin - stored_begin));
    }
    shard_zstd_frame_decoder_close(decoder);
    return status;
}

/* The frames of the range, in one read. */
static shard_status read_frames(fetch *f)
{
    uint64_t first, last;
    shard_index_frame begin, end;
    SHARD_TRY(shard_opened_find_frame(&f->shard, f->extent.begin, &first, f->err));
    SHARD_TRY(shard_opened_find_frame(&f->shard, f->extent.end - 1, &last, f->err));
    SHARD_TRY(shard_index_get_frame(f->shard.index, first, &begin, f->err));
    SHARD_TRY(shard_index_get_frame(f->shard.index, last, &end, f->err));
    if (first > last || begin.tar_begin > f->extent.begin || end.tar_end < f->extent.end ||
        begin.stored_begin > end.stored_end)
        return stale(f, SHARD_NO_OFFSET, "the frames hold less");
    size_t size = (size_t)(end.stored_end - begin.stored_begin);
    uint8_t *stored = fmt_arena_take(f->arena, size);
    if (!stored)
        return shard_fail_memory(f->err);
    SHARD_TRY(shard_opened_read(&f->shard, begin.stored_begin, stored, size, f->err));
    return decode_frames(f, first, last, stored, begin.stored_begin, end.stored_end);
}

/* No frames to go by: decompress all that comes before. */
static shard_status read_stream(fetch *f)
{
    shard_stream stream;
    SHARD_TRY(shard_stream_open(&stream, f->shard.source, NULL, &f->set->alloc, f->err));
    shard_status status = shard_stream_skip(&stream, f->extent.begin, f->err);
    size_t size = (size_t)(f->extent.end - f->extent.begin), done = 0;
    while (status == SHARD_OK && done < size) {
        fmt_span bytes;
        status = shard_stream_next(&stream, &bytes, f->err);
        if (status == SHARD_OK && bytes.size == 0)
            status = stale(f, SHARD_NO_OFFSET, "the shard is shorter");
        if (status != SHARD_OK)
            break;
        size_t n = bytes.size < size - done ? bytes.size : size - done;
        memcpy(f->bytes + done, bytes.data, n);
        shard_stream_consume(&stream, n);
        done += n;
    }
    shard_stream_close(&stream);
    return status;
}

static shard_status read_range(fetch *f)
{
    size_t size = (size_t)(f->extent.end - f->extent.begin);
    f->bytes = fmt_arena_take(f->arena, size);
    if (!f->bytes)
        return shard_fail_memory(f->err);
    if (shard_opened_is_plain(&f->shard))
        return shard_opened_read(&f->shard, f->extent.begin, f->bytes, size, f->err);
    return shard_opened_has_frames(&f->shard) ? read_frames(f) : read_stream(f);
}

/* ---- what they say ---- */

/* The index will be closed, so its names are copied. */
static shard_status copy_names(fetch *f)
{
    for (size_t i = 0; i < f->out->count; i++) {
        shard_sample_component *c = &f->out->components[i];
        c->name = fmt_arena_text(f->arena, c->name, strlen(c->name));
        if (!c->name)
            return shard_fail_memory(f->err);
    }
    return SHARD_OK;
}

static shard_status match(fetch *f)
{
    f->out->key_size = f->extent.sample.key_size;
    f->out->key = fmt_arena_text(f->arena, f->extent.sample.key, f->out->key_size);
    f->out->count = f->extent.components;
    f->out->components = fmt_arena_array(f->arena, f->out->count, sizeof *f->out->components);
    fmt_tar_reader *tar = fmt_arena_take(f->arena, sizeof *tar);
    if (!f->out->key || !f->out->components || !tar)
        return shard_fail_memory(f->err);
    SHARD_TRY(shard_extent_match(&f->shard, &f->extent, &f->wanted, f->bytes, false, tar,
                                 f->out->components, f->err));
    return copy_names(f);
}

static shard_status fetch_sample(fetch *f, uint64_t number)
{
    SHARD_TRY(find_extent(f, number));
    SHARD_TRY(read_range(f));
    return match(f);
}

/* The arena and the allocator it asks, which must live as long as the sample. */
typedef struct {
    fmt_alloc alloc;
    fmt_arena arena;
} memory;

shard_status shard_set_read_sample(const shard_set *set, shard_set_place place, shard_sample *out,
                                   const shard_sample_opts *opts, shard_error *err)
{
    shard_sample_opts o;
    *out = (shard_sample){0};
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    if (o.bytes_max == 0)
        o.bytes_max = 1 << 30;
    memory *m = shard_alloc_zeroed(&set->alloc, 1, sizeof *m);
    if (!m)
        return shard_fail_memory(err);
    m->alloc = set->alloc;
    fmt_arena_init(&m->arena, &m->alloc);
    out->private_memory = m;
    fetch f = {.set = set,
               .wanted = {&o.component, o.component ? 1 : 0},
               .opts = &o,
               .arena = &m->arena,
               .out = out,
               .err = err};
    shard_status status = shard_opened_open(&f.shard, set, place.shard, NULL, err);
    if (status == SHARD_OK)
        status = fetch_sample(&f, place.sample);
    shard_opened_close(&f.shard);
    if (status != SHARD_OK)
        shard_sample_free(out);
    return status;
}

void shard_sample_free(shard_sample *sample)
{
    memory *m = sample->private_memory;
    *sample = (shard_sample){0};
    if (!m)
        return;
    fmt_alloc alloc = m->alloc;
    fmt_arena_clear(&m->arena);
    shard_alloc_free(&alloc, m);
}
