/* SPDX-License-Identifier: Apache-2.0 */
/* libzstd: frames (RFC 8878) read and written. */
#include "container/zstd.h"

#include <zstd.h>
#include <zstd_errors.h>

#include "container/decoder.h"

static shard_status fail(size_t answer, const char *url, uint64_t offset, shard_error *err)
{
    shard_status status = SHARD_EFORMAT;
    const char *hint = "";
    switch (ZSTD_getErrorCode(answer)) {
    case ZSTD_error_memory_allocation:
        status = SHARD_ENOMEM;
        break;
    case ZSTD_error_checksum_wrong:
        status = SHARD_ECHECKSUM;
        break;
    case ZSTD_error_frameParameter_windowTooLarge:
        status = SHARD_ELIMIT;
        hint = " (more than 8 MiB: compress without --long or --ultra)";
        break;
    default:
        break;
    }
    return shard_fail(err, status, url, offset, "zstd: %s%s", ZSTD_getErrorName(answer), hint);
}

/* ---- reading a stream ---- */

typedef struct {
    shard_decoder head;
    ZSTD_DCtx *context;
    size_t out_size;
    uint64_t tar; /* bytes decoded */
    bool in_frame;
    uint8_t out[];
} zstd_decoder;

/* One call of the library; what it made stands in out[]. */
static shard_status decode(zstd_decoder *d, fmt_span in, size_t *made, shard_error *err)
{
    ZSTD_inBuffer from = {in.data, in.size, 0};
    ZSTD_outBuffer to = {d->out, d->out_size, 0};
    size_t answer = ZSTD_decompressStream(d->context, &to, &from);
    shard_raw *raw = d->head.raw;
    if (ZSTD_isError(answer))
        return fail(answer, raw->source->url, raw->offset, err);
    shard_raw_consume(raw, from.pos);
    *made = to.pos;
    d->tar += to.pos;
    d->in_frame = answer != 0;
    if (answer == 0 && d->head.on_frame)
        return d->head.on_frame(d->head.on_frame_context, raw->offset, d->tar);
    return SHARD_OK;
}

static shard_status next(shard_decoder *decoder, fmt_span *out, shard_error *err)
{
    zstd_decoder *d = (zstd_decoder *)decoder;
    shard_raw *raw = d->head.raw;
    size_t made = 0;
    while (made == 0) {
        fmt_span in;
        SHARD_TRY(shard_raw_next(raw, &in, err));
        if (in.size == 0 && !d->in_frame)
            break;
        SHARD_TRY(decode(d, in, &made, err)); /* without input: what it still holds back */
        if (in.size == 0 && made == 0)
            return shard_fail(err, SHARD_ETRUNCATED, raw->source->url, raw->offset,
                              "zstd: ends inside a frame");
    }
    *out = (fmt_span){d->out, made};
    return SHARD_OK;
}

static void close_decoder(shard_decoder *decoder)
{
    zstd_decoder *d = (zstd_decoder *)decoder;
    fmt_alloc alloc = d->head.alloc;
    ZSTD_freeDCtx(d->context);
    shard_alloc_free(&alloc, d);
}

static const shard_decoder_type zstd_decoder_type = {next, close_decoder};

static ZSTD_DCtx *new_context(void)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    if (context)
        ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, SHARD_ZSTD_WINDOW_LOG_MAX);
    return context;
}

shard_status shard_zstd_decoder_open(shard_decoder **out, shard_raw *raw, const fmt_alloc *alloc,
                                     shard_error *err)
{
    size_t out_size = ZSTD_DStreamOutSize();
    zstd_decoder *d = shard_alloc_zeroed(alloc, 1, sizeof *d + out_size);
    if (!d)
        return shard_fail_memory(err);
    d->head = (shard_decoder){.type = &zstd_decoder_type, .raw = raw, .alloc = *alloc};
    d->out_size = out_size;
    d->context = new_context();
    if (!d->context) {
        shard_alloc_free(alloc, d);
        return shard_fail_memory(err);
    }
    *out = &d->head;
    return SHARD_OK;
}

/* ---- reading one frame ---- */

struct shard_zstd_frame_decoder; /* a ZSTD_DCtx that only this file can see into */

shard_status shard_zstd_frame_decoder_open(shard_zstd_frame_decoder **out, shard_error *err)
{
    *out = (shard_zstd_frame_decoder *)new_context();
    return *out ? SHARD_OK : shard_fail_memory(err);
}

void shard_zstd_frame_decoder_close(shard_zstd_frame_decoder *decoder)
{
    ZSTD_freeDCtx((ZSTD_DCtx *)decoder);
}

shard_status shard_zstd_decode(shard_zstd_frame_decoder *decoder, const void *frame,
                               size_t frame_size, void *out, size_t size, shard_error *err)
{
    size_t answer = ZSTD_decompressDCtx((ZSTD_DCtx *)decoder, out, size, frame, frame_size);
    if (ZSTD_isError(answer))
        return fail(answer, NULL, SHARD_NO_OFFSET, err);
    if (answer != size)
        return shard_fail(err, SHARD_ESTALE, NULL, SHARD_NO_OFFSET,
                          "zstd: content of the frame (expected %zu bytes, got %zu)", size, answer);
    return SHARD_OK;
}

/* ---- writing ---- */

struct shard_zstd_encoder; /* a ZSTD_CCtx that only this file can see into */

/*
 * For inputs of a frame's size zstd would make level 3 look for matches of 4 bytes. In `zstd -3
 * x.tar` it looks for 5: a sixth faster on small text files, and within 2 % of the size.
 */
static bool set_level(ZSTD_CCtx *context, int level)
{
    enum { DEFAULT_LEVEL = 3, MIN_MATCH = 5 };
    return level >= 1 && level <= 19 &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level)) &&
           !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1)) &&
           (level != DEFAULT_LEVEL ||
            !ZSTD_isError(ZSTD_CCtx_setParameter(context, ZSTD_c_minMatch, MIN_MATCH)));
}

shard_status shard_zstd_encoder_open(shard_zstd_encoder **out, int level, shard_error *err)
{
    ZSTD_CCtx *context = ZSTD_createCCtx();
    *out = (shard_zstd_encoder *)context;
    if (!context)
        return shard_fail_memory(err);
    if (!set_level(context, level)) {
        shard_zstd_encoder_close(*out);
        *out = NULL;
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "zstd: no such level: %d",
                          level);
    }
    return SHARD_OK;
}

void shard_zstd_encoder_close(shard_zstd_encoder *encoder)
{
    ZSTD_freeCCtx((ZSTD_CCtx *)encoder);
}

size_t shard_zstd_bound(size_t size)
{
    return ZSTD_compressBound(size);
}

shard_status shard_zstd_encode(shard_zstd_encoder *encoder, const void *bytes, size_t size,
                               void *out, size_t *out_size, shard_error *err)
{
    /* One call with all input at hand: the frame's head carries the content size. */
    size_t answer = ZSTD_compress2((ZSTD_CCtx *)encoder, out, shard_zstd_bound(size), bytes, size);
    if (ZSTD_isError(answer))
        return fail(answer, NULL, SHARD_NO_OFFSET, err);
    *out_size = answer;
    return SHARD_OK;
}
