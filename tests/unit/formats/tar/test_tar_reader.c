/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_reader.h"

#include <stdio.h>

#include "tar_bytes.h"
#include "test.h"

enum { TYPE_FIELD = 156 };

/* Everything the reader said of an archive, as text: what two ways of feeding it must agree on. */
typedef struct {
    char text[16384];
    size_t size;
    fmt_status status;
    fmt_fault fault;
} transcript;

static void note_member(transcript *t, const fmt_tar_member *m)
{
    t->size += (size_t)snprintf(
        t->text + t->size, sizeof t->text - t->size, "\n%d %llu %llu %llu %.80s:", (int)m->kind,
        (unsigned long long)m->header_offset, (unsigned long long)m->payload_offset,
        (unsigned long long)m->size, m->path);
    assert_int_equal(strlen(m->path), m->path_size);
}

static void note_payload(transcript *t, fmt_span payload)
{
    assert_true(t->size + payload.size < sizeof t->text);
    memcpy(t->text + t->size, payload.data, payload.size);
    t->size += payload.size;
    t->text[t->size] = 0;
}

static void read_all(transcript *t, const uint8_t *bytes, size_t size, size_t step)
{
    fmt_tar_reader reader;
    t->size = 0;
    t->text[0] = 0;
    t->status = FMT_NEED_MORE;
    fmt_tar_reader_init(&reader, 0);
    for (size_t at = 0; at < size && t->status == FMT_NEED_MORE; at += step) {
        fmt_span in = {bytes + at, at + step < size ? step : size - at};
        while ((t->status = fmt_tar_reader_push(&reader, &in)) == FMT_OK) {
            if (reader.event == FMT_TAR_MEMBER)
                note_member(t, &reader.member);
            else
                note_payload(t, reader.payload);
        }
    }
    if (t->status == FMT_NEED_MORE)
        t->status = fmt_tar_reader_finish(&reader);
    t->fault = reader.fault;
}

/* Feed the archive whole and in pieces of many sizes: the same is said each time. */
static const transcript *read_every_way(const tar_bytes *tar)
{
    static transcript whole, pieces;
    static const size_t steps[] = {1, 7, 511, 512, 513, 1000, 4096};
    read_all(&whole, tar->bytes, tar->size, tar->size);
    for (size_t i = 0; i < COUNT(steps); i++) {
        read_all(&pieces, tar->bytes, tar->size, steps[i]);
        assert_string_equal(pieces.text, whole.text);
        assert_int_equal(pieces.status, whole.status);
        if (whole.status != FMT_OK) {
            assert_string_equal(pieces.fault.what, whole.fault.what);
            assert_int_equal(pieces.fault.offset, whole.fault.offset);
        }
    }
    return &whole;
}

static void check(tar_bytes *tar, fmt_status status, const char *text)
{
    const transcript *t = read_every_way(tar);
    if (t->status != status)
        fail_msg("status %d: %s at %llu", t->status, t->fault.what,
                 (unsigned long long)t->fault.offset);
    if (text)
        assert_string_equal(t->text, text);
    tar_bytes_free(tar);
}

static void check_refused(tar_bytes *tar, fmt_status status, const char *what, uint64_t offset)
{
    const transcript *t = read_every_way(tar);
    assert_int_equal(t->status, status);
    assert_string_equal(t->fault.what, what);
    assert_int_equal(t->fault.offset, offset);
    tar_bytes_free(tar);
}

static void plain_members(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_file(&tar, "a.cls", "");
    tar_bytes_header(&tar, '5', "dir/", 0);
    tar_bytes_header(&tar, '2', "link", 0);
    tar_bytes_end(&tar);
    check(
        &tar, FMT_OK,
        "\n0 0 512 5 a.txt:hello\n0 1024 1536 0 a.cls:\n1 1536 2048 0 dir/:\n3 2048 2560 0 link:");
}

static void trailing_zeros_are_padding(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_end(&tar);
    tar_bytes_zeros(&tar, 8192 + 100);
    check(&tar, FMT_OK, "\n0 0 512 5 a.txt:hello");
}

static void empty_archive(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_end(&tar);
    check(&tar, FMT_OK, "");
}

