/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/columns.h"

#include <string.h>
#include <sys/stat.h>

#include "json/json_text.h"

void pack_columns_init(pack_columns *columns, const fmt_alloc *alloc)
{
    *columns = (pack_columns){.alloc = *alloc};
    fmt_arena_init(&columns->arena, &columns->alloc);
}

void pack_columns_clear(pack_columns *columns)
{
    shard_alloc_free(&columns->alloc, columns->column);
    fmt_arena_clear(&columns->arena);
}

static shard_status add(pack_columns *columns, const char *name, size_t size, pack_column_use use,
                        const char *component, shard_error *err)
{
    if (!shard_alloc_grow(&columns->alloc, &columns->column, &columns->capacity, columns->count + 1,
                          sizeof *columns->column))
        return shard_fail_memory(err);
    pack_column *column = &columns->column[columns->count++];
    *column = (pack_column){fmt_arena_text(&columns->arena, name, size), use, component};
    return column->name ? SHARD_OK : shard_fail_memory(err);
}

/* "COLUMN" or "COLUMN=COMPONENT". */
static shard_status add_option(pack_columns *columns, const char *text, pack_column_use use,
                               shard_error *err)
{
    const char *equals = strchr(text, '=');
    if ((!equals && use == PACK_COLUMN_FIELD) || equals == text || (equals && equals[1] == 0))
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "not a column and its component, COLUMN=COMPONENT: \"%s\"", text);
    size_t size = equals ? (size_t)(equals - text) : strlen(text);
    return add(columns, text, size, use, equals ? equals + 1 : NULL, err);
}

shard_status pack_columns_add_options(pack_columns *columns, const shard_pack_opts *opts,
                                      shard_error *err)
{
    if (opts->table_key)
        SHARD_TRY(
            add(columns, opts->table_key, strlen(opts->table_key), PACK_COLUMN_KEY, NULL, err));
    for (size_t i = 0; i < opts->table_file_count; i++)
        SHARD_TRY(add_option(columns, opts->table_files[i], PACK_COLUMN_FILE, err));
    for (size_t i = 0; i < opts->table_field_count; i++)
        SHARD_TRY(add_option(columns, opts->table_fields[i], PACK_COLUMN_FIELD, err));
    return SHARD_OK;
}

const pack_column *pack_columns_find(const pack_columns *columns, fmt_span name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strlen(columns->column[i].name) == name.size &&
            memcmp(columns->column[i].name, name.data, name.size) == 0)
            return &columns->column[i];
    return NULL;
}

static shard_status learn_key(pack_columns *columns, const char *table, fmt_span row,
                              shard_error *err)
{
    fmt_json_member member;
    for (size_t at = 0; fmt_json_next_member(row, &at, &member);) {
        const char *name = (const char *)member.key.data;
        if ((member.key.size == 3 && memcmp(name, "key", 3) == 0) ||
            (member.key.size == 7 && memcmp(name, "__key__", 7) == 0))
            return add(columns, name, member.key.size, PACK_COLUMN_KEY, NULL, err);
    }
    return shard_fail(err, SHARD_EINVAL, table, SHARD_NO_OFFSET,
                      "no column \"key\" or \"__key__\": name the column of keys (--key)");
}

static shard_status learn_files(pack_columns *columns, fmt_span row, int folder, pack_text *text,
                                shard_error *err)
{
    fmt_json_member member;
    for (size_t at = 0; fmt_json_next_member(row, &at, &member);) {
        struct stat info;
        size_t begin = *text->size;
        if (member.value.data[0] != '"' || pack_columns_find(columns, member.key))
            continue;
        SHARD_TRY(pack_text_put_value(text, member.value, err));
        if (!pack_text_put(text, "", 1))
            return shard_fail_memory(err);
        const char *path = (const char *)*text->bytes + begin;
        bool is_file = *path && fstatat(folder, path, &info, 0) == 0 && S_ISREG(info.st_mode);
        *text->size = begin;
        if (is_file)
            SHARD_TRY(add(columns, (const char *)member.key.data, member.key.size, PACK_COLUMN_FILE,
                          NULL, err));
    }
    return SHARD_OK;
}

shard_status pack_columns_learn(pack_columns *columns, const shard_pack_opts *opts, fmt_span row,
                                int folder, pack_text *text, shard_error *err)
{
    if (!opts->table_key)
        SHARD_TRY(learn_key(columns, opts->table, row, err));
    return opts->table_file_count > 0 ? SHARD_OK : learn_files(columns, row, folder, text, err);
}
