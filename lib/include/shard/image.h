/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Images: what their first bytes say, and their pixels, cut, scaled and turned on the way into the
 * caller's memory.
 */
#ifndef SHARD_IMAGE_H
#define SHARD_IMAGE_H

#include <stddef.h>

#include <shard/memory.h>
#include <shard/status.h>

SHARD_BEGIN_DECLS

typedef struct shard_image_info {
    const char *format;     /**< "jpeg", "png", "gif", "webp" or "bmp"; static text */
    uint32_t width, height; /**< in pixels, as stored: before any EXIF orientation */
    bool progressive;       /**< of JPEG */
} shard_image_info;

/**
 * What an image's first bytes say of it; no pixel is decoded. Thread-safe. SHARD_EUNSUPPORTED: not
 * an image of these formats; SHARD_ETRUNCATED: its size stands behind these bytes.
 */
SHARD_NODISCARD SHARD_API shard_status shard_image_examine(const void *bytes, size_t size,
                                                           shard_image_info *out);

/** ---- pixels ---- */

/** Which part of an image becomes the result. Scaling is antialiased and sees the part alone. */
typedef enum shard_image_fit {
    SHARD_IMAGE_RESIZE = 0,  /**< all of it, whatever its proportions */
    SHARD_IMAGE_CENTER,      /**< its middle, with the result's proportions */
    SHARD_IMAGE_RANDOM_CROP, /**< a random part, drawn as torchvision's RandomResizedCrop does: ten
                                times an area and an aspect, else the middle */
} shard_image_fit;

/** How the result's numbers lie in memory. */
typedef enum shard_image_layout {
    SHARD_IMAGE_U8_NHWC = 0, /**< bytes, channels innermost: 0 to 255 */
    SHARD_IMAGE_F32_NCHW,    /**< float, a plane a channel: (value / 255 - mean) / deviation */
    SHARD_IMAGE_F16_NCHW,    /**< the same in IEEE 754 half precision, rounded to even */
} shard_image_layout;

typedef struct shard_image_opts {
    size_t size; /**< of this struct; SHARD_IMAGE_OPTS_INIT sets it */
    shard_image_fit fit;
    shard_image_layout layout;
    uint32_t width, height; /**< of the result, in pixels; both are wanted, 1 to 16,384 */

    /** Of SHARD_IMAGE_CENTER: the part is what a result cut out of the image's middle would show,
     * had the image been scaled until its shorter side has so many pixels; 0: as much as fits. */
    uint32_t shorter;
    /** Of SHARD_IMAGE_RANDOM_CROP: share of the image's area; both 0: 0.08 to 1. */
    double area_min, area_max;
    /** Of the same: width / height, 1/1000 to 1000; both 0: 3/4 to 4/3. */
    double aspect_min, aspect_max;
    double flip; /**< how probable it is to be mirrored left to right, 0 to 1 */

    /** Of the float layouts, by channel, where values are 0 to 1; deviation 0: 1. */
    float mean[3], deviation[3];
    bool grey; /**< one channel, luminance, in place of red, green and blue */
    /** Decode JPEG at 1/2, 1/4 or 1/8 where that leaves the result's size or more; else only where
     * it leaves twice that, which hardly shows. */
    bool fast;
    bool as_stored;      /**< do not turn a JPEG image as its EXIF orientation says */
    uint64_t memory_max; /**< images that take more bytes to decode are refused; 0: 1 GiB */
} shard_image_opts;

#define SHARD_IMAGE_OPTS_INIT            \
    {                                    \
        .size = sizeof(shard_image_opts) \
    }

/** Makes pixels of images, one after the other. Not thread-safe: one a thread. */
typedef struct shard_image_decoder shard_image_decoder;

/** `opts` are copied. Errors: SHARD_EINVAL for an option out of range, SHARD_ENOMEM. */
SHARD_NODISCARD SHARD_API shard_status shard_image_decoder_open(shard_image_decoder **out,
                                                                const shard_image_opts *opts,
                                                                const shard_allocator *allocator,
                                                                shard_error *err);

/** NULL is allowed. */
SHARD_API void shard_image_decoder_close(shard_image_decoder *decoder);

/** Bytes of one result: width * height * channels * bytes of a number. */
SHARD_API size_t shard_image_decoder_size(const shard_image_decoder *decoder);

/**
 * Decode JPEG, PNG or WebP (the last two where the library was built with them) into `out`, which
 * has room for shard_image_decoder_size bytes, aligned for its numbers. `key` decides all that is
 * random: the same key gives the same part on every machine and in every release, and the same
 * pixels with the same libjpeg, libpng and libwebp, whatever was decoded before. Grey, CMYK and
 * YCCK images become what was asked for; transparent pixels lose their transparency and keep their
 * colour; of 16 bits the upper 8 are taken.
 *
 * No more is read than the part needs: what is missing or damaged below it is not seen. Damage in
 * what is read is an error, never a grey area, as far as the format shows it: JPEG has no checksum.
 *
 * Errors: SHARD_EDATA for a damaged or cut-off image (`out` may be partly written),
 * SHARD_EUNSUPPORTED for another format, for animated WebP and for JPEG that is lossless or has
 * more than 8 bits, SHARD_ELIMIT past memory_max, SHARD_ENOMEM.
 */
SHARD_NODISCARD SHARD_API shard_status shard_image_decode(shard_image_decoder *decoder,
                                                          const void *bytes, size_t size,
                                                          uint64_t key, void *out,
                                                          shard_error *err);

SHARD_END_DECLS

#endif
