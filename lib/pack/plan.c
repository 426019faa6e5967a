/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/plan.h"

uint64_t pack_plan_first(const pack_plan *plan, uint64_t i)
{
    if (plan->per_shard > 0) {
        uint64_t first = i * plan->per_shard;
        return first < plan->samples ? first : plan->samples;
    }
    /* floor(i * samples / shards); there are at most 1e9 shards, so nothing overflows. */
    uint64_t whole = plan->samples / plan->shards, rest = plan->samples % plan->shards;
    return i * whole + i * rest / plan->shards;
}
