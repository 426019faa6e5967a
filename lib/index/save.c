/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The builder's rows, written as columns. Each section is made twice by the same function: once for
 * its checksum, which stands in the table before it, and once for the file.
 */
#include <string.h>

#include "core/crc32c.h"
#include "core/hash.h"
#include "index/builder.h"
#include "os/output.h"
#include "sidx/sidx.h"
#include "tar/tar_header.h"

enum { ROWS_AT_ONCE = 1024, OUT_SIZE = 16 << 10 };

typedef struct {
    shard_index_builder *b;
    const shard_index_facts *facts;
    shard_output *file; /* NULL: only the checksum */
    uint64_t written;   /* bytes of the file, in the second pass */
    shard_error *err;

    fmt_sidx_section section[FMT_SIDX_SECTION_KINDS];
    size_t sections;

    uint32_t crc; /* of the section so far */
    uint8_t out[OUT_SIZE];
    size_t out_size;
} saver;

static shard_status flush(saver *s)
{
    s->crc = shard_crc32c(s->crc, s->out, s->out_size);
    if (s->file) {
        SHARD_TRY(shard_output_write(s->file, s->out, s->out_size, s->err));
        s->written += s->out_size;
    }
    s->out_size = 0;
    return SHARD_OK;
}

/* Room for `size` bytes of output, at most OUT_SIZE; NULL when the file cannot be written. */
static uint8_t *reserve(saver *s, size_t size)
{
    if (s->out_size + size > OUT_SIZE && flush(s) != SHARD_OK)
        return NULL;
    s->out_size += size;
    return s->out + s->out_size - size;
}

static shard_status put_bytes(saver *s, const void *bytes, size_t size)
{
    const uint8_t *from = bytes;
    while (size > 0) {
        size_t piece = size < OUT_SIZE ? size : OUT_SIZE;
        uint8_t *out = reserve(s, piece);
        if (!out)
            return SHARD_EIO;
        memcpy(out, from, piece);
        from += piece;
        size -= piece;
    }
    return SHARD_OK;
}

static shard_status put_number(saver *s, uint32_t width, uint64_t value)
{
    uint8_t *out = reserve(s, width);
    if (!out)
        return SHARD_EIO;
    switch (width) {
    case 2:
        fmt_store16(out, (uint16_t)value);
        break;
    case 4:
        fmt_store32(out, (uint32_t)value);
        break;
    default:
        fmt_store64(out, value);
    }
    return SHARD_OK;
}

/* ---- sections ---- */

static shard_status put_names(saver *s)
{
    for (size_t i = 0; i < s->b->names.count; i++)
        SHARD_TRY(put_bytes(s, s->b->names.name[i].text, strlen(s->b->names.name[i].text) + 1));
    return SHARD_OK;
}

static shard_status put_list(saver *s)
{
    for (size_t i = 0; i < s->b->list_size; i++)
        SHARD_TRY(put_number(s, 2, s->b->list[i]));
    return SHARD_OK;
}

/* A column of something in the sample rows; running ends are summed up on the way. */
static shard_status put_sample_column(saver *s, fmt_sidx_section_kind kind)
{
    shard_sample_row rows[ROWS_AT_ONCE];
    uint64_t row_end = 0, key_end = 0;
    for (uint64_t first = 0; first < s->b->samples.rows;) {
        size_t count = ROWS_AT_ONCE;
        SHARD_TRY(shard_spool_read(&s->b->samples, first, rows, &count, s->err));
        for (size_t i = 0; i < count; i++) {
            row_end += rows[i].components;
            key_end += rows[i].key_size;
            uint64_t value = kind == FMT_SIDX_ROW_END   ? row_end
                             : kind == FMT_SIDX_KEY_END ? key_end
                                                        : rows[i].first_offset / FMT_TAR_BLOCK;
            SHARD_TRY(put_number(s, 4, value));
        }
        first += count;
    }
    return SHARD_OK;
}

static shard_status put_component_column(saver *s, fmt_sidx_section_kind kind, uint32_t width)
{
    shard_component_row rows[ROWS_AT_ONCE];
    for (uint64_t first = 0; first < s->b->components.rows;) {
        size_t count = ROWS_AT_ONCE;
        SHARD_TRY(shard_spool_read(&s->b->components, first, rows, &count, s->err));
        for (size_t i = 0; i < count; i++) {
            uint64_t value = kind == FMT_SIDX_ID        ? rows[i].id
                             : kind == FMT_SIDX_PAYLOAD ? rows[i].payload_offset / FMT_TAR_BLOCK
                             : kind == FMT_SIDX_SIZE    ? rows[i].size
                                                        : rows[i].crc;
            SHARD_TRY(put_number(s, width, value));
        }
        first += count;
    }
    return SHARD_OK;
}

static shard_status put_keys(saver *s)
{
    char bytes[OUT_SIZE];
    for (uint64_t first = 0; first < s->b->keys.rows;) {
        size_t count = sizeof bytes;
        SHARD_TRY(shard_spool_read(&s->b->keys, first, bytes, &count, s->err));
        SHARD_TRY(put_bytes(s, bytes, count));
        first += count;
    }
    return SHARD_OK;
}

static shard_status put_frames(saver *s)
{
    shard_frame_row rows[ROWS_AT_ONCE];
    SHARD_TRY(put_number(s, 8, 0)); /* the first frame begins where both files do */
    SHARD_TRY(put_number(s, 8, 0));
    for (uint64_t first = 0; first < s->b->frames.rows;) {
        size_t count = ROWS_AT_ONCE;
        SHARD_TRY(shard_spool_read(&s->b->frames, first, rows, &count, s->err));
        for (size_t i = 0; i < count; i++) {
            SHARD_TRY(put_number(s, 8, rows[i].stored));
            SHARD_TRY(put_number(s, 8, rows[i].tar));
        }
        first += count;
    }
    return SHARD_OK;
}

