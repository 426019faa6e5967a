/* SPDX-License-Identifier: Apache-2.0 */
#include "zstd_seek/seek_table.h"

#define SKIPPABLE_MAGIC UINT32_C(0x184d2a5e)
#define SEEKABLE_MAGIC UINT32_C(0x8f92eab1)

enum { HAS_CHECKSUMS = 0x80, RESERVED = 0x7c };

static uint32_t frame_size(uint32_t frames, uint32_t entry_size)
{
    return frames * entry_size + FMT_SEEK_TABLE_FOOTER_SIZE;
}

void fmt_seek_table_write_header(uint8_t out[FMT_SEEK_TABLE_HEADER_SIZE], uint32_t frames)
{
    fmt_store32(out, SKIPPABLE_MAGIC);
    fmt_store32(out + 4, frame_size(frames, FMT_SEEK_TABLE_ENTRY_SIZE));
}

void fmt_seek_table_write_entry(uint8_t out[FMT_SEEK_TABLE_ENTRY_SIZE], uint32_t stored_size,
                                uint32_t content_size)
{
    fmt_store32(out, stored_size);
    fmt_store32(out + 4, content_size);
}

void fmt_seek_table_write_footer(uint8_t out[FMT_SEEK_TABLE_FOOTER_SIZE], uint32_t frames)
{
    fmt_store32(out, frames);
    out[4] = 0; /* no checksums: each frame carries its own */
    fmt_store32(out + 5, SEEKABLE_MAGIC);
}

fmt_status fmt_seek_table_read_footer(const uint8_t footer[FMT_SEEK_TABLE_FOOTER_SIZE],
                                      uint64_t file_size, fmt_seek_table *out, fmt_fault *fault)
{
    uint64_t at = file_size - FMT_SEEK_TABLE_FOOTER_SIZE;
    if (fmt_load32(footer + 5) != SEEKABLE_MAGIC)
        return FMT_END;
    if (footer[4] & RESERVED)
        return fmt_fail_values(fault, FMT_EUNSUPPORTED, "seek table has reserved bits set", at + 4,
                               0, footer[4]);
    out->frames = fmt_load32(footer);
    out->entry_size = footer[4] & HAS_CHECKSUMS ? 12 : 8;
    if (out->frames > FMT_SEEK_TABLE_FRAMES_MAX)
        return fmt_fail_values(fault, FMT_ELIMIT, "frames in the seek table", at,
                               FMT_SEEK_TABLE_FRAMES_MAX, out->frames);
    out->table_size =
        FMT_SEEK_TABLE_HEADER_SIZE + (uint64_t)frame_size(out->frames, out->entry_size);
    if (out->table_size > file_size)
        return fmt_fail_values(fault, FMT_EINVALID, "seek table is larger than its file", at,
                               file_size, out->table_size);
    return FMT_OK;
}

void fmt_seek_table_get(const fmt_seek_table *table, const uint8_t *bytes, uint32_t i,
                        uint32_t *stored_size, uint32_t *content_size)
{
    const uint8_t *entry = bytes + FMT_SEEK_TABLE_HEADER_SIZE + (size_t)i * table->entry_size;
    *stored_size = fmt_load32(entry);
    *content_size = fmt_load32(entry + 4);
}

fmt_status fmt_seek_table_check(const fmt_seek_table *table, const uint8_t *bytes,
                                uint64_t file_size, fmt_fault *fault)
{
    uint64_t at = file_size - table->table_size;
    uint32_t size = frame_size(table->frames, table->entry_size);
    if (fmt_load32(bytes) != SKIPPABLE_MAGIC)
        return fmt_fail_values(fault, FMT_EINVALID, "seek table's magic number", at,
                               SKIPPABLE_MAGIC, fmt_load32(bytes));
    if (fmt_load32(bytes + 4) != size)
        return fmt_fail_values(fault, FMT_EINVALID, "seek table's frame size", at + 4, size,
                               fmt_load32(bytes + 4));
    uint64_t stored = 0;
    for (uint32_t i = 0; i < table->frames; i++) {
        uint32_t stored_size, content_size;
        fmt_seek_table_get(table, bytes, i, &stored_size, &content_size);
        if (content_size > FMT_SEEK_FRAME_MAX)
            return fmt_fail_values(fault, FMT_ELIMIT, "content of a frame in the seek table",
                                   at + FMT_SEEK_TABLE_HEADER_SIZE +
                                       (uint64_t)i * table->entry_size,
                                   FMT_SEEK_FRAME_MAX, content_size);
        stored += stored_size;
    }
    if (stored != at)
        return fmt_fail_values(fault, FMT_EINVALID, "sum of the seek table's frames", at, at,
                               stored);
    return FMT_OK;
}
