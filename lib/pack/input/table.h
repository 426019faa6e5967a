/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as pack's input: a sample a row. Only keys and places of rows are kept in memory. What
 * table_row.c makes of one row, table_read.c does with all of them, and table.c makes samples of.
 */
#ifndef PACK_TABLE_H
#define PACK_TABLE_H

#include "pack/input/columns.h"
#include "pack/input/input.h"
#include "pack/input/rows.h"

typedef struct {
    const char *key; /* NUL-terminated */
    uint64_t offset; /* in the table */
    uint32_t size;
    uint32_t line;
} pack_table_row;

typedef struct {
    pack_input head;
    const shard_pack_opts *opts;
    pack_rows rows_file;
    bool is_csv;
    pack_columns columns;
    char **heading; /* of CSV */
    size_t headings, heading_capacity;
    pack_table_row *row;
    size_t rows, row_capacity;
    int folder; /* that paths are relative to */
    fmt_arena arena;
} pack_table;

/* Fail over a row, by its line. */
shard_status pack_table_fail_row(const pack_table *in, const pack_table_row *row,
                                 shard_status status, shard_error *err, const char *what);

/* The row as the text of a JSON object: the row itself, or made up in `text`. What is then taken
 * out of it adds up to no more than itself, and for that there is room: texts put there stay where
 * they are. */
shard_status pack_table_object(const pack_table *in, const pack_table_row *row,
                               fmt_span text_of_row, pack_text *text, fmt_span *out,
                               shard_error *err);

/* The row again, at the front of `text`, with room behind it for the object that it may become. */
shard_status pack_table_load_row(const pack_table *in, const pack_table_row *row, pack_text *text,
                                 fmt_span *out, shard_error *err);

/* No value: JSON says so with null, CSV can only leave the field empty. */
bool pack_table_is_missing(const pack_table *in, const pack_column *column, fmt_span value);

/* Find all rows, their keys, and what becomes of the columns. `text` is scratch. */
shard_status pack_table_read(pack_table *in, pack_text *text, shard_error *err);

#endif
