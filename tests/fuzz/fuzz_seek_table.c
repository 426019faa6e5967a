/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seek table at the end of a zstd file: read, checked, and written again as the same bytes.
 *
 * Input: eight bytes that say how much of the file stands before what follows them, the file's end.
 */
#include "fuzz.h"

#include "zstd_seek/seek_table.h"

enum { SEEK_CHECKSUMS = 12 };

static uint64_t sum_of_frames(const fmt_seek_table *table, const uint8_t *bytes)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < table->frames; i++) {
        uint32_t stored, content;
        fmt_seek_table_get(table, bytes, i, &stored, &content);
        sum += stored;
    }
    return sum;
}

static void check_written(const fmt_seek_table *table, const uint8_t *bytes)
{
    uint8_t *copy = fuzz_copy(bytes, (size_t)table->table_size), *at = copy;
    FUZZ_CHECK(fmt_seek_table_size(table->frames) == table->table_size);
    fmt_seek_table_write_header(at, table->frames);
    at += FMT_SEEK_TABLE_HEADER_SIZE;
    for (uint32_t i = 0; i < table->frames; i++, at += FMT_SEEK_TABLE_ENTRY_SIZE) {
        uint32_t stored, content;
        fmt_seek_table_get(table, bytes, i, &stored, &content);
        FUZZ_CHECK(content <= FMT_SEEK_FRAME_MAX);
        fmt_seek_table_write_entry(at, stored, content);
    }
    fmt_seek_table_write_footer(at, table->frames);
    at[4] = bytes[table->table_size - 5]; /* two bits of the flags are unused: any value */
    FUZZ_CHECK(memcmp(copy, bytes, (size_t)table->table_size) == 0);
    free(copy);
}

static void try_table(fmt_span end, uint64_t before)
{
    uint64_t file_size = before + end.size;
    fmt_seek_table table;
    fmt_fault fault = {0};
    fmt_status status = fmt_seek_table_read_footer(end.data + end.size - FMT_SEEK_TABLE_FOOTER_SIZE,
                                                   file_size, &table, &fault);
    if (status != FMT_OK) {
        FUZZ_CHECK(status == FMT_END || fault.what);
        return;
    }
    FUZZ_CHECK(table.table_size <= file_size);
    if (table.table_size > end.size)
        return; /* more than this input has of the file */
    uint8_t *bytes = fuzz_copy(end.data + end.size - table.table_size, (size_t)table.table_size);
    status = fmt_seek_table_check(&table, bytes, file_size, &fault);
    FUZZ_CHECK(status == FMT_OK || fault.what);
    if (status == FMT_OK) {
        FUZZ_CHECK(sum_of_frames(&table, bytes) + table.table_size == file_size);
        if (table.entry_size != SEEK_CHECKSUMS)
            check_written(&table, bytes);
    } else { /* once more, in a file of the size that the table says */
        uint64_t size = sum_of_frames(&table, bytes) + table.table_size;
        (void)fmt_seek_table_check(&table, bytes, size, &fault);
    }
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < sizeof(uint64_t) + FMT_SEEK_TABLE_FOOTER_SIZE)
        return 0;
    uint64_t before = fmt_load64(data) & INT64_MAX;
    try_table((fmt_span){data + sizeof(uint64_t), size - sizeof(uint64_t)}, before);
    return 0;
}
