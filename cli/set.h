/* SPDX-License-Identifier: Apache-2.0 */
/* The SET that most verbs take: a manifest, or shards and patterns. */
#ifndef CLI_SET_H
#define CLI_SET_H

#include <shard/set.h>

#include "cli.h"

/* How the operand is described in each verb's help. */
#define SET_TEXT                                                            \
    "SET is a manifest (NAME.shards.json), or shards and patterns of them " \
    "(out-{000..099}.tar), with or without an index beside each."

/* Open it. Returns EXIT_OK, or the exit code after saying what is wrong. */
int set_open(const cli *c, int count, char **operands, shard_set **out);

/* One after the other, all samples of a shard through its index. Returns as set_open. */
typedef int (*set_sample_fn)(void *context, shard_index *index, shard_index_sample *sample);
int set_each_sample(const cli *c, shard_index *index, set_sample_fn each, void *context);

#endif
