/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_CPU_H
#define OS_CPU_H

#include <stdint.h>

/* Processors that this process may run on; at least 1. */
uint32_t shard_cpu_count(void);

/* Milliseconds of a clock that never goes back. */
uint64_t shard_clock_ms(void);

#endif
