/* SPDX-License-Identifier: Apache-2.0 */
/* Writing independent zstd frames, each with its content's size and checksum. */
#ifndef CONTAINER_ZSTD_H
#define CONTAINER_ZSTD_H

#include "core/alloc.h"
#include "core/error.h"

enum { SHARD_ZSTD_WINDOW_LOG_MAX = 23 }; /* 8 MiB, what RFC 8878 asks every decoder to support */

typedef struct shard_zstd_encoder shard_zstd_encoder;

/* One a thread. `level` as zstd's, 1 to 19. */
shard_status shard_zstd_encoder_open(shard_zstd_encoder **out, int level, shard_error *err);
void shard_zstd_encoder_close(shard_zstd_encoder *encoder); /* NULL allowed */

/* Most bytes that a frame of `size` content bytes can take. */
size_t shard_zstd_bound(size_t size);

/* Compress one frame into `out`, which has room for shard_zstd_bound(size) bytes. */
shard_status shard_zstd_encode(shard_zstd_encoder *encoder, const void *bytes, size_t size,
                               void *out, size_t *out_size, shard_error *err);

/* Decompress one whole frame of exactly `size` content bytes. */
typedef struct shard_zstd_frame_decoder shard_zstd_frame_decoder;
shard_status shard_zstd_frame_decoder_open(shard_zstd_frame_decoder **out, shard_error *err);
void shard_zstd_frame_decoder_close(shard_zstd_frame_decoder *decoder); /* NULL allowed */
shard_status shard_zstd_decode(shard_zstd_frame_decoder *decoder, const void *frame,
                               size_t frame_size, void *out, size_t size, shard_error *err);

#endif
