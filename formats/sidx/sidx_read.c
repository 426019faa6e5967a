/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "naming/sample_name.h"
#include "sidx/sidx_section.h"

#define BLOCK UINT64_C(512)

static fmt_status check_head(const fmt_span bytes, fmt_crc32c crc32c, fmt_fault *fault)
{
    const uint8_t *head = bytes.data;
    if (bytes.size < FMT_SIDX_HEADER_SIZE)
        return fmt_fail_values(fault, FMT_ETRUNCATED, "index is shorter than its header", 0,
                               FMT_SIDX_HEADER_SIZE, bytes.size);
    if (memcmp(head, fmt_sidx_magic, sizeof fmt_sidx_magic) != 0)
        return fmt_fail(fault, FMT_EINVALID, "not a shard index", 0);
    if (fmt_load16(head + FMT_SIDX_AT_MAJOR) != FMT_SIDX_VERSION_MAJOR)
        return fmt_fail_values(fault, FMT_EUNSUPPORTED, "index version", FMT_SIDX_AT_MAJOR,
                               FMT_SIDX_VERSION_MAJOR, fmt_load16(head + FMT_SIDX_AT_MAJOR));
    uint32_t sections = fmt_load32(head + FMT_SIDX_AT_SECTIONS);
    if (sections > FMT_SIDX_SECTIONS_MAX)
        return fmt_fail_values(fault, FMT_ELIMIT, "too many sections", FMT_SIDX_AT_SECTIONS,
                               FMT_SIDX_SECTIONS_MAX, sections);
    if (bytes.size < FMT_SIDX_HEADER_SIZE + sections * FMT_SIDX_SECTION_SIZE)
        return fmt_fail(fault, FMT_ETRUNCATED, "index is cut off inside its table", bytes.size);
    uint32_t crc = fmt_sidx_head_crc(head, sections, crc32c);
    if (crc != fmt_load32(head + FMT_SIDX_AT_CRC))
        return fmt_fail_values(fault, FMT_ECHECKSUM, "index header checksum", FMT_SIDX_AT_CRC,
                               fmt_load32(head + FMT_SIDX_AT_CRC), crc);
    if (fmt_load64(head + FMT_SIDX_AT_FILE_SIZE) != bytes.size)
        return fmt_fail_values(fault, FMT_ETRUNCATED, "index file size", FMT_SIDX_AT_FILE_SIZE,
                               fmt_load64(head + FMT_SIDX_AT_FILE_SIZE), bytes.size);
    return FMT_OK;
}

static fmt_status read_info(fmt_sidx_info *info, const uint8_t *head, fmt_fault *fault)
{
    info->samples = fmt_load64(head + FMT_SIDX_AT_SAMPLES);
    info->rows = fmt_load64(head + FMT_SIDX_AT_ROWS);
    info->shard_size = fmt_load64(head + FMT_SIDX_AT_SHARD_SIZE);
    info->tar_size = fmt_load64(head + FMT_SIDX_AT_TAR_SIZE);
    info->codec = (fmt_sidx_codec)head[FMT_SIDX_AT_CODEC];
    info->keys_sorted = head[FMT_SIDX_AT_FLAGS] & 1;
    if (head[FMT_SIDX_AT_CODEC] > FMT_SIDX_OTHER)
        return fmt_fail_values(fault, FMT_EUNSUPPORTED, "compression", FMT_SIDX_AT_CODEC,
                               FMT_SIDX_OTHER, head[FMT_SIDX_AT_CODEC]);
    if (head[FMT_SIDX_AT_FLAGS] > 1 || fmt_load16(head + FMT_SIDX_AT_FLAGS + 1) != 0)
        return fmt_fail_values(fault, FMT_EUNSUPPORTED, "index flags", FMT_SIDX_AT_FLAGS, 1,
                               fmt_load32(head + FMT_SIDX_AT_CODEC) >> 8);
    if (info->tar_size / BLOCK > FMT_SIDX_BLOCKS_MAX)
        return fmt_fail_values(fault, FMT_ELIMIT, "tar is too large for an index",
                               FMT_SIDX_AT_TAR_SIZE, FMT_SIDX_BLOCKS_MAX * BLOCK, info->tar_size);
    if (info->rows > info->tar_size / BLOCK) /* each has a header block; bounds all counts below */
        return fmt_fail_values(fault, FMT_EINVALID, "more components than tar blocks",
                               FMT_SIDX_AT_ROWS, info->tar_size / BLOCK, info->rows);
    if (info->samples > info->rows || (info->samples == 0 && info->rows > 0))
        return fmt_fail_values(fault, FMT_EINVALID, "samples against components",
                               FMT_SIDX_AT_SAMPLES, info->rows, info->samples);
    return FMT_OK;
}

