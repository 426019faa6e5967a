/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/csv.h"

#include <stdio.h>

#include "test.h"

typedef struct {
    char text[256]; /* "FIELD|" of each */
    size_t size, count;
    size_t stop_at; /* field at which the caller stops; 0: none */
} collected;

static shard_status collect(void *context, size_t number, const char *text, size_t size)
{
    collected *c = context;
    assert_int_equal(number, c->count++);
    assert_true(c->size + size < sizeof c->text);
    memcpy(c->text + c->size, text, size);
    c->size += size;
    c->text[c->size++] = '|';
    return c->stop_at && c->count == c->stop_at ? SHARD_EDATA : SHARD_OK;
}

static shard_status read_fields(const char *record, collected *c)
{
    *c = (collected){.stop_at = c->stop_at};
    return pack_csv_fields((fmt_span){(const uint8_t *)record, strlen(record)}, collect, c);
}

static void fields_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *record, *fields;
    } records[] = {
        {"a\n", "a|"},
        {"a,b,c\n", "a|b|c|"},
        {"a,b,c\r\n", "a|b|c|"},
        {"a,b,c", "a|b|c|"},
        {",,\n", "|||"},
        {"\"a\",\"b,c\",\"\"\n", "a|b,c||"},
        {"\"a \"\"quoted\"\" word\",b\n", "a \"quoted\" word|b|"},
        {"\"two\nlines\",\"three\r\n\r\nlines\"\n", "two\nlines|three\r\n\r\nlines|"},
        {"caf\xc3\xa9,\xff\n", "caf\xc3\xa9|\xff|"},
    };
    for (size_t i = 0; i < COUNT(records); i++) {
        collected c = {0};
        assert_int_equal(read_fields(records[i].record, &c), SHARD_OK);
        assert_string_equal(c.text, records[i].fields);
    }
}

/* RFC 4180, 2.4: "Spaces are considered part of a field and should not be ignored." */
static void spaces_belong_to_their_field(void **state)
{
    (void)state;
    collected c = {0};
    assert_int_equal(read_fields(" a , \tb,c\t,\" d \"\n", &c), SHARD_OK);
    assert_string_equal(c.text, " a | \tb|c\t| d |");
}

static void quotes_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    static const char *const records[] = {"a\"b\n", "\"a\"b\n", "\"a\n", "a,\"b", "\"a\" \"b\"\n"};
    for (size_t i = 0; i < COUNT(records); i++) {
        collected c = {0};
        assert_int_equal(read_fields(records[i], &c), SHARD_EFORMAT);
    }
}

static void the_callers_answer_is_handed_on(void **state)
{
    (void)state;
    for (size_t stop = 1; stop <= 3; stop++) {
        collected c = {.stop_at = stop};
        assert_int_equal(read_fields("a,b,c\n", &c), SHARD_EDATA);
        assert_int_equal(c.count, stop);
    }
}

static void records_end_at_lines_outside_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t size;
    } texts[] = {
        {"", 0},
        {"a,b", 3},
        {"a,b\n", 4},
        {"a,b\r\nc,d\r\n", 5},
        {"\nx", 1},
        {"\"a\nb\",c\nd", 8},
        {"\"a\"\"\n\"\"b\"\nc", 10},
        {"\"never\nclosed\n", 14},
    };
    for (size_t i = 0; i < COUNT(texts); i++) {
        fmt_span span = {(const uint8_t *)texts[i].text, strlen(texts[i].text)};
        assert_int_equal(pack_csv_record(span), texts[i].size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_told_apart),
        cmocka_unit_test(spaces_belong_to_their_field),
        cmocka_unit_test(quotes_that_do_not_fit_are_refused),
        cmocka_unit_test(the_callers_answer_is_handed_on),
        cmocka_unit_test(records_end_at_lines_outside_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
