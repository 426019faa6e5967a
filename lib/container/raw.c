/* SPDX-License-Identifier: Apache-2.0 */
#include "container/raw.h"

#include <string.h>

/*
 * Whole shards go through 256 KiB that stay in the second-level cache; headers alone, with payloads
 * passed over, are read 2 KiB at a time: room for a `.cls` member and the header behind it.
 */
enum { READ_LEAST = 2 << 10, READ_MOST = 256 << 10 };

shard_status shard_raw_open(shard_raw *raw, shard_source *source, const fmt_alloc *alloc,
                            shard_error *err)
{
    *raw = (shard_raw){.source = source, .alloc = *alloc, .read_size = READ_MOST};
    raw->buffer = alloc->realloc(alloc->context, NULL, READ_MOST);
    return raw->buffer ? SHARD_OK : shard_fail_memory(err);
}

void shard_raw_close(shard_raw *raw)
{
    shard_alloc_free(&raw->alloc, raw->buffer);
    raw->buffer = NULL;
}

/* Read behind what is in the buffer; `*got` 0 at the source's end. */
static shard_status fill(shard_raw *raw, size_t *got, shard_error *err)
{
    if (raw->begin == raw->end)
        raw->begin = raw->end = 0;
    if (raw->begin > 0 && raw->end + READ_LEAST > READ_MOST) {
        memmove(raw->buffer, raw->buffer + raw->begin, raw->end - raw->begin);
        raw->end -= raw->begin;
        raw->begin = 0;
    }
    size_t room = READ_MOST - raw->end;
    size_t size = raw->read_size < room ? raw->read_size : room;
    uint64_t offset = raw->offset + (raw->end - raw->begin);
    SHARD_TRY(
        raw->source->type->read_at(raw->source, offset, raw->buffer + raw->end, size, got, err));
    if (raw->hash && *got > 0)
        shard_hash_add(raw->hash, raw->buffer + raw->end, *got);
    raw->end += *got;
    raw->read_size = raw->read_size * 2 < READ_MOST ? raw->read_size * 2 : READ_MOST;
    return SHARD_OK;
}

shard_status shard_raw_peek(shard_raw *raw, size_t least, fmt_span *out, shard_error *err)
{
    size_t got = 1;
    while (raw->end - raw->begin < least && got > 0)
        SHARD_TRY(fill(raw, &got, err));
    *out = (fmt_span){raw->buffer + raw->begin, raw->end - raw->begin};
    return SHARD_OK;
}

shard_status shard_raw_next(shard_raw *raw, fmt_span *out, shard_error *err)
{
    return shard_raw_peek(raw, 1, out, err);
}

void shard_raw_consume(shard_raw *raw, size_t size)
{
    raw->begin += size;
    raw->offset += size;
}

static shard_status too_short(const shard_raw *raw, uint64_t missing, shard_error *err)
{
    return shard_fail(err, SHARD_ETRUNCATED, raw->source->url, raw->offset,
                      "ends %llu bytes too early, inside a member", (unsigned long long)missing);
}

void shard_raw_seek(shard_raw *raw, uint64_t offset)
{
    raw->offset = offset;
    raw->begin = raw->end = 0;
    raw->read_size = READ_LEAST;
}

static shard_status seek_over(shard_raw *raw, uint64_t size, shard_error *err)
{
    uint64_t left = raw->offset < raw->source->size ? raw->source->size - raw->offset : 0;
    if (size > left)
        return too_short(raw, size - left, err);
    shard_raw_seek(raw, raw->offset + size);
    return SHARD_OK;
}

shard_status shard_raw_skip(shard_raw *raw, uint64_t size, shard_error *err)
{
    size_t buffered = raw->end - raw->begin;
    if (size > buffered && raw->source->seekable && !raw->hash)
        return seek_over(raw, size, err);
    while (size > 0) {
        fmt_span bytes;
        SHARD_TRY(shard_raw_next(raw, &bytes, err));
        if (bytes.size == 0)
            return too_short(raw, size, err);
        size_t n = bytes.size < size ? bytes.size : (size_t)size;
        shard_raw_consume(raw, n);
        size -= n;
    }
    return SHARD_OK;
}
