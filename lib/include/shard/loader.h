/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The loader: from a set of shards to batches of decoded samples, in an order that seed and epoch
 * decide, on threads of its own.
 *
 *     shard_loader_open(&loader, urls, count, &opts, &err)
 *     while ((status = shard_loader_next(loader, &batch, &err)) == SHARD_OK) {
 *         train(batch);
 *         shard_loader_release(loader, batch);
 *     }
 *     SHARD_END: the epoch is over, and the next call begins the next one
 *     shard_loader_close(loader)
 *
 * Shards are found through their indexes. Where one has none, or is of gzip or in a pipe, the set
 * is read from front to end: order "stream-1", in which a rank has shards of its own, samples have
 * no numbers and SHARD_BAD_SUBSTITUTE is refused.
 *
 * The same samples and pixels come in the same batches for any number of threads; together the
 * ranks of a job have the same global batches for any number of ranks (docs/format/order.md).
 */
#ifndef SHARD_LOADER_H
#define SHARD_LOADER_H

#include <shard/batch.h>
#include <shard/cancel.h>
#include <shard/image.h>
#include <shard/order.h>
#include <shard/state.h>

SHARD_BEGIN_DECLS

/** One thread at a time may call its functions, but for those that say otherwise. */
typedef struct shard_loader shard_loader;

/** ---- what is made of a sample ---- */

/** What a decoder of the caller gets. Valid during the call. */
typedef struct shard_decode_input {
    const char *key;
    const char *component;
    const void *data;
    size_t size;
    uint64_t random; /**< decides all that is random: the same for the same seed, epoch, position */
} shard_decode_input;

/**
 * Make one row of `size` bytes at `out`, which holds zeros. Called by many threads at once. Any
 * status but SHARD_OK, SHARD_ENOMEM and SHARD_ECANCEL makes the sample a bad one.
 */
typedef shard_status (*shard_decode_fn)(void *context, const shard_decode_input *input, void *out,
                                        size_t size, shard_error *err);

typedef enum shard_field_kind {
    SHARD_FIELD_BYTES = 0, /**< as stored: a ragged tensor. For text, JSON, anything */
    SHARD_FIELD_INTEGER,   /**< a decimal number as text, as in `.cls`: I64 */
    SHARD_FIELD_IMAGE,     /**< JPEG, PNG or WebP, as `image` says: U8 NHWC, or F32 or F16 NCHW */
    SHARD_FIELD_NPY,       /**< a NumPy array of exactly `dtype` and `shape` */
    SHARD_FIELD_CUSTOM,    /**< by `decode`, into rows of `dtype` and `shape` */
} shard_field_kind;

/** All of it is copied when the loader is opened, but what `context` points to. */
typedef struct shard_field {
    const char *component; /**< "jpg", or several, the first that a sample has: "jpg;jpeg;png" */
    const char *name;      /**< of the tensor; NULL: the first component's */
    shard_field_kind kind;
    bool optional;                 /**< a sample without it is none the worse: zeros, or no bytes */
    const shard_image_opts *image; /**< of SHARD_FIELD_IMAGE */
    shard_dtype dtype;             /**< of SHARD_FIELD_NPY and _CUSTOM */
    uint32_t dims;                 /**< of one row, below SHARD_DIMS_MAX */
    int64_t shape[SHARD_DIMS_MAX]; /**< of one row */
    shard_decode_fn decode;        /**< of SHARD_FIELD_CUSTOM */
    void *context;
} shard_field;

/** ---- options ---- */

/** What becomes of a sample that cannot be decoded, lacks a component or has a wrong checksum. */
typedef enum shard_bad_sample {
    SHARD_BAD_ERROR = 0,  /**< shard_loader_next fails and names it */
    SHARD_BAD_SUBSTITUTE, /**< another sample of the set stands in for it, always the same one */
    SHARD_BAD_MASK,       /**< its row is zeros and not valid */
} shard_bad_sample;

/** Told of each bad sample that is not an error, by shard_loader_next, before it gives the batch.
 */
typedef void (*shard_bad_sample_fn)(void *context, const char *key, uint64_t id,
                                    const shard_error *why);

typedef struct shard_loader_opts {
    size_t size;                      /**< of this struct; SHARD_LOADER_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    const shard_cancel *cancel;       /**< NULL: cannot be cancelled */

    const shard_field *fields; /**< none: samples as stored, in shard_batch.samples */
    size_t field_count;
    uint32_t batch; /**< rows of this rank's batch; 0: 64 */

    shard_shuffle shuffle;
    uint64_t seed;            /**< as in shard_order_opts */
    uint64_t shuffle_samples; /**< as in shard_order_opts; of "stream-1" 0 is 4,096 */
    uint64_t epoch;           /**< the first one */
    uint64_t end_epoch;       /**< the one before which all ends: shard_loader_next then answers
                                 SHARD_END for ever, and nothing is loaded ahead; 0: never */
    uint64_t epoch_size;      /**< samples of an epoch, over all ranks, which then goes on where the
                                 last one stopped; 0: all of the set */
    bool endless;             /**< one epoch without end, in which each sample comes once in a while
                                 of as many as the set has */
    bool drop_last;           /**< leave out an epoch's last samples where they do not fill a global
                                 batch; else they come with rows that are not valid */
    uint32_t rank;
    uint32_t world_size; /**< 0: 1 */
    const char *resume;  /**< a state: begin where it was taken, at its epoch. A `seed` other than 0
                            must be the state's, and so must the order's options; all else may
                            differ */

    shard_bad_sample on_bad;
    shard_bad_sample_fn tell_bad; /**< NULL: nobody is told; they are counted all the same */
    void *tell_context;

    uint32_t threads;  /**< 0: as many as there are processors */
    uint32_t prefetch; /**< batches that may be ready or in the making besides those that the caller
                          holds; 0: as suits threads and memory */
    uint64_t memory;   /**< bytes that the loader may use for batches and stored bytes; 0: 1 GiB. An
                          image that takes more than a quarter of it to decode (a large progressive
                          one) is a bad sample, unless its options say more */
    bool no_checksums; /**< do not check payloads against the index's checksums */
    bool keep_indexes; /**< write an index beside each shard without one, once it was read to its
                          end: for the next time. All its bytes are read then */
} shard_loader_opts;

