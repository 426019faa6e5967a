/* SPDX-License-Identifier: Apache-2.0 */
/* The members of a JSON object as text: those that the JSON library sees, each the same value. */
#include "fuzz.h"

#include "json/json.h"
#include "json/json_text.h"

typedef struct {
    fmt_span object;
    size_t at;
} walk;

static void check_equal(const fmt_json *a, const fmt_json *b)
{
    fuzz_text one = {0}, other = {0};
    FUZZ_CHECK(fmt_json_write(a, fuzz_put, &one) == FMT_OK);
    FUZZ_CHECK(fmt_json_write(b, fuzz_put, &other) == FMT_OK);
    FUZZ_CHECK(fuzz_same(fuzz_text_span(&one), fuzz_text_span(&other)));
    free(one.bytes);
    free(other.bytes);
}

static fmt_json *parse(fmt_span text)
{
    fmt_json *value;
    fmt_fault fault;
    uint8_t *copy = fuzz_copy(text.data, text.size);
    FUZZ_CHECK(fmt_json_parse(&value, (fmt_span){copy, text.size}, &fault) == FMT_OK);
    free(copy);
    return value;
}

static fmt_status check_member(void *context, const char *key, fmt_json *value)
{
    walk *w = context;
    fmt_json_member member;
    FUZZ_CHECK(fmt_json_next_member(w->object, &w->at, &member));
    fmt_json *name = parse((fmt_span){member.key.data - 1, member.key.size + 2}); /* its quotes */
    FUZZ_CHECK(fmt_json_kind_of(name) == FMT_JSON_STRING);
    FUZZ_CHECK(strcmp((const char *)fmt_json_string(name).data, key) == 0);
    fmt_json *again = parse(member.value);
    check_equal(again, value);
    fmt_json_free(again);
    fmt_json_free(name);
    return FMT_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    walk w = {{data, size}, 0};
    fmt_json_member member;
    fmt_json *object;
    fmt_fault fault;
    if (fmt_json_parse(&object, w.object, &fault) != FMT_OK)
        return 0;
    if (fmt_json_kind_of(object) == FMT_JSON_OBJECT) {
        fmt_json_each(object, check_member, &w);
        FUZZ_CHECK(!fmt_json_next_member(w.object, &w.at, &member));
    }
    fmt_json_free(object);
    return 0;
}
