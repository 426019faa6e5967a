/* SPDX-License-Identifier: Apache-2.0 */
#include "sidx/sidx.h"

#include <stdlib.h>

#include "core/crc32c.h"
#include "test.h"

enum { CODEC = 56, FLAGS = 57, CRC = 60, TABLE = 64, ENTRY = 32 };

/* A section's kind, element width and bytes. */
typedef struct {
    fmt_sidx_section_kind kind;
    uint32_t width;
    const void *bytes;
    size_t size;
} section;

typedef struct {
    uint8_t bytes[4096];
    size_t size;
} file;

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})
#define U32(...) ((const uint32_t[]){__VA_ARGS__}), sizeof((const uint32_t[]){__VA_ARGS__})

static void write_file(file *out, const fmt_sidx_info *info, const section *sections, size_t count)
{
    fmt_sidx_section table[FMT_SIDX_SECTION_KINDS];
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < count; i++)
        table[i] = (fmt_sidx_section){.kind = sections[i].kind,
                                      .width = sections[i].width,
                                      .count = sections[i].size / sections[i].width,
                                      .crc = shard_crc32c(0, sections[i].bytes, sections[i].size)};
    out->size = (size_t)fmt_sidx_layout(table, count);
    for (size_t i = 0; i < count; i++)
        memcpy(out->bytes + table[i].offset, sections[i].bytes, sections[i].size);
    fmt_sidx_write_head(out->bytes, info, table, count, out->size, shard_crc32c);
}

/* Two samples "a" and "b", each of cls (1 byte) and jpg (600 bytes), without anything special. */
static const fmt_sidx_info canonical_info = {
    .samples = 2, .rows = 4, .shard_size = 6144, .tar_size = 6144, .keys_sorted = true};
static const section canonical[] = {
    {FMT_SIDX_HASH, 16, "0123456789abcdef", 16},
    {FMT_SIDX_NAMES, 1, "cls\0jpg", 8},
    {FMT_SIDX_LIST, 2, BYTES(0, 0, 1, 0)},
    {FMT_SIDX_FIRST, 4, U32(0, 5)},
    {FMT_SIDX_SIZE, 4, U32(1, 600, 1, 600)},
    {FMT_SIDX_CRC, 4, U32(11, 12, 13, 14)},
    {FMT_SIDX_KEY_END, 4, U32(1, 2)},
    {FMT_SIDX_KEYS, 1, "ab", 2},
};

/* Sample "x" of txt, then "k/y" of txt and jpg, behind pax headers, in two frames. */
static const fmt_sidx_info general_info = {
    .samples = 2, .rows = 3, .shard_size = 1000, .tar_size = 10240, .codec = FMT_SIDX_ZSTD};
static const section general[] = {
    {FMT_SIDX_NAMES, 1, "txt\0jpg", 8},
    {FMT_SIDX_ROW_END, 4, U32(1, 3)},
    {FMT_SIDX_ID, 2, BYTES(0, 0, 0, 0, 1, 0)},
    {FMT_SIDX_FIRST, 4, U32(0, 4)},
    {FMT_SIDX_PAYLOAD, 4, U32(3, 7, 11)},
    {FMT_SIDX_SIZE, 4, U32(5, 6, 700)},
    {FMT_SIDX_KEY_END, 4, U32(1, 4)},
    {FMT_SIDX_KEYS, 1, "xk/y", 4},
    {FMT_SIDX_FRAMES, 16,
     BYTES(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,         /* 0, 0 */
           0x90, 1, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0,      /* 400, 2048 */
           0xdd, 3, 0, 0, 0, 0, 0, 0, 0, 0x28, 0, 0, 0, 0, 0, 0)}, /* 989, 10240 */
};

static fmt_status open_file(fmt_sidx *sidx, const file *f, fmt_fault *fault)
{
    return fmt_sidx_open(sidx, (fmt_span){f->bytes, f->size}, shard_crc32c, fault);
}

static fmt_status open_and_check(const file *f, fmt_fault *fault)
{
    fmt_sidx sidx;
    fmt_status status = open_file(&sidx, f, fault);
    return status == FMT_OK ? fmt_sidx_check(&sidx, shard_crc32c, fault) : status;
}

