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
    fmt_json_free(object);
    fmt_json_free(NULL);
}

static fmt_status keep_going(void *context, const char *key, fmt_json *value)
{
    (void)context;
    (void)key;
    (void)value;
    return FMT_OK;
}

static fmt_json *build(void)
{
    fmt_json *object = fmt_json_new_object(), *array = fmt_json_new_array();
    bool ok = object && array && fmt_json_append(array, fmt_json_new_integer(7)) == FMT_OK &&
              fmt_json_set(object, "text", fmt_json_new_string("caf\xe9", 4)) == FMT_OK;
    if (!ok)
        fmt_json_free(array);
    ok = ok && fmt_json_set(object, "list", array) == FMT_OK;
    if (ok)
        return object;
    fmt_json_free(object);
    return NULL;
}

/* All that asks jansson for memory: building, writing, parsing, checking. */
static bool use_json(test_allocator *allocator, void *context)
{
    static const char text[] = "{\"a\":[1,2.5,\"x\",{}],\"b\":{\"c\":null,\"d\":true}}";
    fmt_span span = {(const uint8_t *)text, sizeof text - 1};
    fmt_json *parsed = NULL;
    fmt_fault fault;
    collected c = {0};
    (void)context;
    test_allocate_json_with(allocator);
    fmt_json *built = build();
    fmt_status status = built ? fmt_json_write(built, collect, &c) : FMT_ENOMEM;
    fmt_json_free(built);
    if (status == FMT_OK)
        status = fmt_json_check_object(span, &fault);
    if (status == FMT_OK)
        status = fmt_json_parse(&parsed, span, &fault);
    if (status == FMT_OK)
        status = fmt_json_each(parsed, keep_going, NULL);
    fmt_json_free(parsed);
    test_allocate_json_with(NULL);
    /* jansson takes a token for which it had no memory for a wrong one. */
    assert_true(status == FMT_OK || status == FMT_ENOMEM || status == FMT_EINVALID);
    return status == FMT_OK;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(use_json, NULL), 20, 300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_round_trip),
        cmocka_unit_test(bad_texts_are_refused),
        cmocka_unit_test(bytes_become_utf8),
        cmocka_unit_test(a_sink_can_stop),
        cmocka_unit_test(objects_are_built_and_searched),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