/* The kind with this tag, or FMT_SIDX_SECTION_KINDS. */
static unsigned find_kind(const uint8_t *tag)
{
    unsigned kind = 0;
    while (kind < FMT_SIDX_SECTION_KINDS && memcmp(fmt_sidx_section_types[kind].tag, tag, 4) != 0)
        kind++;
    return kind;
}

static fmt_status check_gap(fmt_span bytes, uint64_t begin, uint64_t end, fmt_fault *fault)
{
    for (uint64_t at = begin; at < end; at++)
        if (bytes.data[at] != 0)
            return fmt_fail_values(fault, FMT_EINVALID, "byte outside of the index's sections", at,
                                   0, bytes.data[at]);
    return FMT_OK;
}

static fmt_status read_entry(fmt_sidx *sidx, fmt_span bytes, uint64_t at, uint64_t *end,
                             fmt_fault *fault)
{
    const uint8_t *entry = bytes.data + at;
    const char *tag = (const char *)entry;
    uint64_t offset = fmt_load64(entry + FMT_SIDX_ENTRY_OFFSET);
    uint64_t size = fmt_load64(entry + FMT_SIDX_ENTRY_SIZE);
    uint32_t width = fmt_load32(entry + FMT_SIDX_ENTRY_WIDTH);
    uint32_t flags = fmt_load32(entry + FMT_SIDX_ENTRY_FLAGS);
    if (flags > FMT_SIDX_REQUIRED)
        return fmt_fail_name(fault, FMT_EUNSUPPORTED, "index section has unknown flags", at, tag,
                             4);
    if (offset < *end || offset % FMT_SIDX_ALIGNMENT != 0)
        return fmt_fail_name(fault, FMT_EINVALID, "index section overlaps or is unaligned", at, tag,
                             4);
    if (offset > bytes.size || size > bytes.size - offset)
        return fmt_fail_name(fault, FMT_EINVALID, "index section ends behind the file", at, tag, 4);
    fmt_status status = check_gap(bytes, *end, offset, fault);
    if (status != FMT_OK)
        return status;
    *end = offset + size;
    unsigned kind = find_kind(entry);
    if (kind == FMT_SIDX_SECTION_KINDS)
        return flags == 0
                   ? FMT_OK
                   : fmt_fail_name(fault, FMT_EUNSUPPORTED,
                                   "index needs a section this version does not know", at, tag, 4);
    const fmt_sidx_section_type *type = &fmt_sidx_section_types[kind];
    if ((width != type->widths[0] && width != type->widths[1]) || size % width != 0)
        return fmt_fail_name(fault, FMT_EINVALID, "index section has a wrong width", at, tag, 4);
    if (sidx->column[kind].data)
        return fmt_fail_name(fault, FMT_EINVALID, "index section stands twice", at, tag, 4);
    sidx->column[kind] = (fmt_sidx_column){.data = bytes.data + offset,
                                           .count = size / width,
                                           .width = width,
                                           .crc = fmt_load32(entry + FMT_SIDX_ENTRY_CRC),
                                           .offset = offset};
    return FMT_OK;
}

static fmt_status fail_column(const fmt_sidx *sidx, fmt_sidx_section_kind kind, const char *what,
                              uint64_t expected, uint64_t got, fmt_fault *fault)
{
    fmt_fail_values(fault, FMT_EINVALID, what, sidx->column[kind].offset, expected, got);
    memcpy(fault->name, fmt_sidx_tag(kind), 4);
    return FMT_EINVALID;
}

static fmt_status check_count(const fmt_sidx *sidx, fmt_sidx_section_kind kind, uint64_t expected,
                              fmt_fault *fault)
{
    const fmt_sidx_column *column = &sidx->column[kind];
    const char *tag = fmt_sidx_tag(kind);
    if (!column->data)
        return fmt_fail_name(fault, FMT_EINVALID, "index lacks a section", 0, tag, 4);
    if (column->count == expected)
        return FMT_OK;
    return fail_column(sidx, kind, "index section's count", expected, column->count, fault);
}

static fmt_status check_optional(const fmt_sidx *sidx, fmt_sidx_section_kind kind,
                                 uint64_t expected, fmt_fault *fault)
{
    return sidx->column[kind].data ? check_count(sidx, kind, expected, fault) : FMT_OK;
}

