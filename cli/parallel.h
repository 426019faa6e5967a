/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_PARALLEL_H
#define CLI_PARALLEL_H

#include <stddef.h>
#include <stdint.h>

#include <shard/cancel.h>

/* Call `work` for each number below `count`, on `threads` threads (0: as many as there are cores).
 */
typedef void (*parallel_fn)(void *context, size_t i);
void parallel_run(size_t count, uint64_t threads, const shard_cancel *cancel, parallel_fn work,
                  void *context);

#endif
