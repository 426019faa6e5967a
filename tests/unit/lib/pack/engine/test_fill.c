/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/fill.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/crc32c.h"
#include "files.h"
#include "tar/tar_header.h"
#include "test.h"

/*
 * An allocator that changes a file when it is asked for room for tar bytes: that is behind the
 * call that told the file's size, and before the one that reads it.
 */
typedef struct {
    const char *path; /* NULL: nothing changes */
    off_t size;       /* that the file gets */
} meddler;

static void *meddle_realloc(void *context, void *old, size_t size)
{
    const meddler *m = context;
    if (m->path && size >= FMT_TAR_HEADERS_MAX && truncate(m->path, m->size) != 0)
        abort();
    return realloc(old, size);
}

static void meddle_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

static meddler meddling;
static fmt_alloc alloc;
static pack_sample sample;
static pack_chunk chunk;
static pack_filler filler;
static int folder;

static int setup(void **state)
{
    (void)state;
    meddling = (meddler){0};
    alloc = (fmt_alloc){meddle_realloc, meddle_free, &meddling};
    filler = (pack_filler){0};
    folder = open(test_folder(), O_RDONLY | O_DIRECTORY);
    pack_sample_init(&sample, &alloc);
    pack_chunk_init(&chunk, SHARD_CODEC_PLAIN, 0, &alloc);
    return pack_sample_begin(&sample, "dog/01", 6, NULL) == SHARD_OK && folder >= 0 ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pack_transform_close(filler.transform);
    pack_sample_clear(&sample);
    pack_chunk_free(&chunk);
    return close(folder);
}

static pack_component *add(const char *name)
{
    pack_component *c;
    assert_int_equal(pack_sample_add(&sample, name, strlen(name), &c, NULL), SHARD_OK);
    return c;
}

/* A component that is to be read from a file of the test's folder. */
static pack_component *add_path(const char *name, const char *path)
{
    pack_component *c = add(name);
    c->path = path;
    c->folder = folder;
    c->folder_path = test_path("");
    return c;
}

static pack_component *add_file(const char *name, const char *path, const char *text)
{
    test_write_file(test_path(path), text, strlen(text));
    return add_path(name, path);
}

static shard_status fill(shard_error *err)
{
    bool too_large;
    shard_status status = pack_fill(&filler, &chunk, &sample, &too_large, err);
    assert_true(status != SHARD_OK || !too_large);
    return status;
}

static void fill_ok(void)
{
    shard_error err;
    if (fill(&err) != SHARD_OK)
        fail_msg("%s: %s", err.url, err.message);
}

/* The sample was refused over this file, and nothing of it is in the chunk. */
static void check_refused(shard_status expected, const char *path, const char *message)
{
    shard_error err;
    assert_int_equal(fill(&err), expected);
    if (!strstr(err.url, path) || !strstr(err.message, message))
        fail_msg("%s: %s", err.url, err.message);
    assert_int_equal(chunk.samples, 0);
    assert_int_equal(chunk.components, 0);
    assert_int_equal(chunk.tar.size, 0);
    assert_int_equal(filler.bytes_in, 0);
}

static void check_payload(size_t i, const char *text)
{
    const pack_chunk_component *c = &chunk.component[i];
    assert_true(i < chunk.components);
    assert_text(chunk.tar.data + c->payload_offset, c->size, text);
    assert_int_equal(c->crc, shard_crc32c(0, text, strlen(text)));
}

static void files_and_memory_become_components(void **state)
{
    (void)state;
    pack_component *c = add("cls");
    c->data = (const uint8_t *)"7";
    c->size = 1;
    add_file("empty", "empty", "");
    add_file("txt", "a.txt", "hello");
    fill_ok();
    assert_int_equal(chunk.samples, 1);
    check_payload(0, "7");
    check_payload(1, "");
    check_payload(2, "hello");
    assert_int_equal(filler.bytes_in, 6);
}

