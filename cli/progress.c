/* SPDX-License-Identifier: Apache-2.0 */
#include "progress.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#include "text.h"

static atomic_bool is_shown; /* the library calls back from several threads, one at a time */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void progress_begin(progress *p)
{
    p->began = now();
    p->told = 0;
    p->told_done = p->told_bytes = 0;
}

double progress_seconds(const progress *p)
{
    return now() - p->began;
}

void progress_show(progress *p, const char *what, uint64_t done, uint64_t total, uint64_t bytes)
{
    const double every = 0.1;
    double time = now(), seconds = time - p->began;
    if (time - p->told < every || seconds <= 0)
        return;
    p->told = time;
    atomic_store(&is_shown, true);
    fprintf(stderr, "\r\033[K");
    if (total != UINT64_MAX && total > 0)
        fprintf(stderr, "%3u%%  %s / %s %s", (unsigned)(done * 100 / total), text_count(done),
                text_count(total), what);
    else
        fprintf(stderr, "%s %s", text_count(done), what);
    fprintf(stderr, "  %s  %s/s", text_size(bytes), text_size((uint64_t)((double)bytes / seconds)));
    if (total != UINT64_MAX && done > 0 && total > done)
        fprintf(stderr, "  %s left",
                text_time((uint64_t)(seconds * (double)(total - done) / (double)done + 0.5)));
    fflush(stderr);
}

void progress_show_rate(progress *p, const char *what, uint64_t done, uint64_t bytes)
{
    const double every = 0.5;
    double time = now(), since = p->told > 0 ? p->told : p->began, seconds = time - since;
    if (seconds < every)
        return;
    atomic_store(&is_shown, true);
    fprintf(stderr, "\r\033[K%s %s  %s/s  %s/s", text_count(done), what,
            text_count((uint64_t)((double)(done - p->told_done) / seconds)),
            text_size((uint64_t)((double)(bytes - p->told_bytes) / seconds)));
    fflush(stderr);
    p->told = time;
    p->told_done = done;
    p->told_bytes = bytes;
}

void progress_clear_line(void)
{
    if (atomic_exchange(&is_shown, false))
        fprintf(stderr, "\r\033[K");
}
