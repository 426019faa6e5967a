/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/columns.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "test.h"

typedef struct {
    fmt_alloc alloc;
    pack_columns columns;
    uint8_t *bytes;
    size_t size, capacity;
    pack_text text;
    int folder;
} fixture;

static fixture f;

static void init(fmt_alloc alloc, int folder)
{
    f = (fixture){.alloc = alloc, .folder = folder};
    f.text = (pack_text){&f.bytes, &f.size, &f.capacity, &f.alloc};
    pack_columns_init(&f.columns, &f.alloc);
}

static void clear(void)
{
    pack_columns_clear(&f.columns);
    shard_alloc_free(&f.alloc, f.bytes);
}

static int setup(void **state)
{
    (void)state;
    int folder = open(test_folder(), O_RDONLY | O_DIRECTORY);
    init(shard_alloc_from(NULL), folder);
    return folder < 0;
}

static int teardown(void **state)
{
    (void)state;
    clear();
    return close(f.folder);
}

static fmt_span span_of(const char *text)
{
    return (fmt_span){(const uint8_t *)text, strlen(text)};
}

static shard_status learn(const shard_pack_opts *opts, const char *row, shard_error *err)
{
    return pack_columns_learn(&f.columns, opts, span_of(row), f.folder, &f.text, err);
}

/* By the name as JSON spells it. */
static pack_column *find(const char *name)
{
    char quoted[64];
    pack_column *column = NULL;
    int size = snprintf(quoted, sizeof quoted, "\"%s\"", name);
    fmt_span spelling = {(const uint8_t *)quoted + 1, (size_t)size - 2};
    assert_int_equal(pack_columns_find(&f.columns, spelling, &column, NULL), SHARD_OK);
    return column;
}

/* `component` "" stands for none. */
static void check_column(const char *name, pack_column_use use, const char *component)
{
    pack_column *column = find(name);
    assert_non_null(column);
    assert_string_equal(column->name, name);
    assert_int_equal(column->use, use);
    assert_string_equal(column->component ? column->component : "", component);
}

static void options_name_columns(void **state)
{
    (void)state;
    static const char *const files[] = {"image=jpg", "mask"};
    static const char *const fields[] = {"caption=txt", "label=cls"};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    opts.table_key = "id";
    opts.table_files = files;
    opts.table_file_count = 2;
    opts.table_fields = fields;
    opts.table_field_count = 2;
    assert_int_equal(pack_columns_add_options(&f.columns, &opts, NULL), SHARD_OK);
    check_column("id", PACK_COLUMN_KEY, "");
    check_column("image", PACK_COLUMN_FILE, "jpg");
    check_column("mask", PACK_COLUMN_FILE, "");
    check_column("caption", PACK_COLUMN_FIELD, "txt");
    check_column("label", PACK_COLUMN_FIELD, "cls");
    assert_null(find("other"));
    assert_null(find("i"));
    assert_null(find("idx"));
}

static void options_that_say_no_column_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool is_field;
    } wrong[] = {{"=jpg", false}, {"image=", false},  {"=", true},
                 {"=txt", true},  {"caption=", true}, {"caption", true}};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
        shard_error err;
        opts.table_files = opts.table_fields = &wrong[i].text;
        opts.table_file_count = !wrong[i].is_field;
        opts.table_field_count = wrong[i].is_field;
        assert_int_equal(pack_columns_add_options(&f.columns, &opts, &err), SHARD_EINVAL);
        assert_non_null(strstr(err.message, wrong[i].text));
    }
}

static void rows_tell_key_and_files(void **state)
{
    (void)state;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    test_write_file(test_path("a b.jpg"), "x", 1);
    assert_int_equal(mkdir(test_path("folder"), 0777), 0);
    assert_int_equal(
        learn(&opts,
              "{\"image\": \"a\\u0020b.jpg\", \"key\": \"a\", \"text\": \"none.jpg\","
              " \"where\": \"folder\", \"empty\": \"\", \"n\": 1, \"l\": [\"a b.jpg\"]}",
              NULL),
        SHARD_OK);
    check_column("key", PACK_COLUMN_KEY, "");
    check_column("image", PACK_COLUMN_FILE, "");
    check_column("text", PACK_COLUMN_REST, "");
    check_column("where", PACK_COLUMN_REST, "");
    check_column("l", PACK_COLUMN_REST, "");
    assert_int_equal(f.size, 0);
}

