/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Input: a table, one sample a row, in the order of the rows. A row of JSONL is passed on as it
 * stands; one of CSV is first made an object of strings. Only keys and places of rows are kept in
 * memory.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/hash.h"
#include "core/rng.h"
#include "os/path.h"
#include "pack/columns.h"
#include "pack/csv.h"
#include "pack/input.h"
#include "pack/key_set.h"
#include "pack/rows.h"
#include "utf8.h"
#include "json/json.h"
#include "json/json_text.h"

typedef struct {
    const char *key; /* NUL-terminated */
    uint64_t offset; /* in the table */
    uint32_t size;
    uint32_t line;
} table_row;

typedef struct {
    pack_input head;
    const shard_pack_opts *opts;
    pack_rows rows_file;
    bool is_csv;
    pack_columns columns;
    char **heading; /* of CSV */
    size_t headings, heading_capacity;
    table_row *row;
    size_t rows, row_capacity;
    int folder; /* that paths are relative to */
    fmt_arena arena;
} table_input;

static shard_status fail_row(const table_input *in, const table_row *row, shard_status status,
                             shard_error *err, const char *what)
{
    return shard_fail(err, status, in->opts->table, row->offset, "line %u: %s", row->line, what);
}

/* ---- CSV rows as JSON objects ---- */

