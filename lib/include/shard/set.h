/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A shardset: shards in an order, their samples numbered through. It is opened from its manifest,
 * or from a list of shards and patterns, each with or without its index. Format:
 * docs/format/manifest.md.
 */
#ifndef SHARD_SET_H
#define SHARD_SET_H

#include <shard/index.h>

SHARD_BEGIN_DECLS

/** Immutable once open: any number of threads may use it at once. */
typedef struct shard_set shard_set;

#define SHARD_UNKNOWN UINT64_MAX

typedef struct shard_set_opts {
    size_t size;                      /**< of this struct; SHARD_SET_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    bool no_indexes; /**< do not look at the indexes of shards that no manifest describes */
} shard_set_opts;

#define SHARD_SET_OPTS_INIT            \
    {                                  \
        .size = sizeof(shard_set_opts) \
    }

/** What a manifest says of one component; strings live as long as the set. */
typedef struct shard_set_component {
    const char *name;
    uint64_t count, bytes;
} shard_set_component;

/** A file or sample that was left out when the set was packed, and why. */
typedef struct shard_set_skip {
    const char *name, *reason;
} shard_set_skip;

typedef struct shard_set_info {
    uint64_t shards;
    uint64_t samples;     /**< SHARD_UNKNOWN where a shard has no index and no manifest tells */
    uint64_t bytes;       /**< of the stored shards */
    const char *manifest; /**< path of the manifest, NULL without one */
    uint32_t part, parts; /**< a part of a set packed by several machines; 0 of 0: whole */

    /* The rest comes from the manifest; empty without one. */
    const shard_set_component *components;
    size_t component_count;
    const char *const *classes; /**< names of the numbers in `.cls` */
    size_t class_count;
    const shard_set_skip *skips;
    size_t skip_count;
    bool sorted; /**< keys ascend through the whole set */
} shard_set_info;

/** One shard; strings live as long as the set. */
typedef struct shard_set_shard {
    const char *path;
    uint64_t
        first_sample; /**< number of its first one, SHARD_UNKNOWN behind a shard without index */
    uint64_t samples; /**< SHARD_UNKNOWN without index and manifest */
    uint64_t bytes;   /**< stored; SHARD_UNKNOWN for what is not a file */
    bool has_hash;    /**< the manifest has one */
    uint8_t hash[SHARD_INDEX_HASH_SIZE];
} shard_set_shard;

/**
 * Open a set. Each of the `count` urls is a manifest (its name ends in ".json"), a shard, a pattern
 * such as "out-{000..099}.tar", or "-" for a shard on standard input; a manifest stands alone.
 * Shards are not opened; without a manifest their indexes are, where there are any. Errors:
 * SHARD_EINVAL, SHARD_ENOTFOUND (a manifest or shard), SHARD_EIO, SHARD_EFORMAT, SHARD_EUNSUPPORTED
 * (a newer manifest), SHARD_ELIMIT, SHARD_ESTALE (an index of another shard), SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_set_open(shard_set **out, const char *const *urls,
                                                      size_t count, const shard_set_opts *opts,
                                                      shard_error *err);

/** NULL is allowed. */
SHARD_API void shard_set_close(shard_set *set);

/** Totals of the set; its pointers are valid until the set is closed. */
SHARD_API void shard_set_get_info(const shard_set *set, shard_set_info *out);

/** Shard number `i` < shards. */
SHARD_API void shard_set_get_shard(const shard_set *set, uint64_t i, shard_set_shard *out);

/**
 * Open the index beside shard `i`; it must be of a shard of this size. Errors: SHARD_ENOTFOUND
 * without one, SHARD_ESTALE for one of other bytes, and those of shard_index_open.
 */
SHARD_NODISCARD SHARD_API shard_status shard_set_open_index(const shard_set *set, uint64_t i,
                                                            shard_index **out, shard_error *err);

/** A sample's place: its shard, and its number there. */
typedef struct shard_set_place {
    uint64_t shard, sample;
} shard_set_place;

/** Where sample number `id` of the set lies. SHARD_ENOTFOUND past the last, or where counts are
 * unknown. */
