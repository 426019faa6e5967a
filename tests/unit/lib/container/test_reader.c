/* SPDX-License-Identifier: Apache-2.0 */
#include "container/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"
#include "tar_bytes.h"
#include "test.h"

static void make_shard(tar_bytes *tar)
{
    tar_bytes_header(tar, '5', "dog/", 0);
    tar_bytes_file(tar, "dog/01.cls", "1");
    tar_bytes_header(tar, '5', "between/", 0);
    tar_bytes_file(tar, "dog/01.JPG", "jpeg bytes");
    tar_bytes_file(tar, "README", "no sample");
    tar_bytes_file(tar, "dog/02.cls", "2");
    tar_bytes_end(tar);
}

static shard_status open_bytes(shard_reader **reader, const tar_bytes *tar)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_source *source;
    assert_int_equal(shard_source_open_memory(&source, "mem", tar->bytes, tar->size, &alloc, NULL),
                     SHARD_OK);
    return shard_reader_open_source(reader, source, NULL, &opts, NULL);
}

static void members_and_samples(void **state)
{
    (void)state;
    static const struct {
        const char *path, *component;
        size_t key_size;
        bool begins;
    } expected[] = {
        {"dog/", NULL, 0, false},     {"dog/01.cls", "cls", 6, true},
        {"between/", NULL, 0, false}, {"dog/01.JPG", "jpg", 6, false},
        {"README", NULL, 0, false},   {"dog/02.cls", "cls", 6, true},
    };
    tar_bytes tar = {0};
    shard_reader *reader;
    shard_member m;
    make_shard(&tar);
    assert_int_equal(open_bytes(&reader, &tar), SHARD_OK);
    for (size_t i = 0; i < COUNT(expected); i++) {
        assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
        assert_string_equal(m.path, expected[i].path);
        assert_int_equal(m.is_component, expected[i].component != NULL);
        if (!expected[i].component)
            continue;
        assert_string_equal(m.component, expected[i].component);
        assert_int_equal(m.key_size, expected[i].key_size);
        assert_int_equal(m.begins_sample, expected[i].begins);
    }
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_END);
    assert_int_equal(shard_reader_tar_size(reader), tar.size);
    shard_reader_close(reader);
    tar_bytes_free(&tar);
}

static void payloads_are_read_or_passed_over(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    shard_reader *reader;
    shard_member m;
    const void *data;
    size_t size;
    make_shard(&tar);
    assert_int_equal(open_bytes(&reader, &tar), SHARD_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
    assert_int_equal(shard_reader_payload(reader, &data, &size, NULL), SHARD_OK);
    assert_text(data, size, "jpeg bytes");
    assert_int_equal(shard_reader_payload(reader, &data, &size, NULL), SHARD_OK);
    assert_int_equal(size, 0);
    assert_int_equal(shard_reader_payload(reader, &data, &size, NULL), SHARD_OK);
    assert_int_equal(size, 0);
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
    assert_string_equal(m.path, "README");
    shard_reader_close(reader);
    tar_bytes_free(&tar);
}

/* Read a file to its end; payloads too, where asked. */
static shard_status read_file(const char *path, bool payloads, shard_error *err)
{
    shard_reader *reader;
    shard_member m;
    shard_status status = shard_reader_open(&reader, path, NULL, err);
    while (status == SHARD_OK && (status = shard_reader_next(reader, &m, err)) == SHARD_OK) {
        const void *data;
        size_t size = payloads;
        while (size > 0 && status == SHARD_OK)
            status = shard_reader_payload(reader, &data, &size, err);
    }
    shard_reader_close(reader);
    return status;
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    shard_error err;
    make_shard(&tar);
    test_folder();
    for (size_t size = 0; size < tar.size; size++) {
        test_write_file(test_path("cut.tar"), tar.bytes, size);
        for (int payloads = 0; payloads < 2; payloads++) {
            shard_status status = read_file(test_path("cut.tar"), payloads, &err);
            if (status != SHARD_ETRUNCATED)
                fail_msg("cut to %zu bytes: %d", size, status);
            assert_string_equal(err.url, test_path("cut.tar"));
        }
    }
    tar_bytes_free(&tar);
}

static void payloads_larger_than_the_buffer(void **state)
{
    (void)state;
    enum { LARGE = 1000000 };
    static char text[LARGE + 1];
    tar_bytes tar = {0};
    shard_reader *reader;
    shard_member m;
    size_t total = 0, size;
    const void *data;
    memset(text, 'x', LARGE);
    for (int i = 0; i < 3; i++)
        tar_bytes_file(&tar, "a.txt", text);
    tar_bytes_end(&tar);
    assert_int_equal(open_bytes(&reader, &tar), SHARD_OK);
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
    do {
        assert_int_equal(shard_reader_payload(reader, &data, &size, NULL), SHARD_OK);
        total += size;
    } while (size > 0);
    assert_int_equal(total, LARGE);
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
    assert_int_equal(shard_reader_payload(reader, &data, &size, NULL),
                     SHARD_OK); /* one piece of it */
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_OK);
    assert_int_equal(shard_reader_next(reader, &m, NULL), SHARD_END);
    shard_reader_close(reader);
    tar_bytes_free(&tar);
}

