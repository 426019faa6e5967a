/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The body of a pax extended header: records "length keyword=value\n" (POSIX.1-2017, pax, "pax
 * Extended Header"). Records are read as they are pushed, in constant memory; `path` and `size` are
 * kept, others are checked and passed over.
 */
#ifndef FMT_TAR_PAX_H
#define FMT_TAR_PAX_H

#include "tar/tar_header.h"

enum {
    FMT_TAR_PAX_BODY_MAX = 16 << 20, /* longer bodies are refused: none of ours, a bomb at worst */
    FMT_TAR_PAX_KEYWORD_MAX = 63,    /* longer keywords are read cut; none that matters is longer */
};

typedef struct {
    uint64_t offset; /* of the next byte, in the archive */
    uint64_t left;   /* bytes of the body still to come */
    bool global;     /* of a 'g' header: rules all that follow, so path and size are refused */

    int state;
    uint64_t record_offset;
    uint64_t
        record_left; /* bytes of the record still to come; while its length is read: the length */
    char keyword[FMT_TAR_PAX_KEYWORD_MAX + 1];
    size_t keyword_size;
    size_t value_size;

    bool has_path, has_size;
    char path[FMT_TAR_PATH_MAX + 1];
    size_t path_size;
    uint64_t size;
} fmt_tar_pax;

/* Begin a body of `size` bytes at `offset`. */
fmt_status fmt_tar_pax_begin(fmt_tar_pax *pax, uint64_t size, uint64_t offset, bool global,
                             fmt_fault *fault);

/* Consume bytes of the body from `in`: FMT_OK when it is complete, else FMT_NEED_MORE or an error.
 */
fmt_status fmt_tar_pax_push(fmt_tar_pax *pax, fmt_span *in, fmt_fault *fault);

#endif
