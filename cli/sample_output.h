/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of a batch on standard output. */
#ifndef CLI_SAMPLE_OUTPUT_H
#define CLI_SAMPLE_OUTPUT_H

#include <shard/batch.h>

#include "cli.h"

typedef enum {
    SAMPLE_OUTPUT_NONE,
    SAMPLE_OUTPUT_KEYS,  /* a line each */
    SAMPLE_OUTPUT_TAR,   /* all of them as one tar */
    SAMPLE_OUTPUT_JSONL, /* an object each: key, id and components, those that are no text in base64
                          */
} sample_output;

/* The valid rows, in order. Returns EXIT_OK, or the exit code after saying what is wrong. */
int sample_output_batch(const cli *c, sample_output kind, const shard_batch *batch);

/* What follows the last sample. */
void sample_output_end(sample_output kind);

#endif
