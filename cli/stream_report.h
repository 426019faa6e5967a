/* SPDX-License-Identifier: Apache-2.0 */
/* What a stream came to. */
#ifndef CLI_STREAM_REPORT_H
#define CLI_STREAM_REPORT_H

#include <shard/loader.h>

#include "cli.h"

typedef struct {
    double seconds;
    const char *state; /* where it stopped; NULL: unknown */
    shard_loader_info info;
    shard_loader_stats stats;
} stream_report;

/* One object on standard output. */
void stream_report_json(const stream_report *r);

/* A few lines on standard error, unless --quiet. */
void stream_report_text(const cli *c, const stream_report *r);

#endif
