/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_pax.h"

#include <string.h>

enum { LENGTH, KEYWORD, PATH, SIZE, IGNORED };

fmt_status fmt_tar_pax_begin(fmt_tar_pax *pax, uint64_t size, uint64_t offset, bool global,
                             fmt_fault *fault)
{
    if (size > FMT_TAR_PAX_BODY_MAX)
        return fmt_fail_values(fault, FMT_ELIMIT, "pax header is too long", offset,
                               FMT_TAR_PAX_BODY_MAX, size);
    /* path[] is left as it is: 4 KiB that has_path says not to look at, once a member. */
    pax->offset = offset;
    pax->left = size;
    pax->global = global;
    pax->state = LENGTH;
    pax->record_offset = offset;
    pax->record_left = 0;
    if (!global) /* what a member's own header said holds on behind a global one */
        pax->has_path = pax->has_size = false;
    return FMT_OK;
}

static fmt_status invalid(const fmt_tar_pax *pax, const char *what, fmt_fault *fault)
{
    return fmt_fail(fault, FMT_EINVALID, what, pax->record_offset);
}

static fmt_status push_length(fmt_tar_pax *pax, uint8_t byte, fmt_fault *fault)
{
    if (byte >= '0' && byte <= '9') {
        pax->record_left = pax->record_left * 10 + (uint64_t)(byte - '0');
        if (pax->record_left > FMT_TAR_PAX_BODY_MAX)
            return invalid(pax, "pax record is longer than its header", fault);
        return FMT_OK;
    }
    uint64_t read = pax->offset - pax->record_offset; /* digits and the space */
    if (byte != ' ' || read < 2)
        return invalid(pax, "pax record does not begin with its length", fault);
    if (pax->record_left < read + 2) /* at least '=' and the line's end */
        return invalid(pax, "pax record's length is too small", fault);
    if (pax->record_left - read > pax->left)
        return invalid(pax, "pax record is longer than its header", fault);
    pax->record_left -= read;
    pax->keyword_size = 0;
    pax->state = KEYWORD;
    return FMT_OK;
}

static bool keyword_is(const fmt_tar_pax *pax, const char *keyword)
{
    return strlen(keyword) == pax->keyword_size &&
           memcmp(keyword, pax->keyword, pax->keyword_size) == 0;
}

static fmt_status begin_value(fmt_tar_pax *pax, fmt_fault *fault)
{
    static const char sparse[] = "GNU.sparse.";
    bool is_path = keyword_is(pax, "path"), is_size = keyword_is(pax, "size");
    if (pax->keyword_size >= sizeof sparse - 1 &&
        memcmp(pax->keyword, sparse, sizeof sparse - 1) == 0)
        return fmt_fail(fault, FMT_EUNSUPPORTED, "sparse file", pax->record_offset);
    if (pax->global &&
        (is_path || is_size)) /* GNU tar applies it to all members, libarchive to none */
        return fmt_fail_name(fault, FMT_EUNSUPPORTED, "global pax header sets", pax->record_offset,
                             pax->keyword, pax->keyword_size);
    uint64_t size = pax->record_left - 1; /* without the line's end */
    if (is_path && size > FMT_TAR_PATH_MAX)
        return fmt_fail_values(fault, FMT_ELIMIT, "path is too long", pax->record_offset,
                               FMT_TAR_PATH_MAX, size);
    pax->value_size = 0;
    pax->state = is_path ? PATH : is_size ? SIZE : IGNORED;
    if (is_size)
        pax->size = 0;
    return FMT_OK;
}

static fmt_status push_keyword(fmt_tar_pax *pax, uint8_t byte, fmt_fault *fault)
{
    if (pax->record_left == 0 || byte == '\n')
        return invalid(pax, "pax record has no '=' and value", fault);
    if (byte == '=')
        return begin_value(pax, fault);
    if (pax->keyword_size < FMT_TAR_PAX_KEYWORD_MAX)
        pax->keyword[pax->keyword_size++] = (char)byte;
    return FMT_OK;
}

static fmt_status push_path(fmt_tar_pax *pax, const uint8_t *bytes, size_t size, fmt_fault *fault)
{
    if (memchr(bytes, 0, size))
        return invalid(pax, "NUL in a pax path", fault);
    memcpy(pax->path + pax->value_size, bytes, size);
    pax->value_size += size;
    return FMT_OK;
}

static fmt_status push_size(fmt_tar_pax *pax, const uint8_t *bytes, size_t size, fmt_fault *fault)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] < '0' || bytes[i] > '9')
            return invalid(pax, "pax size is not a number", fault);
        if (pax->size > (INT64_MAX - 9) / 10)
            return invalid(pax, "pax size is out of range", fault);
        pax->size = pax->size * 10 + (uint64_t)(bytes[i] - '0');
    }
    pax->value_size += size;
    return FMT_OK;
}

static fmt_status end_value(fmt_tar_pax *pax, uint8_t last, fmt_fault *fault)
{
    if (last != '\n')
        return invalid(pax, "pax record does not end with a line's end", fault);
    if (pax->state != IGNORED && pax->value_size == 0)
        return invalid(pax, "pax record has no value", fault);
    if (pax->state == PATH) {
        pax->path_size = pax->value_size;
        pax->path[pax->path_size] = 0;
        pax->has_path = true;
    }
    if (pax->state == SIZE)
        pax->has_size = true;
    pax->state = LENGTH;
    pax->record_offset = pax->offset;
    return FMT_OK;
}

static fmt_status push_value(fmt_tar_pax *pax, const uint8_t *bytes, size_t size, fmt_fault *fault)
{
    if (pax->state == PATH)
        return push_path(pax, bytes, size, fault);
    if (pax->state == SIZE)
        return push_size(pax, bytes, size, fault);
    return FMT_OK;
}

static void consume(fmt_tar_pax *pax, fmt_span *in, size_t size)
{
    in->data += size;
    in->size -= size;
    pax->offset += size;
    pax->left -= size;
    if (pax->state != LENGTH)
        pax->record_left -= size;
}

static fmt_status step(fmt_tar_pax *pax, fmt_span *in, fmt_fault *fault)
{
    const uint8_t *bytes = in->data;
    if (pax->state == LENGTH) {
        consume(pax, in, 1);
        return push_length(pax, bytes[0], fault);
    }
    if (pax->state == KEYWORD) {
        consume(pax, in, 1);
        return push_keyword(pax, bytes[0], fault);
    }
    if (pax->record_left > 1) {
        size_t size = pax->record_left - 1 < in->size ? (size_t)pax->record_left - 1 : in->size;
        fmt_status status = push_value(pax, bytes, size, fault);
        consume(pax, in, size);
        return status;
    }
    consume(pax, in, 1);
    return end_value(pax, bytes[0], fault);
}

fmt_status fmt_tar_pax_push(fmt_tar_pax *pax, fmt_span *in, fmt_fault *fault)
{
    fmt_span body = {in->data, in->size < pax->left ? in->size : (size_t)pax->left};
    while (body.size > 0) {
        const uint8_t *before = body.data;
        fmt_status status = step(pax, &body, fault);
        in->data += body.data - before;
        in->size -= (size_t)(body.data - before);
        if (status != FMT_OK)
            return status;
    }
    if (pax->left > 0)
        return FMT_NEED_MORE;
    if (pax->state != LENGTH || pax->offset != pax->record_offset)
        return invalid(pax, "pax record is cut off by the header's end", fault);
    return FMT_OK;
}