static void what_is_not_a_shard(void **state)
{
    (void)state;
    shard_error err;
    static char text[2000];
    memset(text, 'x', sizeof text);
    test_folder();
    test_write_file(test_path("text"), text, sizeof text);
    assert_int_equal(read_file(test_path("text"), true, &err), SHARD_EFORMAT);
    assert_int_equal(err.offset, 0);
    assert_int_equal(read_file(test_path("none"), true, &err), SHARD_ENOTFOUND);
    assert_int_equal(read_file(test_folder(), true, &err), SHARD_EINVAL);
    assert_int_equal(read_file("gopher://x/y.tar", true, &err), SHARD_EUNSUPPORTED);
}

static void pipes_are_read(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    char path[64];
    int fds[2];
    make_shard(&tar);
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(write(fds[1], tar.bytes, tar.size), (ssize_t)tar.size);
    close(fds[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    assert_int_equal(read_file(path, false, NULL), SHARD_END);
    close(fds[0]);
    tar_bytes_free(&tar);
}

/* A pipe that nobody writes to: the token ends the wait. */
static void waiting_can_be_cancelled(void **state)
{
    (void)state;
    char path[64];
    int fds[2];
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_cancel *cancel;
    shard_reader *reader;
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(shard_cancel_new(&cancel), SHARD_OK);
    shard_cancel_set(cancel);
    opts.cancel = cancel;
    snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
    assert_int_equal(shard_reader_open(&reader, path, &opts, NULL), SHARD_ECANCEL);
    shard_cancel_free(cancel);
    close(fds[0]);
    close(fds[1]);
}

static bool read_with(test_allocator *allocator, void *context)
{
    const tar_bytes *tar = context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    shard_reader_opts opts = SHARD_READER_OPTS_INIT;
    shard_source *source;
    shard_reader *reader = NULL;
    shard_member m;
    shard_status status =
        shard_source_open_memory(&source, "mem", tar->bytes, tar->size, &alloc, NULL);
    if (status == SHARD_OK)
        status = shard_reader_open_source(&reader, source, NULL, &opts, NULL);
    while (status == SHARD_OK)
        status = shard_reader_next(reader, &m, NULL);
    shard_reader_close(reader);
    assert_true(status == SHARD_END || status == SHARD_ENOMEM);
    return status == SHARD_END;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    tar_bytes tar = {0};
    make_shard(&tar);
    assert_int_equal(test_every_allocation(read_with, &tar), 4);
    tar_bytes_free(&tar);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_and_samples),
        cmocka_unit_test(payloads_are_read_or_passed_over),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(payloads_larger_than_the_buffer),
        cmocka_unit_test(what_is_not_a_shard),
        cmocka_unit_test(pipes_are_read),
        cmocka_unit_test(waiting_can_be_cancelled),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
