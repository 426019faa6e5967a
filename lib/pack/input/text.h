/* SPDX-License-Identifier: Apache-2.0 */
/* Text that is put together in somebody's buffer, which grows as it must. */
#ifndef PACK_TEXT_H
#define PACK_TEXT_H

#include "core/alloc.h"
#include "core/error.h"

typedef struct {
    uint8_t **bytes;
    size_t *size, *capacity;
    const fmt_alloc *alloc;
} pack_text;

/* False when memory is short. */
bool pack_text_put(pack_text *text, const void *bytes, size_t size);

/* Room for `size` bytes more, so that what stands in the text stays in place while they come. */
bool pack_text_reserve(pack_text *text, size_t size);

/* A JSON string of these bytes, quotes and all. */
bool pack_text_put_json(pack_text *text, const char *bytes, size_t size);

/* A JSON value as plain bytes: a string without quotes and escapes, anything else as it stands. */
shard_status pack_text_put_value(pack_text *text, fmt_span value, shard_error *err);

#endif
