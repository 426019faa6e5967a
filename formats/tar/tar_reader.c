/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_reader.h"

#include <string.h>

enum { HEADER, PAX_BODY, NAME_BODY, LINK_BODY, BODY_PADDING, PAYLOAD, PADDING, END };

void fmt_tar_reader_init(fmt_tar_reader *r, uint64_t offset)
{
    /* The large arrays are written before they are read; the rest is small. */
    r->offset = offset;
    r->missing_end_ok = false;
    r->state = HEADER;
    r->zero_blocks = 0;
    r->end_offset = 0;
    r->payload_left = r->padding_left = 0;
    r->has_long_name = r->has_pax = false;
    r->block_size = 0;
    r->member.header_offset = offset;
    r->fault = (fmt_fault){0};
}

static fmt_span take(fmt_tar_reader *r, fmt_span *in, uint64_t limit)
{
    fmt_span out = {in->data, in->size < limit ? in->size : (size_t)limit};
    in->data += out.size;
    in->size -= out.size;
    r->offset += out.size;
    return out;
}

static fmt_status fail(fmt_tar_reader *r, fmt_status status, const char *what)
{
    return fmt_fail(&r->fault, status, what, r->member.header_offset);
}

/* The next whole header block: inside the input where it stands whole there, else gathered. */
static const uint8_t *take_block(fmt_tar_reader *r, fmt_span *in)
{
    if (r->block_size == 0 && in->size >= FMT_TAR_BLOCK)
        return take(r, in, FMT_TAR_BLOCK).data;
    fmt_span piece = take(r, in, FMT_TAR_BLOCK - r->block_size);
    memcpy(r->block + r->block_size, piece.data, piece.size);
    r->block_size += piece.size;
    if (r->block_size < FMT_TAR_BLOCK)
        return NULL;
    r->block_size = 0;
    return r->block;
}

static fmt_status begin_pax(fmt_tar_reader *r)
{
    bool global = r->header.kind == FMT_TAR_PAX_GLOBAL;
    if (!global && r->has_pax)
        return fail(r, FMT_EUNSUPPORTED, "two pax headers for one member");
    if (!global)
        r->has_pax = true;
    r->state = PAX_BODY;
    r->padding_left = fmt_tar_padding(r->header.size);
    return fmt_tar_pax_begin(&r->pax, r->header.size, r->offset, global, &r->fault);
}

static fmt_status begin_long_name(fmt_tar_reader *r)
{
    bool link = r->header.kind == FMT_TAR_GNU_LONG_LINK;
    if (!link && r->has_long_name)
        return fail(r, FMT_EUNSUPPORTED, "two GNU long names for one member");
    if (r->header.size > FMT_TAR_PATH_MAX + 1)
        return fmt_fail_values(&r->fault, FMT_ELIMIT, "path is too long", r->offset,
                               FMT_TAR_PATH_MAX, r->header.size);
    r->state = link ? LINK_BODY : NAME_BODY;
    r->long_name_left = r->header.size;
    r->padding_left = fmt_tar_padding(r->header.size);
    if (!link) {
        r->has_long_name = true;
        r->long_name_size = 0;
    }
    return FMT_OK;
}

/* The member's path: from pax, else the GNU long name, else the header's own. */
static fmt_status set_path(fmt_tar_reader *r)
{
    fmt_tar_member *m = &r->member;
    bool pax_path = r->has_pax && r->pax.has_path;
    if (pax_path && r->has_long_name)
        return fail(r, FMT_EUNSUPPORTED, "both a pax path and a GNU long name");
    m->path = pax_path ? r->pax.path : r->has_long_name ? r->long_name : r->header.path;
    m->path_size = pax_path           ? r->pax.path_size
                   : r->has_long_name ? r->long_name_size
                                      : r->header.path_size;
    if (m->path_size == 0)
        return fail(r, FMT_EINVALID, "member has no name");
    return FMT_OK;
}

