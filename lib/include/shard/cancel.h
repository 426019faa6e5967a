/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_CANCEL_H
#define SHARD_CANCEL_H

#include <stdbool.h>

#include <shard/attrs.h>
#include <shard/status.h>

SHARD_BEGIN_DECLS

/** A flag that makes long calls return SHARD_ECANCEL soon. One token may serve many calls. */
typedef struct shard_cancel shard_cancel;

/** A token that is not set. Free it with shard_cancel_free. */
SHARD_NODISCARD SHARD_API shard_status shard_cancel_new(shard_cancel **out);

/** NULL is allowed. No call may still be using it. */
SHARD_API void shard_cancel_free(shard_cancel *cancel);

/** Set it. Thread-safe, and safe in a signal handler. It stays set. */
SHARD_API void shard_cancel_set(shard_cancel *cancel);

/** True once set; false for NULL. Thread-safe. */
SHARD_API bool shard_cancel_is_set(const shard_cancel *cancel);

SHARD_END_DECLS

#endif
