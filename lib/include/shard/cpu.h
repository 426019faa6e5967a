/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_CPU_H
#define SHARD_CPU_H

#include <stdint.h>

#include <shard/attrs.h>

SHARD_BEGIN_DECLS

/** Processors that this process may run on, by its affinity; at least 1. Thread-safe. */
SHARD_API uint32_t shard_cpu_count(void);

SHARD_END_DECLS

#endif
