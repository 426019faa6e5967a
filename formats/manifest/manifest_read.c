/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "manifest/manifest.h"
#include "naming/pattern.h"

typedef struct {
    fmt_manifest *out;
    fmt_json *root;
    fmt_fault *fault;
} parse;

void fmt_manifest_init(fmt_manifest *manifest, const fmt_alloc *alloc)
{
    memset(manifest, 0, sizeof *manifest);
    fmt_arena_init(&manifest->arena, alloc);
}

void fmt_manifest_clear(fmt_manifest *manifest)
{
    fmt_arena_clear(&manifest->arena);
}

static fmt_status fail(parse *p, fmt_status status, const char *what, const char *key)
{
    return fmt_fail_name(p->fault, status, what, 0, key, strlen(key));
}

static fmt_status no_memory(parse *p)
{
    return fmt_fail(p->fault, FMT_ENOMEM, "out of memory", 0);
}

/* The value of `key`, of this kind; NULL with FMT_OK where it is absent and need not be there. */
static fmt_status get(parse *p, const fmt_json *object, const char *key, fmt_json_kind kind,
                      bool needed, fmt_json **out)
{
    *out = fmt_json_get(object, key);
    if (!*out)
        return needed ? fail(p, FMT_EINVALID, "manifest lacks a key", key) : FMT_OK;
    if (fmt_json_kind_of(*out) != kind)
        return fail(p, FMT_EINVALID, "manifest value has a wrong type", key);
    return FMT_OK;
}

static fmt_status get_number(parse *p, const fmt_json *object, const char *key, bool needed,
                             uint64_t *out)
{
    fmt_json *value;
    fmt_status status = get(p, object, key, FMT_JSON_INTEGER, needed, &value);
    if (status != FMT_OK || !value)
        return status;
    if (fmt_json_integer(value) < 0)
        return fail(p, FMT_EINVALID, "manifest number is negative", key);
    *out = (uint64_t)fmt_json_integer(value);
    return FMT_OK;
}

static fmt_status copy_string(parse *p, const fmt_json *value, const char *key, const char **out)
{
    if (!value || fmt_json_kind_of(value) != FMT_JSON_STRING)
        return fail(p, FMT_EINVALID, "manifest value is not a string", key);
    fmt_span text = fmt_json_string(value);
    if (memchr(text.data, 0, text.size))
        return fail(p, FMT_EINVALID, "manifest string holds a NUL", key);
    *out = fmt_arena_text(&p->out->arena, text.data, text.size);
    return *out ? FMT_OK : no_memory(p);
}

/* ---- what the set is ---- */

static fmt_status read_head(parse *p)
{
    fmt_json *format;
    fmt_status status = get(p, p->root, "format", FMT_JSON_STRING, true, &format);
    if (status != FMT_OK)
        return status;
    fmt_span name = fmt_json_string(format);
    if (name.size != strlen("shardset") || memcmp(name.data, "shardset", name.size) != 0)
        return fail(p, FMT_EINVALID, "not a shardset manifest", "format");
    uint64_t version = 0, part = 0, parts = 0;
    status = get_number(p, p->root, "version", true, &version);
    if (status == FMT_OK && (version == 0 || version > FMT_MANIFEST_VERSION))
        return fmt_fail_values(p->fault, FMT_EUNSUPPORTED, "manifest version", 0,
                               FMT_MANIFEST_VERSION, version);
    if (status == FMT_OK)
        status = get_number(p, p->root, "samples", true, &p->out->samples);
    if (status == FMT_OK)
        status = get_number(p, p->root, "bytes", true, &p->out->bytes);
    if (status == FMT_OK)
        status = get_number(p, p->root, "part", false, &part);
    if (status == FMT_OK)
        status = get_number(p, p->root, "parts", false, &parts);
    if (status == FMT_OK && (parts > UINT32_MAX || part > parts || (parts > 0 && part == 0)))
        return fail(p, FMT_EINVALID, "manifest part is out of range", "part");
    p->out->part = (uint32_t)part;
    p->out->parts = (uint32_t)parts;
    const fmt_json *digest = fmt_json_get(p->root, "pack_digest");
    if (status == FMT_OK && digest)
        status = copy_string(p, digest, "pack_digest", &p->out->pack_digest);
    return status;
}

