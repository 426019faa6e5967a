/* SPDX-License-Identifier: Apache-2.0 */
/* From a component's bytes to a row of its tensor: one set of decoders a thread. */
#ifndef LOADER_DECODERS_H
#define LOADER_DECODERS_H

#include "loader/fields.h"

typedef struct {
    const loader_fields *fields;
    shard_image_decoder **image; /* by field; NULL where it is none */
    fmt_alloc alloc;
} loader_decoders;

/* A sample whose bytes are there. */
typedef struct {
    const char *key;
    const shard_sample_component *components;
    size_t count;
    uint64_t random;
} loader_sample;

/* `decoders` holds zeros. On failure it holds what may be cleared. */
shard_status loader_decoders_init(loader_decoders *decoders, const loader_fields *fields,
                                  const shard_allocator *allocator, const fmt_alloc *alloc,
                                  shard_error *err);
void loader_decoders_clear(loader_decoders *decoders);

/* Fill row `row` of all tensors. Errors name the sample: SHARD_EDATA where a component is missing,
 * and those of the decoders. */
shard_status loader_decode(loader_decoders *decoders, const loader_sample *sample, shard_slot *slot,
                           uint32_t row, shard_error *err);

#endif
