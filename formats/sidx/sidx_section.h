/* SPDX-License-Identifier: Apache-2.0 */
/* What sections there are, for the writer and the reader of an index. Private to formats/sidx. */
#ifndef FMT_SIDX_SECTION_H
#define FMT_SIDX_SECTION_H

#include "sidx/sidx.h"

enum {
    FMT_SIDX_VERSION_MAJOR = 1,
    FMT_SIDX_VERSION_MINOR = 0,
    FMT_SIDX_REQUIRED = 1, /* section flag: who does not know the tag must refuse the index */
    FMT_SIDX_ALIGNMENT = 8,
};

/* Header fields, by offset. */
enum {
    FMT_SIDX_AT_MAGIC = 0,
    FMT_SIDX_AT_MAJOR = 8,
    FMT_SIDX_AT_MINOR = 10,
    FMT_SIDX_AT_SECTIONS = 12,
    FMT_SIDX_AT_FILE_SIZE = 16,
    FMT_SIDX_AT_SAMPLES = 24,
    FMT_SIDX_AT_ROWS = 32,
    FMT_SIDX_AT_SHARD_SIZE = 40,
    FMT_SIDX_AT_TAR_SIZE = 48,
    FMT_SIDX_AT_CODEC = 56, /* u8 */
    FMT_SIDX_AT_FLAGS = 57, /* u8: bit 0 keys are sorted; then two bytes of zeros */
    FMT_SIDX_AT_CRC = 60,
};

/* Section entry fields, by offset. */
enum {
    FMT_SIDX_ENTRY_TAG = 0,
    FMT_SIDX_ENTRY_FLAGS = 4,
    FMT_SIDX_ENTRY_OFFSET = 8,
    FMT_SIDX_ENTRY_SIZE = 16,
    FMT_SIDX_ENTRY_WIDTH = 24,
    FMT_SIDX_ENTRY_CRC = 28,
};

typedef struct {
    char tag[5];
    uint32_t flags;
    uint32_t widths[2]; /* allowed bytes an element */
} fmt_sidx_section_type;

extern const fmt_sidx_section_type fmt_sidx_section_types[FMT_SIDX_SECTION_KINDS];
extern const uint8_t fmt_sidx_magic[8];

/* CRC-32C of the header without its last field, followed by the section table. */
uint32_t fmt_sidx_head_crc(const uint8_t *head, size_t sections, fmt_crc32c crc32c);

static inline uint64_t fmt_sidx_align(uint64_t offset)
{
    return (offset + FMT_SIDX_ALIGNMENT - 1) & ~(uint64_t)(FMT_SIDX_ALIGNMENT - 1);
}

#endif