typedef struct {
    const table_input *in;
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
static size_t object_bound(const table_input *in, size_t row_size)
{
    size_t size = 6 * row_size + 2;
    for (size_t i = 0; i < in->headings; i++)
        size += 6 * strlen(in->heading[i]) + sizeof "\"\":\"\",";
    return size;
}

static shard_status write_object(const table_input *in, const table_row *row, fmt_span text_of_row,
                                 pack_text *text, shard_error *err)
{
    csv_row fields = {.in = in, .text = text};
    if (!pack_text_reserve(text,
                           object_bound(in, text_of_row.size))) /* the row may be in `text` too */
        return shard_fail_memory(err);
    shard_status status = pack_csv_fields(text_of_row, put_field, &fields);
    if (status == SHARD_ENOMEM || !pack_text_put(text, "}", 1))
        return shard_fail_memory(err);
    if (status != SHARD_OK || fields.fields != in->headings)
        return fail_row(in, row, SHARD_EFORMAT, err,
                        "not a row of CSV with as many fields as the first line has");
    return SHARD_OK;
}

/*
 * The row as the text of a JSON object: the row itself, or made up in `text`. What is then taken
 * out of it adds up to no more than itself, and for that there is room: texts put there stay where
 * they are.
 */
static shard_status row_object(const table_input *in, const table_row *row, fmt_span text_of_row,
                               pack_text *text, fmt_span *out, shard_error *err)
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

/* The row again, at the front of `text`, with room behind it for the object that it may become. */
static shard_status load_row(const table_input *in, const table_row *row, pack_text *text,
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

/* ---- reading the table ---- */

static shard_status add_heading(void *context, size_t number, const char *bytes, size_t size)
{
    table_input *in = context;
    (void)number;
    if (!shard_alloc_grow(&in->head.alloc, &in->heading, &in->heading_capacity, in->headings + 1,
                          sizeof *in->heading))
        return SHARD_ENOMEM;
    in->heading[in->headings] = fmt_arena_text(&in->arena, bytes, size);
    return in->heading[in->headings++] ? SHARD_OK : SHARD_ENOMEM;
}

/* JSON says with null that there is no value; CSV can only leave the field empty. */
static bool is_missing(const table_input *in, const pack_column *column, fmt_span value)
{
    bool is_empty = value.size == 2 && memcmp(value.data, "\"\"", 2) == 0;
    return (value.size == 4 && memcmp(value.data, "null", 4) == 0) ||
           (is_empty && (in->is_csv || column->use == PACK_COLUMN_FILE));
}

static shard_status take_key(table_input *in, table_row *row, fmt_span value, pack_text *text,
                             shard_error *err)
{
    char stored[FMT_KEY_MAX];
    size_t begin = *text->size;
    if (value.data[0] != '"' && value.data[0] != '-' &&
        (value.data[0] < '0' || value.data[0] > '9'))
        return fail_row(in, row, SHARD_EDATA, err, "the key is neither a string nor a number");
    SHARD_TRY(pack_text_put_value(text, value, err));
    size_t size = *text->size - begin;
    const char *key = (const char *)*text->bytes + begin;
    if (size == 0 || size > FMT_KEY_MAX)
        return fail_row(in, row, SHARD_EDATA, err, "the key is empty, or longer than 4094 bytes");
    if (memchr(key, 0, size))
        return fail_row(in, row, SHARD_EDATA, err, "NUL in the key");
    fmt_key_write(stored, key, size);
    if (!fmt_key_ok(stored, size))
        return fail_row(in, row, SHARD_EDATA, err,
                        "the key begins or ends with '/', or its folder has a reserved name "
                        "(__...__): readers would not find it again");
    row->key = fmt_arena_text(&in->arena, key, size);
    return row->key ? SHARD_OK : shard_fail_memory(err);
}

/* Find the row's key. */
static shard_status read_key(table_input *in, table_row *row, fmt_span object, pack_text *text,
                             shard_error *err)
{
    fmt_json_member member;
    pack_column *column;
    row->key = NULL;
    for (size_t at = 0; fmt_json_next_member(object, &at, &member);) {
        SHARD_TRY(pack_columns_find(&in->columns, member.key, &column, err));
        if (column->use == PACK_COLUMN_KEY && !is_missing(in, column, member.value))
            SHARD_TRY(take_key(in, row, member.value, text, err));
    }
    if (row->key)
        return SHARD_OK;
    return shard_fail(err, SHARD_EDATA, in->opts->table, row->offset,
                      "line %u: no key: column \"%s\" is missing or empty", row->line,
                      pack_columns_key(&in->columns));
}

static shard_status check_csv(const table_input *in, const table_row *row, fmt_span text,
                              shard_error *err)
{
    if (fmt_utf8_ok((const char *)text.data, text.size))
        return SHARD_OK;
    return fail_row(in, row, SHARD_EFORMAT, err, "not UTF-8 (iconv converts other encodings)");
}

static shard_status check_json(const table_input *in, const table_row *row, fmt_span text,
                               shard_error *err)
{
    fmt_fault fault;
    fmt_status status = fmt_json_check_object(text, &fault);
    if (status == FMT_ENOMEM)
        return shard_fail_memory(err);
    return status == FMT_OK ? SHARD_OK : fail_row(in, row, SHARD_EFORMAT, err, "not a JSON object");
}

static shard_status add_row(table_input *in, table_row *row, fmt_span text_of_row, pack_text *text,
                            shard_error *err)
{
    fmt_span object;
    *text->size = 0;
    SHARD_TRY(in->is_csv ? check_csv(in, row, text_of_row, err)
                         : check_json(in, row, text_of_row, err));
    SHARD_TRY(row_object(in, row, text_of_row, text, &object, err));
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

static shard_status read_headings(table_input *in, const table_row *row, fmt_span text,
                                  shard_error *err)
{
    SHARD_TRY(check_csv(in, row, text, err));
    shard_status status = pack_csv_fields(text, add_heading, in);
    if (status == SHARD_ENOMEM)
        return shard_fail_memory(err);
    if (status != SHARD_OK)
        return fail_row(in, row, SHARD_EFORMAT, err, "not a line of CSV");
    for (size_t i = 0; i < in->headings; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(in->heading[i], in->heading[j]) == 0)
                return fail_row(in, row, SHARD_EFORMAT, err, "two columns have the same heading");
    return SHARD_OK;
}

static shard_status read_row(table_input *in, table_row *row, fmt_span text_of_row, pack_text *text,
                             shard_error *err)
{
    if (is_blank(text_of_row))
        return SHARD_OK;
    if (in->is_csv && in->headings == 0)
        return read_headings(in, row, text_of_row, err);
    return add_row(in, row, text_of_row, text, err);
}

static shard_status read_rows(table_input *in, pack_text *text, shard_error *err)
{
    uint32_t line = 1;
    for (;;) {
        fmt_span text_of_row;
        table_row row = {.line = line};
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

/* ---- samples ---- */

/* A path: NUL-terminated, and its component from the option or the file's extension. */
static shard_status add_file(const table_input *in, const table_row *row, const pack_column *column,
                             fmt_span value, pack_text *text, pack_sample *out, shard_error *err)
{
    size_t begin = *text->size, size;
    SHARD_TRY(pack_text_put_value(text, value, err));
    if (!pack_text_put(text, "", 1))
        return shard_fail_memory(err);
    const char *path = (const char *)*text->bytes + begin, *name = column->component;
    if (strlen(path) != *text->size - begin - 1)
        return fail_row(in, row, SHARD_EDATA, err, "NUL in the path of a file");
    if (!name) {
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        fmt_name split;
        if (pack_names_split(&in->head.names, base, strlen(base), &split) != FMT_NAME_COMPONENT)
            return fail_row(in, row, SHARD_EDATA, err, "a file without an extension");
        size = split.component_size;
        name = pack_names_component(&in->head.names, base + split.key_size + 1, &size);
    } else {
        size = strlen(name);
    }
    pack_component *c;
    SHARD_TRY(pack_sample_add(out, name, size, &c, err));
    c->path = path;
    c->folder = in->folder;
    return SHARD_OK;
}

static shard_status add_field(const pack_column *column, fmt_span value, pack_text *text,
                              pack_sample *out, shard_error *err)
{
    size_t begin = *text->size;
    pack_component *c;
    SHARD_TRY(pack_text_put_value(text, value, err));
    SHARD_TRY(pack_sample_add(out, column->component, strlen(column->component), &c, err));
    c->data = *text->bytes + begin;
    c->size = *text->size - begin;
    return SHARD_OK;
}

/* All other columns, as they stand, in one object. */
static shard_status add_rest(const table_input *in, fmt_span object, pack_text *text,
                             pack_sample *out, shard_error *err)
{
    size_t begin = *text->size;
    fmt_json_member member;
    pack_component *c;
    pack_column *column;
    for (size_t at = 0; fmt_json_next_member(object, &at, &member);) {
        SHARD_TRY(pack_columns_find(&in->columns, member.key, &column, err));
        if (column->use == PACK_COLUMN_REST &&
            !(pack_text_put(text, *text->size == begin ? "{\"" : ",\"", 2) &&
              pack_text_put(text, member.key.data, member.key.size) &&
              pack_text_put(text, "\":", 2) &&
              pack_text_put(text, member.value.data, member.value.size)))
            return shard_fail_memory(err);
    }
    if (*text->size == begin)
        return SHARD_OK;
    if (!pack_text_put(text, "}", 1))
        return shard_fail_memory(err);
    SHARD_TRY(pack_sample_add(out, "json", 4, &c, err));
    c->data = *text->bytes + begin;
    c->size = *text->size - begin;
    return SHARD_OK;
}

static shard_status add_columns(const table_input *in, const table_row *row, pack_text *text,
                                pack_sample *out, shard_error *err)
{
    fmt_span text_of_row, object;
    fmt_json_member member;
    pack_column *column;
    SHARD_TRY(load_row(in, row, text, &text_of_row, err));
    SHARD_TRY(row_object(in, row, text_of_row, text, &object, err));
    for (size_t at = 0; fmt_json_next_member(object, &at, &member);) {
        SHARD_TRY(pack_columns_find(&in->columns, member.key, &column, err));
        if (is_missing(in, column, member.value))
            continue;
        if (column->use == PACK_COLUMN_FILE)
            SHARD_TRY(add_file(in, row, column, member.value, text, out, err));
        if (column->use == PACK_COLUMN_FIELD)
            SHARD_TRY(add_field(column, member.value, text, out, err));
    }
    return add_rest(in, object, text, out, err);
}

static shard_status get(const pack_input *input, uint64_t i, pack_sample *out, shard_error *err)
{
    const table_input *in = (const table_input *)input;
    const table_row *row = &in->row[i];
    pack_text text = {&out->bytes, &out->bytes_size, &out->bytes_capacity, &out->alloc};
    SHARD_TRY(pack_sample_begin(out, row->key, strlen(row->key), err));
    shard_status status = add_columns(in, row, &text, out, err);
    if (status == SHARD_EDATA && err && !*err->url) { /* says of which sample, but not where */
        char why[sizeof err->message];
        memcpy(why, err->message, sizeof why);
        return fail_row(in, row, status, err, why);
    }
    if (status != SHARD_OK)
        return status;
    return out->components > 0 ? SHARD_OK
                               : fail_row(in, row, SHARD_EDATA, err, "nothing but a key");
}

/* Of the row and the files that it names; what cannot be read is told when its turn comes. */
static bool sample_size(const table_input *in, uint64_t i, pack_sample *scratch, uint64_t *out)
{
    shard_status status = get(&in->head, i, scratch, NULL);
    *out = in->row[i].size;
    for (size_t j = 0; status == SHARD_OK && j < scratch->components; j++) {
        struct stat info;
        const pack_component *c = &scratch->component[j];
        if (c->path && fstatat(c->folder, c->path, &info, 0) == 0)
            *out += (uint64_t)info.st_size;
    }
    return status != SHARD_ENOMEM;
}

static bool typical_size(const pack_input *input, uint64_t first, uint64_t last, uint64_t *out)
{
    enum { LOOKS = 16 };
    const table_input *in = (const table_input *)input;
    uint64_t looks = last - first < LOOKS ? last - first : LOOKS, total = 0;
    bool ok = true;
    pack_sample sample;
    pack_sample_init(&sample, &in->head.alloc);
    for (uint64_t i = 0; i < looks && ok; i++) {
        uint64_t size;
        ok = sample_size(in, first + i * (last - first) / looks, &sample, &size);
        total += size;
    }
    pack_sample_clear(&sample);
    *out = looks > 0 ? total / looks : 0;
    return ok;
}

/* ---- checks on all rows ---- */

static shard_status check_required(table_input *in, pack_sample *sample, shard_error *err)
{
    size_t kept = 0;
    for (size_t i = 0; i < in->rows; i++) {
        const char *lacks = NULL;
        SHARD_TRY(get(&in->head, i, sample, err));
        for (size_t r = 0; r < in->opts->require_count && !lacks; r++)
            if (!pack_sample_find(sample, in->opts->require[r]))
                lacks = in->opts->require[r];
        if (!lacks) {
            in->row[kept++] = in->row[i];
            continue;
        }
        char reason[FMT_COMPONENT_MAX + 32];
        snprintf(reason, sizeof reason, "no component \"%.*s\"", FMT_COMPONENT_MAX, lacks);
        if (in->opts->missing == SHARD_PACK_ERROR)
            return fail_row(in, &in->row[i], SHARD_EDATA, err, reason);
        SHARD_TRY(pack_input_skip(&in->head, in->row[i].key, reason, err));
    }
    in->rows = kept;
    return SHARD_OK;
}

/* A row's key as it will be stored, hashed. */
static uint64_t stored_hash(const table_row *row)
{
    char key[FMT_KEY_MAX];
    size_t size = strlen(row->key);
    size = size < sizeof key ? size : sizeof key;
    fmt_key_write(key, row->key, size);
    return shard_hash64(key, size, 0);
}

static shard_status fail_same_key(const table_input *in, size_t second, shard_error *err)
{
    const table_row *b = &in->row[second];
    size_t first = 0;
    while (stored_hash(&in->row[first]) != stored_hash(b))
        first++;
    return shard_fail(err, SHARD_EDATA, in->opts->table, b->offset,
                      "lines %u and %u have the same key, \"%s\"", in->row[first].line, b->line,
                      b->key);
}

/* No two rows may have one key. */
static shard_status check_keys(table_input *in, shard_error *err)
{
    pack_key_set keys;
    pack_key_set_init(&keys, &in->head.alloc);
    shard_status status = SHARD_OK;
    for (size_t i = 0; i < in->rows && status == SHARD_OK; i++) {
        bool known = false;
        if (!pack_key_set_add(&keys, stored_hash(&in->row[i]), &known))
            status = shard_fail_memory(err);
        else if (known)
            status = fail_same_key(in, i, err);
    }
    pack_key_set_clear(&keys);
    return status;
}

/* ---- the input ---- */

static void identify(const pack_input *input, shard_hash *hash)
{
    const table_input *in = (const table_input *)input;
    uint8_t content[SHARD_HASH_SIZE];
    shard_hash_get(in->rows_file.hash, content);
    shard_hash_add(hash, content, sizeof content);
}

static void close_table(pack_input *input)
{
    table_input *in = (table_input *)input;
    pack_rows_close(&in->rows_file);
    if (in->folder >= 0)
        close(in->folder);
    pack_columns_clear(&in->columns);
    shard_alloc_free(&input->alloc, in->heading);
    shard_alloc_free(&input->alloc, in->row);
    fmt_arena_clear(&in->arena);
}

static const pack_input_type table_type = {
    .get = get, .typical_size = typical_size, .identify = identify, .close = close_table};

/* Paths are relative to the folder of the table, unless an option names another. */
static shard_status open_folder(table_input *in, shard_error *err)
{
    char folder[SHARD_PATH_MAX];
    SHARD_TRY(shard_path_folder(in->opts->table, folder, err));
    const char *base = in->opts->base ? in->opts->base : folder;
    in->folder = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return in->folder >= 0 ? SHARD_OK : shard_fail_errno(err, base, "cannot open", errno);
}

static shard_status prepare(table_input *in, pack_sample *sample, shard_error *err)
{
    const char *dot = strrchr(in->opts->table, '.');
    in->is_csv = dot && strcasecmp(dot, ".csv") == 0;
    if (in->opts->label_from_dir)
        return shard_fail(err, SHARD_EINVAL, in->opts->table, SHARD_NO_OFFSET,
                          "a table has no class folders: make a column \"cls\" (--fields)");
    pack_text text = {&sample->bytes, &sample->bytes_size, &sample->bytes_capacity, &sample->alloc};
    SHARD_TRY(open_folder(in, err));
    SHARD_TRY(pack_columns_add_options(&in->columns, in->opts, err));
    SHARD_TRY(pack_rows_open(&in->rows_file, in->opts->table, in->is_csv, &in->head.alloc, err));
    SHARD_TRY(read_rows(in, &text, err));
    if (in->rows > 0)
        SHARD_TRY(pack_columns_check(&in->columns, in->opts->table, err));
    if (in->opts->require_count > 0)
        SHARD_TRY(check_required(in, sample, err));
    SHARD_TRY(check_keys(in, err));
    if (in->opts->shuffle)
        shard_shuffle(in->row, in->rows, sizeof *in->row, in->opts->seed);
    in->head.samples = in->rows;
    return SHARD_OK;
}

shard_status pack_table_open(pack_input **out, const shard_pack_opts *opts, const fmt_alloc *alloc,
                             shard_error *err)
{
    pack_input *input;
    pack_sample sample;
    SHARD_TRY(pack_input_new(&input, sizeof(table_input), &table_type, opts, alloc, err));
    table_input *in = (table_input *)input;
    in->opts = opts;
    in->folder = in->rows_file.fd = -1;
    fmt_arena_init(&in->arena, &input->alloc);
    pack_columns_init(&in->columns, &input->alloc);
    pack_sample_init(&sample, alloc);
    shard_status status = prepare(in, &sample, err);
    pack_sample_clear(&sample);
    if (status != SHARD_OK)
        pack_input_close(input);
    else
        *out = input;
    return status;
}
