/* SPDX-License-Identifier: Apache-2.0 */
/* What the index builder needs of a reader beyond shard/reader.h. */
#ifndef CONTAINER_READER_H
#define CONTAINER_READER_H

#include <shard/reader.h>

#include "container/stream.h"

/*
 * Open a reader on a source, which it takes over (also on failure). `hash` (may be NULL) gets all
 * stored bytes; then payloads passed over are read all the same.
 */
shard_status shard_reader_open_source(shard_reader **out, shard_source *source, shard_hash *hash,
                                      const shard_reader_opts *opts, shard_error *err);

/* Be told of the ends of compressed frames. */
void shard_reader_on_frame(shard_reader *reader, shard_frame_fn on_frame, void *context);

/* After SHARD_END: bytes of the stored shard and of the tar inside, trailing zeros included. */
uint64_t shard_reader_stored_size(const shard_reader *reader);
uint64_t shard_reader_tar_size(const shard_reader *reader);

#endif
