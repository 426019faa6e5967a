/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Holding a set's bytes against what its indexes and its manifest say of them: every checksum,
 * every offset, every count.
 */
#ifndef SHARD_VERIFY_H
#define SHARD_VERIFY_H

#include <shard/set.h>

SHARD_BEGIN_DECLS

/** Something that is wrong. Called from the thread that verifies; strings are valid during the
 * call. */
typedef void (*shard_problem_fn)(void *context, const shard_error *problem);

/** How to verify; NULL and SHARD_VERIFY_OPTS_INIT are the defaults. */
typedef struct shard_verify_opts {
    size_t size;                      /**< of this struct; SHARD_VERIFY_OPTS_INIT sets it */
    const shard_allocator *allocator; /**< NULL: malloc */
    const shard_cancel *cancel;       /**< NULL: cannot be cancelled */
    uint32_t problems_max;            /**< told of one shard, 0: 10; the count goes on */
    shard_problem_fn on_problem;      /**< NULL: problems are only counted */
    void *context;                    /**< handed to on_problem */
} shard_verify_opts;

#define SHARD_VERIFY_OPTS_INIT            \
    {                                     \
        .size = sizeof(shard_verify_opts) \
    }

/** What was seen. */
typedef struct shard_verify_report {
    uint64_t samples, components;
    uint64_t bytes; /**< of the stored shard, all of them read */
    uint64_t problems;
    bool has_index;
} shard_verify_report;

/**
 * Read shard `i` whole and compare. What is wrong is told and counted; the call fails only where it
 * cannot go on at all. Thread-safe: shards may be verified side by side. Errors: SHARD_ECANCEL,
 * SHARD_ENOMEM, SHARD_EINVAL.
 */
SHARD_NODISCARD SHARD_API shard_status shard_verify_shard(const shard_set *set, uint64_t i,
                                                          const shard_verify_opts *opts,
                                                          shard_verify_report *report,
                                                          shard_error *err);

/**
 * Compare a manifest's totals with the indexes of its shards; without a manifest, nothing is done.
 * Problems and errors as above.
 */
SHARD_NODISCARD SHARD_API shard_status shard_verify_manifest(const shard_set *set,
                                                             const shard_verify_opts *opts,
                                                             shard_verify_report *report,
                                                             shard_error *err);

SHARD_END_DECLS

#endif
