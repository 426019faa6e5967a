/* SPDX-License-Identifier: Apache-2.0 */
/* The descriptor of a set for wids, webdataset's random access: shards by URL, and their samples.
 */
#ifndef CLI_WIDS_H
#define CLI_WIDS_H

#include <shard/set.h>

#include "cli.h"

/* Write it for the first `shards` of a set. Returns EXIT_OK, or the exit code after an error. */
int wids_write(const cli *c, const shard_set *set, uint64_t shards, const char *path);

#endif
