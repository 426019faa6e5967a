/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One 512-byte tar header block, read and written.
 *
 * Read: v7, POSIX.1-1988 ustar, POSIX.1-2001 pax and GNU blocks. Written: ustar, or GNU where a
 * name or size does not fit. Specification: docs/format/tar.md; POSIX.1-2017, pax, "ustar
 * Interchange Format"; GNU tar manual, "Basic Tar Format".
 */
#ifndef FMT_TAR_HEADER_H
#define FMT_TAR_HEADER_H

#include "fmt.h"

enum {
    FMT_TAR_BLOCK = 512,
    FMT_TAR_END_SIZE = 2 * FMT_TAR_BLOCK, /* the end mark: two blocks of zeros */
    FMT_TAR_PATH_MAX = 4096,              /* bytes in a member's path */
    FMT_TAR_HEADER_PATH_MAX = 256,        /* ustar: prefix, '/', name */
    FMT_TAR_HEADERS_MAX =
        2 * FMT_TAR_BLOCK + FMT_TAR_PATH_MAX + FMT_TAR_BLOCK, /* long name, member */
};

typedef enum {
    FMT_TAR_FILE,
    FMT_TAR_DIRECTORY,
    FMT_TAR_HARD_LINK,
    FMT_TAR_SYMBOLIC_LINK,
    FMT_TAR_SPECIAL, /* device or fifo */
    FMT_TAR_OTHER,   /* volume labels, dump directories, letters nobody defined */
    /* The kinds below describe the member that follows and are never members themselves. */
    FMT_TAR_PAX,
    FMT_TAR_PAX_GLOBAL,
    FMT_TAR_GNU_LONG_NAME,
    FMT_TAR_GNU_LONG_LINK,
    FMT_TAR_GNU_SPARSE,
} fmt_tar_kind;

typedef struct {
    fmt_tar_kind kind;
    uint64_t size;
    char path[FMT_TAR_HEADER_PATH_MAX + 1];
    size_t path_size;
} fmt_tar_header;

bool fmt_tar_is_zero_block(const uint8_t block[FMT_TAR_BLOCK]);

/* Parse the block that stands at `offset` of its archive. Errors name that offset. */
fmt_status fmt_tar_header_parse(const uint8_t block[FMT_TAR_BLOCK], uint64_t offset,
                                fmt_tar_header *out, fmt_fault *fault);

/*
 * Write the headers of a regular file: one block, or three and more with a GNU long name. `out` has
 * room for FMT_TAR_HEADERS_MAX bytes; the bytes written are returned. `path` is 1 to
 * FMT_TAR_PATH_MAX bytes without NUL, `mtime` seconds since 1970, at most 33 bits. Owner 0, mode
 * 0644, no names: the same arguments give the same bytes.
 */
size_t fmt_tar_header_write(uint8_t *out, const char *path, size_t path_size, uint64_t size,
                            uint64_t mtime);

/* Bytes of zeros that follow a payload of `size` bytes. */
static inline size_t fmt_tar_padding(uint64_t size)
{
    return (size_t)(-size & (FMT_TAR_BLOCK - 1));
}

#endif
