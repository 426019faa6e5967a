/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_header.h"

#include <stdio.h>

#include "tar_bytes.h"
#include "test.h"

enum { SIZE_FIELD = 124, CHECKSUM_FIELD = 148, MAGIC_FIELD = 257, PREFIX_FIELD = 345 };

static fmt_status parse_size_field(const char *bytes, fmt_tar_header *header)
{
    tar_bytes tar = {0};
    fmt_fault fault;
    tar_bytes_header(&tar, '0', "a.txt", 0);
    tar_bytes_patch(&tar, 0, SIZE_FIELD, bytes, 12);
    fmt_status status = fmt_tar_header_parse(tar.bytes, 0, header, &fault);
    tar_bytes_free(&tar);
    return status;
}

static void numbers_in_every_form(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        uint64_t size;
    } good[] = {
        {"00000000017\0", 15},
        {"000000000017", 15}, /* all twelve, no terminator */
        {"         17 ", 15},
        {"17\0\0\0\0\0\0\0\0\0\0", 15},
        {"\0\0\0\0\0\0\0\0\0\0\0\0", 0},
        {"77777777777\0", UINT64_C(8589934591)},
        {"777777777777", UINT64_C(68719476735)},
        {"\x80\0\0\0\0\0\0\2\0\0\0\0", UINT64_C(8589934592)},
        {"\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff", INT64_MAX},
    };
    static const char *bad[] = {
        "0000000001x\0",
        "00000000 17\0",
        "+0000000017\0",
        "-0000000001\0",
        "00000000018\0",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xfe",
        "\x80\0\0\0\x80\0\0\0\0\0\0\0",
        "\x80\1\0\0\0\0\0\0\0\0\0\0",
        "\x81\0\0\0\0\0\0\0\0\0\0\0",
    };
    fmt_tar_header header;
    for (size_t i = 0; i < COUNT(good); i++) {
        assert_int_equal(parse_size_field(good[i].bytes, &header), FMT_OK);
        assert_true(header.size == good[i].size);
    }
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(parse_size_field(bad[i], &header), FMT_EINVALID);
}

static void names_by_flavour(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_header header;
    fmt_fault fault;
    char full[100];
    memset(full, 'n', sizeof full);
    tar_bytes_header(&tar, '0', "name.txt", 0);
    tar_bytes_patch(&tar, 0, PREFIX_FIELD, "some/folder", 11);
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
    assert_text(header.path, header.path_size, "some/folder/name.txt");
    tar_bytes_patch(&tar, 0, MAGIC_FIELD, "ustar  ",
                    8); /* GNU keeps times where ustar has prefix */
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
    assert_text(header.path, header.path_size, "name.txt");
    tar_bytes_patch(&tar, 0, MAGIC_FIELD, "\0\0\0\0\0\0\0\0", 8); /* v7 */
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
    assert_text(header.path, header.path_size, "name.txt");
    tar_bytes_patch(&tar, 0, 0, full, sizeof full); /* no NUL behind it */
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
    assert_int_equal(header.path_size, 100);
    tar_bytes_free(&tar);
}

static void letters_have_kinds(void **state)
{
    (void)state;
    static const struct {
        char type;
        fmt_tar_kind kind;
    } kinds[] = {
        {0, FMT_TAR_FILE},         {'0', FMT_TAR_FILE},          {'7', FMT_TAR_FILE},
        {'1', FMT_TAR_HARD_LINK},  {'2', FMT_TAR_SYMBOLIC_LINK}, {'3', FMT_TAR_SPECIAL},
        {'5', FMT_TAR_DIRECTORY},  {'6', FMT_TAR_SPECIAL},       {'x', FMT_TAR_PAX},
        {'g', FMT_TAR_PAX_GLOBAL}, {'L', FMT_TAR_GNU_LONG_NAME}, {'K', FMT_TAR_GNU_LONG_LINK},
        {'S', FMT_TAR_GNU_SPARSE}, {'V', FMT_TAR_OTHER},         {'Q', FMT_TAR_OTHER},
    };
    for (size_t i = 0; i < COUNT(kinds); i++) {
        tar_bytes tar = {0};
        fmt_tar_header header;
        fmt_fault fault;
        tar_bytes_header(&tar, kinds[i].type, "a", 0);
        assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
        assert_int_equal(header.kind, kinds[i].kind);
        tar_bytes_free(&tar);
    }
}