static void pax_path_and_size(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    /* The size in pax rules the data length and the skip; the header's own says something else. */
    char payload[600];
    memset(payload, 'p', sizeof payload);
    tar_bytes_pax(&tar, 'x', "22 path=long/name.jpg\n13 size=0600\n", 35);
    tar_bytes_header(&tar, '0', "short", 7);
    tar_bytes_payload(&tar, payload, sizeof payload);
    tar_bytes_file(&tar, "b.txt", "next");
    tar_bytes_end(&tar);
    const transcript *t = read_every_way(&tar);
    assert_int_equal(t->status, FMT_OK);
    assert_non_null(strstr(t->text, "\n0 0 1536 600 long/name.jpg:ppp"));
    assert_non_null(strstr(t->text, "ppp\n0 2560 3072 4 b.txt:next"));
    tar_bytes_free(&tar);
}

static void pax_for_every_member(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    for (int i = 0; i < 3; i++) {
        tar_bytes_pax(&tar, 'x', "20 mtime=1700000.25\n", 20);
        tar_bytes_file(&tar, "a.txt", "x");
    }
    tar_bytes_end(&tar);
    check(&tar, FMT_OK, "\n0 0 1536 1 a.txt:x\n0 2048 3584 1 a.txt:x\n0 4096 5632 1 a.txt:x");
}

static void global_pax_belongs_to_no_member(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_pax(&tar, 'g', "17 comment=hello\n", 17);
    tar_bytes_file(&tar, "a.txt", "x");
    tar_bytes_end(&tar);
    check(&tar, FMT_OK, "\n0 1024 1536 1 a.txt:x");
}

static void gnu_long_names(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    char name[301];
    memset(name, 'n', 300);
    name[300] = 0;
    tar_bytes_long(&tar, 'L', name);
    tar_bytes_file(&tar, name, "x");
    tar_bytes_long(&tar, 'K', name);
    tar_bytes_header(&tar, '2', "link", 0);
    tar_bytes_end(&tar);
    const transcript *t = read_every_way(&tar);
    assert_int_equal(t->status, FMT_OK);
    assert_non_null(strstr(t->text, "\n0 0 1536 1 nnnn"));
    tar_bytes_free(&tar);
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    static transcript t;
    tar_bytes_pax(&tar, 'x', "9 path=p\n", 9);
    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_long(&tar, 'L', "long");
    tar_bytes_file(&tar, "b.txt", "there");
    tar_bytes_end(&tar);
    for (size_t size = 0; size < tar.size; size++) {
        read_all(&t, tar.bytes, size, 512);
        if (t.status != FMT_ETRUNCATED)
            fail_msg("cut to %zu bytes: status %d", size, t.status);
        assert_int_equal(t.fault.offset, size);
    }
    tar_bytes_free(&tar);
}

static void a_missing_end_can_be_accepted(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_reader reader;
    tar_bytes_file(&tar, "a.txt", "hello");
    fmt_tar_reader_init(&reader, 0);
    reader.missing_end_ok = true;
    fmt_span in = {tar.bytes, tar.size};
    while (fmt_tar_reader_push(&reader, &in) == FMT_OK) {
    }
    assert_int_equal(fmt_tar_reader_finish(&reader), FMT_OK);
    fmt_tar_reader_init(&reader, 0); /* but not a cut inside a member */
    reader.missing_end_ok = true;
    in = (fmt_span){tar.bytes, 515};
    while (fmt_tar_reader_push(&reader, &in) == FMT_OK) {
    }
    assert_int_equal(fmt_tar_reader_finish(&reader), FMT_ETRUNCATED);
    tar_bytes_free(&tar);
}

