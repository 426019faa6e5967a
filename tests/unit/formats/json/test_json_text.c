/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* "key=value;" of each member, in memory that ends where the text does. */
static size_t list_members(const char *text, size_t size, char *out, size_t capacity)
{
    uint8_t *tight = malloc(size + !size);
    memcpy(tight, text, size);
    fmt_json_member member;
    size_t members = 0, n = 0;
    out[0] = 0;
    for (size_t at = 0; fmt_json_next_member((fmt_span){tight, size}, &at, &member); members++) {
        assert_true(at <= size);
        assert_true(members < size);
        n += (size_t)snprintf(out + n, capacity - n, "%.*s=%.*s;", (int)member.key.size,
                              (const char *)member.key.data, (int)member.value.size,
                              (const char *)member.value.data);
    }
    free(tight);
    return members;
}

static void members_come_as_they_stand(void **state)
{
    (void)state;
    static const struct {
        const char *text, *members;
    } objects[] = {
        {"{}", ""},
        {" \r\n\t{ \n } ", ""},
        {"{\"a\":1}", "a=1;"},
        {"{\"\":\"\"}", "=\"\";"},
        {"  { \"a\" : 1.50 ,\t\"b\"\n:\r-2e+10 } ", "a=1.50;b=-2e+10;"},
        {"{\"a\":true,\"b\":false,\"c\":null}", "a=true;b=false;c=null;"},
        {"{\"a\":\"b\\\"c\",\"d\\\"e\\\\\":\"\\\\\"}", "a=\"b\\\"c\";d\\\"e\\\\=\"\\\\\";"},
        {"{\"a\":\"}],{\",\"b\":\"\\u0041\"}", "a=\"}],{\";b=\"\\u0041\";"},
        {"{\"a\":{\"b\":[1,{\"c\":\"]\"}]},\"d\":[]}", "a={\"b\":[1,{\"c\":\"]\"}]};d=[];"},
        {"{\"a\": [ 1 , 2 ] , \"b\": { } }", "a=[ 1 , 2 ];b={ };"},
        {"{\"caf\xc3\xa9\":\"\xf0\x9f\x90\xb6\"}", "caf\xc3\xa9=\"\xf0\x9f\x90\xb6\";"},
    };
    for (size_t i = 0; i < COUNT(objects); i++) {
        char out[256];
        list_members(objects[i].text, strlen(objects[i].text), out, sizeof out);
        assert_string_equal(out, objects[i].members);
    }
}

/* Only valid texts are promised to be understood, but no text is read past its end or for ever. */
static void texts_that_are_cut_come_to_an_end(void **state)
{
    (void)state;
    static const char text[] = "{\"a\\\\\\\"\":{\"b\":[1,\"\\\"\"]},\"c\":\"d\\\\\",\"e\":nul}";
    char out[1024];
    assert_int_equal(list_members(text, sizeof text - 1, out, sizeof out), 3);
    for (size_t size = 0; size < sizeof text - 1; size++)
        assert_true(list_members(text, size, out, sizeof out) <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_come_as_they_stand),
        cmocka_unit_test(texts_that_are_cut_come_to_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
