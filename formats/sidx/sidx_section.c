/* SPDX-License-Identifier: Apache-2.0 */
#include "sidx/sidx_section.h"

/* A byte with the top bit set, the name, then the line ends that a text-mode copy would change. */
const uint8_t fmt_sidx_magic[8] = {0x89, 'S', 'I', 'D', 'X', 0x0d, 0x0a, 0x1a};

const fmt_sidx_section_type fmt_sidx_section_types[FMT_SIDX_SECTION_KINDS] = {
    [FMT_SIDX_HASH] = {"HASH", 0, {FMT_SIDX_HASH_SIZE, FMT_SIDX_HASH_SIZE}},
    [FMT_SIDX_NAMES] = {"NAME", FMT_SIDX_REQUIRED, {1, 1}},
    [FMT_SIDX_LIST] = {"LIST", FMT_SIDX_REQUIRED, {2, 2}},
    [FMT_SIDX_ROW_END] = {"ROWS", FMT_SIDX_REQUIRED, {4, 4}},
    [FMT_SIDX_ID] = {"COMP", FMT_SIDX_REQUIRED, {2, 2}},
    [FMT_SIDX_FIRST] = {"SAMP", FMT_SIDX_REQUIRED, {4, 4}},
    [FMT_SIDX_PAYLOAD] = {"DATA", FMT_SIDX_REQUIRED, {4, 4}},
    [FMT_SIDX_SIZE] = {"SIZE", FMT_SIDX_REQUIRED, {4, 8}},
    [FMT_SIDX_CRC] = {"CRCS", 0, {4, 4}},
    [FMT_SIDX_KEY_END] = {"KEYO", FMT_SIDX_REQUIRED, {4, 4}},
    [FMT_SIDX_KEYS] = {"KEYS", FMT_SIDX_REQUIRED, {1, 1}},
    [FMT_SIDX_FRAMES] = {"FRAM", 0, {16, 16}},
};

const char *fmt_sidx_tag(fmt_sidx_section_kind kind)
{
    return fmt_sidx_section_types[kind].tag;
}

uint32_t fmt_sidx_head_crc(const uint8_t *head, size_t sections, fmt_crc32c crc32c)
{
    uint32_t crc = crc32c(0, head, FMT_SIDX_AT_CRC);
    return crc32c(crc, head + FMT_SIDX_HEADER_SIZE, sections * FMT_SIDX_SECTION_SIZE);
}
