/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_CLOCK_H
#define OS_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a clock that never goes back. */
uint64_t shard_clock_ns(void);

#endif
