/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json_text.h"

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_space(fmt_span text, size_t *at)
{
    while (*at < text.size && is_space(text.data[*at]))
        ++*at;
}

/* Past a string whose first quote stands at `at`. */
static size_t string_end(fmt_span text, size_t at)
{
    for (at++; at < text.size && text.data[at] != '"'; at++)
        at += text.data[at] == '\\';
    return at < text.size ? at + 1 : text.size;
}

/* Past a value: a string, whatever brackets enclose, or a word up to the next delimiter. */
static size_t value_end(fmt_span text, size_t at)
{
    int depth = 0;
    while (at < text.size) {
        uint8_t c = text.data[at];
        if (depth == 0 && (c == ',' || c == '}' || c == ']' || is_space(c)))
            return at;
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        at = c == '"' ? string_end(text, at) : at + 1;
        if (depth == 0 && (c == '}' || c == ']' || c == '"'))
            return at;
    }
    return at;
}

bool fmt_json_next_member(fmt_span object, size_t *at, fmt_json_member *out)
{
    skip_space(object, at);
    if (*at < object.size && (object.data[*at] == '{' || object.data[*at] == ','))
        ++*at;
    skip_space(object, at);
    if (*at >= object.size || object.data[*at] != '"')
        return false;
    size_t end = string_end(object, *at);
    if (end < *at + 2)
        return false;
    out->key = (fmt_span){object.data + *at + 1, end - *at - 2};
    *at = end;
    skip_space(object, at);
    *at += *at < object.size; /* the colon */
    skip_space(object, at);
    end = value_end(object, *at);
    out->value = (fmt_span){object.data + *at, end - *at};
    *at = end;
    return true;
}
