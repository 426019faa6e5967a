/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a shard while somebody reads it from front to end, member by member. */
#ifndef INDEX_SCAN_H
#define INDEX_SCAN_H

#include <shard/index.h>
#include <shard/reader.h>

#include "core/alloc.h"
#include "core/error.h"

typedef struct shard_index_scan shard_index_scan;

/*
 * Begin to read `url`, for an index that will stand at `path`; both must outlive the scan. With
 * checksums all bytes are read, whoever wants them.
 */
shard_status shard_index_scan_open(shard_index_scan **out, const char *url, const char *path,
                                   bool checksums, const shard_reader_opts *opts,
                                   const fmt_alloc *alloc, shard_error *err);
void shard_index_scan_close(shard_index_scan *scan); /* NULL allowed */

/* What reads the shard; the scan's. */
shard_reader *shard_index_scan_reader(shard_index_scan *scan);

/* After the reader failed: where the scan was the reason, what it has to say. */
void shard_index_scan_explain(const shard_index_scan *scan, shard_error *err);

/* A component, with the CRC-32C of its payload (0 without checksums), in the order of the tar. */
shard_status shard_index_scan_add(shard_index_scan *scan, const shard_member *member, uint32_t crc,
                                  shard_error *err);

/* After the reader's SHARD_END: write the index, whole or not at all. */
shard_status shard_index_scan_save(shard_index_scan *scan, bool sync, shard_error *err);

#endif
