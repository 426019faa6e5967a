/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a table's columns: the key, files to read, components of their own, or `.json`.
 */
#ifndef PACK_COLUMNS_H
#define PACK_COLUMNS_H

#include <shard/pack.h>

#include "arena.h"
#include "pack/text.h"

typedef enum { PACK_COLUMN_KEY, PACK_COLUMN_FILE, PACK_COLUMN_FIELD } pack_column_use;

typedef struct {
    const char *name;
    pack_column_use use;
    const char *component; /* NULL: the file's extension */
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
 * What the options do not say, the first row does: its column "key" or "__key__" is the key, and
 * columns whose value is the path of a file, relative to `folder`, are files. `text` is scratch.
 */
shard_status pack_columns_learn(pack_columns *columns, const shard_pack_opts *opts, fmt_span row,
                                int folder, pack_text *text, shard_error *err);

/* The use of a column; NULL: it goes to `.json`. */
const pack_column *pack_columns_find(const pack_columns *columns, fmt_span name);

#endif
