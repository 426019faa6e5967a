/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The index of a shard: where each sample lies, its components' sizes and checksums. It stands
 * beside the shard as `NAME.sidx`, is bound to the shard's bytes, and can be made again from any
 * tar. Format: docs/format/sidx.md.
 */
#ifndef SHARD_INDEX_H
#define SHARD_INDEX_H

#include <stddef.h>

#include <shard/cancel.h>
#include <shard/codec.h>
#include <shard/memory.h>
#include <shard/status.h>

SHARD_BEGIN_DECLS

#define SHARD_INDEX_SUFFIX ".sidx"
#define SHARD_INDEX_HASH_SIZE 16

/** An opened index. Immutable: any number of threads may read it at once. */
typedef struct shard_index shard_index;

typedef struct shard_index_info {
    uint64_t samples;
    uint64_t components;      /**< of all samples */
    uint64_t shard_size;      /**< bytes of the stored shard */
    uint64_t tar_size;        /**< bytes of the tar inside, end mark and padding included */
    uint64_t frames;          /**< compressed frames that can be read alone; 0: none or unknown */
    uint64_t file_size;       /**< bytes of the index itself */
    uint32_t component_names; /**< different names */
    shard_codec codec;
    bool keys_sorted;                    /**< ascending by byte, no two alike */
    bool has_checksums;                  /**< CRC-32C of each payload */
    bool has_hash;                       /**< XXH3-128 of the stored shard */
    uint8_t hash[SHARD_INDEX_HASH_SIZE]; /**< canonical (big-endian) */
} shard_index_info;

/** Pointers live as long as the index. */
typedef struct shard_index_sample {
    const char *key; /**< not NUL-terminated */
    size_t key_size;
    uint64_t first_offset; /**< in the tar, of its first header block */
    uint64_t end_offset;   /**< in the tar, behind its last payload's padding */
    uint32_t components;

    uint64_t private_state[4]; /**< not for callers */
} shard_index_sample;

typedef struct shard_index_component {
    const char *name;        /**< lower-case, NUL-terminated */
    uint32_t id;             /**< of the name, below component_names */
    uint32_t crc32c;         /**< of the payload; 0 without checksums */
    uint64_t payload_offset; /**< in the tar */
    uint64_t payload_size;
} shard_index_component;

/**
 * Open an index file. Checks that header and table are whole and fit together; the columns are
 * checked as they are read, all at once by shard_index_check. Errors: SHARD_ENOTFOUND, SHARD_EIO,
 * SHARD_EFORMAT, SHARD_ETRUNCATED, SHARD_ECHECKSUM, SHARD_EUNSUPPORTED, SHARD_ELIMIT, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_index_open(shard_index **out, const char *path,
                                                        const shard_allocator *allocator,
                                                        shard_error *err);

/** NULL is allowed. */
SHARD_API void shard_index_close(shard_index *index);

/** What the index says of its shard as a whole; pointers are valid until the index is closed. */
SHARD_API void shard_index_get_info(const shard_index *index, shard_index_info *out);

/** A component name by its id; NULL past the last. */
SHARD_API const char *shard_index_component_name(const shard_index *index, uint32_t id);

/** Sample number `i`. Errors: SHARD_ENOTFOUND past the last, SHARD_EFORMAT for a damaged column. */
SHARD_NODISCARD SHARD_API shard_status shard_index_get_sample(const shard_index *index, uint64_t i,
                                                              shard_index_sample *out,
                                                              shard_error *err);

/** Component number `j` < sample->components. Walking them in order is fastest. Errors as above. */
SHARD_NODISCARD SHARD_API shard_status shard_index_get_component(const shard_index *index,
                                                                 shard_index_sample *sample,
                                                                 uint32_t j,
                                                                 shard_index_component *out,
                                                                 shard_error *err);

/**
 * The number of the first sample with this key: a binary search where keys are sorted, else a walk.
 * SHARD_ENOTFOUND where there is none.
 */
SHARD_NODISCARD SHARD_API shard_status shard_index_find(const shard_index *index, const char *key,
                                                        size_t key_size, uint64_t *out,
                                                        shard_error *err);

/** Frame number `i` < frames, in the stored shard and in the tar. */
typedef struct shard_index_frame {
    uint64_t stored_begin, stored_end, tar_begin, tar_end;
} shard_index_frame;

SHARD_NODISCARD SHARD_API shard_status shard_index_get_frame(const shard_index *index, uint64_t i,
                                                             shard_index_frame *out,
                                                             shard_error *err);

/** Check every section's checksum and every value. Errors as shard_index_open. */
SHARD_NODISCARD SHARD_API shard_status shard_index_check(const shard_index *index,
                                                         shard_error *err);

/** ---- making one ---- */

typedef struct shard_index_build_opts {
    size_t size;                      /**< of this struct; SHARD_INDEX_BUILD_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    const shard_cancel *cancel;       /**< NULL: cannot be cancelled */
    bool no_checksums;                /**< read headers only: no payload checksums, no shard hash */
    bool missing_end_ok;              /**< as in shard_reader_opts */
    bool sync;                        /**< fsync the index before it gets its name */
    const char *dali_index; /**< take offsets from this DALI `.idx` instead of walking the tar: only
                               the header blocks it points at are read, and must agree */
} shard_index_build_opts;

#define SHARD_INDEX_BUILD_OPTS_INIT            \
    {                                          \
        .size = sizeof(shard_index_build_opts) \
    }

/**
 * Read the shard `url` and write its index to `path`, whole or not at all. Memory stays bounded
 * whatever the shard's size. Errors: those of shard_reader_next; SHARD_EDATA for a component that
 * stands twice in a sample; SHARD_ELIMIT past 2 TiB, 2^32 components or 65,536 component names.
 */
SHARD_NODISCARD SHARD_API shard_status shard_index_build(const char *url, const char *path,
                                                         const shard_index_build_opts *opts,
                                                         shard_error *err);

/**
 * Write a DALI `.idx` v1.2 for the plain tar of this index. Errors: SHARD_EUNSUPPORTED for a
 * compressed shard, SHARD_EDATA for no samples or for a name with white space, which the format
 * cannot say.
 */
SHARD_NODISCARD SHARD_API shard_status shard_index_export_dali(const shard_index *index,
                                                               const char *path, shard_error *err);

SHARD_END_DECLS

#endif
