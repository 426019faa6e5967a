/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run of samples as they will stand in a shard: tar bytes in the form in which the codec stores
 * them, and what the index needs to know, with offsets from the chunk's own beginning. Any thread
 * makes chunks, in any order; they go into the shard one after the other.
 */
#ifndef PACK_CHUNK_H
#define PACK_CHUNK_H

#include <shard/set.h>

#include "container/shard_writer.h"
#include "index/builder.h"
#include "pack/sample.h"

enum {
    PACK_FRAME_LEAST = 128 << 10, /* a frame is closed at the first sample's end from here on */
    PACK_FRAME_MOST = 8 << 20,    /* larger samples are split into frames of this size */
};

typedef struct {
    uint64_t tar_offset;    /* of its first header block */
    uint32_t key, key_size; /* in the chunk's text */
    uint32_t components;
    uint32_t label;    /* hash of its label; 0: none */
    uint32_t consumed; /* samples of the input that the chunk dealt with, up to this one */
} pack_chunk_sample;

typedef struct {
    uint64_t payload_offset, size;
    uint32_t name, name_size; /* in the chunk's text */
    uint32_t crc;
} pack_chunk_component;

/* A sample that was left out. */
typedef struct {
    uint32_t name, reason; /* NUL-terminated, in the chunk's text */
    uint32_t consumed;
} pack_chunk_skip;

/* Whole samples that are stored together: one in plain tar, a frame's worth else. */
typedef struct {
    size_t offset, size; /* in the stored bytes */
    uint64_t tar_size;
    uint32_t samples;
    uint32_t crc; /* with gzip */
} pack_chunk_segment;

/* A growing array of bytes. */
typedef struct {
    uint8_t *data;
    size_t size, capacity;
} pack_bytes;

typedef struct {
    shard_codec codec;
    uint64_t mtime;
    const shard_encoders *encoders; /* of the thread that fills the chunk */

    pack_bytes tar;        /* plain: all of it; else the frame that is open */
    uint64_t tar_begin;    /* of tar.data, from the chunk's beginning */
    size_t segment_begin;  /* of what no segment holds yet, in `tar` */
    uint32_t open_samples; /* complete samples there */
    pack_bytes packed;     /* compressed segments */
    pack_bytes text;       /* keys and names */

    pack_chunk_segment *segment;
    pack_chunk_sample *sample;
    pack_chunk_component *component;
    pack_chunk_skip *skip;
    size_t segments, samples, components, skips;
    size_t segment_capacity, sample_capacity, component_capacity, skip_capacity;
    uint32_t consumed; /* samples of the input that went into it or were left out */
    uint64_t shard;    /* that it goes into; SHARD_UNKNOWN: wherever there is room */

    /* What a frame must not exceed, so that it fits into a shard, unless one sample alone does. */
    uint64_t frame_size_max;
    uint32_t frame_samples_max;

    struct {
        size_t tar_size, components, text_size;
    } mark; /* where the sample being added began */
    fmt_alloc alloc;
} pack_chunk;

void pack_chunk_init(pack_chunk *chunk, shard_codec codec, uint64_t mtime, const fmt_alloc *alloc);

/* Limits of a shard, which no frame may break; 0: none. */
void pack_chunk_limit(pack_chunk *chunk, uint64_t size_max, uint64_t samples_max);
void pack_chunk_free(pack_chunk *chunk);

/* Empty again; its memory stays. */
void pack_chunk_reset(pack_chunk *chunk);

/* ---- adding a sample ---- */

shard_status pack_chunk_begin_sample(pack_chunk *chunk, const pack_sample *sample,
                                     shard_error *err);

/*
 * A component of that sample: its header, and room for `size` bytes of payload and one more, which
 * the caller fills before the next call.
 */
shard_status pack_chunk_begin_component(pack_chunk *chunk, const pack_sample *sample,
                                        const char *name, uint64_t size, uint8_t **payload,
                                        shard_error *err);
void pack_chunk_end_component(pack_chunk *chunk, uint32_t crc);

shard_status pack_chunk_end_sample(pack_chunk *chunk, uint32_t label, shard_error *err);

/* Take back what was added of the sample that is not ended: it will be added elsewhere. */
void pack_chunk_drop_sample(pack_chunk *chunk);

/* After a drop: the sample is left out. */
shard_status pack_chunk_skip_sample(pack_chunk *chunk, const char *name, const char *reason,
                                    shard_error *err);

/* Close the frame that is open: all is in segments now. */
shard_status pack_chunk_close(pack_chunk *chunk, shard_error *err);

/* ---- what is in it ---- */

/* Bytes of the segments, one after the other. */
static inline const uint8_t *pack_chunk_stored(const pack_chunk *chunk)
{
    return chunk->codec == SHARD_CODEC_PLAIN ? chunk->tar.data : chunk->packed.data;
}

static inline size_t pack_chunk_stored_size(const pack_chunk *chunk)
{
    return chunk->codec == SHARD_CODEC_PLAIN ? chunk->tar.size : chunk->packed.size;
}

/* Tell an index builder of `count` samples from number `first` on; the chunk begins at `tar` in the
 * shard. */
shard_status pack_chunk_tell(const pack_chunk *chunk, size_t first, size_t first_component,
                             size_t count, uint64_t tar, shard_index_builder *builder,
                             shard_error *err);

/* Compress one piece by the codec; `out` has room for pack_packed_bound(size) bytes. */
size_t pack_packed_bound(shard_codec codec, size_t size);
shard_status pack_compress(shard_codec codec, const shard_encoders *encoders, const void *bytes,
                           size_t size, void *out, size_t *out_size, uint32_t *crc,
                           shard_error *err);

#endif
