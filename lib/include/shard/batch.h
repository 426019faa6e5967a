/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A batch: so many samples, each a row of named tensors, or as they were stored.
 */
#ifndef SHARD_BATCH_H
#define SHARD_BATCH_H

#include <shard/set.h>

SHARD_BEGIN_DECLS

/** Numbers of a tensor, in the machine's byte order. */
typedef enum shard_dtype {
    SHARD_U8 = 0,
    SHARD_I8,
    SHARD_U16,
    SHARD_I16,
    SHARD_U32,
    SHARD_I32,
    SHARD_U64,
    SHARD_I64,
    SHARD_F16, /**< IEEE 754 half precision */
    SHARD_F32,
    SHARD_F64,
} shard_dtype;

/** Bytes of one number; 0 for a value that is none of these. Thread-safe. */
SHARD_API size_t shard_dtype_size(shard_dtype dtype);

#define SHARD_DIMS_MAX 8

/**
 * One field of all rows. Of fixed shape: row i begins at `data` + i * stride[0] numbers, rows that
 * are not valid are zeros. Ragged (dims is 1, shape[0] the number of rows, dtype U8): row i is the
 * lengths[i] bytes from data + offsets[i] on, and what lies between rows means nothing.
 */
typedef struct shard_tensor {
    const char *name;
    shard_dtype dtype;
    uint32_t dims;                  /**< rows included: the first one */
    int64_t shape[SHARD_DIMS_MAX];  /**< in numbers */
    int64_t stride[SHARD_DIMS_MAX]; /**< in numbers */
    void *data;                     /**< aligned to 64 bytes if of fixed shape; in host memory */
    const uint64_t *offsets;        /**< NULL: of fixed shape */
    const uint64_t *lengths;
} shard_tensor;

/**
 * Belongs to its loader, and is valid until it is released. Nothing in it may be written to but
 * `data` of tensors.
 */
typedef struct shard_batch {
    uint64_t epoch;
    uint64_t position;       /**< in the epoch, of the global batch's first sample */
    uint32_t rows;           /**< the same for each batch */
    uint32_t valid_count;    /**< rows that are valid */
    uint32_t bad_count;      /**< samples that were bad: replaced or masked */
    const uint8_t *valid;    /**< by row: 1, or 0 for a row past the epoch's end or masked */
    const uint64_t *ids;     /**< by row: the sample's number in the set, SHARD_UNKNOWN where it has
                                none: not valid, or read without an index */
    const char *const *keys; /**< by row: NUL-terminated, "" if not valid */
    const shard_tensor *tensors; /**< one a field, in their order */
    size_t tensor_count;
    const shard_sample *samples; /**< by row, if the loader has no fields: all components as stored;
                                    else NULL */
} shard_batch;

SHARD_END_DECLS

#endif
