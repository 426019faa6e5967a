/* SPDX-License-Identifier: Apache-2.0 */
#include "container/reader.h"

#include <stdio.h>
#include <string.h>

#include "core/opts.h"
#include "naming/sample_name.h"
#include "tar/tar_reader.h"

struct shard_reader {
    shard_source *source;
    shard_stream stream;
    fmt_tar_reader tar;
    const shard_cancel *cancel;
    fmt_alloc alloc;
    bool in_payload; /* of the present member, some of it perhaps not yet read */

    char key[FMT_TAR_PATH_MAX]; /* of the present sample */
    size_t key_size;
    char component[FMT_COMPONENT_MAX + 1];
};

static shard_status init(shard_reader *r, shard_hash *hash, shard_error *err)
{
    fmt_tar_reader_init(&r->tar, 0);
    return shard_stream_open(&r->stream, r->source, hash, &r->alloc, err);
}

shard_status shard_reader_open_source(shard_reader **out, shard_source *source, shard_hash *hash,
                                      const shard_reader_opts *opts, shard_error *err)
{
    fmt_alloc alloc = source->alloc;
    shard_reader *r = shard_alloc_zeroed(&alloc, 1, sizeof *r);
    *out = NULL;
    if (!r) {
        shard_source_close(source);
        return shard_fail_memory(err);
    }
    r->alloc = alloc;
    r->source = source;
    r->cancel = opts->cancel;
    shard_status status = init(r, hash, err);
    r->tar.missing_end_ok = opts->missing_end_ok;
    if (status != SHARD_OK)
        shard_reader_close(r);
    else
        *out = r;
    return status;
}

shard_status shard_reader_open(shard_reader **out, const char *url, const shard_reader_opts *opts,
                               shard_error *err)
{
    shard_reader_opts o;
    shard_source *source;
    *out = NULL;
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    SHARD_TRY(shard_source_open(&source, url, o.cancel, &alloc, err));
    return shard_reader_open_source(out, source, NULL, &o, err);
}

void shard_reader_close(shard_reader *reader)
{
    if (!reader)
        return;
    fmt_alloc alloc = reader->alloc;
    shard_stream_close(&reader->stream);
    shard_source_close(reader->source);
    shard_alloc_free(&alloc, reader);
}

static shard_status fail(shard_reader *r, fmt_status status, shard_error *err)
{
    shard_status result = shard_fail_fmt(err, status, &r->tar.fault, r->source->url, 0);
    if (err && r->stream.codec != SHARD_CODEC_PLAIN) {
        size_t n = strlen(err->message);
        snprintf(err->message + n, sizeof err->message - n, " [offset in the decompressed tar]");
    }
    return result;
}

/* The next event of the tar, or SHARD_END when all of the shard has been read. */
static shard_status next_event(shard_reader *r, shard_error *err)
{
    for (;;) {
        fmt_span bytes;
        SHARD_TRY(shard_stream_next(&r->stream, &bytes, err));
        if (bytes.size == 0) {
            fmt_status end = fmt_tar_reader_finish(&r->tar);
            return end == FMT_OK ? SHARD_END : fail(r, end, err);
        }
        size_t before = bytes.size;
        fmt_status status = fmt_tar_reader_push(&r->tar, &bytes);
        shard_stream_consume(&r->stream, before - bytes.size);
        if (status == FMT_OK)
            return SHARD_OK;
        if (status != FMT_NEED_MORE)
            return fail(r, status, err);
        if (shard_cancel_is_set(r->cancel))
            return shard_fail(err, SHARD_ECANCEL, r->source->url, r->tar.offset, "cancelled");
    }
}

static shard_member_kind member_kind(fmt_tar_kind kind)
{
    switch (kind) {
    case FMT_TAR_FILE:
        return SHARD_MEMBER_FILE;
    case FMT_TAR_DIRECTORY:
        return SHARD_MEMBER_DIRECTORY;
    case FMT_TAR_HARD_LINK:
        return SHARD_MEMBER_HARD_LINK;
    case FMT_TAR_SYMBOLIC_LINK:
        return SHARD_MEMBER_SYMBOLIC_LINK;
    case FMT_TAR_SPECIAL:
        return SHARD_MEMBER_SPECIAL;
    default:
        return SHARD_MEMBER_OTHER;
    }
}

/* Only neighbours group; what is not a component stands between them without a meaning. */
static void set_sample(shard_reader *r, shard_member *member)
{
    fmt_name name;
    member->is_component =
        member->kind == SHARD_MEMBER_FILE &&
        fmt_name_split(member->path, member->path_size, &name) == FMT_NAME_COMPONENT;
    if (!member->is_component)
        return;
    fmt_component_copy(r->component, member->path + name.key_size + 1, name.component_size);
    r->component[name.component_size] = 0;
    member->key_size = name.key_size;
    member->component = r->component;
    member->begins_sample =
        r->key_size != name.key_size || memcmp(r->key, member->path, name.key_size) != 0;
    memcpy(r->key, member->path, name.key_size);
    r->key_size = name.key_size;
}

shard_status shard_reader_next(shard_reader *r, shard_member *out, shard_error *err)
{
    if (r->in_payload)
        SHARD_TRY(shard_stream_skip(&r->stream, fmt_tar_reader_skip(&r->tar), err));
    r->in_payload = false;
    SHARD_TRY(next_event(r, err)); /* a member: the payload before it is behind us */
    r->in_payload = true;
    const fmt_tar_member *m = &r->tar.member;
    *out = (shard_member){.path = m->path,
                          .path_size = m->path_size,
                          .kind = member_kind(m->kind),
                          .header_offset = m->header_offset,
                          .payload_offset = m->payload_offset,
                          .payload_size = m->size};
    set_sample(r, out);
    return SHARD_OK;
}

shard_status shard_reader_payload(shard_reader *r, const void **data, size_t *size,
                                  shard_error *err)
{
    *data = NULL;
    *size = 0;
    if (!r->in_payload || fmt_tar_reader_payload_left(&r->tar) == 0)
        return SHARD_OK;
    SHARD_TRY(next_event(r, err));
    *data = r->tar.payload.data;
    *size = r->tar.payload.size;
    return SHARD_OK;
}

shard_codec shard_reader_codec(const shard_reader *reader)
{
    return reader->stream.codec;
}

void shard_reader_on_frame(shard_reader *reader, shard_frame_fn on_frame, void *context)
{
    if (!reader->stream.decoder)
        return;
    reader->stream.decoder->on_frame = on_frame;
    reader->stream.decoder->on_frame_context = context;
}

uint64_t shard_reader_stored_size(const shard_reader *reader)
{
    return reader->stream.raw.offset;
}

uint64_t shard_reader_tar_size(const shard_reader *reader)
{
    return reader->tar.offset;
}
