/* SPDX-License-Identifier: Apache-2.0 */
#include "container/stream.h"

enum { MAGIC_SIZE = 6 };

static shard_status open_decoder(shard_stream *stream, const fmt_alloc *alloc, shard_error *err)
{
    fmt_span head;
    SHARD_TRY(shard_raw_peek(&stream->raw, MAGIC_SIZE, &head, err));
    if (head.size == 0)
        return shard_fail(err, SHARD_ETRUNCATED, stream->raw.source->url, 0, "the file is empty");
    stream->codec = shard_codec_detect(head.data, head.size);
    switch (stream->codec) {
    case SHARD_CODEC_PLAIN:
        break;
    case SHARD_CODEC_ZSTD:
        return shard_zstd_decoder_open(&stream->decoder, &stream->raw, alloc, err);
    case SHARD_CODEC_GZIP:
        return shard_gzip_decoder_open(&stream->decoder, &stream->raw, alloc, err);
    case SHARD_CODEC_OTHER:
        return shard_archive_decoder_open(&stream->decoder, &stream->raw, alloc, err);
    }
    return SHARD_OK;
}

shard_status shard_stream_open(shard_stream *stream, shard_source *source, shard_hash *hash,
                               const fmt_alloc *alloc, shard_error *err)
{
    *stream = (shard_stream){0};
    SHARD_TRY(shard_raw_open(&stream->raw, source, alloc, err));
    stream->raw.hash = hash;
    shard_status status = open_decoder(stream, alloc, err);
    if (status != SHARD_OK)
        shard_stream_close(stream);
    return status;
}

void shard_stream_close(shard_stream *stream)
{
    if (stream->decoder)
        stream->decoder->type->close(stream->decoder);
    if (stream->raw.buffer)
        shard_raw_close(&stream->raw);
    *stream = (shard_stream){0};
}

shard_status shard_stream_next(shard_stream *stream, fmt_span *out, shard_error *err)
{
    if (!stream->decoder)
        return shard_raw_next(&stream->raw, out, err);
    if (stream->decoded.size == 0)
        SHARD_TRY(stream->decoder->type->next(stream->decoder, &stream->decoded, err));
    *out = stream->decoded;
    return SHARD_OK;
}

void shard_stream_consume(shard_stream *stream, size_t size)
{
    if (!stream->decoder) {
        shard_raw_consume(&stream->raw, size);
        return;
    }
    stream->decoded.data += size;
    stream->decoded.size -= size;
}

shard_status shard_stream_skip(shard_stream *stream, uint64_t size, shard_error *err)
{
    if (!stream->decoder)
        return shard_raw_skip(&stream->raw, size, err);
    while (size > 0) {
        fmt_span bytes;
        SHARD_TRY(shard_stream_next(stream, &bytes, err));
        if (bytes.size == 0)
            return shard_fail(err, SHARD_ETRUNCATED, stream->raw.source->url, stream->raw.offset,
                              "ends %llu bytes too early, inside a member",
                              (unsigned long long)size);
        size_t n = bytes.size < size ? bytes.size : (size_t)size;
        shard_stream_consume(stream, n);
        size -= n;
    }
    return SHARD_OK;
}
