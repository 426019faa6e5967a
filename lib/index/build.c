/* SPDX-License-Identifier: Apache-2.0 */
/* The index of a shard that exists, by reading it. */
#include "core/crc32c.h"
#include "core/opts.h"
#include "index/from_dali.h"
#include "index/scan.h"
#include "os/path.h"

static shard_status payload_crc(shard_reader *reader, uint32_t *crc, shard_error *err)
{
    const void *data;
    size_t size;
    *crc = 0;
    do {
        SHARD_TRY(shard_reader_payload(reader, &data, &size, err));
        *crc = shard_crc32c(*crc, data, size);
    } while (size > 0);
    return SHARD_OK;
}

static shard_status read_all(shard_index_scan *scan, bool checksums, shard_error *err)
{
    shard_reader *reader = shard_index_scan_reader(scan);
    shard_member member;
    shard_status status;
    while ((status = shard_reader_next(reader, &member, err)) == SHARD_OK) {
        uint32_t crc = 0;
        if (!member.is_component)
            continue;
        if (checksums)
            SHARD_TRY(payload_crc(reader, &crc, err));
        SHARD_TRY(shard_index_scan_add(scan, &member, crc, err));
    }
    return status == SHARD_END ? SHARD_OK : status;
}

static shard_status scan_shard(shard_index_scan *scan, const shard_index_build_opts *opts,
                               shard_error *err)
{
    shard_status status = read_all(scan, !opts->no_checksums, err);
    if (status == SHARD_OK)
        return shard_index_scan_save(scan, opts->sync, err);
    shard_index_scan_explain(scan, err);
    return status;
}

shard_status shard_index_build(const char *url, const char *path,
                               const shard_index_build_opts *opts, shard_error *err)
{
    shard_index_build_opts o;
    shard_index_scan *scan;
    shard_reader_opts reader_opts = SHARD_READER_OPTS_INIT;
    char folder[SHARD_PATH_MAX];
    SHARD_TRY(shard_opts_copy(&o, sizeof o, opts, err));
    SHARD_TRY(shard_path_folder(path, folder, err));
    fmt_alloc alloc = shard_alloc_from(o.allocator);
    if (o.dali_index)
        return shard_index_from_dali(url, o.dali_index, path, folder, o.sync, &alloc, err);
    reader_opts.cancel = o.cancel;
    reader_opts.missing_end_ok = o.missing_end_ok;
    SHARD_TRY(shard_index_scan_open(&scan, url, path, !o.no_checksums, &reader_opts, &alloc, err));
    shard_status status = scan_shard(scan, &o, err);
    shard_index_scan_close(scan);
    return status;
}