/* ---- shards ---- */

bool fmt_manifest_name_ok(const char *name, size_t size)
{
    if (size == 0 || name[0] == '/' || memchr(name, 0, size))
        return false;
    for (size_t begin = 0; begin <= size;) {
        const char *slash = memchr(name + begin, '/', size - begin);
        size_t end = slash ? (size_t)(slash - name) : size;
        if (end - begin == 0 || (end - begin == 2 && memcmp(name + begin, "..", 2) == 0))
            return false; /* "//" stands in every URL */
        begin = end + 1;
    }
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)name[i] < 0x20 || name[i] == 0x7f)
            return false;
    return true;
}

static fmt_status set_name(parse *p, size_t i, const char *name)
{
    if (!fmt_manifest_name_ok(name, strlen(name)))
        return fail(p, FMT_EINVALID, "shard name leaves the manifest's folder", "names");
    p->out->shard[i].name = name;
    return FMT_OK;
}

/* One range that counts up by one, and nothing else that a pattern may have. */
static bool counts_up(const fmt_pattern *pattern)
{
    int ranges = 0;
    for (int i = 0; i < pattern->parts; i++) {
        const fmt_pattern_part *part = &pattern->part[i];
        if (part->kind == FMT_PART_LITERAL)
            continue;
        if (part->kind != FMT_PART_NUMBERS || part->step != 1 || part->first < 0)
            return false;
        ranges++;
    }
    return ranges == 1;
}

static fmt_status names_from_pattern(parse *p, const fmt_json *names)
{
    fmt_pattern pattern;
    fmt_status status = copy_string(p, names, "names", &p->out->pattern);
    if (status != FMT_OK)
        return status;
    if (fmt_pattern_parse(&pattern, p->out->pattern, strlen(p->out->pattern), false, p->fault) !=
            FMT_OK ||
        pattern.count != p->out->shards || !counts_up(&pattern))
        return fail(p, FMT_EINVALID, "name pattern against the number of shards", "names");
    for (size_t i = 0; i < p->out->shards && status == FMT_OK; i++) {
        char name[FMT_PATTERN_NAME_MAX];
        if (fmt_pattern_name(&pattern, i, name, sizeof name) != FMT_OK)
            return fail(p, FMT_ELIMIT, "shard name is too long", "names");
        char *copy = fmt_arena_text(&p->out->arena, name, strlen(name));
        status = copy ? set_name(p, i, copy) : no_memory(p);
    }
    return status;
}

static fmt_status read_names(parse *p)
{
    const fmt_json *names = fmt_json_get(p->root, "names");
    if (!names)
        return fail(p, FMT_EINVALID, "manifest lacks a key", "names");
    if (fmt_json_kind_of(names) == FMT_JSON_STRING)
        return names_from_pattern(p, names);
    if (fmt_json_kind_of(names) != FMT_JSON_ARRAY || fmt_json_size(names) != p->out->shards)
        return fail(p, FMT_EINVALID, "manifest column's length", "names");
    fmt_status status = FMT_OK;
    for (size_t i = 0; i < p->out->shards && status == FMT_OK; i++) {
        const char *name;
        status = copy_string(p, fmt_json_at(names, i), "names", &name);
        if (status == FMT_OK)
            status = set_name(p, i, name);
    }
    return status;
}

