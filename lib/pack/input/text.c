/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/text.h"

#include <string.h>

#include "json/json.h"

bool pack_text_reserve(pack_text *text, size_t size)
{
    return shard_alloc_grow(text->alloc, text->bytes, text->capacity, *text->size + size, 1);
}

bool pack_text_put(pack_text *text, const void *bytes, size_t size)
{
    if (!pack_text_reserve(text, size))
        return false;
    if (size > 0)
        memcpy(*text->bytes + *text->size, bytes, size);
    *text->size += size;
    return true;
}

static bool put_sink(void *context, const char *bytes, size_t size)
{
    return pack_text_put(context, bytes, size);
}

bool pack_text_put_json(pack_text *text, const char *bytes, size_t size)
{
    fmt_json *value = fmt_json_new_string(bytes, size);
    bool ok = value && fmt_json_write(value, put_sink, text) == FMT_OK;
    fmt_json_free(value);
    return ok;
}

shard_status pack_text_put_value(pack_text *text, fmt_span value, shard_error *err)
{
    fmt_json *parsed;
    fmt_fault fault;
    if (value.size == 0 || value.data[0] != '"')
        return pack_text_put(text, value.data, value.size) ? SHARD_OK : shard_fail_memory(err);
    fmt_status status = fmt_json_parse(&parsed, value, &fault);
    if (status != FMT_OK)
        return shard_fail_fmt(err, status, &fault, NULL, 0);
    fmt_span string = fmt_json_string(parsed);
    bool ok = pack_text_put(text, string.data, string.size);
    fmt_json_free(parsed);
    return ok ? SHARD_OK : shard_fail_memory(err);
}
