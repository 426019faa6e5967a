/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One shard file being written, from stored bytes in order to the finished file: the codec's head
 * and tail, the tar's end mark, the running hash. What the bytes mean is the index builder's
 * business.
 */
#ifndef CONTAINER_SHARD_WRITER_H
#define CONTAINER_SHARD_WRITER_H

#include <shard/codec.h>

#include "container/gzip.h"
#include "container/zstd.h"
#include "core/hash.h"
#include "os/output.h"

/* A run of whole samples (or of a large one's bytes) as it is stored. */
typedef struct {
    const void *stored;
    size_t stored_size;
    uint64_t tar_size; /* bytes of tar that it holds */
    uint32_t crc;      /* with gzip: CRC-32 of them */
} shard_segment;

typedef struct {
    shard_codec codec;
    shard_output out;
    shard_hash *hash;
    uint64_t tar_size;
    uint32_t crc; /* with gzip: of all so far */

    /* With zstd: the seek table's entries so far. */
    uint8_t *seek_table;
    size_t frames, seek_capacity;
    fmt_alloc alloc;
} shard_writer;

/* A place to which a shard can be taken back. */
typedef struct {
    uint64_t stored_size, tar_size;
    size_t frames;
    uint32_t crc;
    shard_hash *hash; /* a copy; NULL until the first mark */
} shard_writer_mark;

/* Begin a shard; "-" is standard output. */
shard_status shard_writer_open(shard_writer *w, const char *path, shard_codec codec,
                               const fmt_alloc *alloc, shard_error *err);

shard_status shard_writer_append(shard_writer *w, const shard_segment *segment, shard_error *err);

/* What compresses, one of each a thread; NULL where the codec does not need it. */
typedef struct {
    shard_zstd_encoder *zstd;
    shard_gzip_encoder *gzip;
} shard_encoders;

/*
 * The end, in three steps, so that the index can be written before the shard gets its name: the
 * tar's end mark; the codec's tail, and the hash of all; the name.
 */
shard_status shard_writer_end_tar(shard_writer *w, const shard_encoders *encoders,
                                  shard_error *err);
shard_status shard_writer_end_file(shard_writer *w, uint8_t hash[SHARD_HASH_SIZE],
                                   shard_error *err);
shard_status shard_writer_commit(shard_writer *w, bool sync, shard_error *err);

/* Remove the file. For a writer of zeros, or one that was committed: nothing. */
void shard_writer_abort(shard_writer *w);

/* Remember this place, and come back to it. */
shard_status shard_writer_set_mark(const shard_writer *w, shard_writer_mark *mark,
                                   shard_error *err);
shard_status shard_writer_go_back(shard_writer *w, const shard_writer_mark *mark, shard_error *err);

#endif
