/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Archives that users already have (zip, cpio, 7z), read from front to end through libarchive. For
 * pack's input; tars go through the stricter, faster reader of shards.
 */
#ifndef CONTAINER_ARCHIVE_H
#define CONTAINER_ARCHIVE_H

#include "container/decoder.h"

typedef struct shard_archive shard_archive;

typedef struct {
    const char *path; /* valid until the next entry */
    bool is_file, is_folder;
    bool has_size; /* some zip writers put the size behind the data */
    uint64_t size;
} shard_archive_entry;

/* Open an archive whose stored bytes are in `raw`; `decoder` (may be NULL) takes off a compression
 * of the whole. Both must outlive it. */
shard_status shard_archive_open(shard_archive **out, shard_raw *raw, shard_decoder *decoder,
                                const fmt_alloc *alloc, shard_error *err);
void shard_archive_close(shard_archive *archive); /* NULL allowed */

/* SHARD_END behind the last entry. What is not read of an entry is passed over. */
shard_status shard_archive_next(shard_archive *archive, shard_archive_entry *out, shard_error *err);

/* Up to `size` bytes of the present entry; 0 in `*got` at its end. */
shard_status shard_archive_read(shard_archive *archive, void *buffer, size_t size, size_t *got,
                                shard_error *err);

#endif
