/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/sample.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pack_sample_init(pack_sample *sample, const fmt_alloc *alloc)
{
    memset(sample, 0, sizeof *sample);
    sample->alloc = *alloc;
}

static void close_files(pack_sample *sample)
{
    for (size_t i = 0; i < sample->components; i++)
        if (sample->component[i].file >= 0)
            close(sample->component[i].file);
    sample->components = 0;
}

void pack_sample_clear(pack_sample *sample)
{
    close_files(sample);
    shard_alloc_free(&sample->alloc, sample->component);
    shard_alloc_free(&sample->alloc, sample->bytes);
    sample->component = NULL;
    sample->bytes = NULL;
}

shard_status pack_sample_begin(pack_sample *sample, const char *key, size_t key_size,
                               shard_error *err)
{
    if (key_size == 0 || key_size > FMT_KEY_MAX)
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET, "key of %zu bytes", key_size);
    sample->renamed = fmt_key_write(sample->key, key, key_size);
    sample->key[key_size] = 0;
    sample->key_size = key_size;
    if (!fmt_key_ok(sample->key, key_size))
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                          "readers would not find the key \"%.*s\" again: it begins or ends with "
                          "'/', or its folder has a reserved name (__...__)",
                          400, sample->key);
    close_files(sample);
    sample->bytes_size = 0;
    return SHARD_OK;
}

/* Where `name` belongs; most come in order, so look from the end. */
static size_t place_of(const pack_sample *sample, const char *name, bool *taken)
{
    size_t at = sample->components;
    int order = -1;
    while (at > 0 && (order = strcmp(sample->component[at - 1].name, name)) > 0)
        at--;
    *taken = at > 0 && order == 0;
    return at;
}

shard_status pack_sample_add(pack_sample *sample, const char *name, size_t name_size,
                             pack_component **out, shard_error *err)
{
    char stored[FMT_COMPONENT_MAX + 1];
    bool taken;
    if (name_size == 0 || name_size > FMT_COMPONENT_MAX)
        return pack_sample_fail(sample, SHARD_EDATA, err, "component name of %zu bytes", name_size);
    fmt_component_write(stored, name, name_size);
    stored[name_size] = 0;
    size_t at = place_of(sample, stored, &taken);
    if (taken)
        return pack_sample_fail(sample, SHARD_EDATA, err, "has two components \"%s\"", stored);
    if (!shard_alloc_grow(&sample->alloc, &sample->component, &sample->capacity,
                          sample->components + 1, sizeof *sample->component))
        return shard_fail_memory(err);
    memmove(sample->component + at + 1, sample->component + at,
            (sample->components - at) * sizeof *sample->component);
    sample->components++;
    *out = &sample->component[at];
    **out = (pack_component){.folder = -1, .file = -1};
    memcpy((*out)->name, stored, name_size + 1);
    return SHARD_OK;
}

void pack_sample_settle(pack_sample *sample)
{
    for (size_t i = 0; i < sample->components; i++)
        if (sample->component[i].in_bytes)
            sample->component[i].data = sample->bytes + sample->component[i].offset;
}

pack_component *pack_sample_find(const pack_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->components; i++)
        if (strcmp(sample->component[i].name, name) == 0)
            return &sample->component[i];
    return NULL;
}

shard_status pack_sample_fail(const pack_sample *sample, shard_status status, shard_error *err,
                              const char *text, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, text);
    vsnprintf(why, sizeof why, text, arguments);
    va_end(arguments);
    return shard_fail(err, status, NULL, SHARD_NO_OFFSET, "sample \"%.400s\" %s", sample->key, why);
}
