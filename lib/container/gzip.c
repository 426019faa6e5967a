/* SPDX-License-Identifier: Apache-2.0 */
/* zlib: gzip (RFC 1952) read and written. */
#include "container/gzip.h"

#include <stdlib.h>
#include <string.h>
#define ZLIB_CONST /* input pointers are const */
#include <zlib.h>

#include "container/decoder.h"

enum { OUT_SIZE = 128 << 10, GZIP_WINDOW = 15 + 16, RAW_WINDOW = -15 };

/* ---- reading ---- */

typedef struct {
    shard_decoder head;
    z_stream z;
    bool in_member;
    uint8_t out[OUT_SIZE];
} gzip_decoder;

static shard_status corrupt(const gzip_decoder *d, const char *what, shard_error *err)
{
    bool checksum = what && strcmp(what, "incorrect data check") == 0;
    return shard_fail(err, checksum ? SHARD_ECHECKSUM : SHARD_EFORMAT, d->head.raw->source->url,
                      d->head.raw->offset, "gzip: %s", what ? what : "corrupt data");
}

/* Between members: another one begins, or only zeros follow (padding to a tape's block). */
static shard_status begin_member(gzip_decoder *d, fmt_span in, bool *padding, shard_error *err)
{
    *padding = in.data[0] == 0;
    if (*padding)
        return SHARD_OK;
    if (inflateReset2(&d->z, GZIP_WINDOW) != Z_OK)
        return corrupt(d, d->z.msg, err);
    d->in_member = true;
    return SHARD_OK;
}

static shard_status next(shard_decoder *decoder, fmt_span *out, shard_error *err)
{
    gzip_decoder *d = (gzip_decoder *)decoder;
    d->z.next_out = d->out;
    d->z.avail_out = OUT_SIZE;
    while (d->z.avail_out == OUT_SIZE) {
        fmt_span in;
        SHARD_TRY(shard_raw_next(d->head.raw, &in, err));
        if (in.size == 0 && d->in_member)
            return shard_fail(err, SHARD_ETRUNCATED, d->head.raw->source->url, d->head.raw->offset,
                              "gzip: ends inside its data");
        if (in.size == 0)
            break;
        if (!d->in_member) {
            bool padding;
            SHARD_TRY(begin_member(d, in, &padding, err));
            if (padding) {
                shard_raw_consume(d->head.raw, 1);
                continue;
            }
        }
        d->z.next_in = in.data;
        d->z.avail_in = (uInt)in.size;
        int answer = inflate(&d->z, Z_NO_FLUSH);
        shard_raw_consume(d->head.raw, in.size - d->z.avail_in);
        if (answer == Z_STREAM_END)
            d->in_member = false;
        else if (answer != Z_OK)
            return corrupt(d, d->z.msg, err);
    }
    *out = (fmt_span){d->out, OUT_SIZE - d->z.avail_out};
    return SHARD_OK;
}

static void close_decoder(shard_decoder *decoder)
{
    gzip_decoder *d = (gzip_decoder *)decoder;
    fmt_alloc alloc = d->head.alloc;
    inflateEnd(&d->z);
    shard_alloc_free(&alloc, d);
}

static const shard_decoder_type gzip_decoder_type = {next, close_decoder};

shard_status shard_gzip_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                     shard_error *err)
{
    gzip_decoder *d = shard_alloc_zeroed(alloc, 1, sizeof *d);
    if (!d)
        return shard_fail_memory(err);
    d->head = (shard_decoder){.type = &gzip_decoder_type, .raw = raw, .alloc = *alloc};
    if (inflateInit2(&d->z, GZIP_WINDOW) != Z_OK) {
        shard_alloc_free(alloc, d);
        return shard_fail_memory(err);
    }
    *out = &d->head;
    return SHARD_OK;
}

/* ---- writing ---- */

struct shard_gzip_encoder {
    z_stream z;
};

shard_status shard_gzip_encoder_open(shard_gzip_encoder **out, int level, shard_error *err)
{
    *out = calloc(1, sizeof **out);
    if (*out &&
        deflateInit2(&(*out)->z, level, Z_DEFLATED, RAW_WINDOW, 8, Z_DEFAULT_STRATEGY) == Z_OK)
        return SHARD_OK;
    free(*out);
    *out = NULL;
    return shard_fail_memory(err);
}

void shard_gzip_encoder_close(shard_gzip_encoder *encoder)
{
    if (encoder)
        deflateEnd(&encoder->z);
    free(encoder);
}

size_t shard_gzip_bound(size_t size)
{
    enum { SYNC_FLUSH = 16 }; /* an empty stored block and the bits before it */
    return compressBound(size) + SYNC_FLUSH;
}

shard_status shard_gzip_encode(shard_gzip_encoder *encoder, const void *bytes, size_t size,
                               void *out, size_t *out_size, uint32_t *crc, shard_error *err)
{
    z_stream *z = &encoder->z;
    if (size > UINT32_MAX || deflateReset(z) != Z_OK)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "gzip: piece is too large");
    z->next_in = bytes;
    z->avail_in = (uInt)size;
    z->next_out = out;
    z->avail_out = (uInt)shard_gzip_bound(size);
    if (deflate(z, Z_SYNC_FLUSH) != Z_OK || z->avail_in > 0 || z->avail_out == 0)
        return shard_fail(err, SHARD_EFORMAT, NULL, SHARD_NO_OFFSET, "gzip: cannot compress");
    *out_size = shard_gzip_bound(size) - z->avail_out;
    *crc = (uint32_t)crc32_z(0, bytes, size);
    return SHARD_OK;
}

void shard_gzip_write_header(uint8_t out[SHARD_GZIP_HEADER_SIZE])
{
    /* Magic, deflate, no flags, no time, no extra flags, unknown system. */
    static const uint8_t header[SHARD_GZIP_HEADER_SIZE] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
    memcpy(out, header, sizeof header);
}

void shard_gzip_write_trailer(uint8_t out[SHARD_GZIP_TRAILER_SIZE], uint32_t crc, uint64_t size)
{
    out[0] = 0x03; /* a last block with fixed codes, empty */
    out[1] = 0x00;
    fmt_store32(out + 2, crc);
    fmt_store32(out + 6, (uint32_t)size);
}

uint32_t shard_gzip_combine(uint32_t crc, uint32_t next, uint64_t size)
{
    return (uint32_t)crc32_combine(crc, next, (z_off_t)size);
}
