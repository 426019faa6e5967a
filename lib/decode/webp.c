/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/webp.h"

#include <webp/decode.h>

enum {
    LOSSLESS_BYTES = 4,  /* of a pixel: it is kept whole */
    BUFFERED_ROWS = 128, /* of a lossy image, that libwebp keeps at most; a guess from above */
    MARGIN = 2,   /* pixels: colours are interpolated, but not past the edge of what is cut */
    LOSSLESS = 2, /* `format` of libwebp's features */
};

static shard_status fail(VP8StatusCode code, shard_error *err)
{
    static const char *const texts[] = {
        [VP8_STATUS_BITSTREAM_ERROR] = "damaged",
        [VP8_STATUS_NOT_ENOUGH_DATA] = "the file ends inside the image",
        [VP8_STATUS_SUSPENDED] = "the file ends inside the image",
    };
    if (code == VP8_STATUS_OUT_OF_MEMORY)
        return shard_fail_memory(err);
    if (code == VP8_STATUS_UNSUPPORTED_FEATURE)
        return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                          "WebP with a feature that libwebp does not know");
    bool known = code > 0 && (size_t)code < sizeof texts / sizeof *texts && texts[code];
    return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET, "WebP: %s",
                      known ? texts[code] : "cannot be decoded");
}

/* The part and a margin around it; libwebp begins at even positions. */
static void choose_rows(const shard_picture *picture, shard_picture_rows *rows)
{
    shard_picture_cover(picture, 1, rows);
    uint32_t left = rows->left > MARGIN ? (rows->left - MARGIN) & ~1U : 0;
    uint32_t top = rows->top > MARGIN ? (rows->top - MARGIN) & ~1U : 0;
    uint32_t right = rows->left + rows->width + MARGIN, bottom = rows->top + rows->height + MARGIN;
    rows->left = left;
    rows->top = top;
    rows->width = (right < picture->width ? right : picture->width) - left;
    rows->height = (bottom < picture->height ? bottom : picture->height) - top;
}

static shard_status check_memory(const WebPBitstreamFeatures *features,
                                 const shard_picture *picture, const shard_picture_rows *rows,
                                 shard_error *err)
{
    uint64_t width = picture->width, needed = (uint64_t)rows->width * rows->height * 3;
    needed += width * (features->format == LOSSLESS ? (uint64_t)picture->height * LOSSLESS_BYTES
                                                    : (uint64_t)BUFFERED_ROWS);
    return shard_picture_check_memory(picture, needed, err);
}

/* All of `rows` as RGB into `out`; transparency is left out. */
static shard_status decode_rows(WebPDecoderConfig *config, fmt_span image,
                                const shard_picture_rows *rows, uint8_t *out, shard_error *err)
{
    config->options.use_cropping = 1;
    config->options.crop_left = (int)rows->left;
    config->options.crop_top = (int)rows->top;
    config->options.crop_width = (int)rows->width;
    config->options.crop_height = (int)rows->height;
    config->output.colorspace = MODE_RGB;
    config->output.is_external_memory = 1;
    config->output.u.RGBA.rgba = out;
    config->output.u.RGBA.stride = (int)rows->width * 3;
    config->output.u.RGBA.size = (size_t)rows->width * rows->height * 3;
    VP8StatusCode code = WebPDecode(image.data, image.size, config);
    WebPFreeDecBuffer(&config->output);
    return code == VP8_STATUS_OK ? SHARD_OK : fail(code, err);
}

shard_status shard_webp_decode(fmt_span image, shard_picture *picture, shard_error *err)
{
    WebPDecoderConfig config;
    shard_picture_rows rows;
    uint8_t *pixels;
    if (!WebPInitDecoderConfig(&config))
        return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                          "this libwebp is not the one that the library was built with");
    VP8StatusCode code = WebPGetFeatures(image.data, image.size, &config.input);
    if (code != VP8_STATUS_OK)
        return fail(code, err);
    if (config.input.has_animation)
        return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET, "animated WebP");
    SHARD_TRY(shard_picture_place(picture, (uint32_t)config.input.width,
                                  (uint32_t)config.input.height, 1, err));
    choose_rows(picture, &rows);
    SHARD_TRY(check_memory(&config.input, picture, &rows, err));
    size_t stride = (size_t)rows.width * 3;
    SHARD_TRY(shard_picture_rows_room(picture, stride * rows.height, &pixels, err));
    SHARD_TRY(decode_rows(&config, image, &rows, pixels, err));
    SHARD_TRY(shard_picture_begin(picture, &rows, err));
    uint32_t needed = shard_scaler_rows_needed(picture->scaler);
    for (uint32_t y = 0; y < needed; y++)
        shard_picture_put_row(picture, pixels + y * stride, 3, rows.width);
    return SHARD_OK;
}
