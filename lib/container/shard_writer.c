/* SPDX-License-Identifier: Apache-2.0 */
#include "container/shard_writer.h"

#include <string.h>

#include "tar/tar_header.h"
#include "zstd_seek/seek_table.h"

static void release(shard_writer *w)
{
    shard_hash_free(w->hash);
    shard_alloc_free(&w->alloc, w->seek_table);
    w->hash = NULL;
    w->seek_table = NULL;
}

static shard_status put(shard_writer *w, const void *bytes, size_t size, shard_error *err)
{
    shard_hash_add(w->hash, bytes, size);
    return shard_output_write(&w->out, bytes, size, err);
}

static shard_status put_gzip_header(shard_writer *w, shard_error *err)
{
    uint8_t header[SHARD_GZIP_HEADER_SIZE];
    shard_gzip_write_header(header);
    return put(w, header, sizeof header, err);
}

shard_status shard_writer_open(shard_writer *w, const char *path, shard_codec codec,
                               const fmt_alloc *alloc, shard_error *err)
{
    *w = (shard_writer){.codec = codec, .alloc = *alloc};
    w->hash = shard_hash_new();
    if (!w->hash)
        return shard_fail_memory(err);
    shard_status status = shard_output_open(&w->out, path, alloc, err);
    if (status == SHARD_OK && codec == SHARD_CODEC_GZIP)
        status = put_gzip_header(w, err);
    if (status != SHARD_OK)
        shard_writer_abort(w);
    return status;
}

static shard_status add_frame(shard_writer *w, const shard_segment *segment, shard_error *err)
{
    if (w->frames == FMT_SEEK_TABLE_FRAMES_MAX)
        return shard_fail(err, SHARD_ELIMIT, w->out.path, w->out.size,
                          "too many frames in one shard");
    if (!shard_alloc_grow(&w->alloc, &w->seek_table, &w->seek_capacity,
                          (w->frames + 1) * FMT_SEEK_TABLE_ENTRY_SIZE, 1))
        return shard_fail_memory(err);
    fmt_seek_table_write_entry(w->seek_table + w->frames++ * FMT_SEEK_TABLE_ENTRY_SIZE,
                               (uint32_t)segment->stored_size, (uint32_t)segment->tar_size);
    return SHARD_OK;
}

shard_status shard_writer_append(shard_writer *w, const shard_segment *segment, shard_error *err)
{
    if (w->codec == SHARD_CODEC_ZSTD)
        SHARD_TRY(add_frame(w, segment, err));
    if (w->codec == SHARD_CODEC_GZIP)
        w->crc = shard_gzip_combine(w->crc, segment->crc, segment->tar_size);
    w->tar_size += segment->tar_size;
    return put(w, segment->stored, segment->stored_size, err);
}

/* ---- the end ---- */

shard_status shard_writer_end_tar(shard_writer *w, const shard_encoders *encoders, shard_error *err)
{
    static const uint8_t zeros[FMT_TAR_END_SIZE];
    uint8_t stored[FMT_TAR_END_SIZE + 512];
    shard_segment segment = {zeros, sizeof zeros, sizeof zeros, 0};
    if (w->codec != SHARD_CODEC_PLAIN)
        segment.stored = stored;
    if (w->codec == SHARD_CODEC_ZSTD)
        SHARD_TRY(shard_zstd_encode(encoders->zstd, zeros, sizeof zeros, stored,
                                    &segment.stored_size, err));
    if (w->codec == SHARD_CODEC_GZIP)
        SHARD_TRY(shard_gzip_encode(encoders->gzip, zeros, sizeof zeros, stored,
                                    &segment.stored_size, &segment.crc, err));
    return shard_writer_append(w, &segment, err);
}

static shard_status put_seek_table(shard_writer *w, shard_error *err)
{
    uint8_t header[FMT_SEEK_TABLE_HEADER_SIZE], footer[FMT_SEEK_TABLE_FOOTER_SIZE];
    fmt_seek_table_write_header(header, (uint32_t)w->frames);
    fmt_seek_table_write_footer(footer, (uint32_t)w->frames);
    SHARD_TRY(put(w, header, sizeof header, err));
    SHARD_TRY(put(w, w->seek_table, w->frames * FMT_SEEK_TABLE_ENTRY_SIZE, err));
    return put(w, footer, sizeof footer, err);
}

static shard_status put_gzip_trailer(shard_writer *w, shard_error *err)
{
    uint8_t trailer[SHARD_GZIP_TRAILER_SIZE];
    shard_gzip_write_trailer(trailer, w->crc, w->tar_size);
    return put(w, trailer, sizeof trailer, err);
}

shard_status shard_writer_end_file(shard_writer *w, uint8_t hash[SHARD_HASH_SIZE], shard_error *err)
{
    if (w->codec == SHARD_CODEC_ZSTD)
        SHARD_TRY(put_seek_table(w, err));
    if (w->codec == SHARD_CODEC_GZIP)
        SHARD_TRY(put_gzip_trailer(w, err));
    shard_hash_get(w->hash, hash);
    return SHARD_OK;
}

shard_status shard_writer_commit(shard_writer *w, bool sync, shard_error *err)
{
    release(w);
    return shard_output_commit(&w->out, sync, err);
}

void shard_writer_abort(shard_writer *w)
{
    release(w);
    shard_output_abort(&w->out);
}

/* ---- going back ---- */

shard_status shard_writer_set_mark(const shard_writer *w, shard_writer_mark *mark, shard_error *err)
{
    if (!mark->hash)
        mark->hash = shard_hash_new();
    if (!mark->hash)
        return shard_fail_memory(err);
    shard_hash_copy(mark->hash, w->hash);
    mark->stored_size = w->out.size;
    mark->tar_size = w->tar_size;
    mark->frames = w->frames;
    mark->crc = w->crc;
    return SHARD_OK;
}

shard_status shard_writer_go_back(shard_writer *w, const shard_writer_mark *mark, shard_error *err)
{
    SHARD_TRY(shard_output_truncate(&w->out, mark->stored_size, err));
    shard_hash_copy(w->hash, mark->hash);
    w->tar_size = mark->tar_size;
    w->frames = mark->frames;
    w->crc = mark->crc;
    return SHARD_OK;
}
