/* SPDX-License-Identifier: Apache-2.0 */
/* One sample by its place: the index says which bytes, the tar headers in them must agree. */
#include <string.h>

#include "container/stream.h"
#include "container/zstd.h"
#include "core/crc32c.h"
#include "core/opts.h"
#include "naming/sample_name.h"
#include "shardset/set.h"
#include "tar/tar_reader.h"

typedef struct {
    const shard_set *set;
    const char *path;
    shard_index *index;
    shard_index_info info;
    shard_index_sample sample;
    uint64_t number;
    const shard_sample_opts *opts;

    shard_source *source;
    uint64_t begin, end; /* of the tar: what is needed of it */
    uint8_t *bytes;      /* that much */

    fmt_arena *arena;
    shard_sample *out;
    shard_error *err;
} fetch;

/* ---- which bytes ---- */

static bool is_wanted(const fetch *f, const char *component)
{
    return !f->opts->component || strcmp(f->opts->component, component) == 0;
}

static shard_status stale(const fetch *f, uint64_t offset, const char *what)
{
    return shard_fail(f->err, SHARD_ESTALE, f->path, offset,
                      "%s than its index says (run shardtool index)", what);
}

/* The range of the sample, or that from the payload before the wanted component to its own end. */
static shard_status choose_range(fetch *f)
{
    uint64_t end = f->sample.first_offset;
    f->begin = f->end = end;
    for (uint32_t j = 0; j < f->sample.components; j++) {
        shard_index_component c;
        SHARD_TRY(shard_index_get_component(f->index, &f->sample, j, &c, f->err));
        uint64_t begin = end;
        if (c.payload_offset < begin + FMT_TAR_BLOCK) /* or the range would not hold them all */
            return stale(f, c.payload_offset, "payloads stand in another order");
        end = c.payload_offset + c.payload_size + fmt_tar_padding(c.payload_size);
        if (!is_wanted(f, c.name))
            continue;
        if (f->out->count++ == 0)
            f->begin = begin;
        f->end = end;
    }
    if (f->out->count == 0)
        return shard_fail(f->err, SHARD_ENOTFOUND, f->path, SHARD_NO_OFFSET,
                          "sample \"%.*s\" has no component \"%s\"", (int)f->sample.key_size,
                          f->sample.key, f->opts->component);
    if (f->end - f->begin > f->opts->bytes_max)
        return shard_fail(f->err, SHARD_ELIMIT, f->path, f->begin,
                          "sample \"%.*s\" has %llu bytes, more than the limit of %llu",
                          (int)f->sample.key_size, f->sample.key,
                          (unsigned long long)(f->end - f->begin),
                          (unsigned long long)f->opts->bytes_max);
    return SHARD_OK;
}

/* ---- getting them ---- */

static shard_status read_exactly(const fetch *f, uint64_t offset, uint8_t *bytes, size_t size)
{
    size_t got;
    SHARD_TRY(shard_source_read(f->source, offset, bytes, size, &got, f->err));
    return got == size ? SHARD_OK : stale(f, offset + got, "the shard is shorter");
}

/* The frame that holds `offset` of the tar. */
static shard_status find_frame(const fetch *f, uint64_t offset, uint64_t *out)
{
    uint64_t low = 0, high = f->info.frames;
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        shard_index_frame frame;
        SHARD_TRY(shard_index_get_frame(f->index, middle, &frame, f->err));
        if (frame.tar_begin <= offset)
            low = middle;
        else
            high = middle;
    }
    *out = low;
    return SHARD_OK;
}

