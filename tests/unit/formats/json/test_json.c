/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

#include "test.h"

typedef struct {
    char text[8192];
    size_t size, stop_after;
} collected;

static bool collect(void *context, const char *text, size_t size)
{
    collected *c = context;
    if (c->stop_after && c->size + size > c->stop_after)
        return false;
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->text[c->size] = 0;
    return true;
}

static fmt_json *parse(const char *text)
{
    fmt_json *value;
    fmt_fault fault;
    fmt_span span = {(const uint8_t *)text, strlen(text)};
    return fmt_json_parse(&value, span, &fault) == FMT_OK ? value : NULL;
}

static void values_round_trip(void **state)
{
    (void)state;
    static const char *texts[] = {
        "{\"a\":1,\"b\":[true,null,\"x\"]}", "[]", "\"\\u0000\"", "-9223372036854775808", "1.5",
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        collected c = {0};
        fmt_json *value = parse(texts[i]);
        assert_non_null(value);
        assert_int_equal(fmt_json_write(value, collect, &c), FMT_OK);
        assert_string_equal(c.text, texts[i]);
        fmt_json_free(value);
    }
}

static void bad_texts_are_refused(void **state)
{
    (void)state;
    static const char *texts[] = {"",         "{",     "{\"a\":1,\"a\":2}",   "[1,]",
                                  "\"\xff\"", "1e999", "9223372036854775808", "{} {}"};
    for (size_t i = 0; i < COUNT(texts); i++)
        assert_null(parse(texts[i]));
}

/* A file's name can be any bytes; JSON cannot. */
static void bytes_become_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *text;
    } strings[] = {
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"\xff", "\xef\xbf\xbd"},
        {"a\xc3", "a\xef\xbf\xbd"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* an overlong '/' */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half a surrogate pair */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x90\xb6", "\xf0\x9f\x90\xb6"},
    };
    for (size_t i = 0; i < COUNT(strings); i++) {
        fmt_json *value = fmt_json_new_string(strings[i].bytes, strlen(strings[i].bytes));
        fmt_span span = fmt_json_string(value);
        assert_text(span.data, span.size, strings[i].text);
        fmt_json_free(value);
    }
    char wild[3 * FMT_JSON_LOSSY_MAX];
    memset(wild, 0xff, sizeof wild);
    fmt_json *value = fmt_json_new_string(wild, sizeof wild);
    assert_true(fmt_json_string(value).size <= 3 * FMT_JSON_LOSSY_MAX);
    fmt_json_free(value);
}

static void a_sink_can_stop(void **state)
{
    (void)state;
    collected c = {.stop_after = 3};
    fmt_json *value = parse("[1,2,3,4,5]");
    assert_int_equal(fmt_json_write(value, collect, &c), FMT_END);
    fmt_json_free(value);
}

static void objects_are_built_and_searched(void **state)
{
    (void)state;
    fmt_json *object = fmt_json_new_object();
    fmt_json *array = fmt_json_new_array();
    assert_int_equal(fmt_json_append(array, fmt_json_new_integer(7)), FMT_OK);
    assert_int_equal(fmt_json_set(object, "list", array), FMT_OK);
    assert_int_equal(fmt_json_integer(fmt_json_at(fmt_json_get(object, "list"), 0)), 7);
    assert_null(fmt_json_get(object, "none"));
    assert_null(fmt_json_at(array, 1));
    assert_int_equal(fmt_json_set(object, "none", NULL), FMT_ENOMEM);
    fmt_json_remove(object, "list");
    assert_int_equal(fmt_json_size(object), 0);
    fmt_json_free(object);
    fmt_json_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_round_trip),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(bytes_become_utf8),
        cmocka_unit_test(a_sink_can_stop),
        cmocka_unit_test(objects_are_built_and_searched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
