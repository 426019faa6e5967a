/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/image_decoder.h"

#include "decode/image_opts.h"
#include "decode/jpeg_pixels.h"
#include "decode/png.h"
#include "decode/webp.h"
#include "image/image_head.h"

struct shard_image_decoder {
    shard_picture picture;
    shard_jpeg_pixels *jpeg;
    fmt_alloc alloc;
};

shard_status shard_image_decoder_open(shard_image_decoder **out, const shard_image_opts *opts,
                                      const shard_allocator *allocator, shard_error *err)
{
    fmt_alloc alloc = shard_alloc_from(allocator);
    shard_image_opts read;
    *out = NULL;
    SHARD_TRY(shard_image_opts_read(opts, &read, err));
    shard_image_decoder *decoder = shard_alloc_zeroed(&alloc, 1, sizeof *decoder);
    if (!decoder)
        return shard_fail_memory(err);
    decoder->alloc = alloc;
    shard_status status = shard_picture_init(&decoder->picture, &read, &alloc, err);
    if (status == SHARD_OK)
        status = shard_jpeg_pixels_open(&decoder->jpeg, &alloc, err);
    if (status != SHARD_OK) {
        shard_image_decoder_close(decoder);
        return status;
    }
    *out = decoder;
    return SHARD_OK;
}

void shard_image_decoder_close(shard_image_decoder *decoder)
{
    if (!decoder)
        return;
    fmt_alloc alloc = decoder->alloc;
    shard_jpeg_pixels_close(decoder->jpeg);
    shard_picture_clear(&decoder->picture);
    shard_alloc_free(&alloc, decoder);
}

size_t shard_image_decoder_size(const shard_image_decoder *decoder)
{
    const shard_image_opts *opts = &decoder->picture.opts;
    return shard_pixels_size(opts->layout, opts->width, opts->height, decoder->picture.channels);
}

/* ---- by format ---- */

#ifndef SHARD_HAVE_PNG
shard_status shard_png_decode(fmt_span image, shard_picture *picture, shard_error *err)
{
    (void)image, (void)picture;
    return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                      "PNG: this library was built without libpng");
}
#endif

#ifndef SHARD_HAVE_WEBP
shard_status shard_webp_decode(fmt_span image, shard_picture *picture, shard_error *err)
{
    (void)image, (void)picture;
    return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                      "WebP: this library was built without libwebp");
}
#endif

static shard_status refuse(const char *what, shard_error *err)
{
    return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET, "%s", what);
}

static shard_status decode(shard_image_decoder *decoder, fmt_span image, shard_error *err)
{
    enum { SIGNATURE = 12 }; /* the bytes that tell formats apart */
    fmt_image_head head;
    fmt_span first = {image.data, image.size < SIGNATURE ? image.size : SIGNATURE};
    if (fmt_image_read_head(first, &head) == FMT_END)
        return refuse("neither JPEG nor PNG nor WebP", err);
    switch (head.kind) {
    case FMT_IMAGE_JPEG:
        return shard_jpeg_pixels_decode(decoder->jpeg, image, &decoder->picture, err);
    case FMT_IMAGE_PNG:
        return shard_png_decode(image, &decoder->picture, err);
    case FMT_IMAGE_WEBP:
        return shard_webp_decode(image, &decoder->picture, err);
    case FMT_IMAGE_GIF:
        return refuse("GIF images are not decoded", err);
    case FMT_IMAGE_BMP:
        break;
    }
    return refuse("BMP images are not decoded", err);
}

static shard_status decode_image(shard_image_decoder *decoder, fmt_span image, uint64_t key,
                                 const shard_crop *crop, void *out, shard_error *err)
{
    decoder->picture.key = key;
    decoder->picture.crop = crop;
    decoder->picture.out = out;
    SHARD_TRY(decode(decoder, image, err));
    shard_picture_finish(&decoder->picture);
    return SHARD_OK;
}

shard_status shard_image_decode(shard_image_decoder *decoder, const void *bytes, size_t size,
                                uint64_t key, void *out, shard_error *err)
{
    return decode_image(decoder, (fmt_span){bytes, size}, key, NULL, out, err);
}

shard_status shard_image_decode_part(shard_image_decoder *decoder, fmt_span image,
                                     const shard_crop *part, void *out, shard_error *err)
{
    return decode_image(decoder, image, 0, part, out, err);
}

void shard_image_decoder_use_ours(shard_image_decoder *decoder, bool ours)
{
    shard_jpeg_pixels_use_ours(decoder->jpeg, ours);
}

bool shard_image_decoder_used_ours(const shard_image_decoder *decoder)
{
    return shard_jpeg_pixels_used_ours(decoder->jpeg);
}
