/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a table's columns: the key, files to read, components of their own, or `.json`.
 */
#ifndef PACK_COLUMNS_H
#define PACK_COLUMNS_H

#include <shard/pack.h>

#include "arena.h"
#include "pack/input/text.h"

typedef enum {
    PACK_COLUMN_KEY,
    PACK_COLUMN_FILE,
    PACK_COLUMN_FIELD,
    PACK_COLUMN_REST, /* goes to `.json` */
} pack_column_use;

typedef struct {
    const char *name;
    pack_column_use use;
    const char *component; /* NULL: the file's extension */
    bool from_option, seen;
    uint32_t looks; /* at values, for being paths of files */
} pack_column;

typedef struct {
    pack_column *column;
    size_t count, capacity;
    fmt_arena arena;
    fmt_alloc alloc;
} pack_columns;

void pack_columns_init(pack_columns *columns, const fmt_alloc *alloc);
void pack_columns_clear(pack_columns *columns);

/* Take what the options say. */
shard_status pack_columns_add_options(pack_columns *columns, const shard_pack_opts *opts,
                                      shard_error *err);

/*
 * What the options do not say, the rows do: a column "key" or "__key__" of the first row is the
 * key, and where no files are named, a column is one of files when one of its first thousand values
 * is the path of a file, relative to `folder`. To be called with each row; `text` is scratch.
 */
shard_status pack_columns_learn(pack_columns *columns, const shard_pack_opts *opts, fmt_span row,
                                int folder, pack_text *text, shard_error *err);

/* The name of the column of keys; NULL before the first row. */
const char *pack_columns_key(const pack_columns *columns);

/* SHARD_EINVAL where an option names a column that no row had. */
shard_status pack_columns_check(const pack_columns *columns, const char *table, shard_error *err);

/* A column by its name as JSON spells it between quotes, `*out` NULL where no row had it so far. */
shard_status pack_columns_find(const pack_columns *columns, fmt_span spelling, pack_column **out,
                               shard_error *err);

#endif