/* Only files may carry a payload: others with one are where readers of the field part ways. */
static fmt_status check_payload(fmt_tar_reader *r)
{
    fmt_tar_member *m = &r->member;
    if (m->kind == FMT_TAR_FILE && m->path[m->path_size - 1] == '/')
        m->kind = FMT_TAR_DIRECTORY; /* how v7 wrote directories */
    if (m->size > 0 && m->kind != FMT_TAR_FILE && m->kind != FMT_TAR_OTHER)
        return fmt_fail_values(&r->fault, FMT_EUNSUPPORTED, "directory, link or device with a size",
                               m->header_offset, 0, m->size);
    if (m->size > INT64_MAX - FMT_TAR_BLOCK - m->payload_offset)
        return fmt_fail_values(&r->fault, FMT_ELIMIT, "member ends past the largest file offset",
                               m->header_offset, INT64_MAX, m->size);
    return FMT_OK;
}

static fmt_status begin_member(fmt_tar_reader *r)
{
    fmt_tar_member *m = &r->member;
    m->kind = r->header.kind;
    m->payload_offset = r->offset;
    m->size =
        r->has_pax && r->pax.has_size ? r->pax.size : r->header.size; /* data and skip alike */
    fmt_status status = set_path(r);
    if (status == FMT_OK)
        status = check_payload(r);
    if (status != FMT_OK)
        return status;
    r->payload_left = m->size;
    r->padding_left = fmt_tar_padding(m->size);
    r->has_pax = r->has_long_name = false;
    r->state = PAYLOAD;
    r->event = FMT_TAR_MEMBER;
    return FMT_OK;
}

static fmt_status zero_block(fmt_tar_reader *r, uint64_t offset)
{
    if (r->has_pax || r->has_long_name)
        return fail(r, FMT_EINVALID, "archive ends after a pax or GNU header without its member");
    if (r->zero_blocks++ == 0)
        r->end_offset = offset;
    else
        r->state = END;
    return FMT_NEED_MORE;
}

/* FMT_OK with an event; FMT_NEED_MORE to go on with the state that was set. */
static fmt_status header_block(fmt_tar_reader *r, const uint8_t *block)
{
    uint64_t offset = r->offset - FMT_TAR_BLOCK;
    if (fmt_tar_is_zero_block(block))
        return zero_block(r, offset);
    if (r->zero_blocks > 0)
        return fmt_fail(&r->fault, FMT_EINVALID, "a stray block of zeros, with more data behind it",
                        r->end_offset);
    if (!r->has_pax && !r->has_long_name)
        r->member.header_offset = offset;
    fmt_status status = fmt_tar_header_parse(block, offset, &r->header, &r->fault);
    if (status != FMT_OK)
        return status;
    switch (r->header.kind) {
    case FMT_TAR_PAX:
    case FMT_TAR_PAX_GLOBAL:
        status = begin_pax(r);
        break;
    case FMT_TAR_GNU_LONG_NAME:
    case FMT_TAR_GNU_LONG_LINK:
        status = begin_long_name(r);
        break;
    case FMT_TAR_GNU_SPARSE:
        return fail(r, FMT_EUNSUPPORTED, "sparse file");
    default:
        return begin_member(r);
    }
    return status == FMT_OK ? FMT_NEED_MORE : status;
}

static fmt_status long_name_body(fmt_tar_reader *r, fmt_span *in)
{
    fmt_span piece = take(r, in, r->long_name_left);
    if (piece.size > 0)
        memcpy(r->long_name + r->long_name_size, piece.data, piece.size);
    r->long_name_size += piece.size;
    r->long_name_left -= piece.size;
    if (r->long_name_left > 0)
        return FMT_OK;
    r->state = BODY_PADDING;
    const char *end = memchr(r->long_name, 0, r->long_name_size);
    if (end)
        r->long_name_size = (size_t)(end - r->long_name);
    else if (r->long_name_size > FMT_TAR_PATH_MAX)
        return fail(r, FMT_ELIMIT, "path is too long");
    r->long_name[r->long_name_size] = 0;
    return FMT_OK;
}

