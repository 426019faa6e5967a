/* SPDX-License-Identifier: Apache-2.0 */
/* A source read from front to end through one recycled buffer, hashed on the way where that is
 * asked. */
#ifndef CONTAINER_RAW_H
#define CONTAINER_RAW_H

#include "core/hash.h"
#include "source/source.h"

typedef struct {
    shard_source *source;
    uint64_t offset;  /* of the first byte not yet consumed */
    shard_hash *hash; /* NULL: not hashed; set before the first read */

    uint8_t *buffer;
    size_t begin, end; /* what is in it and not consumed */
    size_t read_size;  /* of the next read: small after a skip, growing while bytes are used */
    fmt_alloc alloc;
} shard_raw;

shard_status shard_raw_open(shard_raw *raw, shard_source *source, const fmt_alloc *alloc,
                            shard_error *err);
void shard_raw_close(shard_raw *raw); /* not the source */

/* What stands next, at least one byte; size 0 at the end. Valid until the next call. */
shard_status shard_raw_next(shard_raw *raw, fmt_span *out, shard_error *err);

/* The same, but at least `least` bytes where the source has them; least <= 4096. */
shard_status shard_raw_peek(shard_raw *raw, size_t least, fmt_span *out, shard_error *err);

/* `size` bytes of what shard_raw_next gave are used. */
void shard_raw_consume(shard_raw *raw, size_t size);

/*
 * Pass over `size` bytes: without reading them where the source is seekable and they are not
 * hashed. Past the end is an error, SHARD_ETRUNCATED.
 */
shard_status shard_raw_skip(shard_raw *raw, uint64_t size, shard_error *err);

/* Go on at `offset` of a seekable source that is not hashed. */
void shard_raw_seek(shard_raw *raw, uint64_t offset);

#endif
