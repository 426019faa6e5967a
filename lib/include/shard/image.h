/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_IMAGE_H
#define SHARD_IMAGE_H

#include <stddef.h>

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

SHARD_END_DECLS

#endif