SHARD_NODISCARD SHARD_API shard_status shard_set_locate(const shard_set *set, uint64_t id,
                                                        shard_set_place *out, shard_error *err);

/**
 * Where the first sample with this key lies. One index is opened where keys ascend through the set
 * and a manifest says so, else one after the other. SHARD_ENOTFOUND where there is none.
 */
SHARD_NODISCARD SHARD_API shard_status shard_set_find(const shard_set *set, const char *key,
                                                      size_t key_size, shard_set_place *out,
                                                      shard_error *err);

/** ---- one sample, in memory ---- */

typedef struct shard_sample_component {
    const char *name; /**< NUL-terminated */
    const void *data;
    size_t size;
} shard_sample_component;

/** Owned by the caller, who frees it with shard_sample_free. */
typedef struct shard_sample {
    const char *key; /**< NUL-terminated */
    size_t key_size;
    shard_sample_component *components;
    size_t count;

    void *private_memory; /**< not for callers */
} shard_sample;

typedef struct shard_sample_opts {
    size_t size;           /**< of this struct; SHARD_SAMPLE_OPTS_INIT sets it */
    uint64_t bytes_max;    /**< refuse larger ones, and larger frames of zstd; 0: 1 GiB */
    const char *component; /**< only this one; NULL: all */
} shard_sample_opts;

#define SHARD_SAMPLE_OPTS_INIT            \
    {                                     \
        .size = sizeof(shard_sample_opts) \
    }

/**
 * Read one sample through its shard's index: a read of the index and one of the shard, however
 * large that is (a shard of gzip or xz is read up to the sample). Frames of zstd are decoded whole,
 * so a small sample in a large frame takes the frame's memory too; pack's frames end at the first
 * sample behind 128 KiB. Headers must agree with the index and payloads with its checksums. Errors:
 * SHARD_ENOTFOUND (no such sample or component), SHARD_ESTALE, SHARD_ECHECKSUM, SHARD_EFORMAT,
 * SHARD_ETRUNCATED, SHARD_ELIMIT, SHARD_EIO, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_set_read_sample(const shard_set *set,
                                                             shard_set_place place,
                                                             shard_sample *out,
                                                             const shard_sample_opts *opts,
                                                             shard_error *err);

/** Frees what `sample` holds; a struct of zeros is allowed. */
SHARD_API void shard_sample_free(shard_sample *sample);

/** Takes a piece of output; false stops. Valid during the call. */
typedef bool (*shard_write_fn)(void *context, const void *bytes, size_t size);

/**
 * The sample as a small tar with its end mark, in pieces, in order. Errors: SHARD_EIO when `write`
 * answers false, SHARD_ELIMIT where key and component make a path of more than 4 KiB.
 */
SHARD_NODISCARD SHARD_API shard_status shard_sample_to_tar(const shard_sample *sample,
                                                           shard_write_fn write, void *context,
                                                           shard_error *err);

/** The same without the end mark, 1024 zeros: to be followed by other samples. */
SHARD_NODISCARD SHARD_API shard_status shard_sample_to_members(const shard_sample *sample,
                                                               shard_write_fn write, void *context,
                                                               shard_error *err);

/** ---- manifests ---- */

/**
 * Write a manifest `path` of shards that have indexes with hashes, in the order given. Shards must
 * lie in the manifest's folder or below. Errors: SHARD_ENOTFOUND or SHARD_EDATA for a shard without
 * index or hash, SHARD_EINVAL for one elsewhere.
 */
SHARD_NODISCARD SHARD_API shard_status shard_manifest_create(const char *path,
                                                             const char *const *shards,
                                                             size_t count, shard_error *err);

/**
 * Join the manifests of parts 1 to N of a set, given in any order, into the manifest that one
 * machine would have written. Errors: SHARD_EDATA for a part that is missing, stands twice or has
 * other classes.
 */
SHARD_NODISCARD SHARD_API shard_status shard_manifest_merge(const char *path,
                                                            const char *const *parts, size_t count,
                                                            shard_error *err);

SHARD_END_DECLS

#endif