static void canonical_shards_need_no_offsets(void **state)
{
    (void)state;
    file f;
    fmt_sidx sidx;
    fmt_fault fault;
    fmt_sidx_sample sample;
    fmt_sidx_component c;
    write_file(&f, &canonical_info, canonical, COUNT(canonical));
    assert_int_equal(open_file(&sidx, &f, &fault), FMT_OK);
    assert_int_equal(fmt_sidx_check(&sidx, shard_crc32c, &fault), FMT_OK);
    assert_int_equal(fmt_sidx_get_sample(&sidx, 1, &sample, &fault), FMT_OK);
    assert_text(sample.key.data, sample.key.size, "b");
    assert_int_equal(sample.first_offset, 2560);
    assert_int_equal(sample.end_offset, 2560 + 512 + 512 + 512 + 1024);
    assert_int_equal(fmt_sidx_get_component(&sidx, &sample, 3, &c, &fault), FMT_OK);
    assert_int_equal(c.id, 1);
    assert_int_equal(c.payload_offset, 2560 + 512 + 512 + 512);
    assert_int_equal(c.size, 600);
    assert_int_equal(c.crc, 14);
    assert_int_equal(fmt_sidx_get_component(&sidx, &sample, 2, &c, &fault), FMT_OK); /* and back */
    assert_int_equal(c.payload_offset, 2560 + 512);
    const char *name = fmt_sidx_next_name(&sidx, NULL);
    assert_string_equal(name, "cls");
    name = fmt_sidx_next_name(&sidx, name);
    assert_string_equal(name, "jpg");
    assert_null(fmt_sidx_next_name(&sidx, name));
}

static void other_shards_tell_everything(void **state)
{
    (void)state;
    file f;
    fmt_sidx sidx;
    fmt_fault fault;
    fmt_sidx_sample sample;
    fmt_sidx_component c;
    fmt_sidx_frame frame;
    write_file(&f, &general_info, general, COUNT(general));
    assert_int_equal(open_file(&sidx, &f, &fault), FMT_OK);
    assert_int_equal(fmt_sidx_check(&sidx, shard_crc32c, &fault), FMT_OK);
    assert_int_equal(sidx.info.codec, FMT_SIDX_ZSTD);
    assert_false(sidx.info.keys_sorted);
    assert_int_equal(fmt_sidx_get_sample(&sidx, 1, &sample, &fault), FMT_OK);
    assert_text(sample.key.data, sample.key.size, "k/y");
    assert_int_equal(sample.row_end - sample.row_begin, 2);
    assert_int_equal(sample.end_offset, 11 * 512 + 1024);
    assert_int_equal(fmt_sidx_get_component(&sidx, &sample, sample.row_begin, &c, &fault), FMT_OK);
    assert_int_equal(c.payload_offset, 7 * 512);
    assert_int_equal(fmt_sidx_get_frame(&sidx, 1, &frame, &fault), FMT_OK);
    assert_int_equal(frame.stored_begin, 400);
    assert_int_equal(frame.tar_end, 10240);
}

static void an_empty_shard(void **state)
{
    (void)state;
    static const fmt_sidx_info info = {.shard_size = 1024, .tar_size = 1024, .keys_sorted = true};
    static const section none[] = {
        {FMT_SIDX_NAMES, 1, "", 0}, {FMT_SIDX_LIST, 2, "", 0},    {FMT_SIDX_FIRST, 4, "", 0},
        {FMT_SIDX_SIZE, 4, "", 0},  {FMT_SIDX_KEY_END, 4, "", 0}, {FMT_SIDX_KEYS, 1, "", 0},
    };
    file f;
    fmt_fault fault;
    write_file(&f, &info, none, COUNT(none));
    assert_int_equal(open_and_check(&f, &fault), FMT_OK);
}

