/* SPDX-License-Identifier: Apache-2.0 */
#include "naming/pattern.h"

#include "test.h"

/* Names, parted by spaces; at most the first eight. */
static const char *names_of(const char *text, bool counter)
{
    static char out[1024];
    fmt_pattern pattern;
    fmt_fault fault;
    assert_int_equal(fmt_pattern_parse(&pattern, text, strlen(text), counter, &fault), FMT_OK);
    out[0] = 0;
    for (uint64_t i = 0; i < pattern.count && i < 8; i++) {
        char name[100];
        assert_int_equal(fmt_pattern_name(&pattern, i, name, sizeof name), FMT_OK);
        if (i > 0)
            strcat(out, " ");
        strcat(out, name);
    }
    return out;
}

static void ranges_are_those_of_bash(void **state)
{
    (void)state;
    assert_string_equal(names_of("a.tar", false), "a.tar");
    assert_string_equal(names_of("out-{000..002}.tar", false),
                        "out-000.tar out-001.tar out-002.tar");
    assert_string_equal(names_of("out-<000..002>.tar", false),
                        "out-000.tar out-001.tar out-002.tar");
    assert_string_equal(names_of("{8..10}", false), "8 9 10");
    assert_string_equal(names_of("{08..10}", false), "08 09 10");
    assert_string_equal(names_of("{1..03}", false), "01 02 03");
    assert_string_equal(names_of("{01..100..33}", false), "001 034 067 100");
    assert_string_equal(names_of("{3..0}", false), "3 2 1 0");
    assert_string_equal(names_of("{0..10..4}", false), "0 4 8");
    assert_string_equal(names_of("{10..0..-4}", false), "10 6 2");
    assert_string_equal(names_of("{-1..1}", false), "-1 0 1");
    assert_string_equal(names_of("{a..e..2}", false), "a c e");
    assert_string_equal(names_of("{C..A}", false), "C B A");
    assert_string_equal(names_of("{x,y,}z", false), "xz yz z");
    assert_string_equal(names_of("{a,b}-{0..1}", false), "a-0 a-1 b-0 b-1");
}

static void other_braces_stand_for_themselves(void **state)
{
    (void)state;
    static const char *literal[] = {"{}",    "{x}",      "{1..}", "{..2}",           "{a..1}",
                                    "a{b",   "a}b",      "<a>",   "<x,y>",           "%06d",
                                    "{1.5}", "{1..2..}", "<",     "{1..99999999999}"};
    for (size_t i = 0; i < COUNT(literal); i++)
        assert_string_equal(names_of(literal[i], false), literal[i]);
}

static void counters_have_no_end(void **state)
{
    (void)state;
    fmt_pattern pattern;
    fmt_fault fault;
    char name[32];
    assert_int_equal(fmt_pattern_parse(&pattern, "o-%06d.tar", 10, true, &fault), FMT_OK);
    assert_true(pattern.count == FMT_PATTERN_ENDLESS);
    assert_int_equal(fmt_pattern_name(&pattern, 42, name, sizeof name), FMT_OK);
    assert_string_equal(name, "o-000042.tar");
    assert_int_equal(fmt_pattern_name(&pattern, 12345678, name, sizeof name), FMT_OK);
    assert_string_equal(name, "o-12345678.tar");
    assert_int_equal(fmt_pattern_parse(&pattern, "%d-{0..1}", 9, true, &fault), FMT_EINVALID);
    assert_int_equal(fmt_pattern_parse(&pattern, "{0..1}-%d", 9, true, &fault), FMT_EINVALID);
    assert_int_equal(fmt_pattern_parse(&pattern, "%s%n%06x", 8, true, &fault), FMT_OK);
    assert_int_equal(pattern.count, 1); /* never a format string */
}

static void too_many_names_are_refused(void **state)
{
    (void)state;
    fmt_pattern pattern;
    fmt_fault fault;
    const char *text = "{0..99999999}{0..99999999}{0..99999999}";
    assert_int_equal(fmt_pattern_parse(&pattern, text, strlen(text), false, &fault), FMT_ELIMIT);
    const char *many = "{0..1}a{0..1}a{0..1}a{0..1}a{0..1}a{0..1}a{0..1}a{0..1}a{0..1}";
    assert_int_equal(fmt_pattern_parse(&pattern, many, strlen(many), false, &fault), FMT_ELIMIT);
}

static void names_fit_or_are_refused(void **state)
{
    (void)state;
    fmt_pattern pattern;
    fmt_fault fault;
    char name[8];
    assert_int_equal(fmt_pattern_parse(&pattern, "abc{1..9}def", 12, false, &fault), FMT_OK);
    assert_int_equal(fmt_pattern_name(&pattern, 0, name, 8), FMT_OK);
    assert_int_equal(fmt_pattern_name(&pattern, 0, name, 7), FMT_ELIMIT);
}

static void a_hundred_thousand_names(void **state)
{
    (void)state;
    fmt_pattern pattern;
    fmt_fault fault;
    char name[32];
    assert_int_equal(fmt_pattern_parse(&pattern, "s-{00000..99999}.tar", 20, false, &fault),
                     FMT_OK);
    assert_int_equal(pattern.count, 100000);
    assert_int_equal(fmt_pattern_name(&pattern, 99999, name, sizeof name), FMT_OK);
    assert_string_equal(name, "s-99999.tar");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_are_those_of_bash),
        cmocka_unit_test(other_braces_stand_for_themselves),
        cmocka_unit_test(counters_have_no_end),
        cmocka_unit_test(too_many_names_are_refused),
        cmocka_unit_test(names_fit_or_are_refused),
        cmocka_unit_test(a_hundred_thousand_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
