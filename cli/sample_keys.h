/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of samples from all over a set, in any order: the indexes that were used last stay open. A
 * shard without an index has no keys.
 */
#ifndef CLI_SAMPLE_KEYS_H
#define CLI_SAMPLE_KEYS_H

#include <shard/set.h>

#include "cli.h"

enum { SAMPLE_KEYS_OPEN = 256 }; /* indexes at a time */

typedef struct {
    const cli *cli;
    const shard_set *set;
    uint32_t
        *slot; /* of each shard: 1 + where its index is open, 0: nowhere, or that it has none */
    struct {
        shard_index *index;
        uint64_t shard, used;
    } open[SAMPLE_KEYS_OPEN];
    uint32_t open_count;
    uint64_t clock;
} sample_keys;

void sample_keys_init(sample_keys *keys, const cli *c, const shard_set *set);
void sample_keys_clear(sample_keys *keys);

/*
 * The key of a sample, valid until the next call; NULL where its shard has no index. Returns
 * EXIT_OK, or the exit code after saying what is wrong.
 */
int sample_keys_find(sample_keys *keys, shard_set_place place, const char **key, size_t *size);

#endif