static void an_open_file_is_read_from_its_start(void **state)
{
    (void)state;
    pack_component *c = add("txt");
    test_write_file(test_path("a"), "hello", 5);
    c->file = open(test_path("a"), O_RDONLY);
    c->size = 5;
    lseek(c->file, 3, SEEK_SET);
    fill_ok();
    check_payload(0, "hello");
}

static void a_file_that_shrinks_is_refused(void **state)
{
    (void)state;
    for (off_t size = 0; size < 5; size++) {
        meddling = (meddler){0};
        add_file("txt", "a.txt", "hello");
        meddling = (meddler){test_path("a.txt"), size};
        char message[64];
        snprintf(message, sizeof message, "shrank while it was read (expected 5 bytes, got %d)",
                 (int)size);
        check_refused(SHARD_EDATA, "/a.txt", message);
        meddling = (meddler){0};
        assert_int_equal(pack_sample_begin(&sample, "dog/01", 6, NULL), SHARD_OK);
        pack_chunk_free(&chunk);
    }
}

static void a_file_that_grows_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"", "hello"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        meddling = (meddler){0};
        add_file("txt", "a.txt", texts[i]);
        meddling = (meddler){test_path("a.txt"), 100000};
        check_refused(SHARD_EDATA, "/a.txt", "grew while it was read (expected");
        meddling = (meddler){0};
        assert_int_equal(pack_sample_begin(&sample, "dog/01", 6, NULL), SHARD_OK);
        pack_chunk_free(&chunk);
    }
}

/* The same for large samples, which are read piece by piece. */
static void pieces_notice_both(void **state)
{
    (void)state;
    uint8_t buffer[8];
    shard_error err;
    uint64_t size;
    int fd;
    pack_component *c = add_file("txt", "a.txt", "hello");
    assert_int_equal(pack_component_open(c, &fd, &size, NULL), SHARD_OK);
    assert_int_equal(size, 5);
    assert_int_equal(pack_component_read(c, fd, buffer, 3, 2, NULL), SHARD_OK);
    assert_memory_equal(buffer, "llo", 3);
    assert_int_equal(pack_component_end(c, fd, 5, NULL), SHARD_OK);
    assert_int_equal(truncate(test_path("a.txt"), 4), 0);
    assert_int_equal(pack_component_read(c, fd, buffer, 3, 2, &err), SHARD_EDATA);
    assert_string_equal(err.message, "shrank while it was read (expected 5 bytes, got 4)");
    assert_int_equal(truncate(test_path("a.txt"), 9), 0);
    assert_int_equal(pack_component_end(c, fd, 5, &err), SHARD_EDATA);
    assert_string_equal(err.message, "grew while it was read (expected 5 bytes, got 6)");
    assert_non_null(strstr(err.url, "/a.txt"));
    pack_component_close(c, fd);
}

static void what_cannot_be_read_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *path, *message;
        shard_status status;
    } files[] = {
        {"none", "cannot open", SHARD_ENOTFOUND},
        {"folder", "is a directory", SHARD_EDATA},
        {"pipe", "not a regular file", SHARD_EDATA},
    };
    assert_int_equal(mkdir(test_path("folder"), 0777), 0);
    assert_int_equal(mkfifo(test_path("pipe"), 0666), 0);
    for (size_t i = 0; i < COUNT(files); i++) {
        assert_int_equal(pack_sample_begin(&sample, "dog/01", 6, NULL), SHARD_OK);
        add_file("cls", "cls", "7");
        add_path("txt", files[i].path);
        check_refused(files[i].status, files[i].path, files[i].message);
    }
}

static void a_sample_behind_a_refused_one_is_whole(void **state)
{
    (void)state;
    add_file("cls", "cls", "7");
    add_path("txt", "none");
    check_refused(SHARD_ENOTFOUND, "none", "cannot open");
    assert_int_equal(pack_sample_begin(&sample, "dog/02", 6, NULL), SHARD_OK);
    add_file("cls", "cls", "8");
    fill_ok();
    assert_int_equal(chunk.samples, 1);
    assert_int_equal(chunk.sample[0].tar_offset, 0);
    assert_memory_equal(chunk.text.data + chunk.sample[0].key, "dog/02", 6);
    check_payload(0, "8");
}

