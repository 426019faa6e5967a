/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/names.h"

#include "test.h"

static void keys_end_at_the_first_or_last_dot(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        size_t first_dot, last_dot; /* where the key ends */
    } paths[] = {
        {"a.jpg", 1, 1}, {"a.b.jpg", 1, 3},   {"d.x/a.b.tar.gz", 5, 11},
        {"a.b.", 1, 1}, /* nothing behind the last one */
        {"a..b", 1, 2},  {"__a__.b.c", 5, 7},
    };
    for (size_t i = 0; i < COUNT(paths); i++)
        for (int last = 0; last < 2; last++) {
            pack_names names = {.last_dot = last};
            fmt_name name;
            size_t size = strlen(paths[i].path),
                   key = last ? paths[i].last_dot : paths[i].first_dot;
            assert_int_equal(pack_names_split(&names, paths[i].path, size, &name),
                             FMT_NAME_COMPONENT);
            assert_int_equal(name.key_size, key);
            assert_int_equal(name.component_size, size - key - 1);
        }
}

static void what_is_no_component_stays_none(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        fmt_name_kind kind;
    } paths[] = {
        {"README", FMT_NAME_NO_EXTENSION}, {"a.", FMT_NAME_NO_EXTENSION},
        {"d.x/a", FMT_NAME_NO_EXTENSION},  {".hidden.jpg", FMT_NAME_HIDDEN},
        {"a/.b.c.d", FMT_NAME_HIDDEN},     {"__a__/b.c.d", FMT_NAME_RESERVED},
    };
    for (size_t i = 0; i < COUNT(paths); i++)
        for (int last = 0; last < 2; last++) {
            pack_names names = {.last_dot = last};
            fmt_name name;
            assert_int_equal(pack_names_split(&names, paths[i].path, strlen(paths[i].path), &name),
                             paths[i].kind);
        }
}

static void a_long_component_may_be_cut_at_its_last_dot(void **state)
{
    (void)state;
    char path[2 + FMT_COMPONENT_MAX + 4];
    fmt_name name;
    memset(path, 'x', sizeof path);
    memcpy(path, "a.", 2);
    memcpy(path + sizeof path - 4, ".jpg", 4);
    assert_int_equal(pack_names_split(&(pack_names){0}, path, sizeof path, &name),
                     FMT_NAME_TOO_LONG);
    assert_int_equal(pack_names_split(&(pack_names){.last_dot = true}, path, sizeof path, &name),
                     FMT_NAME_COMPONENT);
    assert_int_equal(name.component_size, 3);
    path[sizeof path - 4] = 'x';
    assert_int_equal(pack_names_split(&(pack_names){.last_dot = true}, path, sizeof path, &name),
                     FMT_NAME_TOO_LONG);
}

static void components_are_renamed_whole_and_in_any_case(void **state)
{
    (void)state;
    static const char *const renames[] = {"jpeg=jpg", "seg.png=mask.png", "jpg=never"};
    static const struct {
        const char *from, *to;
    } names[] = {{"jpeg", "jpg"}, {"JPeG", "jpg"},    {"seg.png", "mask.png"}, {"png", "png"},
                 {"jpe", "jpe"},  {"jpegs", "jpegs"}, {"jpg", "never"}};
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    pack_names n;
    opts.renames = renames;
    opts.rename_count = COUNT(renames);
    assert_int_equal(pack_names_init(&n, &opts, NULL), SHARD_OK);
    for (size_t i = 0; i < COUNT(names); i++) {
        size_t size = strlen(names[i].from);
        const char *to = pack_names_component(&n, names[i].from, &size);
        assert_text(to, size, names[i].to);
    }
}

static void wrong_renames_are_quoted(void **state)
{
    (void)state;
    char long_name[2 + FMT_COMPONENT_MAX + 2] = "a=";
    memset(long_name + 2, 'x', FMT_COMPONENT_MAX + 1);
    const char *const wrong[] = {"jpeg", "=jpg", "jpeg=", "=", "", "jpeg=a/b", long_name};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
        pack_names names;
        shard_error err;
        opts.renames = &wrong[i];
        opts.rename_count = 1;
        assert_int_equal(pack_names_init(&names, &opts, &err), SHARD_EINVAL);
        assert_non_null(strstr(err.message, wrong[i]));
    }
    long_name[2 + FMT_COMPONENT_MAX] = 0;
    shard_pack_opts opts = SHARD_PACK_OPTS_INIT;
    pack_names names;
    opts.renames = &wrong[6];
    opts.rename_count = 1;
    assert_int_equal(pack_names_init(&names, &opts, NULL), SHARD_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_end_at_the_first_or_last_dot),
        cmocka_unit_test(what_is_no_component_stays_none),
        cmocka_unit_test(a_long_component_may_be_cut_at_its_last_dot),
        cmocka_unit_test(components_are_renamed_whole_and_in_any_case),
        cmocka_unit_test(wrong_renames_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
