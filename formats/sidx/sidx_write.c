/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "sidx/sidx_section.h"

uint64_t fmt_sidx_layout(fmt_sidx_section *sections, size_t count)
{
    uint64_t offset = FMT_SIDX_HEADER_SIZE + count * FMT_SIDX_SECTION_SIZE;
    for (size_t i = 0; i < count; i++) {
        sections[i].offset = fmt_sidx_align(offset);
        offset = sections[i].offset + sections[i].count * sections[i].width;
    }
    return offset;
}

static void write_entry(uint8_t *out, const fmt_sidx_section *section)
{
    const fmt_sidx_section_type *type = &fmt_sidx_section_types[section->kind];
    memcpy(out + FMT_SIDX_ENTRY_TAG, type->tag, 4);
    fmt_store32(out + FMT_SIDX_ENTRY_FLAGS, type->flags);
    fmt_store64(out + FMT_SIDX_ENTRY_OFFSET, section->offset);
    fmt_store64(out + FMT_SIDX_ENTRY_SIZE, section->count * section->width);
    fmt_store32(out + FMT_SIDX_ENTRY_WIDTH, section->width);
    fmt_store32(out + FMT_SIDX_ENTRY_CRC, section->crc);
}

void fmt_sidx_write_head(uint8_t *out, const fmt_sidx_info *info, const fmt_sidx_section *sections,
                         size_t count, uint64_t file_size, fmt_crc32c crc32c)
{
    memset(out, 0, FMT_SIDX_HEADER_SIZE);
    memcpy(out + FMT_SIDX_AT_MAGIC, fmt_sidx_magic, sizeof fmt_sidx_magic);
    fmt_store16(out + FMT_SIDX_AT_MAJOR, FMT_SIDX_VERSION_MAJOR);
    fmt_store16(out + FMT_SIDX_AT_MINOR, FMT_SIDX_VERSION_MINOR);
    fmt_store32(out + FMT_SIDX_AT_SECTIONS, (uint32_t)count);
    fmt_store64(out + FMT_SIDX_AT_FILE_SIZE, file_size);
    fmt_store64(out + FMT_SIDX_AT_SAMPLES, info->samples);
    fmt_store64(out + FMT_SIDX_AT_ROWS, info->rows);
    fmt_store64(out + FMT_SIDX_AT_SHARD_SIZE, info->shard_size);
    fmt_store64(out + FMT_SIDX_AT_TAR_SIZE, info->tar_size);
    out[FMT_SIDX_AT_CODEC] = (uint8_t)info->codec;
    out[FMT_SIDX_AT_FLAGS] = info->keys_sorted;
    for (size_t i = 0; i < count; i++)
        write_entry(out + FMT_SIDX_HEADER_SIZE + i * FMT_SIDX_SECTION_SIZE, &sections[i]);
    fmt_store32(out + FMT_SIDX_AT_CRC, fmt_sidx_head_crc(out, count, crc32c));
}
