/* SPDX-License-Identifier: Apache-2.0 */
/* The reading side: a sample's files into a chunk. */
#ifndef PACK_FILL_H
#define PACK_FILL_H

#include "pack/engine/chunk.h"
#include "pack/engine/transform.h"

/* What one thread fills chunks with. */
typedef struct {
    pack_transform *transform; /* NULL: nothing is done to images */
    uint64_t memory;           /* that the images of a large sample may take */
    uint64_t bytes_in;         /* of the samples added so far */
} pack_filler;

/*
 * Add a sample. `*too_large`: it is not added, since its files are to be streamed (see
 * pack/large.h). After an error the sample is dropped from the chunk.
 */
shard_status pack_fill(pack_filler *filler, pack_chunk *chunk, const pack_sample *sample,
                       bool *too_large, shard_error *err);

/* ---- also for large samples ---- */

/* A component's file, opened and found regular; its size. Closed by pack_component_close. */
shard_status pack_component_open(const pack_component *component, int *fd, uint64_t *size,
                                 shard_error *err);
void pack_component_close(const pack_component *component, int fd);

/* What an image becomes, valid until the next call, and how many bytes it was read from. */
shard_status pack_fill_image(pack_filler *filler, const pack_component *component, fmt_span *out,
                             uint64_t *bytes_in, shard_error *err);

/* Read `size` bytes; fewer are SHARD_EDATA, "shrank". */
shard_status pack_component_read(const pack_component *component, int fd, uint8_t *buffer,
                                 size_t size, uint64_t offset, shard_error *err);

/* The file must end here. */
shard_status pack_component_end(const pack_component *component, int fd, uint64_t size,
                                shard_error *err);

/* Hash of a sample's label where no component says it: the first folder of its key. 0: none. */
uint32_t pack_label_of(const pack_sample *sample);

#endif
