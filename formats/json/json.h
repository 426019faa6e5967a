/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values, behind which stands jansson: json.c is the only file of formats/ and lib/ that knows
 * it. A value is owned by whoever made or parsed it until it is put into another.
 */
#ifndef FMT_JSON_H
#define FMT_JSON_H

#include "fmt.h"

typedef struct fmt_json fmt_json;

typedef enum {
    FMT_JSON_NULL,
    FMT_JSON_BOOLEAN,
    FMT_JSON_INTEGER,
    FMT_JSON_REAL,
    FMT_JSON_STRING,
    FMT_JSON_ARRAY,
    FMT_JSON_OBJECT,
} fmt_json_kind;

/*
 * Parse one JSON text, UTF-8, without duplicate keys. A fault's offset is that of the bad byte.
 * Short memory is FMT_ENOMEM, or FMT_EINVALID where jansson takes it for a wrong token.
 */
fmt_status fmt_json_parse(fmt_json **out, fmt_span text, fmt_fault *fault);

void fmt_json_free(fmt_json *value); /* NULL allowed */

/* One more owner of the same value, who frees it as well. */
fmt_json *fmt_json_share(fmt_json *value);

fmt_json_kind fmt_json_kind_of(const fmt_json *value);
int64_t fmt_json_integer(const fmt_json *value); /* 0 unless an integer */
fmt_span fmt_json_string(const fmt_json *value); /* NULL unless a string; a NUL follows the bytes */
size_t fmt_json_size(const fmt_json *value);     /* of an array or object; else 0 */

/* Borrowed; NULL where there is none. */
fmt_json *fmt_json_at(const fmt_json *array, size_t i);
fmt_json *fmt_json_get(const fmt_json *object, const char *key);

/* Call `visit` with each pair in the order of the text, until it answers other than FMT_OK. */
typedef fmt_status (*fmt_json_visit)(void *context, const char *key, fmt_json *value);
fmt_status fmt_json_each(const fmt_json *object, fmt_json_visit visit, void *context);

/* New values; NULL when memory is short. */
fmt_json *fmt_json_new_object(void);
fmt_json *fmt_json_new_array(void);
fmt_json *fmt_json_new_integer(int64_t value);

/*
 * Whether `text` is one JSON object without a key that stands twice. Integers may have any number
 * of digits. Errors as of fmt_json_parse.
 */
fmt_status fmt_json_check_object(fmt_span text, fmt_fault *fault);

enum { FMT_JSON_LOSSY_MAX = 5000 };

/*
 * A new string of bytes, for people to read: bytes that are not UTF-8 become U+FFFD each, and where
 * there are any the string ends after FMT_JSON_LOSSY_MAX bytes.
 */
fmt_json *fmt_json_new_string(const char *bytes, size_t size);

/* Put `value` (owned; also freed on failure; NULL fails) into an object or at an array's end. */
fmt_status fmt_json_set(fmt_json *object, const char *key, fmt_json *value);
fmt_status fmt_json_append(fmt_json *array, fmt_json *value);

/* Write `value` on one line, in pieces. `sink` answers false to stop, which gives FMT_END. */
typedef bool (*fmt_json_sink)(void *context, const char *text, size_t size);
fmt_status fmt_json_write(const fmt_json *value, fmt_json_sink sink, void *context);

#endif