/* A column of numbers whose sum must be `total`. */
static fmt_status read_column(parse *p, const char *key, uint64_t total, size_t field)
{
    fmt_json *column;
    fmt_status status = get(p, p->root, key, FMT_JSON_ARRAY, true, &column);
    if (status != FMT_OK)
        return status;
    if (fmt_json_size(column) != p->out->shards)
        return fail(p, FMT_EINVALID, "manifest column's length", key);
    uint64_t sum = 0;
    for (size_t i = 0; i < p->out->shards; i++) {
        const fmt_json *value = fmt_json_at(column, i);
        if (fmt_json_kind_of(value) != FMT_JSON_INTEGER || fmt_json_integer(value) < 0)
            return fail(p, FMT_EINVALID, "manifest column holds other than counts", key);
        uint64_t number = (uint64_t)fmt_json_integer(value);
        memcpy((char *)&p->out->shard[i] + field, &number, sizeof number);
        if (number > INT64_MAX - sum)
            return fail(p, FMT_ELIMIT, "manifest column's sum overflows", key);
        sum += number;
    }
    if (sum == total)
        return FMT_OK;
    fmt_fail_values(p->fault, FMT_EINVALID, "manifest total against its column", 0, total, sum);
    strncpy(p->fault->name, key, sizeof p->fault->name - 1);
    return FMT_EINVALID;
}

