/* SPDX-License-Identifier: Apache-2.0 */
#include "os/path.h"

#include "test.h"

static char out[SHARD_PATH_MAX];
static char longest[SHARD_PATH_MAX + 1]; /* too long by one; from its second byte on it fits */

static int setup(void **state)
{
    (void)state;
    memset(longest, 'x', SHARD_PATH_MAX);
    longest[SHARD_PATH_MAX] = 0;
    return 0;
}

static void check_refused(shard_status status, const shard_error *err, const char *path)
{
    assert_int_equal(status, SHARD_EINVAL);
    assert_string_equal(err->message, "path is too long");
    assert_memory_equal(err->url, path, sizeof err->url - 1);
}

static void folders_are_cut_off_at_the_last_slash(void **state)
{
    (void)state;
    static const struct {
        const char *path, *folder;
    } paths[] = {
        {"a.tar", "."},       {"-", "."},         {"", "."},       {"x/a.tar", "x"},
        {"x/y/a.tar", "x/y"}, {"/x/a.tar", "/x"}, {"/a", "/"},     {"/", "/"},
        {"./a", "."},         {"../a", ".."},     {"x/y/", "x/y"},
    };
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_int_equal(shard_path_folder(paths[i].path, out, NULL), SHARD_OK);
        assert_string_equal(out, paths[i].folder);
    }
}

static void names_are_joined_by_one_slash(void **state)
{
    (void)state;
    static const struct {
        const char *folder, *name, *path;
    } paths[] = {
        {".", "a", "a"},  {"x", "a", "x/a"},   {"x/", "a", "x/a"},
        {"/", "a", "/a"}, {"..", "a", "../a"},
    };
    for (size_t i = 0; i < COUNT(paths); i++) {
        assert_int_equal(shard_path_join(paths[i].folder, paths[i].name, out, NULL), SHARD_OK);
        assert_string_equal(out, paths[i].path);
    }
}

/* What shard_path_folder cut apart, shard_path_join puts together. */
static void a_path_survives_being_cut(void **state)
{
    (void)state;
    static const char *paths[] = {"a", "x/a", "/a", "x/y/a", "../a"};
    for (size_t i = 0; i < COUNT(paths); i++) {
        char folder[SHARD_PATH_MAX];
        const char *slash = strrchr(paths[i], '/');
        assert_int_equal(shard_path_folder(paths[i], folder, NULL), SHARD_OK);
        assert_int_equal(shard_path_join(folder, slash ? slash + 1 : paths[i], out, NULL),
                         SHARD_OK);
        assert_string_equal(out, paths[i]);
    }
}

static void suffixes_are_appended(void **state)
{
    (void)state;
    assert_int_equal(shard_path_append("x/a.tar", ".sidx", out, NULL), SHARD_OK);
    assert_string_equal(out, "x/a.tar.sidx");
}

static void paths_that_just_fit_are_taken(void **state)
{
    (void)state;
    const char *fits = longest + 1;
    assert_int_equal(shard_path_append(fits, "", out, NULL), SHARD_OK);
    assert_string_equal(out, fits);
    assert_int_equal(shard_path_join(".", fits, out, NULL), SHARD_OK);
    assert_string_equal(out, fits);
    assert_int_equal(shard_path_join("y", longest + 3, out, NULL), SHARD_OK);
    assert_int_equal(strlen(out), SHARD_PATH_MAX - 1);
    longest[SHARD_PATH_MAX - 1] = '/';
    assert_int_equal(shard_path_folder(longest, out, NULL), SHARD_OK);
    assert_int_equal(strlen(out), SHARD_PATH_MAX - 1);
}

static void longer_ones_are_refused_by_name(void **state)
{
    (void)state;
    shard_error err;
    check_refused(shard_path_append(longest, "", out, &err), &err, longest);
    check_refused(shard_path_append(longest + 1, ".", out, &err), &err, longest);
    check_refused(shard_path_join(".", longest, out, &err), &err, longest);
    check_refused(shard_path_join("y", longest + 2, out, &err), &err, longest);
    char folder[SHARD_PATH_MAX + 3];
    memset(folder, 'x', sizeof folder);
    memcpy(folder + SHARD_PATH_MAX, "/a", 3);
    check_refused(shard_path_folder(folder, out, &err), &err, folder);
    assert_int_equal(shard_path_append(longest, "", out, NULL), SHARD_EINVAL);
}

static void a_base_is_what_follows_the_last_slash(void **state)
{
    (void)state;
    assert_string_equal(shard_path_base("x/y/a.tar"), "a.tar");
    assert_string_equal(shard_path_base("a.tar"), "a.tar");
    assert_string_equal(shard_path_base("x/"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(folders_are_cut_off_at_the_last_slash, setup),
        cmocka_unit_test_setup(names_are_joined_by_one_slash, setup),
        cmocka_unit_test_setup(a_path_survives_being_cut, setup),
        cmocka_unit_test_setup(suffixes_are_appended, setup),
        cmocka_unit_test_setup(paths_that_just_fit_are_taken, setup),
        cmocka_unit_test_setup(longer_ones_are_refused_by_name, setup),
        cmocka_unit_test(a_base_is_what_follows_the_last_slash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
