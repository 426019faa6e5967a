/* SPDX-License-Identifier: Apache-2.0 */
#include "zstd_seek/seek_table.h"

#include "test.h"

enum { FRAMES = 3, DATA = 60, TABLE = 8 + 3 * 8 + 9, FILE_SIZE = DATA + TABLE };

/* The table of a file of three frames, 10, 20 and 30 bytes. */
static void make_table(uint8_t out[TABLE])
{
    fmt_seek_table_write_header(out, FRAMES);
    for (uint32_t i = 0; i < FRAMES; i++)
        fmt_seek_table_write_entry(out + 8 + i * 8, 10 * (i + 1), 1000 * (i + 1));
    fmt_seek_table_write_footer(out + 8 + FRAMES * 8, FRAMES);
}

static fmt_status read_table(const uint8_t *bytes, uint64_t file_size, fmt_fault *fault)
{
    fmt_seek_table table;
    const uint8_t *footer = bytes + TABLE - FMT_SEEK_TABLE_FOOTER_SIZE;
    fmt_status status = fmt_seek_table_read_footer(footer, file_size, &table, fault);
    return status == FMT_OK ? fmt_seek_table_check(&table, bytes, file_size, fault) : status;
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    uint8_t bytes[TABLE];
    fmt_seek_table table;
    fmt_fault fault;
    uint32_t stored, content;
    make_table(bytes);
    assert_int_equal(fmt_seek_table_size(FRAMES), TABLE);
    assert_int_equal(fmt_seek_table_read_footer(bytes + TABLE - 9, FILE_SIZE, &table, &fault),
                     FMT_OK);
    assert_int_equal(table.frames, FRAMES);
    assert_int_equal(table.table_size, TABLE);
    assert_int_equal(fmt_seek_table_check(&table, bytes, FILE_SIZE, &fault), FMT_OK);
    fmt_seek_table_get(&table, bytes, 2, &stored, &content);
    assert_int_equal(stored, 30);
    assert_int_equal(content, 3000);
}

/* As zstd's own seekable writer makes them: with a checksum of 4 bytes in each entry. */
static void entries_with_checksums_are_read(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {0x5e, 0x2a, 0x4d, 0x18, 21, 0,    0,    0, /* magic, size */
                                    7,    0,    0,    0,    9,  0,    0,    0,    1,    2,   3,
                                    4,    1,    0,    0,    0,  0x80, 0xb1, 0xea, 0x92, 0x8f};
    fmt_seek_table table;
    fmt_fault fault;
    uint32_t stored, content;
    uint64_t file_size = 7 + sizeof bytes;
    assert_int_equal(
        fmt_seek_table_read_footer(bytes + sizeof bytes - 9, file_size, &table, &fault), FMT_OK);
    assert_int_equal(table.table_size, sizeof bytes);
    assert_int_equal(fmt_seek_table_check(&table, bytes, file_size, &fault), FMT_OK);
    fmt_seek_table_get(&table, bytes, 0, &stored, &content);
    assert_int_equal(stored, 7);
    assert_int_equal(content, 9);
}

static void lies_are_refused(void **state)
{
    (void)state;
    uint8_t bytes[TABLE];
    fmt_fault fault;
    make_table(bytes);
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_OK);
    assert_int_equal(read_table(bytes, FILE_SIZE + 1, &fault),
                     FMT_EINVALID); /* frames do not add up */
    assert_int_equal(read_table(bytes, TABLE - 1, &fault), FMT_EINVALID);
    bytes[TABLE - 1] ^= 1;
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_END); /* no table at all */
    make_table(bytes);
    bytes[TABLE - 5] = 0x04;
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_EUNSUPPORTED);
    make_table(bytes);
    memset(bytes + TABLE - 9, 0xff, 4); /* 2^32 - 1 frames: times 8 it wraps */
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_ELIMIT);
    make_table(bytes);
    bytes[0] ^= 1;
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_EINVALID);
    make_table(bytes);
    bytes[4] ^= 1;
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_EINVALID);
    make_table(bytes);
    bytes[8 + 7] = 0x80; /* 2 GiB in a frame */
    assert_int_equal(read_table(bytes, FILE_SIZE, &fault), FMT_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(entries_with_checksums_are_read),
        cmocka_unit_test(lies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
