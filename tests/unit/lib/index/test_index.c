/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/index.h>

#include <stdio.h>
#include <stdlib.h>

#include "core/crc32c.h"
#include "files.h"
#include "tar_bytes.h"
#include "test.h"

static int setup(void **state)
{
    (void)state;
    test_folder();
    return 0;
}

/* `count` samples of cls and txt; the last one has a json more where `mixed`. */
static void write_shard(const char *name, int count, bool mixed)
{
    tar_bytes tar = {0};
    for (int i = 0; i < count; i++) {
        char path[32], text[32];
        snprintf(path, sizeof path, "k%04d.cls", i);
        tar_bytes_file(&tar, path, "7");
        snprintf(path, sizeof path, "k%04d.txt", i);
        snprintf(text, sizeof text, "text of %d", i);
        tar_bytes_file(&tar, path, text);
        snprintf(path, sizeof path, "k%04d.json", i);
        if (mixed && i == count - 1)
            tar_bytes_file(&tar, path, "{}");
    }
    tar_bytes_end(&tar);
    test_write_file(test_path(name), tar.bytes, tar.size);
    tar_bytes_free(&tar);
}

static shard_status build(const char *name, const shard_index_build_opts *opts, shard_error *err)
{
    char path[512];
    snprintf(path, sizeof path, "%s.sidx", test_path(name));
    return shard_index_build(test_path(name), path, opts, err);
}

static shard_index *build_and_open(const char *name, const shard_index_build_opts *opts)
{
    char path[512];
    shard_index *index;
    shard_error err = {0};
    if (build(name, opts, &err) != SHARD_OK)
        fail_msg("%s", err.message);
    snprintf(path, sizeof path, "%s.sidx", test_path(name));
    if (shard_index_open(&index, path, NULL, &err) != SHARD_OK ||
        shard_index_check(index, &err) != SHARD_OK)
        fail_msg("%s", err.message);
    return index;
}

static void an_index_says_where_everything_is(void **state)
{
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        shard_index_info info;
        shard_index_sample sample;
        shard_index_component c;
        write_shard("a.tar", 100, mixed);
        shard_index *index = build_and_open("a.tar", NULL);
        shard_index_get_info(index, &info);
        assert_int_equal(info.samples, 100);
        assert_int_equal(info.components, 200 + mixed);
        assert_int_equal(info.shard_size, info.tar_size);
        assert_true(info.keys_sorted && info.has_checksums && info.has_hash);
        assert_int_equal(shard_index_get_sample(index, 42, &sample, NULL), SHARD_OK);
        assert_text(sample.key, sample.key_size, "k0042");
        assert_int_equal(sample.first_offset, 42 * 2048);
        assert_int_equal(sample.components, 2);
        assert_int_equal(shard_index_get_component(index, &sample, 1, &c, NULL), SHARD_OK);
        assert_string_equal(c.name, "txt");
        assert_int_equal(c.payload_offset, 42 * 2048 + 1536);
        assert_int_equal(c.payload_size, strlen("text of 42"));
        assert_int_equal(c.crc32c, shard_crc32c(0, "text of 42", 10));
        assert_int_equal(shard_index_get_sample(index, 100, &sample, NULL), SHARD_ENOTFOUND);
        assert_string_equal(shard_index_component_name(index, 0), "cls");
        assert_null(shard_index_component_name(index, 3));
        shard_index_close(index);
    }
}

static void keys_are_found(void **state)
{
    (void)state;
    uint64_t i;
    tar_bytes tar = {0};
    write_shard("a.tar", 100, false);
    shard_index *index = build_and_open("a.tar", NULL);
    for (int k = 0; k < 100; k++) {
        char key[8];
        snprintf(key, sizeof key, "k%04d", k);
        assert_int_equal(shard_index_find(index, key, 5, &i, NULL), SHARD_OK);
        assert_int_equal(i, k);
    }
    assert_int_equal(shard_index_find(index, "k00", 3, &i, NULL), SHARD_ENOTFOUND);
    assert_int_equal(shard_index_find(index, "z", 1, &i, NULL), SHARD_ENOTFOUND);
    assert_int_equal(shard_index_find(index, "", 0, &i, NULL), SHARD_ENOTFOUND);
    shard_index_close(index);
    tar_bytes_file(&tar, "b.txt", "1"); /* not sorted */
    tar_bytes_file(&tar, "a.txt", "2");
    tar_bytes_end(&tar);
    test_write_file(test_path("b.tar"), tar.bytes, tar.size);
    tar_bytes_free(&tar);
    index = build_and_open("b.tar", NULL);
    assert_int_equal(shard_index_find(index, "a", 1, &i, NULL), SHARD_OK);
    assert_int_equal(i, 1);
    shard_index_close(index);
}

static void without_checksums_only_headers_are_read(void **state)
{
    (void)state;
    shard_index_build_opts opts = SHARD_INDEX_BUILD_OPTS_INIT;
    shard_index_info info;
    opts.no_checksums = true;
    write_shard("a.tar", 10, true);
    shard_index *index = build_and_open("a.tar", &opts);
    shard_index_get_info(index, &info);
    assert_int_equal(info.components, 21);
    assert_false(info.has_checksums || info.has_hash);
    shard_index_close(index);
}

