/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files in archives, one archive after the other. Tars go through the strict shard reader,
 * which loses nothing in silence; zip, cpio and 7z through libarchive.
 */
#ifndef PACK_ENTRIES_H
#define PACK_ENTRIES_H

#include <shard/pack.h>
#include <shard/reader.h>

#include "container/archive.h"
#include "container/stream.h"
#include "os/path.h"

/* What a name says of a file: its contents are packed, not the file itself, where it is an archive.
 */
typedef enum { PACK_NO_ARCHIVE, PACK_TAR, PACK_FOREIGN_ARCHIVE } pack_archive_kind;
pack_archive_kind pack_archive_kind_of(const char *url);

typedef struct {
    const char *const *urls;
    size_t count, next_url;
    const shard_cancel *cancel;
    fmt_alloc alloc;

    const char *url;        /* of the open archive */
    shard_reader *reader;   /* a tar; else NULL */
    shard_archive *archive; /* anything else; else NULL */
    shard_source *source;   /* of it */
    shard_stream stream;    /* likewise */
    fmt_span piece;         /* of a tar's payload, not yet taken */
} pack_entries;

typedef struct {
    char path[SHARD_PATH_MAX]; /* without leading "/" and "./" */
    size_t path_size;
    bool is_file, is_link, is_folder;
    bool has_size;
    uint64_t size;
} pack_entry;

void pack_entries_init(pack_entries *entries, const char *const *urls, size_t count,
                       const shard_cancel *cancel, const fmt_alloc *alloc);
void pack_entries_close(pack_entries *entries);

/* The next entry; SHARD_END behind the last of the last archive. */
shard_status pack_entries_next(pack_entries *entries, pack_entry *out, shard_error *err);

/* Up to `size` bytes of the present entry; 0 in `*got` at its end. */
shard_status pack_entries_read(pack_entries *entries, void *buffer, size_t size, size_t *got,
                               shard_error *err);

/* A path without leading "/" and "./" and double slashes. SHARD_EDATA where ".." is part of it. */
shard_status pack_path_normalise(const char *path, size_t size, char out[SHARD_PATH_MAX],
                                 shard_error *err);

#endif
