/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tar archive, read as it is pushed: bytes in, members and their payloads out, in constant
 * memory.
 *
 *     fmt_tar_reader_init(&reader, 0);
 *     for each piece of input:
 *         while ((status = fmt_tar_reader_push(&reader, &piece)) == FMT_OK)
 *             reader.event says what was found
 *         status is FMT_NEED_MORE: fetch the next piece; anything else is an error in reader.fault
 *     at the input's end: fmt_tar_reader_finish(&reader)
 *
 * Strict where the tools of the field disagree or lose data in silence (docs/format/tar.md, section
 * "Refused"): no member is ever skipped, cut or read twice without an error.
 */
#ifndef FMT_TAR_READER_H
#define FMT_TAR_READER_H

#include "tar/tar_pax.h"

enum { FMT_TAR_TRAILING_ZEROS_MAX = 64 << 20 }; /* after the end mark; tape blocking needs 10 KiB */

typedef enum {
    FMT_TAR_MEMBER,  /* `member` is set; its payload follows as FMT_TAR_PAYLOAD events */
    FMT_TAR_PAYLOAD, /* `payload` is the next piece, inside the input just pushed */
} fmt_tar_event;

typedef struct {
    const char *path; /* NUL-terminated, valid until the next member's first block */
    size_t path_size;
    fmt_tar_kind kind;
    uint64_t header_offset; /* of the first block that belongs to the member, pax or GNU ones too */
    uint64_t payload_offset;
    uint64_t size; /* of the payload, without padding */
} fmt_tar_member;

typedef struct {
    fmt_tar_event event;
    fmt_tar_member member;
    fmt_span payload;
    fmt_fault fault;
    uint64_t offset; /* of the next byte to be pushed */

    /* Set after init: accept an archive that ends at a member's edge without an end mark. */
    bool missing_end_ok;

    /* Private. */
    int state;
    int zero_blocks;
    uint64_t end_offset;     /* of the end mark's first block */
    uint64_t payload_left;   /* of the member */
    size_t padding_left;     /* after it */
    uint64_t long_name_left; /* of a GNU long name's or link's body, NUL and all */
    bool has_long_name, has_pax;
    size_t long_name_size;
    uint8_t block[FMT_TAR_BLOCK]; /* a header that arrives in pieces */
    size_t block_size;
    fmt_tar_header header;
    fmt_tar_pax pax;
    char long_name[FMT_TAR_PATH_MAX + 1];
} fmt_tar_reader;

/* `offset`: where in the archive the first byte pushed stands, a member's first block. */
void fmt_tar_reader_init(fmt_tar_reader *reader, uint64_t offset);

/* Consume bytes from the front of `in`. FMT_OK: an event; FMT_NEED_MORE: `in` is used up. */
fmt_status fmt_tar_reader_push(fmt_tar_reader *reader, fmt_span *in);

/*
 * After a member event: leave out what is left of its payload and padding. Returns how many bytes;
 * the next byte pushed is the one behind them.
 */
uint64_t fmt_tar_reader_skip(fmt_tar_reader *reader);

/* The input is at its end: FMT_OK, or FMT_ETRUNCATED with what was expected. */
fmt_status fmt_tar_reader_finish(fmt_tar_reader *reader);

/* After a member or payload event: bytes of the payload that are still to come. */
static inline uint64_t fmt_tar_reader_payload_left(const fmt_tar_reader *reader)
{
    return reader->payload_left;
}

#endif