static void checksum_is_checked_and_told(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_header header;
    fmt_fault fault;
    tar_bytes_header(&tar, '0', "a.txt", 0);
    tar.bytes[0] = 'b';
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 1024, &header, &fault), FMT_ECHECKSUM);
    assert_int_equal(fault.offset, 1024);
    assert_true(fault.has_values);
    assert_int_equal(fault.expected, fault.got + 1);
    memset(tar.bytes + CHECKSUM_FIELD, 'x', 8);
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_EINVALID);
    tar_bytes_free(&tar);
}

/* Some old Unix tars summed signed chars. */
static void signed_checksum_is_accepted(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_header header;
    fmt_fault fault;
    tar_bytes_header(&tar, '0', "\xc3\xa9t\xc3\xa9.txt", 0);
    unsigned sum = 0;
    sscanf((char *)tar.bytes + CHECKSUM_FIELD, "%o", &sum);
    snprintf((char *)tar.bytes + CHECKSUM_FIELD, 8, "%06o", sum - 4 * 256);
    assert_int_equal(fmt_tar_header_parse(tar.bytes, 0, &header, &fault), FMT_OK);
    tar_bytes_free(&tar);
}

/* What is written is read again; `blocks` says by how many header blocks. */
static void check_written(const char *path, uint64_t size, size_t blocks)
{
    uint8_t out[FMT_TAR_HEADERS_MAX];
    fmt_tar_header header;
    fmt_fault fault;
    size_t length = strlen(path);
    assert_int_equal(fmt_tar_header_write(out, path, length, size, 1234567),
                     blocks * FMT_TAR_BLOCK);
    if (blocks > 1) {
        assert_int_equal(fmt_tar_header_parse(out, 0, &header, &fault), FMT_OK);
        assert_int_equal(header.kind, FMT_TAR_GNU_LONG_NAME);
        assert_int_equal(header.size, length + 1);
        assert_memory_equal(out + FMT_TAR_BLOCK, path, length + 1);
    }
    const uint8_t *last = out + (blocks - 1) * FMT_TAR_BLOCK;
    assert_int_equal(fmt_tar_header_parse(last, 0, &header, &fault), FMT_OK);
    assert_int_equal(header.kind, FMT_TAR_FILE);
    assert_true(header.size == size);
    if (blocks == 1)
        assert_text(header.path, header.path_size, path);
}

static char *path_of(char *out, size_t folder, size_t name)
{
    memset(out, 'd', folder);
    out[folder] = '/';
    memset(out + folder + 1, 'n', name);
    out[folder + 1 + name] = 0;
    return out;
}

static void written_headers_are_read(void **state)
{
    (void)state;
    char path[FMT_TAR_PATH_MAX + 1];
    check_written("a.txt", 0, 1);
    check_written("dog/01.jpg", 70000, 1);
    check_written("a.txt", UINT64_C(8589934591), 1);
    check_written("a.txt", UINT64_C(8589934592), 1);
    check_written("a.txt", INT64_MAX, 1);
    check_written(path_of(path, 50, 49), 1, 1);   /* 100 bytes: the name field is full */
    check_written(path_of(path, 50, 50), 1, 1);   /* 101: prefix and name */
    check_written(path_of(path, 155, 100), 1, 1); /* the longest that ustar holds */
    check_written(path_of(path, 155, 101), 1, 3); /* name too long */
    check_written(path_of(path, 156, 99), 1, 3);  /* prefix too long */
    check_written(path_of(path, 1, 101), 1, 3);
    check_written(path_of(path, 50, 50), UINT64_C(1) << 40, 3); /* GNU for the size: no prefix */
    check_written(path_of(path, 2000, 2095), 1, 11);
}

static void same_arguments_same_bytes(void **state)
{
    (void)state;
    uint8_t a[FMT_TAR_HEADERS_MAX], b[FMT_TAR_HEADERS_MAX];
    memset(a, 1, sizeof a);
    memset(b, 2, sizeof b);
    size_t size = fmt_tar_header_write(a, "dog/01.jpg", 10, 5, 0);
    assert_int_equal(fmt_tar_header_write(b, "dog/01.jpg", 10, 5, 0), size);
    assert_memory_equal(a, b, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_in_every_form),
        cmocka_unit_test(names_by_flavour),
        cmocka_unit_test(letters_have_kinds),
        cmocka_unit_test(checksum_is_checked_and_told),
        cmocka_unit_test(signed_checksum_is_accepted),
        cmocka_unit_test(written_headers_are_read),
        cmocka_unit_test(same_arguments_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