static fmt_status check_names(fmt_sidx *sidx, fmt_fault *fault)
{
    const fmt_sidx_column *names = &sidx->column[FMT_SIDX_NAMES];
    if (!names->data)
        return check_count(sidx, FMT_SIDX_NAMES, 0, fault);
    if (names->count > 0 && names->data[names->count - 1] != 0)
        return fmt_fail(fault, FMT_EINVALID, "component names are cut off", names->offset);
    sidx->names = 0;
    for (uint64_t i = 0, begin = 0; i < names->count; i++) {
        if (names->data[i] != 0)
            continue;
        if (i == 0 || names->data[i - 1] == 0)
            return fmt_fail(fault, FMT_EINVALID, "empty component name", names->offset + i);
        if (i - begin > FMT_COMPONENT_MAX)
            return fmt_fail_values(fault, FMT_ELIMIT, "component name is too long",
                                   names->offset + begin, FMT_COMPONENT_MAX, i - begin);
        begin = i + 1;
        if (++sidx->names > FMT_SIDX_NAMES_MAX)
            return fmt_fail(fault, FMT_ELIMIT, "too many component names", names->offset + i);
    }
    return FMT_OK;
}

/* Either LIST, or ROWS and COMP, say which components each sample has. */
static fmt_status check_rows(fmt_sidx *sidx, fmt_fault *fault)
{
    const fmt_sidx_column *list = &sidx->column[FMT_SIDX_LIST];
    const fmt_sidx_column *row_end = &sidx->column[FMT_SIDX_ROW_END];
    const fmt_sidx_info *info = &sidx->info;
    if (list->data) {
        if (row_end->data || sidx->column[FMT_SIDX_ID].data)
            return fmt_fail(fault, FMT_EINVALID, "index has both LIST and ROWS", list->offset);
        if (list->count > FMT_SIDX_NAMES_MAX || list->count * info->samples != info->rows)
            return fmt_fail_values(fault, FMT_EINVALID, "components a sample", list->offset,
                                   info->samples ? info->rows / info->samples : 0, list->count);
        sidx->list = (uint32_t)list->count;
        return FMT_OK;
    }
    fmt_status status = check_count(sidx, FMT_SIDX_ROW_END, info->samples, fault);
    if (status == FMT_OK)
        status = check_count(sidx, FMT_SIDX_ID, info->rows, fault);
    if (status != FMT_OK || info->samples == 0)
        return status;
    uint32_t last = fmt_load32(row_end->data + (info->samples - 1) * 4);
    if (last != info->rows)
        return fail_column(sidx, FMT_SIDX_ROW_END, "last row in the index", info->rows, last,
                           fault);
    return FMT_OK;
}

static fmt_status check_keys(const fmt_sidx *sidx, fmt_fault *fault)
{
    const fmt_sidx_column *ends = &sidx->column[FMT_SIDX_KEY_END];
    uint64_t samples = sidx->info.samples;
    fmt_status status = check_count(sidx, FMT_SIDX_KEY_END, samples, fault);
    if (status != FMT_OK)
        return status;
    return check_count(sidx, FMT_SIDX_KEYS,
                       samples ? fmt_load32(ends->data + (samples - 1) * 4) : 0, fault);
}

/* From the beginning of shard and tar to the end of the tar; what lies between is checked in use.
 */
static fmt_status check_frames(const fmt_sidx *sidx, fmt_fault *fault)
{
    const fmt_sidx_column *frames = &sidx->column[FMT_SIDX_FRAMES];
    if (!frames->data)
        return FMT_OK;
    if (frames->count < 2)
        return fail_column(sidx, FMT_SIDX_FRAMES, "pairs in the frame map", 2, frames->count,
                           fault);
    uint64_t stored_begin = fmt_load64(frames->data), tar_begin = fmt_load64(frames->data + 8);
    uint64_t tar_end = fmt_load64(frames->data + (frames->count - 1) * frames->width + 8);
    if (stored_begin != 0 || tar_begin != 0)
        return fail_column(sidx, FMT_SIDX_FRAMES, "first frame does not begin with the shard", 0,
                           stored_begin ? stored_begin : tar_begin, fault);
    if (tar_end != sidx->info.tar_size)
        return fail_column(sidx, FMT_SIDX_FRAMES, "last frame does not end with the tar",
                           sidx->info.tar_size, tar_end, fault);
    return FMT_OK;
}

