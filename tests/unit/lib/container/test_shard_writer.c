/* SPDX-License-Identifier: Apache-2.0 */
#include "container/shard_writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <shard/reader.h>

#include "files.h"
#include "tar_bytes.h"
#include "test.h"
#include "zstd_seek/seek_table.h"

enum { SEGMENT_MAX = 64 << 10 };

static const shard_codec codecs[] = {SHARD_CODEC_PLAIN, SHARD_CODEC_ZSTD, SHARD_CODEC_GZIP};
static shard_encoders encoders;
static fmt_alloc alloc;

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    test_folder();
    if (shard_zstd_encoder_open(&encoders.zstd, 3, NULL) != SHARD_OK)
        return -1;
    return shard_gzip_encoder_open(&encoders.gzip, 6, NULL) == SHARD_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    shard_zstd_encoder_close(encoders.zstd);
    shard_gzip_encoder_close(encoders.gzip);
    return 0;
}

/* Append a file as a segment of its own, stored as the codec has it. */
static shard_status append(shard_writer *w, const char *name, const char *text, shard_error *err)
{
    uint8_t stored[SEGMENT_MAX];
    tar_bytes tar = {0};
    tar_bytes_file(&tar, name, text);
    shard_segment segment = {tar.bytes, tar.size, tar.size, 0};
    shard_status status = SHARD_OK;
    if (w->codec != SHARD_CODEC_PLAIN)
        segment.stored = stored;
    if (w->codec == SHARD_CODEC_ZSTD)
        status = shard_zstd_encode(encoders.zstd, tar.bytes, tar.size, stored, &segment.stored_size,
                                   err);
    if (w->codec == SHARD_CODEC_GZIP)
        status = shard_gzip_encode(encoders.gzip, tar.bytes, tar.size, stored, &segment.stored_size,
                                   &segment.crc, err);
    if (status == SHARD_OK)
        status = shard_writer_append(w, &segment, err);
    tar_bytes_free(&tar);
    return status;
}

static void append_ok(shard_writer *w, const char *name, const char *text)
{
    shard_error err;
    if (append(w, name, text, &err) != SHARD_OK)
        fail_msg("%s", err.message);
}

static void open_ok(shard_writer *w, const char *name, shard_codec codec)
{
    assert_int_equal(shard_writer_open(w, test_path(name), codec, &alloc, NULL), SHARD_OK);
}

static void finish(shard_writer *w, uint8_t hash[SHARD_HASH_SIZE])
{
    assert_int_equal(shard_writer_end_tar(w, &encoders, NULL), SHARD_OK);
    assert_int_equal(shard_writer_end_file(w, hash, NULL), SHARD_OK);
    assert_int_equal(shard_writer_commit(w, true, NULL), SHARD_OK);
}

/* "NAME:TEXT;" of each member of a shard, which must be whole. */
static void list_members(const char *path, shard_codec codec, char *out, size_t capacity)
{
    shard_reader *reader;
    shard_member m;
    shard_status status;
    shard_error err;
    size_t n = 0;
    out[0] = 0;
    assert_int_equal(shard_reader_open(&reader, path, NULL, NULL), SHARD_OK);
    assert_int_equal(shard_reader_codec(reader), codec);
    while ((status = shard_reader_next(reader, &m, &err)) == SHARD_OK) {
        const void *text;
        size_t size;
        assert_int_equal(shard_reader_payload(reader, &text, &size, NULL), SHARD_OK);
        n += (size_t)snprintf(out + n, capacity - n, "%s:%.*s;", m.path, (int)size,
                              (const char *)text);
    }
    if (status != SHARD_END)
        fail_msg("%s", err.message);
    shard_reader_close(reader);
}

