/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seek table of the Zstandard seekable format, version 0.1.0: a skippable frame at the end of a
 * file of independent frames, with the sizes of each. Specification: docs/format/tar-zst.md, after
 * zstd's contrib/seekable_format/zstd_seekable_compression_format.md.
 */
#ifndef FMT_SEEK_TABLE_H
#define FMT_SEEK_TABLE_H

#include "fmt.h"

enum {
    FMT_SEEK_TABLE_HEADER_SIZE = 8, /* magic number and frame size */
    FMT_SEEK_TABLE_ENTRY_SIZE = 8,  /* as written: sizes without checksums */
    FMT_SEEK_TABLE_FOOTER_SIZE = 9,
    FMT_SEEK_TABLE_FRAMES_MAX = 0x8000000,
    FMT_SEEK_FRAME_MAX = 0x40000000, /* bytes of content in a frame */
};

/* Size of the table that `frames` entries make. */
static inline uint64_t fmt_seek_table_size(uint64_t frames)
{
    return FMT_SEEK_TABLE_HEADER_SIZE + frames * FMT_SEEK_TABLE_ENTRY_SIZE +
           FMT_SEEK_TABLE_FOOTER_SIZE;
}

/* The three parts of a table, in order. */
void fmt_seek_table_write_header(uint8_t out[FMT_SEEK_TABLE_HEADER_SIZE], uint32_t frames);
void fmt_seek_table_write_entry(uint8_t out[FMT_SEEK_TABLE_ENTRY_SIZE], uint32_t stored_size,
                                uint32_t content_size);
void fmt_seek_table_write_footer(uint8_t out[FMT_SEEK_TABLE_FOOTER_SIZE], uint32_t frames);

typedef struct {
    uint32_t frames;
    uint32_t entry_size; /* 8, or 12 with checksums */
    uint64_t table_size; /* of the whole skippable frame, which ends with the file */
} fmt_seek_table;

/*
 * Read the footer, the last 9 bytes of a file of `file_size` bytes. FMT_END: there is no seek table
 * (the magic number is another).
 */
fmt_status fmt_seek_table_read_footer(const uint8_t footer[FMT_SEEK_TABLE_FOOTER_SIZE],
                                      uint64_t file_size, fmt_seek_table *out, fmt_fault *fault);

/* Check the whole table, `table_size` bytes, against the file: its sizes add up to what precedes
 * it. */
fmt_status fmt_seek_table_check(const fmt_seek_table *table, const uint8_t *bytes,
                                uint64_t file_size, fmt_fault *fault);

/* Sizes of frame `i` in a checked table. A content size of 0: a skippable frame. */
void fmt_seek_table_get(const fmt_seek_table *table, const uint8_t *bytes, uint32_t i,
                        uint32_t *stored_size, uint32_t *content_size);

#endif
