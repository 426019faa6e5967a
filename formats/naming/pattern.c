/* SPDX-License-Identifier: Apache-2.0 */
#include "naming/pattern.h"

#include <string.h>

static const uint64_t NAMES_MAX = 1000000000; /* of all ranges together */

typedef struct {
    const char *text;
    size_t size, at;
} cursor;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

typedef struct {
    int64_t value;
    int width;   /* characters, the sign too */
    bool padded; /* begins with a zero that is not all of it */
} number;

/* An integer with an optional '-'. */
static bool read_number(cursor *c, number *out)
{
    size_t begin = c->at;
    bool negative = c->at < c->size && c->text[c->at] == '-';
    c->at += negative;
    size_t digits = c->at;
    int64_t value = 0;
    while (c->at < c->size && is_digit(c->text[c->at]) && c->at - digits < FMT_PATTERN_DIGITS_MAX)
        value = value * 10 + (c->text[c->at++] - '0');
    out->value = negative ? -value : value;
    out->width = (int)(c->at - begin);
    out->padded = c->at - digits > 1 && c->text[digits] == '0';
    return c->at > digits;
}

static bool read_dots(cursor *c)
{
    if (c->size - c->at < 2 || c->text[c->at] != '.' || c->text[c->at + 1] != '.')
        return false;
    c->at += 2;
    return true;
}

/* first..last or first..last..step; the sign of step does not matter, as in bash. */
static bool finish_range(cursor *c, int64_t first, int64_t last, fmt_pattern_part *part)
{
    number third = {.value = 1};
    if (c->at < c->size && (!read_dots(c) || !read_number(c, &third)))
        return false;
    if (c->at != c->size)
        return false;
    int64_t step = third.value < 0 ? -third.value : third.value > 0 ? third.value : 1;
    part->first = first;
    part->step = last >= first ? step : -step;
    part->count = (uint64_t)((last >= first ? last - first : first - last) / step) + 1;
    return true;
}

static bool read_numbers(fmt_span text, fmt_pattern_part *part)
{
    cursor c = {(const char *)text.data, text.size, 0};
    number first, last;
    if (!read_number(&c, &first) || !read_dots(&c) || !read_number(&c, &last) ||
        !finish_range(&c, first.value, last.value, part))
        return false;
    part->kind = FMT_PART_NUMBERS;
    part->width = 0;
    if (first.padded || last.padded) /* to the longer end, as in bash */
        part->width = first.width > last.width ? first.width : last.width;
    return true;
}

static bool read_letters(fmt_span text, fmt_pattern_part *part)
{
    cursor c = {(const char *)text.data, text.size, 0};
    if (c.size < 4 || !is_letter(c.text[0]) || !is_letter(c.text[3]))
        return false;
    c.at = 1;
    if (!read_dots(&c))
        return false;
    c.at = 4;
    part->kind = FMT_PART_LETTERS;
    return finish_range(&c, c.text[0], c.text[3], part);
}

static bool read_choice(fmt_span text, fmt_pattern_part *part)
{
    if (!memchr(text.data, ',', text.size) || memchr(text.data, '{', text.size))
        return false;
    part->kind = FMT_PART_CHOICE;
    part->text = text;
    part->count = 1;
    for (size_t i = 0; i < text.size; i++)
        part->count += text.data[i] == ',';
    return true;
}

/* A group at the front of `text`: its length, or 0 where there is none. */
static size_t read_group(fmt_span text, fmt_pattern_part *part)
{
    bool brace = text.data[0] == '{';
    const uint8_t *end = memchr(text.data, brace ? '}' : '>', text.size);
    if (!end)
        return 0;
    fmt_span inside = {text.data + 1, (size_t)(end - text.data) - 1};
    if (read_numbers(inside, part))
        return inside.size + 2;
    if (brace && (read_letters(inside, part) || read_choice(inside, part)))
        return inside.size + 2;
    return 0;
}

/* %d or %0Nd at the front of `text`: its length, or 0. */
static size_t read_counter(fmt_span text, fmt_pattern_part *part)
{
    part->kind = FMT_PART_COUNTER;
    part->count = FMT_PATTERN_ENDLESS;
    part->first = 0;
    part->step = 1;
    part->width = 0;
    if (text.size >= 2 && text.data[1] == 'd')
        return 2;
    if (text.size < 4 || text.data[1] != '0' || text.data[2] < '1' || text.data[2] > '9' ||
        text.data[3] != 'd')
        return 0;
    part->width = text.data[2] - '0';
    return 4;
}

static size_t read_part(fmt_span text, bool counter, fmt_pattern_part *part)
{
    switch (text.data[0]) {
    case '{':
    case '<':
        return read_group(text, part);
    case '%':
        return counter ? read_counter(text, part) : 0;
    default:
        return 0;
    }
}

