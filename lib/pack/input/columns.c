/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/columns.h"

#include <string.h>
#include <sys/stat.h>

#include "json/json.h"
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

enum { LOOKS_MOST = 1000 };

static shard_status add(pack_columns *columns, pack_column column, size_t name_size,
                        shard_error *err)
{
    if (!shard_alloc_grow(&columns->alloc, &columns->column, &columns->capacity, columns->count + 1,
                          sizeof *columns->column))
        return shard_fail_memory(err);
    column.name = fmt_arena_text(&columns->arena, column.name, name_size);
    columns->column[columns->count] = column;
    columns->count += column.name != NULL;
    return column.name ? SHARD_OK : shard_fail_memory(err);
}

/* ---- options ---- */

/* "COLUMN" or "COLUMN=COMPONENT". */
static shard_status add_option(pack_columns *columns, const char *text, pack_column_use use,
                               shard_error *err)
{
    const char *equals = strchr(text, '=');
    if ((!equals && use == PACK_COLUMN_FIELD) || equals == text || (equals && equals[1] == 0))
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "not a column and its component, COLUMN=COMPONENT: \"%s\"", text);
    pack_column column = {
        .name = text, .use = use, .component = equals ? equals + 1 : NULL, .from_option = true};
    return add(columns, column, equals ? (size_t)(equals - text) : strlen(text), err);
}

shard_status pack_columns_add_options(pack_columns *columns, const shard_pack_opts *opts,
                                      shard_error *err)
{
    pack_column key = {.name = opts->table_key, .use = PACK_COLUMN_KEY, .from_option = true};
    if (opts->table_key)
        SHARD_TRY(add(columns, key, strlen(key.name), err));
    for (size_t i = 0; i < opts->table_file_count; i++)
        SHARD_TRY(add_option(columns, opts->table_files[i], PACK_COLUMN_FILE, err));
    for (size_t i = 0; i < opts->table_field_count; i++)
        SHARD_TRY(add_option(columns, opts->table_fields[i], PACK_COLUMN_FIELD, err));
    return SHARD_OK;
}

shard_status pack_columns_check(const pack_columns *columns, const char *table, shard_error *err)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].from_option && !columns->column[i].seen)
            return shard_fail(err, SHARD_EINVAL, table, SHARD_NO_OFFSET,
                              "no row has a column \"%s\"", columns->column[i].name);
    return SHARD_OK;
}

/* ---- names ---- */

static pack_column *find_name(const pack_columns *columns, fmt_span name)
{
    for (size_t i = 0; i < columns->count; i++)
        if (strlen(columns->column[i].name) == name.size &&
            memcmp(columns->column[i].name, name.data, name.size) == 0)
            return &columns->column[i];
    return NULL;
}

/* The string whose text stands between quotes at `spelling`; NULL: memory is short. */
static fmt_json *read_spelling(fmt_span spelling)
{
    fmt_json *name = NULL;
    fmt_fault fault;
    fmt_span quoted = {spelling.data - 1, spelling.size + 2};
    return fmt_json_parse(&name, quoted, &fault) == FMT_OK ? name : NULL;
}

static bool has_escapes(fmt_span spelling)
{
    return spelling.size > 0 && memchr(spelling.data, '\\', spelling.size);
}

shard_status pack_columns_find(const pack_columns *columns, fmt_span spelling, pack_column **out,
                               shard_error *err)
{
    if (!has_escapes(spelling)) {
        *out = find_name(columns, spelling);
        return SHARD_OK;
    }
    fmt_json *name = read_spelling(spelling);
    if (!name)
        return shard_fail_memory(err);
    *out = find_name(columns, fmt_json_string(name));
    fmt_json_free(name);
    return SHARD_OK;
}

/* ---- rows ---- */

static bool is_text(fmt_span a, const char *b)
{
    return a.size == strlen(b) && memcmp(a.data, b, a.size) == 0;
}

const char *pack_columns_key(const pack_columns *columns)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].use == PACK_COLUMN_KEY)
            return columns->column[i].name;
    return NULL;
}

static shard_status add_name(pack_columns *columns, fmt_span name, shard_error *err)
{
    bool is_key = !pack_columns_key(columns) && (is_text(name, "key") || is_text(name, "__key__"));
    pack_column column = {.name = (const char *)name.data,
                          .use = is_key ? PACK_COLUMN_KEY : PACK_COLUMN_REST};
    return add(columns, column, name.size, err);
}

static shard_status add_spelling(pack_columns *columns, fmt_span spelling, shard_error *err)
{
    if (!has_escapes(spelling))
        return add_name(columns, spelling, err);
    fmt_json *name = read_spelling(spelling);
    shard_status status =
        name ? add_name(columns, fmt_json_string(name), err) : shard_fail_memory(err);
    fmt_json_free(name);
    return status;
}

static shard_status look_for_file(pack_column *column, fmt_span value, int folder, pack_text *text,
                                  shard_error *err)
{
    struct stat info;
    size_t begin = *text->size;
    if (column->use != PACK_COLUMN_REST || value.data[0] != '"' || column->looks == LOOKS_MOST)
        return SHARD_OK;
    column->looks++;
    SHARD_TRY(pack_text_put_value(text, value, err));
    if (!pack_text_put(text, "", 1))
        return shard_fail_memory(err);
    const char *path = (const char *)*text->bytes + begin;
    if (*path && fstatat(folder, path, &info, 0) == 0 && S_ISREG(info.st_mode))
        column->use = PACK_COLUMN_FILE;
    *text->size = begin;
    return SHARD_OK;
}

shard_status pack_columns_learn(pack_columns *columns, const shard_pack_opts *opts, fmt_span row,
                                int folder, pack_text *text, shard_error *err)
{
    fmt_json_member member;
    pack_column *column;
    for (size_t at = 0; fmt_json_next_member(row, &at, &member);) {
        SHARD_TRY(pack_columns_find(columns, member.key, &column, err));
        if (!column) {
            SHARD_TRY(add_spelling(columns, member.key, err));
            column = &columns->column[columns->count - 1];
        }
        column->seen = true;
        if (opts->table_file_count == 0)
            SHARD_TRY(look_for_file(column, member.value, folder, text, err));
    }
    if (pack_columns_key(columns))
        return SHARD_OK;
    return shard_fail(err, SHARD_EINVAL, opts->table, SHARD_NO_OFFSET,
                      "no column \"key\" or \"__key__\": name the column of keys (--key)");
}
