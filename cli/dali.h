/* SPDX-License-Identifier: Apache-2.0 */
/* The names that NVIDIA DALI's own tool gives to indexes. */
#ifndef CLI_DALI_H
#define CLI_DALI_H

#include <shard/set.h>

/* What stands before the first dot of the shard's name, and ".idx". */
void dali_path(char *out, size_t capacity, const char *shard);

/* No two of the first `shards` of a set may have one such name. Returns EXIT_OK, or EXIT_USAGE
 * after saying which. */
int dali_check_paths(const shard_set *set, uint64_t shards);

#endif
