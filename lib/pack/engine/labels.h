/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Do neighbours in the shards share a label more often than chance would have it? Then batches read
 * from neighbouring samples are of few classes, and a shuffle at pack time is worth its while.
 */
#ifndef PACK_LABELS_H
#define PACK_LABELS_H

#include <stdbool.h>
#include <stdint.h>

enum { PACK_LABEL_SLOTS = 4096 };

typedef struct {
    uint32_t last; /* label of the sample before; 0: none */
} pack_label_run;

typedef struct {
    uint64_t count[PACK_LABEL_SLOTS]; /* samples, by their label's hash */
    uint64_t samples, pairs, alike;   /* pairs of neighbours, and those with one label */
} pack_labels;

/* The next sample of a shard. Labels are hashes; 0 is no label. */
void pack_labels_add(pack_labels *labels, pack_label_run *run, uint32_t label);

bool pack_labels_clustered(const pack_labels *labels);

#endif
