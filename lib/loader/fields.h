/* SPDX-License-Identifier: Apache-2.0 */
/* What is made of a sample: the caller's fields, checked and copied, and the layout that follows.
 */
#ifndef LOADER_FIELDS_H
#define LOADER_FIELDS_H

#include <shard/loader.h>

#include "batch/slot.h"
#include "shardset/extent.h"

typedef struct {
    shard_field given;        /* its strings are ours */
    const char **alternative; /* names of the component, best first */
    size_t alternatives;
} loader_field;

typedef struct {
    loader_field *field;
    size_t count;
    shard_wanted wanted; /* all alternatives of all fields; none: all components */
    bool keeps_bytes;    /* stored bytes stay in the slot, for ragged tensors or whole samples */
    shard_slot_layout layout;
    fmt_arena arena;
} loader_fields;

/* `fields` holds zeros; `alloc` must outlive it. On failure it holds what may be cleared. */
shard_status loader_fields_init(loader_fields *fields, const shard_loader_opts *opts,
                                const fmt_alloc *alloc, shard_error *err);
void loader_fields_clear(loader_fields *fields);

/* The component of a sample that a field is made of; NULL where it has none. */
const shard_sample_component *loader_field_find(const loader_field *field,
                                                const shard_sample_component *components,
                                                size_t count);

#endif
