/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/input/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/rng.h"
#include "os/path.h"
#include "pack/key_set.h"
#include "json/json_text.h"

/* ---- samples ---- */

/* A path: NUL-terminated, and its component from the option or the file's extension. */
static shard_status add_file(const pack_table *in, const pack_table_row *row,
                             const pack_column *column, fmt_span value, pack_text *text,
                             pack_sample *out, shard_error *err)
{
    size_t begin = *text->size, size;
    SHARD_TRY(pack_text_put_value(text, value, err));
    if (!pack_text_put(text, "", 1))
        return shard_fail_memory(err);
    const char *path = (const char *)*text->bytes + begin, *name = column->component;
    if (strlen(path) != *text->size - begin - 1)
        return pack_table_fail_row(in, row, SHARD_EDATA, err, "NUL in the path of a file");
    if (!name) {
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        fmt_name split;
        if (pack_names_split(&in->head.names, base, strlen(base), &split) != FMT_NAME_COMPONENT)
            return pack_table_fail_row(in, row, SHARD_EDATA, err, "a file without an extension");
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
static shard_status add_rest(const pack_table *in, fmt_span object, pack_text *text,
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

static shard_status add_columns(const pack_table *in, const pack_table_row *row, pack_text *text,
                                pack_sample *out, shard_error *err)
{
    fmt_span text_of_row, object;
    fmt_json_member member;
    pack_column *column;
    SHARD_TRY(pack_table_load_row(in, row, text, &text_of_row, err));
    SHARD_TRY(pack_table_object(in, row, text_of_row, text, &object, err));
    for (size_t at = 0; fmt_json_next_member(object, &at, &member);) {
        SHARD_TRY(pack_columns_find(&in->columns, member.key, &column, err));
        if (pack_table_is_missing(in, column, member.value))
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
    const pack_table *in = (const pack_table *)input;
    const pack_table_row *row = &in->row[i];
    pack_text text = {&out->bytes, &out->bytes_size, &out->bytes_capacity, &out->alloc};
    SHARD_TRY(pack_sample_begin(out, row->key, strlen(row->key), err));
    shard_status status = add_columns(in, row, &text, out, err);
    if (status == SHARD_EDATA && err && !*err->url) { /* says of which sample, but not where */
        char why[sizeof err->message];
        memcpy(why, err->message, sizeof why);
        return pack_table_fail_row(in, row, status, err, why);
    }
    if (status != SHARD_OK)
        return status;
    return out->components > 0
               ? SHARD_OK
               : pack_table_fail_row(in, row, SHARD_EDATA, err, "nothing but a key");
}

/* Of the row and the files that it names; what cannot be read is told when its turn comes. */
static bool sample_size(const pack_table *in, uint64_t i, pack_sample *scratch, uint64_t *out)
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
    const pack_table *in = (const pack_table *)input;
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

static shard_status check_required(pack_table *in, pack_sample *sample, shard_error *err)
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
            return pack_table_fail_row(in, &in->row[i], SHARD_EDATA, err, reason);
        SHARD_TRY(pack_input_skip(&in->head, in->row[i].key, reason, err));
    }
    in->rows = kept;
    return SHARD_OK;
}

/* A row's key as it will be stored, hashed. */
static uint64_t stored_hash(const pack_table_row *row)
{
    char key[FMT_KEY_MAX];
    size_t size = strlen(row->key);
    size = size < sizeof key ? size : sizeof key;
    fmt_key_write(key, row->key, size);
    return shard_hash64(key, size, 0);
}

static shard_status fail_same_key(const pack_table *in, size_t second, shard_error *err)
{
    const pack_table_row *b = &in->row[second];
    size_t first = 0;
    while (stored_hash(&in->row[first]) != stored_hash(b))
        first++;
    return shard_fail(err, SHARD_EDATA, in->opts->table, b->offset,
                      "lines %u and %u have the same key, \"%s\"", in->row[first].line, b->line,
                      b->key);
}

/* No two rows may have one key. */
static shard_status check_keys(pack_table *in, shard_error *err)
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
    const pack_table *in = (const pack_table *)input;
    uint8_t content[SHARD_HASH_SIZE];
    shard_hash_get(in->rows_file.hash, content);
    shard_hash_add(hash, content, sizeof content);
}

static void close_table(pack_input *input)
{
    pack_table *in = (pack_table *)input;
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
static shard_status open_folder(pack_table *in, shard_error *err)
{
    char folder[SHARD_PATH_MAX];
    SHARD_TRY(shard_path_folder(in->opts->table, folder, err));
    const char *base = in->opts->base ? in->opts->base : folder;
    in->folder = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return in->folder >= 0 ? SHARD_OK : shard_fail_errno(err, base, "cannot open", errno);
}

static shard_status prepare(pack_table *in, pack_sample *sample, shard_error *err)
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
    SHARD_TRY(pack_table_read(in, &text, err));
    if (in->rows > 0)
        SHARD_TRY(pack_columns_check(&in->columns, in->opts->table, err));
    if (in->opts->require_count > 0)
        SHARD_TRY(check_required(in, sample, err));
    SHARD_TRY(check_keys(in, err));
    if (in->opts->shuffle)
        shard_rng_shuffle(in->row, in->rows, sizeof *in->row, in->opts->seed);
    in->head.samples = in->rows;
    return SHARD_OK;
}

shard_status pack_table_open(pack_input **out, const shard_pack_opts *opts, const fmt_alloc *alloc,
                             shard_error *err)
{
    pack_input *input;
    pack_sample sample;
    SHARD_TRY(pack_input_new(&input, sizeof(pack_table), &table_type, opts, alloc, err));
    pack_table *in = (pack_table *)input;
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