static fmt_status check_sections(fmt_sidx *sidx, fmt_fault *fault)
{
    uint64_t samples = sidx->info.samples, rows = sidx->info.rows;
    fmt_status status = check_names(sidx, fault);
    if (status == FMT_OK)
        status = check_rows(sidx, fault);
    if (status == FMT_OK)
        status = check_keys(sidx, fault);
    if (status == FMT_OK)
        status = check_count(sidx, FMT_SIDX_FIRST, samples, fault);
    if (status == FMT_OK)
        status = check_count(sidx, FMT_SIDX_SIZE, rows, fault);
    if (status == FMT_OK)
        status = check_optional(sidx, FMT_SIDX_PAYLOAD, rows, fault);
    if (status == FMT_OK)
        status = check_optional(sidx, FMT_SIDX_CRC, rows, fault);
    if (status == FMT_OK)
        status = check_optional(sidx, FMT_SIDX_HASH, 1, fault);
    if (status == FMT_OK)
        status = check_frames(sidx, fault);
    return status;
}

fmt_status fmt_sidx_open(fmt_sidx *out, fmt_span bytes, fmt_crc32c crc32c, fmt_fault *fault)
{
    memset(out, 0, sizeof *out);
    fmt_status status = check_head(bytes, crc32c, fault);
    if (status == FMT_OK)
        status = read_info(&out->info, bytes.data, fault);
    if (status != FMT_OK)
        return status;
    uint32_t sections = fmt_load32(bytes.data + FMT_SIDX_AT_SECTIONS);
    uint64_t end = FMT_SIDX_HEADER_SIZE + sections * FMT_SIDX_SECTION_SIZE;
    for (uint32_t i = 0; i < sections; i++) {
        uint64_t at = FMT_SIDX_HEADER_SIZE + i * FMT_SIDX_SECTION_SIZE;
        status = read_entry(out, bytes, at, &end, fault);
        if (status != FMT_OK)
            return status;
    }
    status = check_gap(bytes, end, bytes.size, fault);
    return status == FMT_OK ? check_sections(out, fault) : status;
}

/* ---- values ---- */

static uint64_t load(const fmt_sidx_column *column, uint64_t i)
{
    const uint8_t *at = column->data + i * column->width;
    switch (column->width) {
    case 2:
        return fmt_load16(at);
    case 4:
        return fmt_load32(at);
    default:
        return fmt_load64(at);
    }
}

static fmt_status bad_value(const fmt_sidx *sidx, fmt_sidx_section_kind kind, uint64_t i,
                            uint64_t expected, uint64_t got, fmt_fault *fault)
{
    fail_column(sidx, kind, "index value out of range", expected, got, fault);
    fault->offset += i * sidx->column[kind].width;
    return FMT_EINVALID;
}

/* Element `i` of a column of running ends: where i begins and ends, in order and at most `max`. */
static fmt_status get_range(const fmt_sidx *sidx, fmt_sidx_section_kind kind, uint64_t i,
                            uint64_t max, uint64_t *begin, uint64_t *end, fmt_fault *fault)
{
    const fmt_sidx_column *column = &sidx->column[kind];
    *begin = i == 0 ? 0 : load(column, i - 1);
    *end = load(column, i);
    if (*end > max || *begin > *end)
        return bad_value(sidx, kind, i, max, *end, fault);
    return FMT_OK;
}

fmt_status fmt_sidx_get_key(const fmt_sidx *sidx, uint64_t i, fmt_span *out, fmt_fault *fault)
{
    const fmt_sidx_column *keys = &sidx->column[FMT_SIDX_KEYS];
    uint64_t begin, end;
    fmt_status status = get_range(sidx, FMT_SIDX_KEY_END, i, keys->count, &begin, &end, fault);
    if (status == FMT_OK)
        *out = (fmt_span){keys->data + begin, (size_t)(end - begin)};
    return status;
}

/*
 * Where the payload of `row` stands. In a canonical shard each follows one header block, so sizes
 * are summed up from the sample's start, or from the row asked for last. UINT64_MAX: outside the
 * tar.
 */
