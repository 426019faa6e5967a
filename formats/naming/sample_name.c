/* SPDX-License-Identifier: Apache-2.0 */
#include "naming/sample_name.h"

#include <string.h>

#include "utf8.h"

/* "__x__" or "__x__/...": webdataset's __[^/]*__($|/), matched at the start of the path. */
static bool is_reserved(const char *path, size_t size)
{
    const char *slash = memchr(path, '/', size);
    size_t first = slash ? (size_t)(slash - path) : size;
    return first >= 4 && memcmp(path, "__", 2) == 0 && memcmp(path + first - 2, "__", 2) == 0;
}

static size_t base_offset(const char *path, size_t size)
{
    while (size > 0 && path[size - 1] != '/')
        size--;
    return size;
}

fmt_name_kind fmt_name_split(const char *path, size_t path_size, fmt_name *out)
{
    if (is_reserved(path, path_size))
        return FMT_NAME_RESERVED;
    size_t base = base_offset(path, path_size);
    const char *dot = memchr(path + base, '.', path_size - base);
    if (!dot)
        return FMT_NAME_NO_EXTENSION;
    out->key_size = (size_t)(dot - path);
    if (out->key_size == base)
        return FMT_NAME_HIDDEN;
    out->component_size = path_size - out->key_size - 1;
    if (out->component_size == 0)
        return FMT_NAME_NO_EXTENSION;
    return out->component_size > FMT_COMPONENT_MAX ? FMT_NAME_TOO_LONG : FMT_NAME_COMPONENT;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_control(char c)
{
    return (unsigned char)c < 0x20 || c == 0x7f;
}

void fmt_component_copy(char *out, const char *component, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = lower(component[i]);
}

bool fmt_key_write(char *out, const char *key, size_t size)
{
    bool renamed = false;
    for (size_t i = 0; i < size; i++) {
        bool replace = key[i] == '.' || is_control(key[i]);
        out[i] = replace ? '_' : key[i];
        renamed = renamed || replace;
    }
    return renamed;
}

bool fmt_key_ok(const char *key, size_t size)
{
    if (size == 0 || size > FMT_KEY_MAX || key[0] == '/' || key[size - 1] == '/')
        return false;
    return !memchr(key, '/', size) || !is_reserved(key, size);
}

void fmt_component_write(char *out, const char *component, size_t size)
{
    for (size_t i = 0; i < size;) {
        size_t n = fmt_utf8_size(component + i, size - i);
        bool keep = n > 0 && !is_control(component[i]);
        memcpy(out + i, keep ? component + i : "_", n > 0 ? n : 1);
        out[i] = lower(out[i]);
        i += n > 0 ? n : 1;
    }
}
