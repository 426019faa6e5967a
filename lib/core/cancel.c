/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/cancel.h>

#include <stdatomic.h>
#include <stdlib.h>

struct shard_cancel {
    atomic_bool set;
};

/* A signal handler may only touch lock-free atomics (C17 7.14.1.1). */
_Static_assert(ATOMIC_BOOL_LOCK_FREE == 2, "shard_cancel_set is promised to signal handlers");

shard_status shard_cancel_new(shard_cancel **out)
{
    *out = calloc(1, sizeof **out);
    return *out ? SHARD_OK : SHARD_ENOMEM;
}

void shard_cancel_free(shard_cancel *cancel)
{
    free(cancel);
}

void shard_cancel_set(shard_cancel *cancel)
{
    atomic_store_explicit(&cancel->set, true, memory_order_relaxed);
}

bool shard_cancel_is_set(const shard_cancel *cancel)
{
    return cancel && atomic_load_explicit(&cancel->set, memory_order_relaxed);
}