#define SHARD_LOADER_OPTS_INIT            \
    {                                     \
        .size = sizeof(shard_loader_opts) \
    }

/**
 * Open the set of these urls (as shard_set_open) and begin to load. Errors: those of
 * shard_set_open; SHARD_EINVAL for options that do not fit together; SHARD_EDATA for a set or epoch
 * without a batch; SHARD_ESTALE for a state of another set or other options, naming what differs;
 * SHARD_ENOMEM, also where `memory` does not hold two batches.
 */
SHARD_NODISCARD SHARD_API shard_status shard_loader_open(shard_loader **out,
                                                         const char *const *urls, size_t count,
                                                         const shard_loader_opts *opts,
                                                         shard_error *err);

/** Ends its threads; batches that were not released are gone too. NULL is allowed. */
SHARD_API void shard_loader_close(shard_loader *loader);

/**
 * The next batch; waits for it. SHARD_END at an epoch's end, after which the next call begins the
 * next epoch. SHARD_EINVAL where the caller holds all batches, prefetch + 1 of them; all other
 * errors are final, and name the sample where one is to blame: those of
 * shard_set_read_sample, shard_image_decode and the caller's decoders; SHARD_ECANCEL within 100 ms
 * of the token being set; SHARD_ENOMEM, also where `memory` does not suffice.
 */
SHARD_NODISCARD SHARD_API shard_status shard_loader_next(shard_loader *loader,
                                                         const shard_batch **out, shard_error *err);

/** Give a batch back, in any order. Some must be free for loading to go on. */
SHARD_API void shard_loader_release(shard_loader *loader, const shard_batch *batch);

/**
 * What to keep in a checkpoint: after the last batch that shard_loader_next gave; behind an epoch's
 * last batch, the next epoch's beginning. Errors:
 * SHARD_EUNSUPPORTED for an epoch without end past SHARD_ORDER_SAMPLES_MAX samples.
 */
SHARD_NODISCARD SHARD_API shard_status shard_loader_get_state(const shard_loader *loader,
                                                              char out[SHARD_STATE_SIZE],
                                                              shard_error *err);

/** What the options came to. */
typedef struct shard_loader_info {
    uint64_t samples;       /**< of the set; SHARD_UNKNOWN where they are not counted */
    uint64_t epoch_batches; /**< this rank's batches in a whole epoch; SHARD_UNKNOWN without end, or
                                 where samples are not counted */
    uint32_t batch, rank, world_size, threads, prefetch;
    const char *order; /**< name of the scheme; static text */
    uint64_t seed;
    uint64_t epoch, position; /**< where the next batch stands */
} shard_loader_info;

/** What the options came to, and where the loader stands. */
SHARD_API void shard_loader_get_info(const shard_loader *loader, shard_loader_info *out);

/** The set that is loaded, for its classes and counts; valid until the loader is closed. */
SHARD_API const shard_set *shard_loader_get_set(const shard_loader *loader);

/** ---- statistics ---- */

typedef enum shard_bottleneck {
    SHARD_BOTTLENECK_NONE = 0, /**< too early to say */
    SHARD_BOTTLENECK_STORAGE,  /**< batches are waited for, and threads read most of the time */
    SHARD_BOTTLENECK_DECODE,   /**< batches are waited for, and threads decode most of the time */
    SHARD_BOTTLENECK_CONSUMER, /**< batches wait for the caller */
} shard_bottleneck;

/** Since the loader was opened. Times of threads are summed over them, in seconds. */
typedef struct shard_loader_stats {
    uint64_t batches;     /**< given out */
    uint64_t samples;     /**< valid rows of these */
    uint64_t bytes;       /**< of stored samples that were read */
    uint64_t reads;       /**< calls to the storage */
    uint64_t bad_samples; /**< that were substituted or masked */
    double order_s;       /**< threads: which samples, and where they are */
    double read_s;        /**< threads: fetching bytes, decompressing, checking */
    double decode_s;      /**< threads: making tensors of them */
    double idle_s;        /**< threads: waiting for batches to be released */
    double wait_s;        /**< caller: waiting in shard_loader_next */
    double first_batch_s; /**< from opening to the first batch */
    uint64_t memory;      /**< bytes of buffers at present */
    shard_bottleneck bottleneck;
} shard_loader_stats;

/** Thread-safe: any thread, at any time before the loader is closed. */
SHARD_API void shard_loader_get_stats(shard_loader *loader, shard_loader_stats *out);

SHARD_END_DECLS

#endif