static void check_members(const char *name, shard_codec codec, const char *expected)
{
    char members[256];
    list_members(test_path(name), codec, members, sizeof members);
    assert_string_equal(members, expected);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        shard_writer w;
        uint8_t hash[SHARD_HASH_SIZE], again[SHARD_HASH_SIZE];
        test_folder();
        open_ok(&w, "a.tar", codecs[i]);
        append_ok(&w, "a.txt", "hello");
        append_ok(&w, "b.txt", "there");
        assert_int_equal(w.tar_size, 2048);
        assert_false(test_file_exists(test_path("a.tar")));
        assert_true(test_file_exists(test_path(".a.tar.partial")));
        finish(&w, hash);
        check_members("a.tar", codecs[i], "a.txt:hello;b.txt:there;");
        assert_false(test_file_exists(test_path(".a.tar.partial")));

        size_t size;
        uint8_t *bytes = test_read_file(test_path("a.tar"), &size);
        shard_hash *whole = shard_hash_new();
        shard_hash_add(whole, bytes, size);
        shard_hash_get(whole, again);
        assert_memory_equal(hash, again, sizeof hash);
        shard_hash_free(whole);
        free(bytes);
        shard_writer_abort(&w); /* after a commit: nothing */
        assert_true(test_file_exists(test_path("a.tar")));
    }
}

static void a_shard_may_be_empty(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        shard_writer w;
        uint8_t hash[SHARD_HASH_SIZE];
        open_ok(&w, "a.tar", codecs[i]);
        finish(&w, hash);
        check_members("a.tar", codecs[i], "");
    }
}

static void a_seek_table_lists_the_frames(void **state)
{
    (void)state;
    shard_writer w;
    uint8_t hash[SHARD_HASH_SIZE];
    fmt_seek_table table;
    fmt_fault fault;
    uint32_t stored, content;
    open_ok(&w, "a.tar", SHARD_CODEC_ZSTD);
    for (int i = 0; i < 100; i++)
        append_ok(&w, "a.txt", "hello");
    finish(&w, hash);
    size_t size;
    uint8_t *bytes = test_read_file(test_path("a.tar"), &size);
    assert_int_equal(
        fmt_seek_table_read_footer(bytes + size - FMT_SEEK_TABLE_FOOTER_SIZE, size, &table, &fault),
        FMT_OK);
    assert_int_equal(table.frames, 101);
    assert_int_equal(fmt_seek_table_check(&table, bytes + size - table.table_size, size, &fault),
                     FMT_OK);
    fmt_seek_table_get(&table, bytes + size - table.table_size, 100, &stored, &content);
    assert_int_equal(content, 1024); /* the tar's end mark */
    free(bytes);
}

/* A detour that is taken back leaves no trace. */
static void going_back_gives_the_same_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        shard_writer w;
        shard_writer_mark mark = {0};
        uint8_t hash[SHARD_HASH_SIZE], straight_hash[SHARD_HASH_SIZE];
        open_ok(&w, "straight.tar", codecs[i]);
        append_ok(&w, "a.txt", "hello");
        append_ok(&w, "b.txt", "there");
        finish(&w, straight_hash);

        open_ok(&w, "detour.tar", codecs[i]);
        append_ok(&w, "wrong.txt", "taken back to the very beginning?");
        assert_int_equal(shard_writer_set_mark(&w, &mark, NULL), SHARD_OK);
        shard_writer_abort(&w);
        open_ok(&w, "detour.tar", codecs[i]);
        append_ok(&w, "a.txt", "hello");
        assert_int_equal(shard_writer_set_mark(&w, &mark, NULL), SHARD_OK); /* used again */
        for (int j = 0; j < 3; j++) {
            append_ok(&w, "wrong.txt", "out of place");
            append_ok(&w, "wrong.cls", "7");
            assert_int_equal(shard_writer_go_back(&w, &mark, NULL), SHARD_OK);
        }
        append_ok(&w, "b.txt", "there");
        finish(&w, hash);
        shard_hash_free(mark.hash);

        size_t size, straight_size;
        uint8_t *bytes = test_read_file(test_path("detour.tar"), &size);
        uint8_t *straight = test_read_file(test_path("straight.tar"), &straight_size);
        assert_int_equal(size, straight_size);
        assert_memory_equal(bytes, straight, size);
        assert_memory_equal(hash, straight_hash, sizeof hash);
        free(bytes);
        free(straight);
    }
}

static void nothing_is_left_of_an_aborted_one(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        shard_writer w;
        open_ok(&w, "a.tar", codecs[i]);
        append_ok(&w, "a.txt", "hello");
        assert_int_equal(shard_writer_end_tar(&w, &encoders, NULL), SHARD_OK);
        shard_writer_abort(&w);
        assert_false(test_file_exists(test_path("a.tar")));
        assert_false(test_file_exists(test_path(".a.tar.partial")));
        shard_writer_abort(&w);
    }
    shard_writer_abort(&(shard_writer){0});
}

