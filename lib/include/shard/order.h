/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The order in which an epoch visits the samples of a set: a pure function of seed, epoch, set and
 * options, the same on any machine, in any release, for any number of threads and ranks. It is
 * computed on numbers; no shard is opened. Specification: docs/format/order.md.
 */
#ifndef SHARD_ORDER_H
#define SHARD_ORDER_H

#include <shard/set.h>

SHARD_BEGIN_DECLS

/** Immutable once open: any number of threads may use it at once. */
typedef struct shard_order shard_order;

typedef enum shard_shuffle {
    SHARD_SHUFFLE_NONE = 0, /**< as stored; order "stored-1" */
    SHARD_SHUFFLE_SHARDS,   /**< shards in a new order each epoch, samples as stored; "shards-1".
                               Enough where the set was shuffled when it was packed */
    SHARD_SHUFFLE_FULL,     /**< blocks of samples in a new order each epoch, and mixed over
                               `shuffle_samples` of them; "lanes-1" */
} shard_shuffle;

/** Samples of a set and epochs of an order are fewer than these. */
#define SHARD_ORDER_SAMPLES_MAX (UINT64_C(1) << 40)
#define SHARD_ORDER_EPOCHS_MAX (UINT64_C(1) << 32)
#define SHARD_ORDER_SEED_MAX (UINT64_C(1) << 63)

typedef struct shard_order_opts {
    size_t size;                      /**< of this struct; SHARD_ORDER_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    shard_shuffle shuffle;
    uint64_t seed;            /**< below SHARD_ORDER_SEED_MAX */
    uint64_t shuffle_samples; /**< of SHARD_SHUFFLE_FULL: samples that are mixed at a time, over all
                                 ranks; 0: 16,384. A set that is no larger is permuted as a whole */
} shard_order_opts;

#define SHARD_ORDER_OPTS_INIT            \
    {                                    \
        .size = sizeof(shard_order_opts) \
    }

typedef struct shard_order_info {
    const char *name; /**< of the scheme, with its version; static text */
    uint64_t samples; /**< of an epoch */
    uint64_t seed;
    uint64_t block;      /**< consecutive samples that stay near each other */
    uint32_t lanes;      /**< streams of blocks that are read in turn; 1 for other schemes */
    uint64_t delay;      /**< a sample leaves its lane less than so many places after it came */
    uint64_t tail;       /**< first position of the last piece, which is permuted as a whole */
    uint32_t set_digest; /**< of the shards' counts and sizes */
} shard_order_info;

/**
 * The order of a set whose samples are counted: it has a manifest, or each shard an index. The set
 * may be closed before the order. Errors: SHARD_EINVAL, SHARD_ENOTFOUND for a shard that is not
 * counted, SHARD_EDATA for a set without samples, SHARD_ELIMIT, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_order_open(shard_order **out, const shard_set *set,
                                                        const shard_order_opts *opts,
                                                        shard_error *err);

/** NULL is allowed. */
SHARD_API void shard_order_close(shard_order *order);

/** The scheme and its parameters; static text. */
SHARD_API void shard_order_get_info(const shard_order *order, shard_order_info *out);

/**
 * The numbers of the samples at positions `first` to `first + count - 1` of an epoch, into `ids`.
 * Any place of any epoch is found at once, whatever came before it. Errors: SHARD_EINVAL past the
 * epoch's end or the last epoch, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_order_ids(const shard_order *order, uint64_t epoch,
                                                       uint64_t first, size_t count, uint64_t *ids,
                                                       shard_error *err);

SHARD_END_DECLS

#endif
