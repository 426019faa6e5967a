/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OS_LIMITS_H
#define OS_LIMITS_H

#include <stdint.h>

/* Files that this process may have open at a time, as far as the system says. */
uint64_t shard_open_files_limit(void);

#endif