static shard_status put_section(saver *s, const fmt_sidx_section *section)
{
    switch (section->kind) {
    case FMT_SIDX_HASH:
        return put_bytes(s, s->facts->hash, SHARD_HASH_SIZE);
    case FMT_SIDX_NAMES:
        return put_names(s);
    case FMT_SIDX_LIST:
        return put_list(s);
    case FMT_SIDX_ROW_END:
    case FMT_SIDX_FIRST:
    case FMT_SIDX_KEY_END:
        return put_sample_column(s, section->kind);
    case FMT_SIDX_KEYS:
        return put_keys(s);
    case FMT_SIDX_FRAMES:
        return put_frames(s);
    default:
        return put_component_column(s, section->kind, section->width);
    }
}

/* ---- the file ---- */

static void add_section(saver *s, bool wanted, fmt_sidx_section_kind kind, uint32_t width,
                        uint64_t count)
{
    if (wanted)
        s->section[s->sections++] =
            (fmt_sidx_section){.kind = kind, .width = width, .count = count};
}

static void choose_sections(saver *s)
{
    const shard_index_builder *b = s->b;
    uint64_t samples = b->samples.rows, rows = b->components.rows, names = 0;
    for (size_t i = 0; i < b->names.count; i++)
        names += strlen(b->names.name[i].text) + 1;
    add_section(s, s->facts->hash != NULL, FMT_SIDX_HASH, SHARD_HASH_SIZE, 1);
    add_section(s, true, FMT_SIDX_NAMES, 1, names);
    add_section(s, b->same_list, FMT_SIDX_LIST, 2, b->list_size);
    add_section(s, !b->same_list, FMT_SIDX_ROW_END, 4, samples);
    add_section(s, !b->same_list, FMT_SIDX_ID, 2, rows);
    add_section(s, true, FMT_SIDX_FIRST, 4, samples);
    add_section(s, !b->canonical, FMT_SIDX_PAYLOAD, 4, rows);
    add_section(s, true, FMT_SIDX_SIZE, b->wide_sizes ? 8 : 4, rows);
    add_section(s, b->has_checksums, FMT_SIDX_CRC, 4, rows);
    add_section(s, true, FMT_SIDX_KEY_END, 4, samples);
    add_section(s, true, FMT_SIDX_KEYS, 1, b->keys.rows);
    add_section(s, b->frames.rows > 0, FMT_SIDX_FRAMES, 16, b->frames.rows + 1);
}

static shard_status make_sections(saver *s)
{
    static const uint8_t zeros[8] = {0};
    for (size_t i = 0; i < s->sections; i++) {
        if (s->file) {
            SHARD_TRY(shard_output_write(s->file, zeros,
                                         (size_t)(s->section[i].offset - s->written), s->err));
            s->written = s->section[i].offset;
        }
        s->crc = 0;
        SHARD_TRY(put_section(s, &s->section[i]));
        SHARD_TRY(flush(s));
        s->section[i].crc = s->crc;
    }
    return SHARD_OK;
}

static shard_status write_file(saver *s)
{
    uint8_t head[FMT_SIDX_HEADER_SIZE + FMT_SIDX_SECTION_KINDS * FMT_SIDX_SECTION_SIZE];
    size_t head_size = FMT_SIDX_HEADER_SIZE + s->sections * FMT_SIDX_SECTION_SIZE;
    fmt_sidx_info info = {.samples = s->b->samples.rows,
                          .rows = s->b->components.rows,
                          .shard_size = s->facts->shard_size,
                          .tar_size = s->facts->tar_size,
                          .codec = (fmt_sidx_codec)s->facts->codec,
                          .keys_sorted = s->b->keys_sorted};
    uint64_t file_size = fmt_sidx_layout(s->section, s->sections);
    shard_output *file = s->file;
    s->file = NULL;
    SHARD_TRY(make_sections(s));
    s->file = file;
    fmt_sidx_write_head(head, &info, s->section, s->sections, file_size, shard_crc32c);
    SHARD_TRY(shard_output_write(file, head, head_size, s->err));
    s->written = head_size;
    return make_sections(s);
}

shard_status shard_index_builder_save(shard_index_builder *b, const shard_index_facts *facts,
                                      const char *path, bool sync, shard_error *err)
{
    SHARD_TRY(shard_index_builder_end(b, err));
    if (facts->tar_size / FMT_TAR_BLOCK > FMT_SIDX_BLOCKS_MAX)
        return shard_fail(err, SHARD_ELIMIT, b->url, SHARD_NO_OFFSET,
                          "the tar is larger than 2 TiB, more than an index can say");
    saver *s = shard_alloc_zeroed(&b->alloc, 1, sizeof *s);
    if (!s)
        return shard_fail_memory(err);
    shard_output file;
    shard_status status = shard_output_open(&file, path, &b->alloc, err);
    if (status == SHARD_OK) {
        *s = (saver){.b = b, .facts = facts, .file = &file, .err = err};
        choose_sections(s);
        status = write_file(s);
        if (status == SHARD_OK)
            status = shard_output_commit(&file, sync, err);
        else
            shard_output_abort(&file);
    }
    shard_alloc_free(&b->alloc, s);
    return status;
}
