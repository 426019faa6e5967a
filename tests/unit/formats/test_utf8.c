/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include "test.h"

static const struct {
    const char *text;
    size_t size;
} characters[] = {
    {"a", 1},
    {"\0", 1},
    {"\x7f", 1},
    {"\xc2\x80", 2},
    {"\xdf\xbf", 2},
    {"\xe0\xa0\x80", 3},
    {"\xed\x9f\xbf", 3},
    {"\xee\x80\x80", 3},
    {"\xef\xbf\xbf", 3},
    {"\xf0\x90\x80\x80", 4},
    {"\xf4\x8f\xbf\xbf", 4},
};

static void characters_have_one_to_four_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(characters); i++) {
        assert_int_equal(fmt_utf8_size(characters[i].text, characters[i].size), characters[i].size);
        assert_true(fmt_utf8_ok(characters[i].text, characters[i].size));
    }
}

static void a_character_that_is_cut_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(characters); i++)
        for (size_t size = 0; size < characters[i].size; size++)
            assert_int_equal(fmt_utf8_size(characters[i].text, size), 0);
}

/* RFC 3629 section 3: no longer forms, no surrogates, nothing past U+10FFFF. */
static void other_bytes_are_none(void **state)
{
    (void)state;
    static const char *const others[] = {
        "\x80",         "\xbf",         "\xc0\x80",         "\xc1\xbf",         "\xe0\x9f\xbf",
        "\xed\xa0\x80", "\xed\xbf\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xff",         "\xc3(",        "\xe2\x82(",        "\xf0\x90\x80("};
    for (size_t i = 0; i < COUNT(others); i++) {
        assert_int_equal(fmt_utf8_size(others[i], strlen(others[i])), 0);
        assert_false(fmt_utf8_ok(others[i], strlen(others[i])));
    }
    assert_false(fmt_utf8_ok("caf\xe9 au lait", 12));
}

static void no_text_is_text(void **state)
{
    (void)state;
    assert_true(fmt_utf8_ok("", 0));
    assert_int_equal(fmt_utf8_size("", 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(characters_have_one_to_four_bytes),
        cmocka_unit_test(a_character_that_is_cut_is_none),
        cmocka_unit_test(other_bytes_are_none),
        cmocka_unit_test(no_text_is_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