static void more_samples_than_fit_the_buffers(void **state)
{
    (void)state;
    enum { SAMPLES = 60000 };
    shard_index_sample sample;
    shard_index_info info;
    write_shard("large.tar", SAMPLES, true);
    shard_index *index = build_and_open("large.tar", NULL);
    shard_index_get_info(index, &info);
    assert_int_equal(info.samples, SAMPLES);
    for (uint64_t i = 0; i < SAMPLES; i += 997) {
        shard_index_component c;
        assert_int_equal(shard_index_get_sample(index, i, &sample, NULL), SHARD_OK);
        assert_int_equal(sample.first_offset, i * 2048);
        assert_int_equal(shard_index_get_component(index, &sample, 1, &c, NULL), SHARD_OK);
        assert_int_equal(c.payload_offset, i * 2048 + 1536);
    }
    shard_index_close(index);
}

static void a_component_twice_is_an_error(void **state)
{
    (void)state;
    shard_error err;
    tar_bytes tar = {0};
    tar_bytes_file(&tar, "a.jpg", "1");
    tar_bytes_file(&tar, "a.JPG", "2");
    tar_bytes_end(&tar);
    test_write_file(test_path("twice.tar"), tar.bytes, tar.size);
    tar_bytes_free(&tar);
    assert_int_equal(build("twice.tar", NULL, &err), SHARD_EDATA);
    assert_int_equal(err.offset, 1536);
    assert_non_null(strstr(err.message, "\"jpg\""));
    assert_false(test_file_exists(test_path("twice.tar.sidx")));
    assert_false(test_file_exists(test_path(".twice.tar.sidx.partial")));
}

static void a_damaged_shard_gets_no_index(void **state)
{
    (void)state;
    shard_error err;
    size_t size;
    write_shard("a.tar", 10, false);
    uint8_t *bytes = test_read_file(test_path("a.tar"), &size);
    test_write_file(test_path("cut.tar"), bytes, size - 1500);
    assert_int_equal(build("cut.tar", NULL, &err), SHARD_ETRUNCATED);
    assert_false(test_file_exists(test_path("cut.tar.sidx")));
    free(bytes);
}

static void dali_indexes_go_out_and_come_in(void **state)
{
    (void)state;
    shard_index_build_opts opts = SHARD_INDEX_BUILD_OPTS_INIT;
    shard_index_info info, again;
    shard_error err;
    size_t size;
    write_shard("a.tar", 3, true);
    shard_index *index = build_and_open("a.tar", NULL);
    assert_int_equal(shard_index_export_dali(index, test_path("a.idx"), &err), SHARD_OK);
    shard_index_get_info(index, &info);
    shard_index_close(index);
    uint8_t *text = test_read_file(test_path("a.idx"), &size);
    assert_text(text, size,
                "v1.2 3\n"
                "cls 512 1 k0000.cls txt 1536 9 k0000.txt\n"
                "cls 2560 1 k0001.cls txt 3584 9 k0001.txt\n"
                "cls 4608 1 k0002.cls txt 5632 9 k0002.txt json 6656 2 k0002.json\n");
    free(text);
    opts.dali_index = test_path("a.idx");
    index = build_and_open("a.tar", &opts);
    shard_index_get_info(index, &again);
    assert_int_equal(again.samples, 3);
    assert_int_equal(again.components, info.components);
    assert_int_equal(again.tar_size, info.tar_size);
    shard_index_close(index);
    write_shard("other.tar", 4, true); /* an index of other bytes */
    opts.dali_index = test_path("a.idx");
    assert_int_equal(build("other.tar", &opts, &err), SHARD_ESTALE);
}

static void white_space_cannot_go_to_dali(void **state)
{
    (void)state;
    shard_error err;
    tar_bytes tar = {0};
    tar_bytes_file(&tar, "a b.jpg", "1");
    tar_bytes_end(&tar);
    test_write_file(test_path("space.tar"), tar.bytes, tar.size);
    tar_bytes_free(&tar);
    shard_index *index = build_and_open("space.tar", NULL);
    assert_int_equal(shard_index_export_dali(index, test_path("a.idx"), &err), SHARD_EDATA);
    assert_false(test_file_exists(test_path("a.idx")));
    shard_index_close(index);
}

static bool build_with(test_allocator *allocator, void *context)
{
    (void)context;
    shard_allocator public_form = test_shard_allocator(allocator);
    shard_index_build_opts opts = SHARD_INDEX_BUILD_OPTS_INIT;
    shard_index *index = NULL;
    opts.allocator = &public_form;
    shard_status status =
        shard_index_build(test_path("a.tar"), test_path("a.tar.sidx"), &opts, NULL);
    if (status == SHARD_OK)
        status = shard_index_open(&index, test_path("a.tar.sidx"), &public_form, NULL);
    shard_index_close(index);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    write_shard("a.tar", 30, true);
    assert_true(test_every_allocation(build_with, NULL) > 15);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(an_index_says_where_everything_is, setup),
        cmocka_unit_test_setup(keys_are_found, setup),
        cmocka_unit_test_setup(without_checksums_only_headers_are_read, setup),
        cmocka_unit_test_setup(more_samples_than_fit_the_buffers, setup),
        cmocka_unit_test_setup(a_component_twice_is_an_error, setup),
        cmocka_unit_test_setup(a_damaged_shard_gets_no_index, setup),
        cmocka_unit_test_setup(dali_indexes_go_out_and_come_in, setup),
        cmocka_unit_test_setup(white_space_cannot_go_to_dali, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