static fmt_status add_part(fmt_pattern *pattern, fmt_pattern_part part, uint64_t offset,
                           fmt_fault *fault)
{
    if (pattern->parts == FMT_PATTERN_PARTS_MAX)
        return fmt_fail(fault, FMT_ELIMIT, "too many ranges in the name", offset);
    if (part.kind == FMT_PART_COUNTER) {
        if (pattern->count != 1)
            return fmt_fail(fault, FMT_EINVALID, "a counter beside another range", offset);
        pattern->count = FMT_PATTERN_ENDLESS;
    } else if (part.kind != FMT_PART_LITERAL) {
        if (pattern->count == FMT_PATTERN_ENDLESS)
            return fmt_fail(fault, FMT_EINVALID, "a counter beside another range", offset);
        if (part.count > NAMES_MAX / pattern->count)
            return fmt_fail(fault, FMT_ELIMIT, "the name's ranges stand for too many names",
                            offset);
        pattern->count *= part.count;
    }
    pattern->part[pattern->parts++] = part;
    return FMT_OK;
}

fmt_status fmt_pattern_parse(fmt_pattern *out, const char *text, size_t size, bool counter,
                             fmt_fault *fault)
{
    const uint8_t *bytes = (const uint8_t *)text;
    size_t literal = 0, at = 0;
    out->parts = 0;
    out->count = 1;
    while (at <= size) {
        fmt_pattern_part part = {0};
        size_t group = at < size ? read_part((fmt_span){bytes + at, size - at}, counter, &part) : 0;
        if (group == 0 && at < size) {
            at++;
            continue;
        }
        fmt_pattern_part before = {.kind = FMT_PART_LITERAL,
                                   .text = {bytes + literal, at - literal}};
        fmt_status status = at > literal ? add_part(out, before, literal, fault) : FMT_OK;
        if (status == FMT_OK && group > 0)
            status = add_part(out, part, at, fault);
        if (status != FMT_OK)
            return status;
        at += group > 0 ? group : 1;
        literal = at;
    }
    return FMT_OK;
}

/* ---- names ---- */

typedef struct {
    char *out;
    size_t size, capacity; /* size may pass capacity: then the name did not fit */
} name_buffer;

static void put(name_buffer *name, const void *bytes, size_t size)
{
    if (name->size + size < name->capacity && size > 0)
        memcpy(name->out + name->size, bytes, size);
    name->size += size;
}

static void put_number(name_buffer *name, int64_t value, int width)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? (uint64_t)-value : (uint64_t)value;
    size_t least = width > 0 ? (size_t)width - (value < 0) : 1;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest > 0 || sizeof digits - at < least);
    if (value < 0)
        digits[--at] = '-';
    put(name, digits + at, sizeof digits - at);
}

static void put_choice(name_buffer *name, fmt_span choices, uint64_t i)
{
    const uint8_t *begin = choices.data, *end = choices.data + choices.size;
    for (; i > 0; i--)
        begin = (const uint8_t *)memchr(begin, ',', (size_t)(end - begin)) + 1;
    const uint8_t *comma = memchr(begin, ',', (size_t)(end - begin));
    put(name, begin, (size_t)((comma ? comma : end) - begin));
}

static void put_part(name_buffer *name, const fmt_pattern_part *part, uint64_t i)
{
    int64_t value = part->first + part->step * (int64_t)i;
    char letter = (char)value;
    switch (part->kind) {
    case FMT_PART_LITERAL:
        put(name, part->text.data, part->text.size);
        break;
    case FMT_PART_NUMBERS:
    case FMT_PART_COUNTER:
        put_number(name, value, part->width);
        break;
    case FMT_PART_LETTERS:
        put(name, &letter, 1);
        break;
    case FMT_PART_CHOICE:
        put_choice(name, part->text, i);
        break;
    }
}

fmt_status fmt_pattern_name(const fmt_pattern *pattern, uint64_t i, char *out, size_t capacity)
{
    uint64_t index[FMT_PATTERN_PARTS_MAX] = {0};
    for (int p = pattern->parts - 1; p >= 0; p--) {
        const fmt_pattern_part *part = &pattern->part[p];
        if (part->kind == FMT_PART_LITERAL)
            continue;
        index[p] = i % part->count;
        i /= part->count;
    }
    name_buffer name = {out, 0, capacity};
    for (int p = 0; p < pattern->parts; p++)
        put_part(&name, &pattern->part[p], index[p]);
    if (name.size >= capacity)
        return FMT_ELIMIT;
    out[name.size] = 0;
    return FMT_OK;
}
