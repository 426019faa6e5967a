/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples go into which shards. */
#ifndef PACK_PLAN_H
#define PACK_PLAN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint64_t first_shard, last_shard; /* of this part: [first, last), a lane each */
    bool rolls;                       /* or one lane that writes one shard after the other */
    uint64_t shards;                  /* of the whole set; 0: as many as are needed */
    uint64_t samples;                 /* of the whole input; UINT64_MAX for one of unknown length */
    uint64_t per_shard;               /* a fixed number a shard; 0: spread evenly, or by size */
    const bool *done; /* of shards [first, last): written by an earlier run; NULL: none */

    /* With `rolls`: where an earlier run stopped. */
    uint64_t start_shard, start_sample;
} pack_plan;

/* Does the number of a sample say which shard it goes into? Else sizes do, as they come. */
static inline bool pack_plan_is_fixed(const pack_plan *plan)
{
    return plan->shards > 0 || plan->per_shard > 0;
}

/* First sample of shard `i` of a fixed plan; that of shard `i` + 1 is its end. */
uint64_t pack_plan_first(const pack_plan *plan, uint64_t i);

#endif
