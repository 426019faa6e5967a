/* SPDX-License-Identifier: Apache-2.0 */
/* A row of JSONL is passed on as it stands; one of CSV is first made an object of strings. */
#include <string.h>

#include "pack/input/csv.h"
#include "pack/input/table.h"

shard_status pack_table_fail_row(const pack_table *in, const pack_table_row *row,
                                 shard_status status, shard_error *err, const char *what)
{
    return shard_fail(err, status, in->opts->table, row->offset, "line %u: %s", row->line, what);
}

bool pack_table_is_missing(const pack_table *in, const pack_column *column, fmt_span value)
{
    bool is_empty = value.size == 2 && memcmp(value.data, "\"\"", 2) == 0;
    return (value.size == 4 && memcmp(value.data, "null", 4) == 0) ||
           (is_empty && (in->is_csv || column->use == PACK_COLUMN_FILE));
}

/* ---- CSV rows as JSON objects ---- */

typedef struct {
    const pack_table *in;
    pack_text *text;
    size_t fields;
} csv_row;

static shard_status put_field(void *context, size_t number, const char *bytes, size_t size)
{
    csv_row *row = context;
    row->fields = number + 1;
    if (number >= row->in->headings)
        return SHARD_EFORMAT;
    const char *heading = row->in->heading[number];
    bool ok = pack_text_put(row->text, number == 0 ? "{" : ",", 1) &&
              pack_text_put_json(row->text, heading, strlen(heading)) &&
              pack_text_put(row->text, ":", 1) && pack_text_put_json(row->text, bytes, size);
    return ok ? SHARD_OK : SHARD_ENOMEM;
}

enum { SLACK = 64 }; /* for brackets, commas and NULs */

/* Room for the object that a row of CSV becomes: a byte has up to six in JSON, and quotes. */
static size_t object_bound(const pack_table *in, size_t row_size)
{
    size_t size = 6 * row_size + 2;
    for (size_t i = 0; i < in->headings; i++)
        size += 6 * strlen(in->heading[i]) + sizeof "\"\":\"\",";
    return size;
}

static shard_status write_object(const pack_table *in, const pack_table_row *row,
                                 fmt_span text_of_row, pack_text *text, shard_error *err)
{
    csv_row fields = {.in = in, .text = text};
    if (!pack_text_reserve(text,
                           object_bound(in, text_of_row.size))) /* the row may be in `text` too */
        return shard_fail_memory(err);
    shard_status status = pack_csv_fields(text_of_row, put_field, &fields);
    if (status == SHARD_ENOMEM || !pack_text_put(text, "}", 1))
        return shard_fail_memory(err);
    if (status != SHARD_OK || fields.fields != in->headings)
        return pack_table_fail_row(in, row, SHARD_EFORMAT, err,
                                   "not a row of CSV with as many fields as the first line has");
    return SHARD_OK;
}

shard_status pack_table_object(const pack_table *in, const pack_table_row *row,
                               fmt_span text_of_row, pack_text *text, fmt_span *out,
                               shard_error *err)
{
    size_t begin = *text->size;
    *out = text_of_row;
    if (!in->is_csv)
        return SHARD_OK;
    SHARD_TRY(write_object(in, row, text_of_row, text, err));
    out->size = *text->size - begin;
    if (!pack_text_reserve(text, out->size + SLACK))
        return shard_fail_memory(err);
    out->data = *text->bytes + begin;
    return SHARD_OK;
}

shard_status pack_table_load_row(const pack_table *in, const pack_table_row *row, pack_text *text,
                                 fmt_span *out, shard_error *err)
{
    size_t room = in->is_csv ? object_bound(in, row->size) : row->size + SLACK;
    if (!pack_text_reserve(text, row->size + room))
        return shard_fail_memory(err);
    *out = (fmt_span){*text->bytes, row->size};
    SHARD_TRY(pack_rows_read(&in->rows_file, row->offset, row->size, *text->bytes, err));
    *text->size = row->size;
    return SHARD_OK;
}
