/* SPDX-License-Identifier: Apache-2.0 */
#include "record.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* record is a json_t that only this file can see into. */
static json_t *in(record *r)
{
    return (json_t *)r;
}

static json_t *check(json_t *value)
{
    if (!value)
        cli_die_memory();
    return value;
}

/* A string; where the bytes are not UTF-8, all that are not ASCII are escaped. */
static json_t *string(const char *bytes, size_t size)
{
    json_t *value = json_stringn(bytes, size);
    if (value)
        return value;
    char *text = cli_allocate(size * 4 + 1, 1);
    size_t n = 0;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)bytes[i];
        n += (size_t)snprintf(text + n, 5, c < 0x80 ? "%c" : "\\x%02x", c);
    }
    value = check(json_stringn(text, n));
    free(text);
    return value;
}

static record *set(record *object, const char *key, json_t *value)
{
    if (json_object_set_new(in(object), key, check(value)) != 0)
        cli_die_memory();
    return (record *)value;
}

static record *append(record *array, json_t *value)
{
    if (json_array_append_new(in(array), check(value)) != 0)
        cli_die_memory();
    return (record *)value;
}

record *record_new(void)
{
    return (record *)check(json_object());
}

record *record_object(record *object, const char *key)
{
    json_t *name = string(key, strlen(key));
    record *value = set(object, json_string_value(name), json_object());
    json_decref(name);
    return value;
}

record *record_array(record *object, const char *key)
{
    return set(object, key, json_array());
}

record *record_item(record *array)
{
    return append(array, json_object());
}

void record_text(record *object, const char *key, const char *text)
{
    set(object, key, string(text, strlen(text)));
}

void record_name(record *object, const char *key, const char *name, size_t size)
{
    set(object, key, string(name, size));
}

bool record_exact_text(record *object, const char *key, const char *text, size_t size)
{
    json_t *value = json_stringn(text, size);
    if (value)
        set(object, key, value);
    return value;
}

void record_number(record *object, const char *key, uint64_t number)
{
    set(object, key, json_integer((json_int_t)number));
}

void record_real(record *object, const char *key, double number)
{
    set(object, key, json_real(number));
}

void record_bool(record *object, const char *key, bool value)
{
    set(object, key, json_boolean(value));
}

void record_null(record *object, const char *key)
{
    set(object, key, json_null());
}

void record_add_text(record *array, const char *text)
{
    append(array, string(text, strlen(text)));
}

void record_add_number(record *array, uint64_t number)
{
    append(array, json_integer((json_int_t)number));
}

bool record_write(record *r, FILE *out)
{
    bool ok = json_dumpf(in(r), out, JSON_COMPACT | JSON_REAL_PRECISION(6)) == 0;
    return fputc('\n', out) != EOF && ok;
}

void record_free(record *r)
{
    json_decref(in(r));
}

void record_print(record *r, FILE *out)
{
    record_write(r, out);
    record_free(r);
}
