/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/journal.h"

#include <stdio.h>
#include <stdlib.h>

#include "files.h"
#include "test.h"

static pack_journal j;
static fmt_alloc alloc;
static char path[512];

static int setup(void **state)
{
    (void)state;
    alloc = shard_alloc_from(NULL);
    test_folder();
    snprintf(path, sizeof path, "%s", test_path(".set.journal"));
    return 0;
}

static void open_ok(const char *digest, bool resume)
{
    shard_error err;
    if (pack_journal_open(&j, path, digest, resume, &alloc, &err) != SHARD_OK)
        fail_msg("%s", err.message);
}

static void add_ok(uint64_t shard, uint64_t next, fmt_json *skips)
{
    assert_int_equal(pack_journal_add(&j, shard, next, skips, NULL), SHARD_OK);
}

static void check_line(size_t i, uint64_t shard, uint64_t next)
{
    assert_true(i < j.lines);
    assert_int_equal(j.line[i].shard, shard);
    assert_int_equal(j.line[i].next, next);
}

static void write_journal(const char *text)
{
    test_write_file(path, text, strlen(text));
}

static void check_journal(const char *text)
{
    size_t size;
    uint8_t *bytes = test_read_file(path, &size);
    assert_text(bytes, size, text);
    free(bytes);
}

static fmt_json *one_skip(const char *name)
{
    fmt_json *list = fmt_json_new_array(), *skip = fmt_json_new_object();
    assert_int_equal(fmt_json_set(skip, "name", fmt_json_new_string(name, strlen(name))), FMT_OK);
    assert_int_equal(fmt_json_append(list, skip), FMT_OK);
    return list;
}

#define HEAD "{\"journal\":1,\"digest\":\"d1\"}\n"
#define LINE_0 "{\"shard\":0,\"next\":10}\n"
#define LINE_1 "{\"shard\":1,\"next\":25,\"skipped\":[{\"name\":\"a.jpg\"}]}\n"

static void shards_are_lines(void **state)
{
    (void)state;
    open_ok("d1", false);
    add_ok(0, 10, NULL);
    add_ok(1, 25, one_skip("a.jpg"));
    assert_int_equal(j.lines, 2);
    check_journal(HEAD LINE_0 LINE_1);
    pack_journal_close(&j, false);
    assert_true(test_file_exists(path));
}

static void a_resumed_pack_finds_them(void **state)
{
    (void)state;
    write_journal(HEAD LINE_0 LINE_1);
    open_ok("d1", true);
    assert_int_equal(j.lines, 2);
    check_line(0, 0, 10);
    check_line(1, 1, 25);
    assert_null(j.line[0].skips);
    fmt_span name = fmt_json_string(fmt_json_get(fmt_json_at(j.line[1].skips, 0), "name"));
    assert_text(name.data, name.size, "a.jpg");
    add_ok(2, 30, NULL);
    check_journal(HEAD LINE_0 LINE_1 "{\"shard\":2,\"next\":30}\n");
    pack_journal_close(&j, false);
}

static void without_resume_it_begins_anew(void **state)
{
    (void)state;
    write_journal(HEAD LINE_0 LINE_1);
    open_ok("d1", false);
    assert_int_equal(j.lines, 0);
    check_journal(HEAD);
    pack_journal_close(&j, false);
}

static void resuming_what_never_began_begins_it(void **state)
{
    (void)state;
    open_ok("d1", true);
    assert_int_equal(j.lines, 0);
    check_journal(HEAD);
    pack_journal_close(&j, true);
    assert_false(test_file_exists(path));
}

/* Wherever a kill cut the last line off, the lines before it count and the next is whole. */
static void a_line_that_was_cut_off_does_not_count(void **state)
{
    (void)state;
    static const char whole[] = HEAD LINE_0 LINE_1;
    for (size_t size = 0; size < sizeof whole; size++) {
        size_t lines = size >= strlen(HEAD LINE_0 LINE_1) ? 2 : size >= strlen(HEAD LINE_0);
        test_write_file(path, whole, size);
        open_ok("d1", true);
        assert_int_equal(j.lines, lines);
        add_ok(7, 77, NULL);
        pack_journal_close(&j, false);
        open_ok("d1", true);
        assert_int_equal(j.lines, lines + 1);
        check_line(lines, 7, 77);
        pack_journal_close(&j, false);
    }
}

