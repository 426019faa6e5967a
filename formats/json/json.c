/* SPDX-License-Identifier: Apache-2.0 */
#include "json/json.h"

#include <jansson.h>
#include <string.h>

#include "utf8.h"

/* fmt_json is a json_t that only this file can see into. */
static json_t *in(const fmt_json *value)
{
    return (json_t *)(uintptr_t)value;
}

static fmt_json *out(json_t *value)
{
    return (fmt_json *)value;
}

static fmt_status load(json_t **result, fmt_span text, size_t flags, fmt_fault *fault)
{
    json_error_t error;
    *result = json_loadb((const char *)text.data, text.size,
                         flags | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (*result)
        return FMT_OK;
    /* What is wrong with a text is always said; short memory often is not. */
    if (json_error_code(&error) == json_error_out_of_memory || !*error.text)
        return fmt_fail(fault, FMT_ENOMEM, "out of memory", 0);
    return fmt_fail(fault, FMT_EINVALID, "not valid JSON",
                    error.position > 0 ? (uint64_t)error.position : 0);
}

fmt_status fmt_json_parse(fmt_json **result, fmt_span text, fmt_fault *fault)
{
    json_t *value;
    fmt_status status = load(&value, text, JSON_DECODE_ANY, fault);
    *result = out(value);
    return status;
}

fmt_status fmt_json_check_object(fmt_span text, fmt_fault *fault)
{
    json_t *value;
    fmt_status status = load(&value, text, JSON_DECODE_INT_AS_REAL, fault);
    if (status == FMT_OK && !json_is_object(value))
        status = fmt_fail(fault, FMT_EINVALID, "not a JSON object", 0);
    json_decref(value);
    return status;
}

void fmt_json_free(fmt_json *value)
{
    json_decref(in(value));
}

fmt_json *fmt_json_share(fmt_json *value)
{
    return out(json_incref(in(value)));
}

fmt_json_kind fmt_json_kind_of(const fmt_json *value)
{
    if (!value)
        return FMT_JSON_NULL;
    switch (json_typeof(in(value))) {
    case JSON_OBJECT:
        return FMT_JSON_OBJECT;
    case JSON_ARRAY:
        return FMT_JSON_ARRAY;
    case JSON_STRING:
        return FMT_JSON_STRING;
    case JSON_INTEGER:
        return FMT_JSON_INTEGER;
    case JSON_REAL:
        return FMT_JSON_REAL;
    case JSON_TRUE:
    case JSON_FALSE:
        return FMT_JSON_BOOLEAN;
    case JSON_NULL:
        break;
    }
    return FMT_JSON_NULL;
}

int64_t fmt_json_integer(const fmt_json *value)
{
    return json_integer_value(in(value));
}

fmt_span fmt_json_string(const fmt_json *value)
{
    const char *text = json_string_value(in(value));
    return (fmt_span){(const uint8_t *)text, json_string_length(in(value))};
}

size_t fmt_json_size(const fmt_json *value)
{
    return json_is_array(in(value)) ? json_array_size(in(value)) : json_object_size(in(value));
}

fmt_json *fmt_json_at(const fmt_json *array, size_t i)
{
    return out(json_array_get(in(array), i));
}

fmt_json *fmt_json_get(const fmt_json *object, const char *key)
{
    return out(json_object_get(in(object), key));
}

fmt_status fmt_json_each(const fmt_json *object, fmt_json_visit visit, void *context)
{
    fmt_status status = FMT_OK;
    for (void *i = json_object_iter(in(object)); i && status == FMT_OK;
         i = json_object_iter_next(in(object), i))
        status = visit(context, json_object_iter_key(i), out(json_object_iter_value(i)));
    return status;
}

fmt_json *fmt_json_new_object(void)
{
    return out(json_object());
}

fmt_json *fmt_json_new_array(void)
{
    return out(json_array());
}

fmt_json *fmt_json_new_integer(int64_t value)
{
    return out(json_integer(value));
}

fmt_json *fmt_json_new_string(const char *bytes, size_t size)
{
    static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
    char text[3 * FMT_JSON_LOSSY_MAX];
    size_t n = 0;
    if (fmt_utf8_ok(bytes, size))
        return out(json_stringn(bytes, size));
    for (size_t i = 0; i < size && n + 4 < sizeof text;) {
        size_t character = fmt_utf8_size(bytes + i, size - i);
        memcpy(text + n, character ? bytes + i : replacement, character ? character : 3);
        n += character ? character : 3;
        i += character ? character : 1;
    }
    return out(json_stringn(text, n));
}

fmt_status fmt_json_set(fmt_json *object, const char *key, fmt_json *value)
{
    return value && json_object_set_new(in(object), key, in(value)) == 0 ? FMT_OK : FMT_ENOMEM;
}

fmt_status fmt_json_append(fmt_json *array, fmt_json *value)
{
    return value && json_array_append_new(in(array), in(value)) == 0 ? FMT_OK : FMT_ENOMEM;
}

typedef struct {
    fmt_json_sink sink;
    void *context;
    bool stopped;
} sink_call;

static int call_sink(const char *text, size_t size, void *data)
{
    sink_call *call = data;
    call->stopped = call->stopped || !call->sink(call->context, text, size);
    return call->stopped ? -1 : 0;
}

fmt_status fmt_json_write(const fmt_json *value, fmt_json_sink sink, void *context)
{
    sink_call call = {sink, context, false};
    if (json_dump_callback(in(value), call_sink, &call, JSON_ENCODE_ANY | JSON_COMPACT) == 0)
        return FMT_OK;
    return call.stopped ? FMT_END : FMT_ENOMEM;
}