/* Decode one frame out of the stored bytes and keep what of it is in the range. */
static shard_status decode_frame(fetch *f, shard_zstd_frame_decoder *decoder,
                                 const shard_index_frame *frame, const uint8_t *stored)
{
    size_t size = (size_t)(frame->tar_end - frame->tar_begin);
    if (size == 0)
        return SHARD_OK;
    if (size > f->opts->bytes_max)
        return shard_fail(f->err, SHARD_ELIMIT, f->path, frame->stored_begin,
                          "a frame holds %zu bytes, more than the limit of %llu", size,
                          (unsigned long long)f->opts->bytes_max);
    uint8_t *content = fmt_arena_take(f->arena, size);
    if (!content)
        return shard_fail_memory(f->err);
    shard_status status = shard_zstd_decode(
        decoder, stored, (size_t)(frame->stored_end - frame->stored_begin), content, size, f->err);
    if (status != SHARD_OK) {
        if (f->err) {
            strncpy(f->err->url, f->path, sizeof f->err->url - 1);
            f->err->offset = frame->stored_begin;
        }
        return status;
    }
    uint64_t begin = frame->tar_begin > f->begin ? frame->tar_begin : f->begin;
    uint64_t end = frame->tar_end < f->end ? frame->tar_end : f->end;
    if (begin < end)
        memcpy(f->bytes + (begin - f->begin), content + (begin - frame->tar_begin),
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
        status = shard_index_get_frame(f->index, i, &frame, f->err);
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
    SHARD_TRY(find_frame(f, f->begin, &first));
    SHARD_TRY(find_frame(f, f->end - 1, &last));
    SHARD_TRY(shard_index_get_frame(f->index, first, &begin, f->err));
    SHARD_TRY(shard_index_get_frame(f->index, last, &end, f->err));
    if (first > last || begin.tar_begin > f->begin || end.tar_end < f->end ||
        begin.stored_begin > end.stored_end)
        return stale(f, SHARD_NO_OFFSET, "the frames hold less");
    size_t size = (size_t)(end.stored_end - begin.stored_begin);
    uint8_t *stored = fmt_arena_take(f->arena, size);
    if (!stored)
        return shard_fail_memory(f->err);
    SHARD_TRY(read_exactly(f, begin.stored_begin, stored, size));
    return decode_frames(f, first, last, stored, begin.stored_begin, end.stored_end);
}

/* No frames to go by: decompress all that comes before. */
static shard_status read_stream(fetch *f)
{
    shard_stream stream;
    SHARD_TRY(shard_stream_open(&stream, f->source, NULL, &f->set->alloc, f->err));
    shard_status status = shard_stream_skip(&stream, f->begin, f->err);
    size_t size = (size_t)(f->end - f->begin), done = 0;
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
    size_t size = (size_t)(f->end - f->begin);
    f->bytes = fmt_arena_take(f->arena, size);
    if (!f->bytes)
        return shard_fail_memory(f->err);
    if (f->source->seekable && f->source->size != f->info.shard_size)
        return shard_fail(f->err, SHARD_ESTALE, f->path, SHARD_NO_OFFSET,
                          "not the shard of its index (expected %llu bytes, got %llu)",
                          (unsigned long long)f->info.shard_size,
                          (unsigned long long)f->source->size);
    if (f->info.codec == SHARD_CODEC_PLAIN && f->source->seekable)
        return read_exactly(f, f->begin, f->bytes, size);
    if (f->info.codec == SHARD_CODEC_ZSTD && f->info.frames > 0 && f->source->seekable)
        return read_frames(f);
    return read_stream(f);
}

/* ---- what they say ---- */

static bool is_name_of(const fetch *f, const fmt_tar_member *m, const char *component)
{
    char lower[FMT_COMPONENT_MAX];
    size_t key = f->sample.key_size, size = strlen(component);
    if (m->path_size != key + 1 + size || memcmp(m->path, f->sample.key, key) != 0)
        return false;
    fmt_component_copy(lower, m->path + key + 1, size);
    return m->path[key] == '.' && memcmp(lower, component, size) == 0;
}

/* The component of the index that this member is; it must be there and be as the index says. */
static shard_status check_member(fetch *f, const fmt_tar_member *m, shard_sample_component *out,
                                 const shard_index_component *c)
{
    if (!is_name_of(f, m, c->name) || m->payload_offset != c->payload_offset ||
        m->size != c->payload_size)
        return stale(f, m->header_offset, "another member stands here");
    const uint8_t *data = f->bytes + (m->payload_offset - f->begin);
    uint32_t crc = f->info.has_checksums ? shard_crc32c(0, data, (size_t)m->size) : 0;
    if (crc != c->crc32c)
        return shard_fail(f->err, SHARD_ECHECKSUM, f->path, m->payload_offset,
                          "crc32c of \"%s\" (expected %08x, got %08x)", m->path, c->crc32c, crc);
    out->name = c->name;
    out->data = data;
    out->size = (size_t)m->size;
    return SHARD_OK;
}

/* The next regular file of the range. */
static shard_status next_file(fetch *f, fmt_tar_reader *tar, fmt_span *in)
{
    for (;;) {
        fmt_status status = fmt_tar_reader_push(tar, in);
        if (status == FMT_NEED_MORE)
            return stale(f, tar->offset, "less stands here");
        if (status != FMT_OK)
            return shard_fail_fmt(f->err, status, &tar->fault, f->path, 0);
        if (tar->event == FMT_TAR_MEMBER && tar->member.kind == FMT_TAR_FILE)
            return SHARD_OK;
    }
}

static shard_status match_members(fetch *f, fmt_tar_reader *tar)
{
    fmt_span in = {f->bytes, (size_t)(f->end - f->begin)};
    size_t done = 0;
    fmt_tar_reader_init(tar, f->begin);
    for (uint32_t j = 0; j < f->sample.components && done < f->out->count; j++) {
        shard_index_component c;
        SHARD_TRY(shard_index_get_component(f->index, &f->sample, j, &c, f->err));
        if (!is_wanted(f, c.name))
            continue;
        do /* names that are no components stand between them */
            SHARD_TRY(next_file(f, tar, &in));
        while (tar->member.payload_offset < c.payload_offset);
        c.name = fmt_arena_text(f->arena, c.name, strlen(c.name)); /* the index will be closed */
        if (!c.name)
            return shard_fail_memory(f->err);
        SHARD_TRY(check_member(f, &tar->member, &f->out->components[done++], &c));
    }
    return SHARD_OK;
}

static shard_status fetch_sample(fetch *f)
{
    SHARD_TRY(shard_index_get_sample(f->index, f->number, &f->sample, f->err));
    f->out->key = fmt_arena_text(f->arena, f->sample.key, f->sample.key_size);
    f->out->key_size = f->sample.key_size;
    SHARD_TRY(choose_range(f));
    f->out->components = fmt_arena_array(f->arena, f->out->count, sizeof *f->out->components);
    fmt_tar_reader *tar = fmt_arena_take(f->arena, sizeof *tar);
    if (!f->out->key || !f->out->components || !tar)
        return shard_fail_memory(f->err);
    SHARD_TRY(shard_source_open(&f->source, f->path, NULL, &f->set->alloc, f->err));
    shard_status status = read_range(f);
    shard_source_close(f->source);
    return status == SHARD_OK ? match_members(f, tar) : status;
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
               .path = set->shard[place.shard].path,
               .number = place.sample,
               .opts = &o,
               .arena = &m->arena,
               .out = out,
               .err = err};
    shard_status status = shard_set_open_index(set, place.shard, &f.index, err);
    if (status == SHARD_OK) {
        shard_index_get_info(f.index, &f.info);
        status = fetch_sample(&f);
    }
    shard_index_close(f.index);
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
