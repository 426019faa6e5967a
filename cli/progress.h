/* SPDX-License-Identifier: Apache-2.0 */
/* One line on a terminal that says how far the work is. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

typedef struct {
    double began, told; /* seconds */
    uint64_t told_done, told_bytes;
} progress;

void progress_begin(progress *p);

/* Draw anew, at most ten times a second. `total` UINT64_MAX: not known. */
void progress_show(progress *p, const char *what, uint64_t done, uint64_t total, uint64_t bytes);

/* The same for work without an end: what was done in the time since it was last drawn. */
void progress_show_rate(progress *p, const char *what, uint64_t done, uint64_t bytes);

/* Take the line away, if one is there: before any other line, and at the end. */
void progress_clear_line(void);

/* Seconds since progress_begin. */
double progress_seconds(const progress *p);

#endif
