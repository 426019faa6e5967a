/* SPDX-License-Identifier: Apache-2.0 */
/* A shard's tar bytes from front to end, whatever compression they are in. */
#ifndef CONTAINER_STREAM_H
#define CONTAINER_STREAM_H

#include "container/decoder.h"

typedef struct {
    shard_raw raw;
    shard_codec codec;
    shard_decoder *decoder; /* NULL: plain */
    fmt_span decoded;       /* what the decoder made and nobody consumed */
} shard_stream;

/* Begin to read `source`, which must outlive the stream. `hash` (may be NULL) gets the stored
 * bytes. */
shard_status shard_stream_open(shard_stream *stream, shard_source *source, shard_hash *hash,
                               const fmt_alloc *alloc, shard_error *err);
void shard_stream_close(shard_stream *stream);

/* What stands next, at least one byte; size 0 at the end. Valid until the next call. */
shard_status shard_stream_next(shard_stream *stream, fmt_span *out, shard_error *err);

/* `size` bytes of what shard_stream_next gave are used. */
void shard_stream_consume(shard_stream *stream, size_t size);

/* Pass over `size` bytes, unread where that is possible. Past the end is SHARD_ETRUNCATED. */
shard_status shard_stream_skip(shard_stream *stream, uint64_t size, shard_error *err);

#endif