static void every_truncation_and_every_flipped_bit_is_found(void **state)
{
    (void)state;
    file f;
    fmt_fault fault;
    write_file(&f, &general_info, general, COUNT(general));
    file cut = f;
    for (cut.size = 0; cut.size < f.size; cut.size++) {
        fmt_status status = open_and_check(&cut, &fault);
        assert_true(status == FMT_ETRUNCATED);
    }
    for (size_t bit = 0; bit < f.size * 8; bit++) {
        file flipped = f;
        flipped.bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        fmt_status status = open_and_check(&flipped, &fault);
        bool in_padding =
            memcmp(flipped.bytes, f.bytes, TABLE + COUNT(general) * ENTRY) == 0 && status == FMT_OK;
        if (status == FMT_OK && !in_padding)
            fail_msg("bit %zu was flipped and not found", bit);
    }
}

/* Change some bytes of the head and mend its checksum: what a liar would write. */
static fmt_status open_patched(const fmt_sidx_info *info, const section *sections, size_t count,
                               size_t at, uint64_t value, size_t size, fmt_fault *fault)
{
    file f;
    uint8_t bytes[8];
    write_file(&f, info, sections, count);
    fmt_store64(bytes, value);
    memcpy(f.bytes + at, bytes, size);
    uint32_t crc = shard_crc32c(0, f.bytes, CRC);
    fmt_store32(f.bytes + CRC, shard_crc32c(crc, f.bytes + TABLE, count * ENTRY));
    return open_and_check(&f, fault);
}

static void lies_in_the_head_are_found(void **state)
{
    (void)state;
    static const struct {
        size_t at, size;
        uint64_t value;
        fmt_status status;
    } lies[] = {
        {0, 1, 0x88, FMT_EINVALID},  /* magic */
        {8, 2, 2, FMT_EUNSUPPORTED}, /* major version */
        {12, 4, 65, FMT_ELIMIT},     /* number of sections */
        {16, 8, 1, FMT_ETRUNCATED},  /* file size */
        {24, 8, 1, FMT_EINVALID},    /* samples */
        {24, 8, UINT64_MAX, FMT_EINVALID},
        {32, 8, 4, FMT_EINVALID}, /* rows */
        {32, 8, UINT64_MAX, FMT_EINVALID},
        {40, 8, 900, FMT_EINVALID},  /* shard size: a frame ends behind it */
        {48, 8, 4096, FMT_EINVALID}, /* tar size: a payload ends behind it */
        {48, 8, UINT64_MAX, FMT_ELIMIT},
        {CODEC, 1, 4, FMT_EUNSUPPORTED},
        {FLAGS, 1, 2, FMT_EUNSUPPORTED},
        {FLAGS, 1, 1, FMT_EINVALID}, /* keys are sorted: they are not */
        {FLAGS + 1, 1, 1, FMT_EUNSUPPORTED},
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        fmt_fault fault;
        fmt_status status = open_patched(&general_info, general, COUNT(general), lies[i].at,
                                         lies[i].value, lies[i].size, &fault);
        if (status != lies[i].status)
            fail_msg("lie %zu: %d", i, status);
    }
}

static void lies_in_the_table_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(general); i++) {
        size_t entry = TABLE + i * ENTRY;
        fmt_fault fault;
        static const struct {
            size_t at, size;
            uint64_t value;
        } lies[] = {
            {4, 4, 2}, /* unknown flags */
            {8, 8, 0}, /* offset: into the head */
            {8, 8, UINT64_MAX & ~UINT64_C(7)},
            {8, 8, 4096},        /* behind the file */
            {16, 8, UINT64_MAX}, /* size */
            {16, 8, 0},
            {24, 4, 3}, /* width */
            {24, 4, 0},
        };
        for (size_t j = 0; j < COUNT(lies); j++)
            if (open_patched(&general_info, general, COUNT(general), entry + lies[j].at,
                             lies[j].value, lies[j].size, &fault) == FMT_OK)
                fail_msg("section %zu, lie %zu", i, j);
    }
}