static void another_input_cannot_be_resumed(void **state)
{
    (void)state;
    static const char *const digests[] = {"d2", "d", "d11", ""};
    write_journal(HEAD LINE_0);
    for (size_t i = 0; i < COUNT(digests); i++) {
        shard_error err;
        assert_int_equal(pack_journal_open(&j, path, digests[i], true, &alloc, &err), SHARD_EDATA);
        assert_string_equal(err.url, path);
        assert_non_null(strstr(err.message, "--force"));
        check_journal(HEAD LINE_0);
    }
}

static void other_files_are_no_journals(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t offset;
    } files[] = {
        {"rubbish\n", 0},
        {"\n", 0},
        {"[]\n", 0},
        {"{\"journal\":2,\"digest\":\"d1\"}\n", 0},
        {"{\"journal\":1}\n", 0},
        {HEAD LINE_0 "rubbish\n" LINE_1, sizeof HEAD LINE_0 - 1},
    };
    for (size_t i = 0; i < COUNT(files); i++) {
        shard_error err;
        write_journal(files[i].text);
        assert_int_equal(pack_journal_open(&j, path, "d1", true, &alloc, &err), SHARD_EFORMAT);
        assert_string_equal(err.url, path);
        assert_in_range(err.offset, files[i].offset, files[i].offset + 8);
        check_journal(files[i].text);
    }
}

/* Numbers of shards go straight into tables: a line must have them, and no negative ones. */
static void lines_without_their_numbers_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {HEAD "{}\n",
                                        HEAD "[]\n",
                                        HEAD "7\n",
                                        HEAD "{\"shard\":-1,\"next\":10}\n",
                                        HEAD "{\"shard\":1,\"next\":-10}\n",
                                        HEAD "{\"shard\":\"1\",\"next\":10}\n"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        write_journal(texts[i]);
        shard_status status = pack_journal_open(&j, path, "d1", true, &alloc, NULL);
        if (status == SHARD_OK)
            pack_journal_close(&j, false);
        if (status != SHARD_EFORMAT)
            fail_msg("%s: status %d", texts[i], status);
    }
}

static void one_pack_at_a_time(void **state)
{
    (void)state;
    pack_journal second;
    shard_error err;
    open_ok("d1", false);
    add_ok(0, 10, NULL);
    for (int resume = 0; resume < 2; resume++) {
        assert_int_equal(pack_journal_open(&second, path, "d1", resume, &alloc, &err), SHARD_EBUSY);
        assert_string_equal(err.url, path);
        assert_string_equal(err.message, "another pack is writing these shards");
    }
    check_journal(HEAD LINE_0);
    pack_journal_close(&j, false);
    open_ok("d1", true);
    assert_int_equal(j.lines, 1);
    pack_journal_close(&j, true);
}

static void a_folder_that_is_not_there_is_named(void **state)
{
    (void)state;
    shard_error err;
    assert_int_equal(pack_journal_open(&j, test_path("no/j"), "d1", false, &alloc, &err),
                     SHARD_ENOTFOUND);
    assert_string_equal(err.url, test_path("no/j"));
}

static bool write_with(test_allocator *allocator, void *context)
{
    fmt_alloc failing = test_fmt_alloc(allocator);
    (void)context;
    shard_status status = pack_journal_open(&j, path, "d1", true, &failing, NULL);
    if (status == SHARD_OK) {
        for (uint64_t i = 0; i < 20 && status == SHARD_OK; i++)
            status = pack_journal_add(&j, i, i, one_skip("a.jpg"), NULL);
        pack_journal_close(&j, false);
    }
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    return status == SHARD_OK;
}

/* Also while what the runs before have left is read again. */
static void short_memory_is_told(void **state)
{
    (void)state;
    write_journal(HEAD LINE_0 LINE_1);
    assert_in_range(test_every_allocation(write_with, NULL), 10, 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shards_are_lines, setup),
        cmocka_unit_test_setup(a_resumed_pack_finds_them, setup),
        cmocka_unit_test_setup(without_resume_it_begins_anew, setup),
        cmocka_unit_test_setup(resuming_what_never_began_begins_it, setup),
        cmocka_unit_test_setup(a_line_that_was_cut_off_does_not_count, setup),
        cmocka_unit_test_setup(another_input_cannot_be_resumed, setup),
        cmocka_unit_test_setup(other_files_are_no_journals, setup),
        cmocka_unit_test_setup(lines_without_their_numbers_are_refused, setup),
        cmocka_unit_test_setup(one_pack_at_a_time, setup),
        cmocka_unit_test_setup(a_folder_that_is_not_there_is_named, setup),
        cmocka_unit_test_setup(short_memory_is_told, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
