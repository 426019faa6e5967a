/* SPDX-License-Identifier: Apache-2.0 */
/* Compressed bytes in, tar bytes out, from front to end: one vtable, a file for each library. */
#ifndef CONTAINER_DECODER_H
#define CONTAINER_DECODER_H

#include <shard/codec.h>

#include "container/raw.h"

typedef struct shard_decoder shard_decoder;

typedef struct {
    /* The next decoded bytes, valid until the next call; size 0 at the end. */
    shard_status (*next)(shard_decoder *decoder, fmt_span *out, shard_error *err);
    void (*close)(shard_decoder *decoder);
} shard_decoder_type;

/* A compressed frame ended: `stored` and `tar` bytes have been read and made in all. */
typedef shard_status (*shard_frame_fn)(void *context, uint64_t stored, uint64_t tar);

/* Each kind's struct begins with this one. */
struct shard_decoder {
    const shard_decoder_type *type;
    shard_raw *raw;
    fmt_alloc alloc;
    shard_frame_fn on_frame; /* only zstd has frames to tell of; NULL: nobody listens */
    void *on_frame_context;
};

/* What the first bytes of a file say it is. `size` may be 0. */
shard_codec shard_codec_detect(const uint8_t *bytes, size_t size);

shard_status shard_zstd_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                     shard_error *err);
shard_status shard_gzip_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                     shard_error *err);
shard_status shard_archive_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                        shard_error *err);

#endif