static void files_are_learned_only_where_none_are_named(void **state)
{
    (void)state;
    static const char *const files[] = {"image=png"};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    test_write_file(test_path("a.jpg"), "x", 1);
    opts.table_files = files;
    opts.table_file_count = 1;
    assert_int_equal(pack_columns_add_options(&f.columns, &opts, NULL), SHARD_OK);
    assert_int_equal(
        learn(&opts, "{\"__key__\":\"a\",\"image\":\"a.jpg\",\"mask\":\"a.jpg\"}", NULL), SHARD_OK);
    check_column("__key__", PACK_COLUMN_KEY, "");
    check_column("image", PACK_COLUMN_FILE, "png");
    check_column("mask", PACK_COLUMN_REST, "");
}

/* What an option has a use for is not looked at again. */
static void fields_stay_fields(void **state)
{
    (void)state;
    static const char *const fields[] = {"caption=txt"};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    test_write_file(test_path("a.jpg"), "x", 1);
    opts.table_key = "id";
    opts.table_fields = fields;
    opts.table_field_count = 1;
    assert_int_equal(pack_columns_add_options(&f.columns, &opts, NULL), SHARD_OK);
    assert_int_equal(learn(&opts, "{\"id\":\"a.jpg\",\"caption\":\"a.jpg\"}", NULL), SHARD_OK);
    check_column("id", PACK_COLUMN_KEY, "");
    check_column("caption", PACK_COLUMN_FIELD, "txt");
    assert_int_equal(f.columns.count, 2);
}

static void any_row_may_tell_that_a_column_is_of_files(void **state)
{
    (void)state;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    test_write_file(test_path("a.jpg"), "x", 1);
    assert_int_equal(learn(&opts, "{\"key\":\"a\",\"image\":null}", NULL), SHARD_OK);
    check_column("image", PACK_COLUMN_REST, "");
    assert_int_equal(learn(&opts, "{\"key\":\"b\",\"image\":\"a.jpg\"}", NULL), SHARD_OK);
    check_column("image", PACK_COLUMN_FILE, "");
}

static void names_are_the_same_however_they_are_spelled(void **state)
{
    (void)state;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    assert_int_equal(learn(&opts, "{\"\\u006bey\":\"a\",\"\\\"q\\\"\":1}", NULL), SHARD_OK);
    check_column("key", PACK_COLUMN_KEY, "");
    assert_ptr_equal(find("\\u006bey"), find("key"));
    assert_string_equal(find("\\\"q\\\"")->name, "\"q\"");
}

static void named_columns_must_be_there(void **state)
{
    (void)state;
    static const char *const fields[] = {"caption=txt"};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    shard_error err;
    opts.table_fields = fields;
    opts.table_field_count = 1;
    assert_int_equal(pack_columns_add_options(&f.columns, &opts, NULL), SHARD_OK);
    assert_int_equal(learn(&opts, "{\"key\":\"a\"}", NULL), SHARD_OK);
    assert_int_equal(pack_columns_check(&f.columns, "t.csv", &err), SHARD_EINVAL);
    assert_string_equal(err.message, "no row has a column \"caption\"");
    assert_int_equal(learn(&opts, "{\"key\":\"b\",\"caption\":\"\"}", NULL), SHARD_OK);
    assert_int_equal(pack_columns_check(&f.columns, "t.csv", &err), SHARD_OK);
}

static void a_table_without_key_is_named(void **state)
{
    (void)state;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    shard_error err;
    opts.table = "rows.jsonl";
    assert_int_equal(learn(&opts, "{\"id\":\"a\",\"Key\":\"b\",\"keys\":\"c\"}", &err),
                     SHARD_EINVAL);
    assert_string_equal(err.url, "rows.jsonl");
    assert_non_null(strstr(err.message, "--key"));
}

static bool learn_with(test_allocator *allocator, void *context)
{
    static const char *const fields[] = {"caption=txt"};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    int folder = *(int *)context;
    opts.table_fields = fields;
    opts.table_field_count = 1;
    init(test_fmt_alloc(allocator), folder);
    shard_status status = pack_columns_add_options(&f.columns, &opts, NULL);
    if (status == SHARD_OK)
        status = learn(&opts, "{\"key\":\"a\",\"image\":\"a.jpg\",\"caption\":\"a dog\"}", NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    assert_true(status != SHARD_OK || f.columns.count == 3);
    clear();
    return status == SHARD_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    int folder = f.folder;
    test_write_file(test_path("a.jpg"), "x", 1);
    assert_in_range(test_every_allocation(learn_with, &folder), 3, 20);
    init(shard_alloc_from(NULL), folder);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(options_name_columns),
        TEST(options_that_say_no_column_are_refused),
        TEST(rows_tell_key_and_files),
        TEST(files_are_learned_only_where_none_are_named),
        TEST(fields_stay_fields),
        TEST(any_row_may_tell_that_a_column_is_of_files),
        TEST(names_are_the_same_however_they_are_spelled),
        TEST(named_columns_must_be_there),
        TEST(a_table_without_key_is_named),
        TEST(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
