/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "pack/input/csv.h"
#include "pack/input/table.h"
#include "utf8.h"
#include "json/json.h"
#include "json/json_text.h"

/* ---- headings ---- */

static shard_status add_heading(void *context, size_t number, const char *bytes, size_t size)
{
    pack_table *in = context;
    (void)number;
    if (!shard_alloc_grow(&in->head.alloc, &in->heading, &in->heading_capacity, in->headings + 1,
                          sizeof *in->heading))
        return SHARD_ENOMEM;
    in->heading[in->headings] = fmt_arena_text(&in->arena, bytes, size);
    return in->heading[in->headings++] ? SHARD_OK : SHARD_ENOMEM;
}

static shard_status take_key(pack_table *in, pack_table_row *row, fmt_span value, pack_text *text,
                             shard_error *err)
{
    char stored[FMT_KEY_MAX];
    size_t begin = *text->size;
    if (value.data[0] != '"' && value.data[0] != '-' &&
        (value.data[0] < '0' || value.data[0] > '9'))
        return pack_table_fail_row(in, row, SHARD_EDATA, err,
                                   "the key is neither a string nor a number");
    SHARD_TRY(pack_text_put_value(text, value, err));
    size_t size = *text->size - begin;
    const char *key = (const char *)*text->bytes + begin;
    if (size == 0 || size > FMT_KEY_MAX)
        return pack_table_fail_row(in, row, SHARD_EDATA, err,
                                   "the key is empty, or longer than 4094 bytes");
    if (memchr(key, 0, size))
        return pack_table_fail_row(in, row, SHARD_EDATA, err, "NUL in the key");
    fmt_key_write(stored, key, size);
    if (!fmt_key_ok(stored, size))
        return pack_table_fail_row(
            in, row, SHARD_EDATA, err,
            "the key begins or ends with '/', or its folder has a reserved name "
            "(__...__): readers would not find it again");
    row->key = fmt_arena_text(&in->arena, key, size);
    return row->key ? SHARD_OK : shard_fail_memory(err);
}

/* Find the row's key. */
static shard_status read_key(pack_table *in, pack_table_row *row, fmt_span object, pack_text *text,
                             shard_error *err)
{
    fmt_json_member member;
    pack_column *column;
    row->key = NULL;
    for (size_t at = 0; fmt_json_next_member(object, &at, &member);) {
        SHARD_TRY(pack_columns_find(&in->columns, member.key, &column, err));
        if (column->use == PACK_COLUMN_KEY && !pack_table_is_missing(in, column, member.value))
            SHARD_TRY(take_key(in, row, member.value, text, err));
    }
    if (row->key)
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, in->opts->table, row->offset,
                      "line %u: no key: column \"%s\" is missing or empty", row->line,
                      pack_columns_key(&in->columns));
}

static shard_status check_csv(const pack_table *in, const pack_table_row *row, fmt_span text,
                              shard_error *err)
{
    if (fmt_utf8_ok((const char *)text.data, text.size))
        return SHARD_OK;
    return pack_table_fail_row(in, row, SHARD_EFORMAT, err,
                               "not UTF-8 (iconv converts other encodings)");
}

static shard_status check_json(const pack_table *in, const pack_table_row *row, fmt_span text,
                               shard_error *err)
{
    fmt_fault fault;
    fmt_status status = fmt_json_check_object(text, &fault);
    if (status == FMT_ENOMEM)
        return shard_fail_memory(err);
    return status == FMT_OK ? SHARD_OK
                            : pack_table_fail_row(in, row, SHARD_EFORMAT, err, "not a JSON object");
}

static shard_status add_row(pack_table *in, pack_table_row *row, fmt_span text_of_row,
                            pack_text *text, shard_error *err)
{
    fmt_span object;
    *text->size = 0;
    SHARD_TRY(in->is_csv ? check_csv(in, row, text_of_row, err)
                         : check_json(in, row, text_of_row, err));
    SHARD_TRY(pack_table_object(in, row, text_of_row, text, &object, err));
    SHARD_TRY(pack_columns_learn(&in->columns, in->opts, object, in->folder, text, err));
    SHARD_TRY(read_key(in, row, object, text, err));
    if (!shard_alloc_grow(&in->head.alloc, &in->row, &in->row_capacity, in->rows + 1,
                          sizeof *in->row))
        return shard_fail_memory(err);
    in->row[in->rows++] = *row;
    return SHARD_OK;
}

static bool is_blank(fmt_span text)
{
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] != ' ' && text.data[i] != '\t' && text.data[i] != '\r' &&
            text.data[i] != '\n')
            return false;
    return true;
}

/* A field of CSV may have ends of lines in it. */
static uint32_t count_lines(fmt_span text)
{
    uint32_t lines = 0;
    const uint8_t *at = text.data, *end = text.data + text.size;
    while (at < end && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        lines++;
        at++;
    }
    return lines;
}

static shard_status read_headings(pack_table *in, const pack_table_row *row, fmt_span text,
                                  shard_error *err)
{
    SHARD_TRY(check_csv(in, row, text, err));
    shard_status status = pack_csv_fields(text, add_heading, in);
    if (status == SHARD_ENOMEM)
        return shard_fail_memory(err);
    if (status != SHARD_OK)
        return pack_table_fail_row(in, row, SHARD_EFORMAT, err, "not a line of CSV");
    for (size_t i = 0; i < in->headings; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(in->heading[i], in->heading[j]) == 0)
                return pack_table_fail_row(in, row, SHARD_EFORMAT, err,
                                           "two columns have the same heading");
    return SHARD_OK;
}

static shard_status read_row(pack_table *in, pack_table_row *row, fmt_span text_of_row,
                             pack_text *text, shard_error *err)
{
    if (is_blank(text_of_row))
        return SHARD_OK;
    if (in->is_csv && in->headings == 0)
        return read_headings(in, row, text_of_row, err);
    return add_row(in, row, text_of_row, text, err);
}

shard_status pack_table_read(pack_table *in, pack_text *text, shard_error *err)
{
    uint32_t line = 1;
    for (;;) {
        fmt_span text_of_row;
        pack_table_row row = {.line = line};
        shard_status status = pack_rows_next(&in->rows_file, &text_of_row, &row.offset, err);
        if (status != SHARD_OK)
            return status == SHARD_END ? SHARD_OK : status;
        row.size = (uint32_t)text_of_row.size;
        line += count_lines(text_of_row);
        SHARD_TRY(read_row(in, &row, text_of_row, text, err));
        if (shard_cancel_is_set(in->opts->cancel))
            return shard_fail(err, SHARD_ECANCEL, NULL, SHARD_NO_OFFSET, "cancelled");
    }
}