static void two_writers_of_one_shard_do_not_mix(void **state)
{
    (void)state;
    shard_writer first, second;
    shard_error err;
    uint8_t hash[SHARD_HASH_SIZE];
    open_ok(&first, "a.tar", SHARD_CODEC_GZIP);
    append_ok(&first, "a.txt", "hello");
    assert_int_equal(
        shard_writer_open(&second, test_path("a.tar"), SHARD_CODEC_PLAIN, &alloc, &err),
        SHARD_EBUSY);
    assert_string_equal(err.url, test_path("a.tar"));
    finish(&first, hash);
    check_members("a.tar", SHARD_CODEC_GZIP, "a.txt:hello;");
    open_ok(&second, "a.tar", SHARD_CODEC_PLAIN);
    shard_writer_abort(&second);
    assert_true(test_file_exists(test_path("a.tar")));
}

static void standard_output_cannot_go_back(void **state)
{
    (void)state;
    shard_writer w;
    shard_writer_mark mark = {0};
    shard_error err;
    uint8_t hash[SHARD_HASH_SIZE];
    fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_non_null(freopen(test_path("out"), "wb", stdout));
    shard_status opened = shard_writer_open(&w, "-", SHARD_CODEC_PLAIN, &alloc, NULL);
    shard_status marked = shard_writer_set_mark(&w, &mark, NULL);
    shard_status appended = append(&w, "a.txt", "hello", NULL);
    shard_status back = shard_writer_go_back(&w, &mark, &err);
    finish(&w, hash);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    shard_hash_free(mark.hash);
    assert_int_equal(opened, SHARD_OK);
    assert_int_equal(marked, SHARD_OK);
    assert_int_equal(appended, SHARD_OK);
    assert_int_equal(back, SHARD_EUNSUPPORTED);
    assert_string_equal(err.url, "(stdout)");
    check_members("out", SHARD_CODEC_PLAIN, "a.txt:hello;");
}

static void more_frames_than_a_seek_table_holds_are_refused(void **state)
{
    (void)state;
    shard_writer w;
    shard_error err;
    open_ok(&w, "a.tar", SHARD_CODEC_ZSTD);
    w.frames = FMT_SEEK_TABLE_FRAMES_MAX;
    assert_int_equal(append(&w, "a.txt", "hello", &err), SHARD_ELIMIT);
    assert_string_equal(err.url, test_path("a.tar"));
    shard_writer_abort(&w);
}

static bool write_one(test_allocator *allocator, void *context)
{
    const shard_codec *codec = context;
    fmt_alloc failing = test_fmt_alloc(allocator);
    uint8_t hash[SHARD_HASH_SIZE];
    shard_writer w;
    shard_status status = shard_writer_open(&w, test_path("a.tar"), *codec, &failing, NULL);
    if (status == SHARD_OK) {
        for (int i = 0; i < 100 && status == SHARD_OK; i++)
            status = append(&w, "a.txt", "hello", NULL);
        if (status == SHARD_OK)
            status = shard_writer_end_tar(&w, &encoders, NULL);
        if (status == SHARD_OK)
            status = shard_writer_end_file(&w, hash, NULL);
        if (status == SHARD_OK)
            status = shard_writer_commit(&w, false, NULL);
        else
            shard_writer_abort(&w);
    }
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    assert_int_equal(test_file_exists(test_path("a.tar")), status == SHARD_OK);
    assert_false(test_file_exists(test_path(".a.tar.partial")));
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++) {
        shard_codec codec = codecs[i];
        remove(test_path("a.tar"));
        size_t failures = test_every_allocation(write_one, &codec);
        assert_in_range(failures, codec == SHARD_CODEC_ZSTD ? 6 : 3, 100);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_is_read),
        TEST(a_shard_may_be_empty),
        TEST(a_seek_table_lists_the_frames),
        TEST(going_back_gives_the_same_bytes),
        TEST(nothing_is_left_of_an_aborted_one),
        TEST(two_writers_of_one_shard_do_not_mix),
        TEST(standard_output_cannot_go_back),
        TEST(more_frames_than_a_seek_table_holds_are_refused),
        TEST(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
