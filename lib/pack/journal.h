/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a pack has finished, so that another can go on: lines of JSON in a hidden file beside the
 * manifest. The first one says of which input and options; then comes a line a shard. A line that a
 * kill cut off does not count. The file is locked while a pack is at work.
 */
#ifndef PACK_JOURNAL_H
#define PACK_JOURNAL_H

#include "core/alloc.h"
#include "core/error.h"
#include "core/hash.h"
#include "json/json.h"

/* A finished shard. */
typedef struct {
    uint64_t shard;  /* its number */
    uint64_t next;   /* number of the first sample behind it */
    fmt_json *skips; /* [{"name", "reason"}, ...]; NULL: none; the journal's */
} pack_journal_line;

typedef struct {
    int fd;
    const char *path; /* the caller's */
    pack_journal_line *line;
    size_t lines, capacity;
    uint64_t size; /* of what is whole in the file */
    fmt_alloc alloc;
} pack_journal;

/*
 * Begin a journal, or with `resume` go on with the one that is there: SHARD_EDATA where that is of
 * another input. `digest` is a NUL-terminated text. SHARD_EBUSY: another pack is at work.
 */
shard_status pack_journal_open(pack_journal *journal, const char *path, const char *digest,
                               bool resume, const fmt_alloc *alloc, shard_error *err);

/* A shard is complete under its name. `skips` (may be NULL) becomes the journal's. */
shard_status pack_journal_add(pack_journal *journal, uint64_t shard, uint64_t next, fmt_json *skips,
                              shard_error *err);

/* Close it, and remove the file where there is nothing left to resume. */
void pack_journal_close(pack_journal *journal, bool remove);

#endif
