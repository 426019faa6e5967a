/* SPDX-License-Identifier: Apache-2.0 */
/* Making right what no mutation would: the checksums of tar headers and of an index. */
#ifndef FUZZ_MEND_H
#define FUZZ_MEND_H

#include "fuzz.h"

#include "core/crc32c.h"
#include "sidx/sidx_section.h"
#include "tar/tar_header.h"

/* Follow the headers as their own size fields tell, and write the checksum that each should have.
 */
static inline void fuzz_mend_tar(uint8_t *bytes, size_t size)
{
    enum { CHECKSUM = 148, CHECKSUM_SIZE = 8 };
    for (size_t at = 0; at + FMT_TAR_BLOCK <= size; at += FMT_TAR_BLOCK) {
        uint8_t *block = bytes + at;
        unsigned sum = 0;
        fmt_tar_header header;
        fmt_fault fault;
        if (fmt_tar_is_zero_block(block))
            continue;
        memset(block + CHECKSUM, ' ', CHECKSUM_SIZE);
        for (size_t i = 0; i < FMT_TAR_BLOCK; i++)
            sum += block[i];
        snprintf((char *)block + CHECKSUM, CHECKSUM_SIZE, "%06o", sum);
        if (fmt_tar_header_parse(block, at, &header, &fault) != FMT_OK || header.size > size - at)
            return;
        at += (size_t)header.size + fmt_tar_padding(header.size);
    }
}

/* The checksum of a section that lies in the file; another one is left to be refused. */
static inline void fuzz_mend_section(uint8_t *bytes, size_t size, uint8_t *entry)
{
    uint64_t offset = fmt_load64(entry + FMT_SIDX_ENTRY_OFFSET);
    uint64_t length = fmt_load64(entry + FMT_SIDX_ENTRY_SIZE);
    if (offset <= size && length <= size - offset)
        fmt_store32(entry + FMT_SIDX_ENTRY_CRC, shard_crc32c(0, bytes + offset, (size_t)length));
}

/* Magic number, version, file size and all checksums (docs/format/sidx.md). */
static inline void fuzz_mend_sidx(uint8_t *bytes, size_t size)
{
    if (size < FMT_SIDX_HEADER_SIZE)
        return;
    uint32_t sections = fmt_load32(bytes + FMT_SIDX_AT_SECTIONS);
    memcpy(bytes + FMT_SIDX_AT_MAGIC, fmt_sidx_magic, sizeof fmt_sidx_magic);
    fmt_store16(bytes + FMT_SIDX_AT_MAJOR, FMT_SIDX_VERSION_MAJOR);
    fmt_store64(bytes + FMT_SIDX_AT_FILE_SIZE, size);
    if (sections > FMT_SIDX_SECTIONS_MAX ||
        size < FMT_SIDX_HEADER_SIZE + sections * FMT_SIDX_SECTION_SIZE)
        return;
    for (uint32_t i = 0; i < sections; i++)
        fuzz_mend_section(bytes, size, bytes + FMT_SIDX_HEADER_SIZE + i * FMT_SIDX_SECTION_SIZE);
    fmt_store32(bytes + FMT_SIDX_AT_CRC, fmt_sidx_head_crc(bytes, sections, shard_crc32c));
}

#endif