static fmt_status trailing_zeros(fmt_tar_reader *r, fmt_span *in)
{
    fmt_span piece = take(r, in, in->size);
    size_t zeros = 0;
    if (piece.data[0] == 0 && memcmp(piece.data, piece.data + 1, piece.size - 1) == 0)
        zeros = piece.size;
    while (zeros < piece.size && piece.data[zeros] == 0)
        zeros++;
    if (zeros < piece.size)
        return fmt_fail(&r->fault, FMT_EINVALID,
                        "data after the archive's end mark (are these archives joined?)",
                        r->offset - piece.size + zeros);
    if (r->offset - r->end_offset > FMT_TAR_TRAILING_ZEROS_MAX)
        return fmt_fail_values(&r->fault, FMT_ELIMIT, "too many zeros after the end mark",
                               r->end_offset, FMT_TAR_TRAILING_ZEROS_MAX,
                               r->offset - r->end_offset);
    return FMT_OK;
}

/* One step in the present state: FMT_OK with an event, FMT_NEED_MORE without, or an error. */
static fmt_status step(fmt_tar_reader *r, fmt_span *in)
{
    fmt_status status = FMT_OK;
    const uint8_t *block;
    switch (r->state) {
    case HEADER:
        block = take_block(r, in);
        return block ? header_block(r, block) : FMT_NEED_MORE;
    case PAX_BODY: {
        uint64_t before = r->pax.offset;
        status = fmt_tar_pax_push(&r->pax, in, &r->fault);
        r->offset += r->pax.offset - before;
        if (status == FMT_OK)
            r->state = BODY_PADDING;
        break;
    }
    case NAME_BODY:
        status = long_name_body(r, in);
        break;
    case LINK_BODY:
        r->long_name_left -= take(r, in, r->long_name_left).size;
        if (r->long_name_left == 0)
            r->state = BODY_PADDING;
        break;
    case BODY_PADDING:
    case PADDING:
        r->padding_left -= take(r, in, r->padding_left).size;
        if (r->padding_left == 0)
            r->state = HEADER;
        break;
    case PAYLOAD:
        if (r->payload_left == 0) {
            r->state = PADDING;
            break;
        }
        r->payload = take(r, in, r->payload_left);
        r->payload_left -= r->payload.size;
        r->event = FMT_TAR_PAYLOAD;
        return FMT_OK;
    default:
        status = trailing_zeros(r, in);
        break;
    }
    return status == FMT_OK ? FMT_NEED_MORE : status;
}

/* States that need no byte to be left: they are passed through even when the input is used up. */
static bool passes(const fmt_tar_reader *r)
{
    return (r->state == PAYLOAD && r->payload_left == 0) ||
           ((r->state == PADDING || r->state == BODY_PADDING) && r->padding_left == 0) ||
           (r->state == PAX_BODY && r->pax.left == 0) ||
           ((r->state == NAME_BODY || r->state == LINK_BODY) && r->long_name_left == 0);
}

fmt_status fmt_tar_reader_push(fmt_tar_reader *r, fmt_span *in)
{
    while (in->size > 0 || passes(r)) {
        fmt_status status = step(r, in);
        if (status != FMT_NEED_MORE)
            return status;
    }
    return FMT_NEED_MORE;
}

uint64_t fmt_tar_reader_skip(fmt_tar_reader *r)
{
    uint64_t skipped = r->payload_left + r->padding_left;
    r->offset += skipped;
    r->payload_left = r->padding_left = 0;
    r->state = HEADER;
    return skipped;
}

fmt_status fmt_tar_reader_finish(fmt_tar_reader *r)
{
    if (r->state == END)
        return FMT_OK;
    if (r->state == PAYLOAD || r->state == PADDING)
        return fmt_fail_values(
            &r->fault, FMT_ETRUNCATED, "archive ends inside a member", r->offset,
            r->member.payload_offset + r->member.size + fmt_tar_padding(r->member.size), r->offset);
    if (r->state != HEADER || r->block_size > 0 || r->has_pax || r->has_long_name)
        return fmt_fail(&r->fault, FMT_ETRUNCATED, "archive ends inside a header", r->offset);
    if (r->missing_end_ok)
        return FMT_OK;
    return fmt_fail(&r->fault, FMT_ETRUNCATED, "archive has no end mark (was it cut off?)",
                    r->offset);
}