static void what_readers_disagree_on_is_refused(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    static const char big[] = "\x80\0\0\0\x7f\xff\xff\xff\xff\xff\xff\xff";

    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_zeros(&tar, 512);
    tar_bytes_file(&tar, "b.txt", "lost by others");
    check_refused(&tar, FMT_EINVALID, "a stray block of zeros, with more data behind it", 1024);

    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_end(&tar);
    tar_bytes_zeros(&tar, 700);
    tar_bytes_add(&tar, "x", 1);
    check_refused(&tar, FMT_EINVALID,
                  "data after the archive's end mark (are these archives joined?)", 2748);

    tar_bytes_header(&tar, '1', "hard", 5);
    check_refused(&tar, FMT_EUNSUPPORTED, "directory, link or device with a size", 0);
    tar_bytes_header(&tar, '5', "dir/", 5);
    check_refused(&tar, FMT_EUNSUPPORTED, "directory, link or device with a size", 0);
    tar_bytes_header(&tar, '0', "dir/", 5);
    check_refused(&tar, FMT_EUNSUPPORTED, "directory, link or device with a size", 0);

    tar_bytes_pax(&tar, 'x', "9 path=a\n", 9);
    tar_bytes_pax(&tar, 'x', "9 path=b\n", 9);
    check_refused(&tar, FMT_EUNSUPPORTED, "two pax headers for one member", 0);
    tar_bytes_long(&tar, 'L', "a");
    tar_bytes_long(&tar, 'L', "b");
    check_refused(&tar, FMT_EUNSUPPORTED, "two GNU long names for one member", 0);
    tar_bytes_long(&tar, 'L', "a");
    tar_bytes_pax(&tar, 'x', "9 path=b\n", 9);
    tar_bytes_file(&tar, "c", "x");
    check_refused(&tar, FMT_EUNSUPPORTED, "both a pax path and a GNU long name", 0);

    tar_bytes_pax(&tar, 'x', "9 path=a\n", 9);
    tar_bytes_end(&tar);
    check_refused(&tar, FMT_EINVALID, "archive ends after a pax or GNU header without its member",
                  0);

    tar_bytes_header(&tar, 'S', "sparse", 0);
    check_refused(&tar, FMT_EUNSUPPORTED, "sparse file", 0);
    tar_bytes_header(&tar, '0', "", 0);
    check_refused(&tar, FMT_EINVALID, "member has no name", 0);
    tar_bytes_header(&tar, '0', "a", 0);
    tar_bytes_patch(&tar, 0, 124, big, 12);
    check_refused(&tar, FMT_ELIMIT, "member ends past the largest file offset", 0);
}

static void v7_directories(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_header(&tar, 0, "dir/", 0);
    tar_bytes_end(&tar);
    check(&tar, FMT_OK, "\n1 0 512 0 dir/:");
}

static void unknown_letters_carry_data(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    tar_bytes_header(&tar, 'Q', "what", 3);
    tar_bytes_payload(&tar, "abc", 3);
    tar_bytes_end(&tar);
    check(&tar, FMT_OK, "\n5 0 512 3 what:abc");
}

static void payloads_can_be_skipped(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_reader reader;
    tar_bytes_file(&tar, "a.txt", "hello");
    tar_bytes_file(&tar, "b.txt", "there");
    tar_bytes_end(&tar);
    fmt_tar_reader_init(&reader, 0);
    fmt_span in = {tar.bytes, 512};
    assert_int_equal(fmt_tar_reader_push(&reader, &in), FMT_OK);
    assert_int_equal(fmt_tar_reader_skip(&reader), 512);
    assert_int_equal(reader.offset, 1024);
    in = (fmt_span){tar.bytes + 1024, tar.size - 1024};
    assert_int_equal(fmt_tar_reader_push(&reader, &in), FMT_OK);
    assert_string_equal(reader.member.path, "b.txt");
    assert_int_equal(reader.member.header_offset, 1024);
    tar_bytes_free(&tar);
}

static void reading_starts_anywhere(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    fmt_tar_reader reader;
    tar_bytes_file(&tar, "b.txt", "there");
    fmt_tar_reader_init(&reader, 10240);
    fmt_span in = {tar.bytes, tar.size};
    assert_int_equal(fmt_tar_reader_push(&reader, &in), FMT_OK);
    assert_int_equal(reader.member.header_offset, 10240);
    assert_int_equal(reader.member.payload_offset, 10752);
    tar_bytes_free(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_members),
        cmocka_unit_test(trailing_zeros_are_padding),
        cmocka_unit_test(empty_archive),
        cmocka_unit_test(pax_path_and_size),
        cmocka_unit_test(pax_for_every_member),
        cmocka_unit_test(global_pax_belongs_to_no_member),
        cmocka_unit_test(gnu_long_names),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(a_missing_end_can_be_accepted),
        cmocka_unit_test(what_readers_disagree_on_is_refused),
        cmocka_unit_test(v7_directories),
        cmocka_unit_test(unknown_letters_carry_data),
        cmocka_unit_test(payloads_can_be_skipped),
        cmocka_unit_test(reading_starts_anywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
