/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The shard index, `.sidx` version 1: where each sample and component of a shard lies, its size and
 * checksum. Specification: docs/format/sidx.md.
 *
 * A file is a header, a table of sections and the sections: little-endian columns, 8-byte aligned,
 * that are used in place. Opening costs a walk over the table; a column's values are checked when
 * they are asked for, all of them by fmt_sidx_check.
 */
#ifndef FMT_SIDX_H
#define FMT_SIDX_H

#include "fmt.h"

enum {
    FMT_SIDX_HEADER_SIZE = 64,
    FMT_SIDX_SECTION_SIZE = 32,
    FMT_SIDX_SECTIONS_MAX = 64,
    FMT_SIDX_HASH_SIZE = 16,
    FMT_SIDX_NAMES_MAX = 65536, /* different components in one shard */
};

#define FMT_SIDX_BLOCKS_MAX UINT64_C(0xffffffff) /* tar blocks in a shard: 2 TiB */

/* CRC-32C of `size` bytes that follow bytes whose CRC is `crc` (0 at the start). */
typedef uint32_t (*fmt_crc32c)(uint32_t crc, const void *data, size_t size);

/* How the shard's bytes hold the tar. */
typedef enum {
    FMT_SIDX_PLAIN = 0,
    FMT_SIDX_ZSTD = 1,
    FMT_SIDX_GZIP = 2,
    FMT_SIDX_OTHER = 3, /* xz, bzip2, ...: readable from the start only */
} fmt_sidx_codec;

/* The sections, in file order. */
typedef enum {
    FMT_SIDX_HASH,    /* "HASH" XXH3-128 of the shard's bytes, canonical (big-endian) */
    FMT_SIDX_NAMES,   /* "NAME" component names, each with a final NUL; a name's place is its id */
    FMT_SIDX_LIST,    /* "LIST" u16: ids of every sample's components, where all samples agree */
    FMT_SIDX_ROW_END, /* "ROWS" u32 a sample: number of rows up to its end, where they do not */
    FMT_SIDX_ID,      /* "COMP" u16 a row: the component's id, where they do not */
    FMT_SIDX_FIRST,   /* "SAMP" u32 a sample: number of its first header block */
    FMT_SIDX_PAYLOAD, /* "DATA" u32 a row: number of its first payload block; absent if canonical */
    FMT_SIDX_SIZE,    /* "SIZE" u32 or u64 a row: payload bytes */
    FMT_SIDX_CRC,     /* "CRCS" u32 a row: CRC-32C of the payload */
    FMT_SIDX_KEY_END, /* "KEYO" u32 a sample: bytes of KEYS up to its key's end */
    FMT_SIDX_KEYS,    /* "KEYS" the keys, one after the other */
    FMT_SIDX_FRAMES,  /* "FRAM" u64 pairs: stored and tar offset of each frame, and of the end */
    FMT_SIDX_SECTION_KINDS,
} fmt_sidx_section_kind;

typedef struct {
    uint64_t samples;
    uint64_t rows;       /* components of all samples */
    uint64_t shard_size; /* bytes of the stored shard */
    uint64_t tar_size;   /* bytes of the tar inside, its end mark and padding included */
    fmt_sidx_codec codec;
    bool keys_sorted; /* ascending by byte, no two alike */
} fmt_sidx_info;

/* A section to be written: how many elements of how many bytes, and the CRC of them all. */
typedef struct {
    fmt_sidx_section_kind kind;
    uint32_t width;
    uint64_t count;
    uint32_t crc;
    uint64_t offset; /* set by fmt_sidx_layout */
} fmt_sidx_section;

/* One column in an opened index. An absent one has data NULL. */
typedef struct {
    const uint8_t *data;
    uint64_t count;
    uint32_t width;
    uint32_t crc;
    uint64_t offset;
} fmt_sidx_column;

typedef struct {
    fmt_sidx_info info;
    fmt_sidx_column column[FMT_SIDX_SECTION_KINDS];
    uint32_t names; /* how many component names */
    uint32_t list;  /* components a sample, where all samples agree; else 0 */
} fmt_sidx;

typedef struct {
    fmt_span key;
    uint64_t first_offset; /* of its first header block, in the tar */
    uint64_t end_offset;   /* behind its last payload's padding */
    uint64_t row_begin, row_end;

    uint64_t cursor_row,
        cursor_offset; /* private: the last payload found, so that a walk is linear */
} fmt_sidx_sample;

typedef struct {
    uint32_t id;             /* of its name */
    uint64_t payload_offset; /* in the tar */
    uint64_t size;
    uint32_t crc; /* 0 where the index has none */
} fmt_sidx_component;

/* A section's tag: four ASCII letters. */
const char *fmt_sidx_tag(fmt_sidx_section_kind kind);

/* Set the sections' offsets; returns the size of the index file. */
uint64_t fmt_sidx_layout(fmt_sidx_section *sections, size_t count);

/*
 * Write header and table, FMT_SIDX_HEADER_SIZE + count * FMT_SIDX_SECTION_SIZE bytes, for sections
 * that were laid out.
 */
void fmt_sidx_write_head(uint8_t *out, const fmt_sidx_info *info, const fmt_sidx_section *sections,
                         size_t count, uint64_t file_size, fmt_crc32c crc32c);

/*
 * Open the index in `bytes`, which must stay as they are while `out` is used. Checks the header,
 * the table, its checksum and that the sections fit together and into the bytes; not the columns.
 */
fmt_status fmt_sidx_open(fmt_sidx *out, fmt_span bytes, fmt_crc32c crc32c, fmt_fault *fault);

/* Check every section's checksum and every value, for an index from an untrusted place. */
fmt_status fmt_sidx_check(const fmt_sidx *sidx, fmt_crc32c crc32c, fmt_fault *fault);

/* Sample number `i` < samples. Checked: offsets ascend and stay inside the tar. */
fmt_status fmt_sidx_get_sample(const fmt_sidx *sidx, uint64_t i, fmt_sidx_sample *out,
                               fmt_fault *fault);

/* Component `row` of a sample that fmt_sidx_get_sample gave; row_begin <= row < row_end. */
fmt_status fmt_sidx_get_component(const fmt_sidx *sidx, fmt_sidx_sample *sample, uint64_t row,
                                  fmt_sidx_component *out, fmt_fault *fault);

/* Key of sample `i` < samples. */
fmt_status fmt_sidx_get_key(const fmt_sidx *sidx, uint64_t i, fmt_span *out, fmt_fault *fault);

/*
 * The component name that follows `previous`, the first where that is NULL; NULL at the end. Ids
 * count from 0 in this order.
 */
const char *fmt_sidx_next_name(const fmt_sidx *sidx, const char *previous);

/* Frame `i` < column[FMT_SIDX_FRAMES].count - 1: where it begins and ends, stored and in the tar.
 */
typedef struct {
    uint64_t stored_begin, stored_end;
    uint64_t tar_begin, tar_end;
} fmt_sidx_frame;

fmt_status fmt_sidx_get_frame(const fmt_sidx *sidx, uint64_t i, fmt_sidx_frame *out,
                              fmt_fault *fault);

#endif
