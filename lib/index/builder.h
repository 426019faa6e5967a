/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index while its shard is read or written: samples and components are told in tar order, in
 * bounded memory, and the index file is written at the end.
 */
#ifndef INDEX_BUILDER_H
#define INDEX_BUILDER_H

#include <shard/codec.h>

#include "index/names.h"
#include "index/spool.h"
#include "naming/sample_name.h"

typedef struct {
    uint64_t first_offset; /* of its first header block, in the tar */
    uint32_t key_size;
    uint32_t components;
} shard_sample_row;

typedef struct {
    uint64_t payload_offset, size;
    uint32_t id, crc;
} shard_component_row;

typedef struct {
    uint64_t stored, tar; /* where a compressed frame ends */
} shard_frame_row;

typedef struct {
    const char *url; /* of the shard, for errors; the caller's */
    bool has_checksums;

    shard_names names;
    shard_spool samples, components, keys, frames;
    shard_sample_row sample; /* the one being told */
    bool in_sample;

    bool keys_sorted, canonical, wide_sizes, same_list;
    char last_key[FMT_KEY_MAX];
    size_t last_key_size;
    uint32_t *list; /* component ids of the first sample */
    size_t list_size, list_capacity;
    uint64_t next_payload; /* where a canonical shard has the next one */
    fmt_alloc alloc;
} shard_index_builder;

/* `folder`: for temporary files. Both strings must outlive the builder. */
void shard_index_builder_init(shard_index_builder *b, const char *url, const char *folder,
                              bool has_checksums, const fmt_alloc *alloc);
void shard_index_builder_clear(shard_index_builder *b);

/* A sample begins with the member whose first header block stands at `offset`. */
shard_status shard_index_builder_sample(shard_index_builder *b, const char *key, size_t key_size,
                                        uint64_t offset, shard_error *err);

/*
 * A component of that sample. SHARD_EDATA: the sample has one of that name already. `crc` is not
 * looked at without checksums.
 */
shard_status shard_index_builder_component(shard_index_builder *b, const char *name,
                                           size_t name_size, uint64_t payload_offset, uint64_t size,
                                           uint32_t crc, shard_error *err);

/* The last sample is complete. */
shard_status shard_index_builder_end(shard_index_builder *b, shard_error *err);

/* A compressed frame ends: `stored` and `tar` bytes have gone by. */
shard_status shard_index_builder_frame(shard_index_builder *b, uint64_t stored, uint64_t tar,
                                       shard_error *err);

/* What is known of the shard when it is complete. */
typedef struct {
    uint64_t shard_size, tar_size;
    shard_codec codec;
    const uint8_t *hash; /* SHARD_HASH_SIZE bytes, or NULL */
} shard_index_facts;

/*
 * Write the index file `path` ("-": standard output), whole or not at all. SHARD_ELIMIT where the
 * shard is larger than the format can say.
 */
shard_status shard_index_builder_save(shard_index_builder *b, const shard_index_facts *facts,
                                      const char *path, bool sync, shard_error *err);

#endif
