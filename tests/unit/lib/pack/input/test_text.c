/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/text.h"

#include <stdlib.h>

#include "test.h"
#include "json/json.h"

typedef struct {
    uint8_t *bytes;
    size_t size, capacity;
    fmt_alloc alloc;
    pack_text text;
} buffer;

static void init(buffer *b, fmt_alloc alloc)
{
    *b = (buffer){.alloc = alloc};
    b->text = (pack_text){&b->bytes, &b->size, &b->capacity, &b->alloc};
}

static void clear(buffer *b)
{
    shard_alloc_free(&b->alloc, b->bytes);
}

static void pieces_are_put_one_behind_the_other(void **state)
{
    (void)state;
    buffer b;
    init(&b, shard_alloc_from(NULL));
    assert_true(pack_text_put(&b.text, "ab", 2));
    assert_true(pack_text_put(&b.text, NULL, 0));
    assert_true(pack_text_put(&b.text, "\0c", 2));
    assert_int_equal(b.size, 4);
    assert_memory_equal(b.bytes, "ab\0c", 4);
    clear(&b);
}

static void what_was_reserved_does_not_move(void **state)
{
    (void)state;
    buffer b;
    init(&b, shard_alloc_from(NULL));
    assert_true(pack_text_put(&b.text, "x", 1));
    assert_true(pack_text_reserve(&b.text, 10000));
    const uint8_t *place = b.bytes;
    for (int i = 0; i < 1000; i++)
        assert_true(pack_text_put(&b.text, "0123456789", 10));
    assert_ptr_equal(b.bytes, place);
    assert_int_equal(b.size, 10001);
    clear(&b);
}

static void bytes_become_json_strings(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *json;
    } strings[] = {
        {"", 0, "\"\""},
        {"plain", 5, "\"plain\""},
        {"a\"b\\c\n\0", 7, "\"a\\\"b\\\\c\\n\\u0000\""},
        {"caf\xc3\xa9", 5, "\"caf\xc3\xa9\""},
    };
    for (size_t i = 0; i < COUNT(strings); i++) {
        buffer b;
        init(&b, shard_alloc_from(NULL));
        assert_true(pack_text_put_json(&b.text, strings[i].bytes, strings[i].size));
        assert_text(b.bytes, b.size, strings[i].json);
        clear(&b);
    }
}

static void values_become_plain_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *value, *text;
    } values[] = {
        {"\"a\\\"b\\n\\u00e9\"", "a\"b\n\xc3\xa9"},
        {"\"\"", ""},
        {"12.50", "12.50"},
        {"true", "true"},
        {"[1, {\"a\": \"b\"}]", "[1, {\"a\": \"b\"}]"},
    };
    for (size_t i = 0; i < COUNT(values); i++) {
        buffer b;
        fmt_span value = {(const uint8_t *)values[i].value, strlen(values[i].value)};
        init(&b, shard_alloc_from(NULL));
        assert_int_equal(pack_text_put_value(&b.text, value, NULL), SHARD_OK);
        assert_text(b.bytes, b.size, values[i].text);
        clear(&b);
    }
}

static void a_broken_string_is_no_value(void **state)
{
    (void)state;
    buffer b;
    shard_error err;
    init(&b, shard_alloc_from(NULL));
    assert_int_equal(pack_text_put_value(&b.text, (fmt_span){(const uint8_t *)"\"\\q\"", 4}, &err),
                     SHARD_EFORMAT);
    assert_int_equal(b.size, 0);
    clear(&b);
}

static bool put_all(test_allocator *allocator, void *context)
{
    buffer b;
    (void)context;
    init(&b, test_fmt_alloc(allocator));
    bool ok = pack_text_put_json(&b.text, "some bytes that need room", 25);
    shard_status status = SHARD_OK;
    for (int i = 0; i < 20 && status == SHARD_OK && ok; i++)
        status =
            pack_text_put_value(&b.text, (fmt_span){(const uint8_t *)"\"a string\"", 10}, NULL);
    ok = ok && status == SHARD_OK && pack_text_reserve(&b.text, 1000) &&
         pack_text_put_value(&b.text, (fmt_span){(const uint8_t *)"17", 2}, NULL) == SHARD_OK;
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    clear(&b);
    return ok;
}

static void short_memory_is_told(void **state)
{
    (void)state;
    assert_in_range(test_every_allocation(put_all, NULL), 4, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_put_one_behind_the_other),
        cmocka_unit_test(what_was_reserved_does_not_move),
        cmocka_unit_test(bytes_become_json_strings),
        cmocka_unit_test(values_become_plain_bytes),
        cmocka_unit_test(a_broken_string_is_no_value),
        cmocka_unit_test(short_memory_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
