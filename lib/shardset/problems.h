/* SPDX-License-Identifier: Apache-2.0 */
/* What a verification finds wrong: told to the caller, up to a number, and counted. */
#ifndef SHARDSET_PROBLEMS_H
#define SHARDSET_PROBLEMS_H

#include <shard/verify.h>

#include "core/hash.h"

typedef struct {
    shard_verify_opts opts;
    shard_verify_report *report;
    const char *path; /* of what is verified */
} shard_problems;

/* Begin an empty report on `path`, as `opts` (may be NULL) say. */
shard_status shard_problems_init(shard_problems *p, const shard_verify_opts *opts,
                                 shard_verify_report *report, const char *path, shard_error *err);

void shard_problem_tell(shard_problems *p, const shard_error *problem);

SHARD_PRINTF(4, 5)
void shard_problem_text(shard_problems *p, shard_status status, uint64_t offset, const char *text,
                        ...);

/* Told only where they differ: two numbers; two hashes. */
void shard_problem_numbers(shard_problems *p, shard_status status, uint64_t offset,
                           const char *what, uint64_t expected, uint64_t got);
void shard_problem_hash(shard_problems *p, const char *what,
                        const uint8_t expected[SHARD_HASH_SIZE],
                        const uint8_t got[SHARD_HASH_SIZE]);

#endif
