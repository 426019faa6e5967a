/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "naming/pattern.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits that differ between two neighbours, grown to the whole run of digits around them. */
static bool find_digits(const char *a, const char *b, size_t *begin, size_t *end)
{
    size_t first = 0, size = strlen(a);
    while (a[first] && a[first] == b[first])
        first++;
    if (!is_digit(a[first]) || !is_digit(b[first]))
        return false;
    while (first > 0 && is_digit(a[first - 1]))
        first--;
    size_t last = first;
    while (last < size && is_digit(a[last]))
        last++;
    *begin = first;
    *end = last;
    return true;
}

static bool put(char *out, size_t capacity, size_t *at, const char *bytes, size_t size)
{
    if (*at + size >= capacity)
        return false;
    memcpy(out + *at, bytes, size);
    *at += size;
    out[*at] = 0;
    return true;
}

/* Does the pattern give just these names? Braces elsewhere in them would be read as ranges too. */
static bool gives(const char *text, fmt_pattern_name_at name, const void *context, size_t count)
{
    fmt_pattern pattern;
    fmt_fault fault;
    if (fmt_pattern_parse(&pattern, text, strlen(text), false, &fault) != FMT_OK ||
        pattern.count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        char expanded[FMT_PATTERN_NAME_MAX];
        if (fmt_pattern_name(&pattern, i, expanded, sizeof expanded) != FMT_OK ||
            strcmp(expanded, name(context, i)) != 0)
            return false;
    }
    return true;
}

bool fmt_pattern_of(fmt_pattern_name_at name, const void *context, size_t count, char *out,
                    size_t capacity)
{
    size_t begin, end, at = 0;
    if (count < 2 || !find_digits(name(context, 0), name(context, 1), &begin, &end))
        return false;
    const char *first = name(context, 0), *last = name(context, count - 1);
    size_t last_end = begin;
    while (last_end < strlen(last) && is_digit(last[last_end]))
        last_end++;
    return strlen(last) >= begin && put(out, capacity, &at, first, begin) &&
           put(out, capacity, &at, "{", 1) && put(out, capacity, &at, first + begin, end - begin) &&
           put(out, capacity, &at, "..", 2) &&
           put(out, capacity, &at, last + begin, last_end - begin) &&
           put(out, capacity, &at, "}", 1) &&
           put(out, capacity, &at, first + end, strlen(first + end)) &&
           gives(out, name, context, count);
}
