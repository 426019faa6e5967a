/* SPDX-License-Identifier: Apache-2.0 */
/* What is done to images on their way into a shard. One a thread. */
#ifndef PACK_TRANSFORM_H
#define PACK_TRANSFORM_H

#include <shard/pack.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct pack_transform pack_transform;

typedef struct {
    uint64_t baselined, resized, stripped, kept;
} pack_transform_counts;

/* `*out` is NULL where the options ask for nothing. `memory`: what one image may take to be worked
 * on. */
shard_status pack_transform_open(pack_transform **out, const shard_pack_opts *opts, uint64_t memory,
                                 const fmt_alloc *alloc, shard_error *err);
void pack_transform_close(pack_transform *transform); /* NULL allowed */

/* Is a component of this name an image to be worked on? */
bool pack_transform_wants(const pack_transform *transform, const char *name);

/* Where to read an image of `size` bytes and one more into. SHARD_ELIMIT: more than its memory. */
shard_status pack_transform_buffer(pack_transform *transform, uint64_t size, uint8_t **out,
                                   shard_error *err);

/* Work on the image; `*out` is valid until the next call, and may be the image itself. */
shard_status pack_transform_run(pack_transform *transform, fmt_span image, fmt_span *out,
                                shard_error *err);

/* What was done so far; set, to take back what a sample that was dropped had counted. A transform
 * of NULL has done nothing. */
void pack_transform_get_counts(const pack_transform *transform, pack_transform_counts *out);
void pack_transform_set_counts(pack_transform *transform, const pack_transform_counts *counts);

#endif
