/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "manifest/manifest.h"

typedef struct {
    fmt_json_sink sink;
    void *context;
    fmt_status status; /* the first that was not FMT_OK; nothing is written after it */
} writer;

static void put(writer *w, const char *text, size_t size)
{
    if (w->status == FMT_OK && !w->sink(w->context, text, size))
        w->status = FMT_END;
}

static void put_text(writer *w, const char *text)
{
    put(w, text, strlen(text));
}

static void put_number(writer *w, uint64_t value)
{
    char digits[FMT_DECIMAL_MAX];
    put(w, digits, fmt_decimal(digits, value));
}

static void put_string(writer *w, const char *text)
{
    if (w->status != FMT_OK)
        return;
    fmt_json *value = fmt_json_new_string(text, strlen(text));
    w->status = value ? fmt_json_write(value, w->sink, w->context) : FMT_ENOMEM;
    fmt_json_free(value);
}

static void put_hash(writer *w, const uint8_t *hash)
{
    static const char digits[] = "0123456789abcdef";
    char text[2 + 2 * FMT_MANIFEST_HASH_SIZE];
    text[0] = text[sizeof text - 1] = '"';
    for (size_t i = 0; i < FMT_MANIFEST_HASH_SIZE; i++) {
        text[1 + 2 * i] = digits[hash[i] >> 4];
        text[2 + 2 * i] = digits[hash[i] & 15];
    }
    put(w, text, sizeof text);
}

/* A key on a line of its own; the first one opens the object. */
static void put_key(writer *w, const char *key)
{
    put_text(w, ",\n\"");
    put_text(w, key);
    put_text(w, "\": ");
}

static void put_number_key(writer *w, const char *key, uint64_t value)
{
    put_key(w, key);
    put_number(w, value);
}

static void put_components(writer *w, const fmt_manifest *m)
{
    put_key(w, "components");
    for (size_t i = 0; i < m->components; i++) {
        put_text(w, i == 0 ? "{" : ", ");
        put_string(w, m->component[i].name);
        put_text(w, ": {\"count\": ");
        put_number(w, m->component[i].count);
        put_text(w, ", \"bytes\": ");
        put_number(w, m->component[i].bytes);
        put_text(w, "}");
    }
    put_text(w, m->components == 0 ? "{}" : "}");
}

/* One of a manifest's columns: element `i`. */
typedef void (*put_element)(writer *w, const fmt_manifest *m, size_t i);

static void put_array(writer *w, const fmt_manifest *m, const char *key, size_t count,
                      put_element element)
{
    put_key(w, key);
    put_text(w, "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put_text(w, ",");
        element(w, m, i);
    }
    put_text(w, "]");
}

static void put_samples(writer *w, const fmt_manifest *m, size_t i)
{
    put_number(w, m->shard[i].samples);
}

static void put_bytes(writer *w, const fmt_manifest *m, size_t i)
{
    put_number(w, m->shard[i].bytes);
}

static void put_shard_hash(writer *w, const fmt_manifest *m, size_t i)
{
    put_hash(w, m->shard[i].hash);
}

static void put_name(writer *w, const fmt_manifest *m, size_t i)
{
    put_string(w, m->shard[i].name);
}

static void put_first_key(writer *w, const fmt_manifest *m, size_t i)
{
    put_string(w, m->shard[i].first_key ? m->shard[i].first_key : "");
}

static void put_class(writer *w, const fmt_manifest *m, size_t i)
{
    put_string(w, m->class_name[i]);
}

static void put_skip(writer *w, const fmt_manifest *m, size_t i)
{
    put_text(w, "\n  {\"name\": ");
    put_string(w, m->skip[i].name);
    put_text(w, ", \"reason\": ");
    put_string(w, m->skip[i].reason);
    put_text(w, "}");
}

static void put_shards(writer *w, const fmt_manifest *m)
{
    put_number_key(w, "shards", m->shards);
    if (m->pattern) {
        put_key(w, "names");
        put_string(w, m->pattern);
    } else {
        put_array(w, m, "names", m->shards, put_name);
    }
    put_array(w, m, "shard_samples", m->shards, put_samples);
    put_array(w, m, "shard_bytes", m->shards, put_bytes);
    if (m->has_hashes)
        put_array(w, m, "shard_xxh3", m->shards, put_shard_hash);
    if (m->sorted)
        put_array(w, m, "first_keys", m->shards, put_first_key);
    if (m->sorted && m->last_key) {
        put_key(w, "last_key");
        put_string(w, m->last_key);
    }
}

fmt_status fmt_manifest_write(const fmt_manifest *m, fmt_json_sink sink, void *context)
{
    writer w = {sink, context, FMT_OK};
    put_text(&w, "{\"format\": \"shardset\"");
    put_number_key(&w, "version", FMT_MANIFEST_VERSION);
    if (m->parts > 0) {
        put_number_key(&w, "part", m->part);
        put_number_key(&w, "parts", m->parts);
    }
    if (m->pack_digest) {
        put_key(&w, "pack_digest");
        put_string(&w, m->pack_digest);
    }
    put_number_key(&w, "samples", m->samples);
    put_number_key(&w, "bytes", m->bytes);
    put_components(&w, m);
    if (m->classes > 0)
        put_array(&w, m, "classes", m->classes, put_class);
    if (m->skips > 0)
        put_array(&w, m, "skipped", m->skips, put_skip);
    put_shards(&w, m);
    put_text(&w, "\n}\n");
    return w.status;
}