static void large_samples_are_left_for_streaming(void **state)
{
    (void)state;
    bool too_large;
    add_file("a", "a", "small");
    add_file("b", "b", "");
    assert_int_equal(truncate(test_path("b"), PACK_FRAME_MOST - 5), 0);
    fill_ok();
    assert_int_equal(pack_sample_begin(&sample, "dog/02", 6, NULL), SHARD_OK);
    add_path("a", "a");
    add_path("b", "b");
    assert_int_equal(truncate(test_path("b"), PACK_FRAME_MOST - 4), 0);
    assert_int_equal(pack_fill(&filler, &chunk, &sample, &too_large, NULL), SHARD_OK);
    assert_true(too_large);
    assert_int_equal(chunk.samples, 1);
    assert_int_equal(chunk.components, 2);
    assert_int_equal(filler.bytes_in, PACK_FRAME_MOST);
}

static void labels_come_from_cls_or_the_class_folder(void **state)
{
    (void)state;
    uint32_t folder_label = pack_label_of(&sample);
    assert_int_not_equal(folder_label, 0);
    add_file("txt", "a.txt", "hello");
    fill_ok();
    assert_int_equal(chunk.sample[0].label, folder_label);
    add_file("cls", "a.cls", "7");
    fill_ok();
    assert_int_not_equal(chunk.sample[1].label, folder_label);
    assert_int_equal(pack_sample_begin(&sample, "cat/01", 6, NULL), SHARD_OK);
    assert_int_not_equal(pack_label_of(&sample), folder_label);
    add_path("cls", "a.cls");
    fill_ok();
    assert_int_equal(chunk.sample[2].label, chunk.sample[1].label);
    assert_int_equal(pack_sample_begin(&sample, "01", 2, NULL), SHARD_OK);
    assert_int_equal(pack_label_of(&sample), 0);
}

static void open_transform(uint64_t memory)
{
    static shard_pack_opts opts;
    opts = (shard_pack_opts)SHARD_PACK_OPTS_INIT;
    opts.strip = true;
    assert_int_equal(pack_transform_open(&filler.transform, &opts, memory, &alloc, NULL), SHARD_OK);
}

static void broken_images_are_named(void **state)
{
    (void)state;
    open_transform(1 << 20);
    add_file("cls", "a.cls", "7");
    add_file("jpg", "a.jpg", "this is no image");
    check_refused(SHARD_EDATA, "/a.jpg", "JPEG");
}

static void images_too_large_to_work_on_are_named(void **state)
{
    (void)state;
    open_transform(10);
    add_file("jpg", "a.jpg", "more than ten bytes");
    check_refused(SHARD_ELIMIT, "/a.jpg", "--memory");
}

static bool fill_with(test_allocator *allocator, void *context)
{
    fmt_alloc failing = test_fmt_alloc(allocator);
    pack_chunk local;
    bool too_large, ok = true;
    (void)context;
    pack_chunk_init(&local, SHARD_CODEC_PLAIN, 0, &failing);
    for (int i = 0; i < 30 && ok; i++) {
        shard_status status = pack_fill(&filler, &local, &sample, &too_large, NULL);
        assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
        ok = status == SHARD_OK;
    }
    pack_chunk_free(&local);
    return ok;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    add_file("cls", "a.cls", "7");
    add_file("txt", "a.txt", "hello");
    assert_in_range(test_every_allocation(fill_with, NULL), 5, 50);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_and_memory_become_components),
        TEST(an_open_file_is_read_from_its_start),
        TEST(a_file_that_shrinks_is_refused),
        TEST(a_file_that_grows_is_refused),
        TEST(pieces_notice_both),
        TEST(what_cannot_be_read_is_named),
        TEST(a_sample_behind_a_refused_one_is_whole),
        TEST(large_samples_are_left_for_streaming),
        TEST(labels_come_from_cls_or_the_class_folder),
        TEST(broken_images_are_named),
        TEST(images_too_large_to_work_on_are_named),
        TEST(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
