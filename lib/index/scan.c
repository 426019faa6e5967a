/* SPDX-License-Identifier: Apache-2.0 */
#include "index/scan.h"

#include <string.h>

#include "container/reader.h"
#include "index/builder.h"
#include "os/path.h"

struct shard_index_scan {
    shard_index_builder builder;
    shard_reader *reader;
    shard_hash *hash; /* NULL: without checksums */
    const char *path;
    char folder[SHARD_PATH_MAX];
    uint64_t last_frame; /* where the last one ended, in the tar */
    shard_error frame_err;
    fmt_alloc alloc;
};

/* A frame without content, such as the seek table, is no place to read from. */
static shard_status add_frame(void *context, uint64_t stored, uint64_t tar)
{
    shard_index_scan *scan = context;
    if (tar == scan->last_frame)
        return SHARD_OK;
    scan->last_frame = tar;
    return shard_index_builder_frame(&scan->builder, stored, tar, &scan->frame_err);
}

static shard_status open_reader(shard_index_scan *scan, const char *url, bool checksums,
                                const shard_reader_opts *opts, shard_error *err)
{
    shard_source *source;
    scan->hash = checksums ? shard_hash_new() : NULL;
    if (checksums && !scan->hash)
        return shard_fail_memory(err);
    SHARD_TRY(shard_source_open(&source, url, opts->cancel, &scan->alloc, err));
    SHARD_TRY(shard_reader_open_source(&scan->reader, source, scan->hash, opts, err));
    shard_reader_on_frame(scan->reader, add_frame, scan);
    return SHARD_OK;
}

shard_status shard_index_scan_open(shard_index_scan **out, const char *url, const char *path,
                                   bool checksums, const shard_reader_opts *opts,
                                   const fmt_alloc *alloc, shard_error *err)
{
    shard_index_scan *scan = shard_alloc_zeroed(alloc, 1, sizeof *scan);
    *out = NULL;
    if (!scan)
        return shard_fail_memory(err);
    scan->alloc = *alloc;
    scan->path = path;
    shard_status status = shard_path_folder(path, scan->folder, err);
    shard_index_builder_init(&scan->builder, url, scan->folder, checksums, &scan->alloc);
    if (status == SHARD_OK)
        status = open_reader(scan, url, checksums, opts, err);
    if (status != SHARD_OK) {
        shard_index_scan_close(scan);
        return status;
    }
    *out = scan;
    return SHARD_OK;
}

void shard_index_scan_close(shard_index_scan *scan)
{
    if (!scan)
        return;
    fmt_alloc alloc = scan->alloc;
    shard_reader_close(scan->reader);
    shard_hash_free(scan->hash);
    shard_index_builder_clear(&scan->builder);
    shard_alloc_free(&alloc, scan);
}

shard_reader *shard_index_scan_reader(shard_index_scan *scan)
{
    return scan->reader;
}

void shard_index_scan_explain(const shard_index_scan *scan, shard_error *err)
{
    if (err && scan->frame_err.status != SHARD_OK)
        *err = scan->frame_err;
}

shard_status shard_index_scan_add(shard_index_scan *scan, const shard_member *member, uint32_t crc,
                                  shard_error *err)
{
    if (member->begins_sample)
        SHARD_TRY(shard_index_builder_sample(&scan->builder, member->path, member->key_size,
                                             member->header_offset, err));
    return shard_index_builder_component(&scan->builder, member->component,
                                         strlen(member->component), member->payload_offset,
                                         member->payload_size, crc, err);
}

shard_status shard_index_scan_save(shard_index_scan *scan, bool sync, shard_error *err)
{
    uint8_t hash[SHARD_HASH_SIZE];
    shard_index_facts facts = {.shard_size = shard_reader_stored_size(scan->reader),
                               .tar_size = shard_reader_tar_size(scan->reader),
                               .codec = shard_reader_codec(scan->reader)};
    if (scan->hash) {
        shard_hash_get(scan->hash, hash);
        facts.hash = hash;
    }
    return shard_index_builder_save(&scan->builder, &facts, scan->path, sync, err);
}
