/* SPDX-License-Identifier: Apache-2.0 */
#include "naming/sample_name.h"

#include "test.h"

/* As webdataset 1.0.2 splits them, but for hidden files in folders and empty components. */
static void names_are_split_as_webdataset_does(void **state)
{
    (void)state;
    static const struct {
        const char *path, *key, *component;
    } split[] = {
        {"a.txt", "a", "txt"},
        {"a.b.c", "a", "b.c"},
        {"a..b", "a", ".b"},
        {"dog/01.jpg", "dog/01", "jpg"},
        {"d.x/a.b.c", "d.x/a", "b.c"},
        {"./a.txt", "./a", "txt"},
        {"../a.txt", "../a", "txt"},
        {"/abs/a.txt", "/abs/a", "txt"},
        {"a//b.c", "a//b", "c"},
        {"__meta__.json", "__meta__", "json"},
        {"d/__meta__/x.txt", "d/__meta__/x", "txt"},
        {"__a/x.txt", "__a/x", "txt"},
        {"___/x.txt", "___/x", "txt"},
    };
    for (size_t i = 0; i < COUNT(split); i++) {
        fmt_name name;
        size_t size = strlen(split[i].path);
        assert_int_equal(fmt_name_split(split[i].path, size, &name), FMT_NAME_COMPONENT);
        assert_text(split[i].path, name.key_size, split[i].key);
        assert_text(split[i].path + name.key_size + 1, name.component_size, split[i].component);
    }
}

static void other_names_have_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        fmt_name_kind kind;
    } others[] = {
        {"a", FMT_NAME_NO_EXTENSION},           {"d.x/a", FMT_NAME_NO_EXTENSION},
        {"a.", FMT_NAME_NO_EXTENSION},          {"", FMT_NAME_NO_EXTENSION},
        {".hidden", FMT_NAME_HIDDEN},           {"dir/.hidden.txt", FMT_NAME_HIDDEN},
        {"__meta__/x.json", FMT_NAME_RESERVED}, {"____/x.json", FMT_NAME_RESERVED},
        {"__x__", FMT_NAME_RESERVED},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        fmt_name name;
        assert_int_equal(fmt_name_split(others[i].path, strlen(others[i].path), &name),
                         others[i].kind);
    }
}

static void component_names_have_a_limit(void **state)
{
    (void)state;
    char path[2 + FMT_COMPONENT_MAX + 1];
    fmt_name name;
    memset(path, 'x', sizeof path);
    path[1] = '.';
    assert_int_equal(fmt_name_split(path, sizeof path - 1, &name), FMT_NAME_COMPONENT);
    assert_int_equal(fmt_name_split(path, sizeof path, &name), FMT_NAME_TOO_LONG);
}

static void written_names_split_alike_everywhere(void **state)
{
    (void)state;
    static const struct {
        const char *name, *written;
        bool renamed;
    } keys[] =
        {
            {"dog/01", "dog/01", false},
            {"v1.2/a", "v1_2/a", true},
            {"a\nb\x7f", "a_b_", true},
            {"caf\xc3\xa9/\xc3\x89", "caf\xc3\xa9/\xc3\x89", false},
        },
      components[] = {
          {"jpg", "jpg", false},
          {"JPEG", "jpeg", false},
          {"Seg.PNG", "seg.png", false},
          {"t\txt", "t_xt", false},
      };
    char out[64];
    for (size_t i = 0; i < COUNT(keys); i++) {
        size_t size = strlen(keys[i].name);
        assert_int_equal(fmt_key_write(out, keys[i].name, size), keys[i].renamed);
        assert_text(out, size, keys[i].written);
    }
    for (size_t i = 0; i < COUNT(components); i++) {
        size_t size = strlen(components[i].name);
        fmt_component_write(out, components[i].name, size);
        assert_text(out, size, components[i].written);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_split_as_webdataset_does),
        cmocka_unit_test(other_names_have_a_reason),
        cmocka_unit_test(component_names_have_a_limit),
        cmocka_unit_test(written_names_split_alike_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
