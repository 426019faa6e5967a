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

/** Which part of an image becomes the result. Scaling is always antialiased. */
typedef enum shard_image_fit {
    SHARD_IMAGE_RESIZE = 0,  /**< all of it, whatever its proportions */
    SHARD_IMAGE_CENTER,      /**< scaled until its shorter side is `shorter`, then the middle */
    SHARD_IMAGE_RANDOM_CROP, /**< a random part: torchvision's RandomResizedCrop */
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
    uint32_t shorter;       /**< of SHARD_IMAGE_CENTER, in pixels; 0: none is cut off the shorter
                               side */
    double area_min, area_max;     /**< of SHARD_IMAGE_RANDOM_CROP: part of the image's area; both 0:
                                      0.08 to 1 */
    double aspect_min, aspect_max; /**< of the same: width / height; both 0: 3/4 to 4/3 */
    double flip;                   /**< how probable it is to be mirrored left to right, 0 to 1 */
    float mean[3], deviation[3];   /**< of the float layouts, by channel; deviation 0: 1 */
    bool grey;                     /**< one channel, luminance, in place of red, green and blue */
    bool fast; /**< decode JPEG at 1/2, 1/4 or 1/8 where that is at least the result's size; else
                  where it is at least twice that, which no eye and hardly a number can tell from
                  full decoding */
    bool as_stored;      /**< do not turn the image as its EXIF orientation says */
    uint64_t memory_max; /**< images that take more bytes to decode are refused; 0: 1 GiB */
} shard_image_opts;

#define SHARD_IMAGE_OPTS_INIT            \
    {                                    \
        .size = sizeof(shard_image_opts) \
    }

SHARD_END_DECLS

#endif
