/* SPDX-License-Identifier: Apache-2.0 */
#include "dali/dali_idx.h"

#include <string.h>

static bool is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next field of the present line; empty at the line's end. */
static fmt_span next_field(fmt_dali_reader *r)
{
    const uint8_t *text = r->text.data;
    while (r->at < r->text.size && text[r->at] != '\n' && is_space(text[r->at]))
        r->at++;
    size_t begin = r->at;
    while (r->at < r->text.size && !is_space(text[r->at]))
        r->at++;
    return (fmt_span){text + begin, r->at - begin};
}

static bool to_number(fmt_span field, uint64_t *out)
{
    *out = 0;
    for (size_t i = 0; i < field.size; i++) {
        if (field.data[i] < '0' || field.data[i] > '9' || *out > (INT64_MAX - 9) / 10)
            return false;
        *out = *out * 10 + (uint64_t)(field.data[i] - '0');
    }
    return field.size > 0;
}

static bool equals(fmt_span field, const char *text)
{
    return field.size == strlen(text) && memcmp(field.data, text, field.size) == 0;
}

/* Pass over the line's end; false where something else stands there. */
static bool end_line(fmt_dali_reader *r)
{
    if (next_field(r).size > 0)
        return false;
    r->at += r->at < r->text.size;
    return true;
}

fmt_status fmt_dali_open(fmt_dali_reader *reader, fmt_span text, fmt_fault *fault)
{
    *reader = (fmt_dali_reader){.text = text};
    fmt_span version = next_field(reader);
    if (equals(version, "v1.1"))
        return fmt_fail(fault, FMT_EUNSUPPORTED, "DALI index v1.1 has no names; v1.2 is needed", 0);
    if (!equals(version, "v1.2"))
        return fmt_fail(fault, FMT_EINVALID, "not a DALI index (v1.2)", 0);
    if (!to_number(next_field(reader), &reader->samples) || !end_line(reader))
        return fmt_fail(fault, FMT_EINVALID, "DALI index: number of samples", reader->at);
    return FMT_OK;
}

/* At a line's end: go to the next one. FMT_END behind the last. */
static fmt_status next_line(fmt_dali_reader *r, fmt_fault *fault)
{
    if (r->sample > 0)
        end_line(r);
    if (r->sample == r->samples)
        return FMT_END; /* DALI does not look further either */
    if (r->at == r->text.size)
        return fmt_fail_values(fault, FMT_ETRUNCATED, "DALI index: lines", r->at, r->samples,
                               r->sample);
    r->sample++;
    return FMT_OK;
}

fmt_status fmt_dali_next(fmt_dali_reader *r, fmt_dali_component *out, fmt_fault *fault)
{
    out->begins_sample = r->sample == 0;
    out->component = r->sample == 0 ? (fmt_span){NULL, 0} : next_field(r);
    if (out->component.size == 0) {
        fmt_status status = next_line(r, fault);
        if (status != FMT_OK)
            return status;
        out->begins_sample = true;
        out->component = next_field(r);
    }
    size_t at = r->at - out->component.size;
    bool numbers = to_number(next_field(r), &out->offset) && to_number(next_field(r), &out->size);
    out->name = next_field(r);
    if (out->component.size == 0 || !numbers || out->name.size == 0)
        return fmt_fail(fault, FMT_EINVALID,
                        "DALI index: component, offset, size and name expected", at);
    if (out->offset % 512 != 0 || out->offset < 512)
        return fmt_fail_values(fault, FMT_EINVALID, "DALI index: offset is not that of a payload",
                               at, out->offset / 512 * 512, out->offset);
    return FMT_OK;
}

/* ---- writing ---- */

typedef struct {
    char *out;
    size_t size;
} line;

static void put_number(line *l, uint64_t value)
{
    l->size += fmt_decimal(l->out + l->size, value);
}

static void put_bytes(line *l, const void *bytes, size_t size)
{
    memcpy(l->out + l->size, bytes, size);
    l->size += size;
}

size_t fmt_dali_write_head(char out[FMT_DALI_LINE_MAX], uint64_t samples)
{
    line l = {out, 0};
    put_bytes(&l, "v1.2 ", 5);
    put_number(&l, samples);
    put_bytes(&l, "\n", 1);
    return l.size;
}

static bool is_writable(fmt_span name)
{
    for (size_t i = 0; i < name.size; i++)
        if (name.data[i] <= ' ' || name.data[i] == 0x7f)
            return false;
    return name.size > 0;
}

size_t fmt_dali_write(char out[FMT_DALI_LINE_MAX], fmt_span key, fmt_span component,
                      uint64_t payload_offset, uint64_t size)
{
    const size_t numbers = 2 * 20 + 4; /* and spaces, and the dot */
    if (!is_writable(key) || !is_writable(component) ||
        2 * component.size + key.size + numbers > FMT_DALI_LINE_MAX)
        return 0;
    line l = {out, 0};
    put_bytes(&l, component.data, component.size);
    put_bytes(&l, " ", 1);
    put_number(&l, payload_offset);
    put_bytes(&l, " ", 1);
    put_number(&l, size);
    put_bytes(&l, " ", 1);
    put_bytes(&l, key.data, key.size);
    put_bytes(&l, ".", 1);
    put_bytes(&l, component.data, component.size);
    return l.size;
}