static int hex_digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool read_hex(fmt_span text, uint8_t *out, size_t size)
{
    if (text.size != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(text.data[2 * i]), low = hex_digit(text.data[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

static fmt_status read_hashes(parse *p)
{
    fmt_json *column;
    fmt_status status = get(p, p->root, "shard_xxh3", FMT_JSON_ARRAY, false, &column);
    if (status != FMT_OK || !column)
        return status;
    if (fmt_json_size(column) != p->out->shards)
        return fail(p, FMT_EINVALID, "manifest column's length", "shard_xxh3");
    for (size_t i = 0; i < p->out->shards; i++)
        if (!read_hex(fmt_json_string(fmt_json_at(column, i)), p->out->shard[i].hash,
                      FMT_MANIFEST_HASH_SIZE))
            return fail(p, FMT_EINVALID, "manifest hash is not 32 hexadecimal digits",
                        "shard_xxh3");
    p->out->has_hashes = true;
    return FMT_OK;
}

static fmt_status read_first_keys(parse *p)
{
    fmt_json *column;
    fmt_status status = get(p, p->root, "first_keys", FMT_JSON_ARRAY, false, &column);
    if (status != FMT_OK || !column)
        return status;
    if (fmt_json_size(column) != p->out->shards)
        return fail(p, FMT_EINVALID, "manifest column's length", "first_keys");
    const fmt_json *last_key = fmt_json_get(p->root, "last_key");
    if (last_key)
        status = copy_string(p, last_key, "last_key", &p->out->last_key);
    const char *previous = "";
    for (size_t i = 0; i < p->out->shards && status == FMT_OK; i++) {
        status = copy_string(p, fmt_json_at(column, i), "first_keys", &p->out->shard[i].first_key);
        if (status != FMT_OK || p->out->shard[i].samples == 0)
            continue;
        if (strcmp(previous, p->out->shard[i].first_key) >= 0)
            return fail(p, FMT_EINVALID, "manifest keys are not in order", "first_keys");
        previous = p->out->shard[i].first_key;
    }
    if (status == FMT_OK && p->out->last_key && strcmp(previous, p->out->last_key) > 0)
        return fail(p, FMT_EINVALID, "manifest keys are not in order", "last_key");
    p->out->sorted = true;
    return status;
}

static fmt_status read_shards(parse *p)
{
    uint64_t shards = 0;
    fmt_status status = get_number(p, p->root, "shards", true, &shards);
    if (status != FMT_OK)
        return status;
    if (shards > FMT_MANIFEST_SHARDS_MAX)
        return fmt_fail_values(p->fault, FMT_ELIMIT, "number of shards", 0, FMT_MANIFEST_SHARDS_MAX,
                               shards);
    fmt_json *samples; /* asked for first, so that a wrong `shards` allocates nothing */
    status = get(p, p->root, "shard_samples", FMT_JSON_ARRAY, true, &samples);
    if (status != FMT_OK)
        return status;
    if (fmt_json_size(samples) != shards)
        return fail(p, FMT_EINVALID, "manifest column's length", "shard_samples");
    p->out->shards = (size_t)shards;
    p->out->shard = fmt_arena_array(&p->out->arena, p->out->shards, sizeof *p->out->shard);
    if (!p->out->shard)
        return no_memory(p);
    status =
        read_column(p, "shard_samples", p->out->samples, offsetof(fmt_manifest_shard, samples));
    if (status == FMT_OK)
        status = read_column(p, "shard_bytes", p->out->bytes, offsetof(fmt_manifest_shard, bytes));
    if (status == FMT_OK)
        status = read_names(p);
    if (status == FMT_OK)
        status = read_hashes(p);
    if (status == FMT_OK)
        status = read_first_keys(p);
    return status;
}

/* ---- what a sample is made of ---- */

static fmt_status read_component(void *context, const char *key, fmt_json *value)
{
    parse *p = context;
    fmt_manifest_component *c = &p->out->component[p->out->components];
    if (fmt_json_kind_of(value) != FMT_JSON_OBJECT)
        return fail(p, FMT_EINVALID, "manifest value has a wrong type", "components");
    fmt_status status = get_number(p, value, "count", true, &c->count);
    if (status == FMT_OK)
        status = get_number(p, value, "bytes", true, &c->bytes);
    if (status != FMT_OK)
        return status;
    c->name = fmt_arena_text(&p->out->arena, key, strlen(key));
    if (!c->name)
        return no_memory(p);
    p->out->components++;
    return FMT_OK;
}

static fmt_status read_components(parse *p)
{
    fmt_json *components;
    fmt_status status = get(p, p->root, "components", FMT_JSON_OBJECT, true, &components);
    if (status != FMT_OK)
        return status;
    p->out->component =
        fmt_arena_array(&p->out->arena, fmt_json_size(components) + 1, sizeof *p->out->component);
    if (!p->out->component)
        return no_memory(p);
    return fmt_json_each(components, read_component, p);
}

static fmt_status read_classes(parse *p)
{
    fmt_json *classes;
    fmt_status status = get(p, p->root, "classes", FMT_JSON_ARRAY, false, &classes);
    if (status != FMT_OK || !classes)
        return status;
    size_t count = fmt_json_size(classes);
    p->out->class_name = fmt_arena_array(&p->out->arena, count + 1, sizeof *p->out->class_name);
    if (!p->out->class_name)
        return no_memory(p);
    for (; p->out->classes < count && status == FMT_OK; p->out->classes++)
        status = copy_string(p, fmt_json_at(classes, p->out->classes), "classes",
                             &p->out->class_name[p->out->classes]);
    return status;
}

static fmt_status read_skips(parse *p)
{
    fmt_json *skips;
    fmt_status status = get(p, p->root, "skipped", FMT_JSON_ARRAY, false, &skips);
    if (status != FMT_OK || !skips)
        return status;
    size_t count = fmt_json_size(skips);
    p->out->skip = fmt_arena_array(&p->out->arena, count + 1, sizeof *p->out->skip);
    if (!p->out->skip)
        return no_memory(p);
    for (; p->out->skips < count && status == FMT_OK; p->out->skips++) {
        const fmt_json *value = fmt_json_at(skips, p->out->skips);
        fmt_manifest_skip *skip = &p->out->skip[p->out->skips];
        status = copy_string(p, fmt_json_get(value, "name"), "skipped", &skip->name);
        if (status == FMT_OK)
            status = copy_string(p, fmt_json_get(value, "reason"), "skipped", &skip->reason);
    }
    return status;
}

fmt_status fmt_manifest_parse(fmt_manifest *out, fmt_span text, fmt_fault *fault)
{
    parse p = {.out = out, .fault = fault};
    fmt_status status = fmt_json_parse(&p.root, text, fault);
    if (status != FMT_OK)
        return status;
    if (fmt_json_kind_of(p.root) != FMT_JSON_OBJECT)
        status = fmt_fail(fault, FMT_EINVALID, "manifest is not a JSON object", 0);
    if (status == FMT_OK)
        status = read_head(&p);
    if (status == FMT_OK)
        status = read_shards(&p);
    if (status == FMT_OK)
        status = read_components(&p);
    if (status == FMT_OK)
        status = read_classes(&p);
    if (status == FMT_OK)
        status = read_skips(&p);
    fmt_json_free(p.root);
    return status;
}