static uint64_t payload_offset(const fmt_sidx *sidx, fmt_sidx_sample *sample, uint64_t row)
{
    if (sidx->column[FMT_SIDX_PAYLOAD].data)
        return load(&sidx->column[FMT_SIDX_PAYLOAD], row) * BLOCK;
    if (row < sample->cursor_row) {
        sample->cursor_row = sample->row_begin;
        sample->cursor_offset = sample->first_offset + BLOCK;
    }
    for (; sample->cursor_row < row; sample->cursor_row++) {
        uint64_t size = load(&sidx->column[FMT_SIDX_SIZE], sample->cursor_row);
        if (size > sidx->info.tar_size || sample->cursor_offset > sidx->info.tar_size)
            return UINT64_MAX;
        sample->cursor_offset += (size + BLOCK - 1) / BLOCK * BLOCK + BLOCK;
    }
    return sample->cursor_offset;
}

fmt_status fmt_sidx_get_component(const fmt_sidx *sidx, fmt_sidx_sample *sample, uint64_t row,
                                  fmt_sidx_component *out, fmt_fault *fault)
{
    uint64_t tar_size = sidx->info.tar_size;
    out->payload_offset = payload_offset(sidx, sample, row);
    out->size = load(&sidx->column[FMT_SIDX_SIZE], row);
    out->crc =
        sidx->column[FMT_SIDX_CRC].data ? (uint32_t)load(&sidx->column[FMT_SIDX_CRC], row) : 0;
    out->id = (uint32_t)(sidx->list ? load(&sidx->column[FMT_SIDX_LIST], row - sample->row_begin)
                                    : load(&sidx->column[FMT_SIDX_ID], row));
    if (out->id >= sidx->names)
        return bad_value(sidx, sidx->list ? FMT_SIDX_LIST : FMT_SIDX_ID,
                         sidx->list ? row - sample->row_begin : row, sidx->names, out->id, fault);
    if (out->size > tar_size || out->payload_offset > tar_size - out->size ||
        out->payload_offset < sample->first_offset + BLOCK)
        return bad_value(sidx, FMT_SIDX_SIZE, row, tar_size, out->size, fault);
    return FMT_OK;
}

fmt_status fmt_sidx_get_sample(const fmt_sidx *sidx, uint64_t i, fmt_sidx_sample *out,
                               fmt_fault *fault)
{
    fmt_status status = fmt_sidx_get_key(sidx, i, &out->key, fault);
    if (status != FMT_OK)
        return status;
    out->first_offset = load(&sidx->column[FMT_SIDX_FIRST], i) * BLOCK;
    if (sidx->list) {
        out->row_begin = i * sidx->list;
        out->row_end = out->row_begin + sidx->list;
    } else {
        status = get_range(sidx, FMT_SIDX_ROW_END, i, sidx->info.rows, &out->row_begin,
                           &out->row_end, fault);
        if (status != FMT_OK)
            return status;
        if (out->row_begin == out->row_end)
            return bad_value(sidx, FMT_SIDX_ROW_END, i, out->row_begin + 1, out->row_end, fault);
    }
    out->cursor_row = out->row_begin;
    out->cursor_offset = out->first_offset + BLOCK;
    fmt_sidx_component last;
    status = fmt_sidx_get_component(sidx, out, out->row_end - 1, &last, fault);
    if (status == FMT_OK)
        out->end_offset = (last.payload_offset + last.size + BLOCK - 1) / BLOCK * BLOCK;
    return status;
}

const char *fmt_sidx_next_name(const fmt_sidx *sidx, const char *previous)
{
    const fmt_sidx_column *names = &sidx->column[FMT_SIDX_NAMES];
    const char *next = previous ? previous + strlen(previous) + 1 : (const char *)names->data;
    return next < (const char *)names->data + names->count ? next : NULL;
}

fmt_status fmt_sidx_get_frame(const fmt_sidx *sidx, uint64_t i, fmt_sidx_frame *out,
                              fmt_fault *fault)
{
    const fmt_sidx_column *frames = &sidx->column[FMT_SIDX_FRAMES];
    const uint8_t *at = frames->data + i * frames->width;
    out->stored_begin = fmt_load64(at);
    out->tar_begin = fmt_load64(at + 8);
    out->stored_end = fmt_load64(at + 16);
    out->tar_end = fmt_load64(at + 24);
    if (out->stored_end > sidx->info.shard_size || out->stored_begin >= out->stored_end)
        return bad_value(sidx, FMT_SIDX_FRAMES, i, sidx->info.shard_size, out->stored_end, fault);
    if (out->tar_end > sidx->info.tar_size || out->tar_begin > out->tar_end)
        return bad_value(sidx, FMT_SIDX_FRAMES, i, sidx->info.tar_size, out->tar_end, fault);
    return FMT_OK;
}