static void unknown_sections_are_skipped_or_refused_by_name(void **state)
{
    (void)state;
    fmt_fault fault;
    uint64_t tag = 'W' | 'H' << 8 | 'A' << 16 | (uint64_t)'T' << 24;
    size_t frames = TABLE + 8 * ENTRY; /* the last one: optional */
    assert_int_equal(open_patched(&general_info, general, 9, frames, tag, 8, &fault), FMT_OK);
    assert_int_equal(
        open_patched(&general_info, general, 9, frames, tag | UINT64_C(1) << 32, 8, &fault),
        FMT_EUNSUPPORTED);
    assert_string_equal(fault.name, "WHAT");
}

static void columns_that_lie_are_found(void **state)
{
    (void)state;
    const struct {
        size_t section;
        const void *bytes;
        size_t size;
        const char *tag;
    } lies[] = {
        {1, U32(0, 3), "ROWS"}, /* a sample without components */
        {1, U32(3, 3), "ROWS"},
        {1, U32(4, 3), "ROWS"},
        {1, U32(1, 4), "ROWS"}, /* last value against the head */
        {2, BYTES(0, 0, 0, 0, 2, 0), "COMP"},
        {3, U32(0, 99), "SIZE"}, /* first block behind its payload */
        {3, U32(5, 4), NULL},    /* first block behind the payload of sample 0 */
        {4, U32(3, 7, 21), "SIZE"},
        {4, U32(3, 7, 7), NULL}, /* two payloads in one place */
        {5, U32(5, 6, 99999), "SIZE"},
        {6, U32(0, 4), NULL}, /* an empty key */
        {6, U32(5, 4), "KEYO"},
        {6, U32(1, 9), "KEYS"}, /* more key bytes than there are */
        {7, "x\0/y", 4, NULL},  /* a NUL in a key */
    };
    for (size_t i = 0; i < COUNT(lies); i++) {
        file f;
        fmt_fault fault;
        section sections[COUNT(general)];
        memcpy(sections, general, sizeof general);
        sections[lies[i].section].bytes = lies[i].bytes;
        sections[lies[i].section].size = lies[i].size;
        write_file(&f, &general_info, sections, COUNT(sections));
        fmt_status status = open_and_check(&f, &fault);
        if (status != FMT_EINVALID)
            fail_msg("lie %zu: %d", i, status);
        if (lies[i].tag && memcmp(fault.name, lies[i].tag, 4) != 0)
            fail_msg("lie %zu: section %s", i, fault.name);
    }
}

static void sizes_beyond_four_gigabytes(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {UINT64_C(1) << 33};
    static const fmt_sidx_info info = {.samples = 1,
                                       .rows = 1,
                                       .shard_size = (UINT64_C(1) << 33) + 1536,
                                       .tar_size = (UINT64_C(1) << 33) + 1536,
                                       .keys_sorted = true};
    const section sections[] = {
        {FMT_SIDX_NAMES, 1, "bin", 4}, {FMT_SIDX_LIST, 2, BYTES(0, 0)},
        {FMT_SIDX_FIRST, 4, U32(0)},   {FMT_SIDX_SIZE, 8, sizes, sizeof sizes},
        {FMT_SIDX_KEY_END, 4, U32(1)}, {FMT_SIDX_KEYS, 1, "a", 1},
    };
    file f;
    fmt_sidx sidx;
    fmt_fault fault;
    fmt_sidx_sample sample;
    write_file(&f, &info, sections, COUNT(sections));
    assert_int_equal(open_file(&sidx, &f, &fault), FMT_OK);
    assert_int_equal(fmt_sidx_get_sample(&sidx, 0, &sample, &fault), FMT_OK);
    assert_true(sample.end_offset == (UINT64_C(1) << 33) + 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(canonical_shards_need_no_offsets),
        cmocka_unit_test(other_shards_tell_everything),
        cmocka_unit_test(an_empty_shard),
        cmocka_unit_test(every_truncation_and_every_flipped_bit_is_found),
        cmocka_unit_test(lies_in_the_head_are_found),
        cmocka_unit_test(lies_in_the_table_are_found),
        cmocka_unit_test(unknown_sections_are_skipped_or_refused_by_name),
        cmocka_unit_test(columns_that_lie_are_found),
        cmocka_unit_test(sizes_beyond_four_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
