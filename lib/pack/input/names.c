/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/names.h"

#include <string.h>
#include <strings.h>

shard_status pack_names_init(pack_names *names, const shard_pack_opts *opts, shard_error *err)
{
    *names = (pack_names){opts->key_last_dot, opts->renames, opts->rename_count};
    for (size_t i = 0; i < opts->rename_count; i++) {
        const char *equals = strchr(opts->renames[i], '=');
        if (!equals || equals == opts->renames[i] || equals[1] == 0 || strchr(equals + 1, '/') ||
            strlen(equals + 1) > FMT_COMPONENT_MAX)
            return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                              "not a renaming of components, FROM=TO: \"%s\"", opts->renames[i]);
    }
    return SHARD_OK;
}

/* The last dot of the file's name instead of the first: "a.b.jpg" is component jpg of "a.b". */
static void move_to_last_dot(const char *path, size_t size, fmt_name *out)
{
    size_t dot = size - 1;
    while (path[dot] != '.')
        dot--;
    if (dot == size - 1) /* "a.b." has nothing behind it: leave it */
        return;
    out->key_size = dot;
    out->component_size = size - dot - 1;
}

fmt_name_kind pack_names_split(const pack_names *names, const char *path, size_t size,
                               fmt_name *out)
{
    fmt_name_kind kind = fmt_name_split(path, size, out);
    if (!names->last_dot || (kind != FMT_NAME_COMPONENT && kind != FMT_NAME_TOO_LONG))
        return kind;
    move_to_last_dot(path, size, out);
    return out->component_size > FMT_COMPONENT_MAX ? FMT_NAME_TOO_LONG : FMT_NAME_COMPONENT;
}

const char *pack_names_component(const pack_names *names, const char *component, size_t *size)
{
    for (size_t i = 0; i < names->rename_count; i++) {
        const char *from = names->renames[i];
        size_t from_size = (size_t)(strchr(from, '=') - from);
        if (from_size == *size && strncasecmp(from, component, from_size) == 0) {
            *size = strlen(from + from_size + 1);
            return from + from_size + 1;
        }
    }
    return component;
}
