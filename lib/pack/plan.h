/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples go into which shards. */
#ifndef PACK_PLAN_H
#define PACK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t first_shard, last_shard; /* of this part: [first, last), a lane each */
    bool rolls;                       /* or one lane that writes as many shards as are needed */
    uint64_t shards;                  /* of the whole set, unless it rolls */
    uint64_t samples;                 /* of the whole input; UINT64_MAX for a stream that rolls */
    uint64_t per_shard;               /* a fixed number a shard; 0: spread evenly */
    const bool *done; /* of shards [first, last): written by an earlier run; NULL: none */

    /* With `rolls`: where an earlier run stopped. */
    uint64_t start_shard, start_sample;
} pack_plan;

/* First sample of shard `i`; that of shard `i` + 1 is its end. */
uint64_t pack_plan_first(const pack_plan *plan, uint64_t i);

#endif
