/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/image.h>

#include "image/image_head.h"

shard_status shard_image_examine(const void *bytes, size_t size, shard_image_info *out)
{
    static const char *names[] = {
        [FMT_IMAGE_JPEG] = "jpeg", [FMT_IMAGE_PNG] = "png", [FMT_IMAGE_GIF] = "gif",
        [FMT_IMAGE_WEBP] = "webp", [FMT_IMAGE_BMP] = "bmp",
    };
    fmt_image_head head;
    fmt_status status = fmt_image_read_head((fmt_span){bytes, size}, &head);
    if (status != FMT_OK)
        return status == FMT_NEED_MORE ? SHARD_ETRUNCATED : SHARD_EUNSUPPORTED;
    *out = (shard_image_info){names[head.kind], head.width, head.height, head.progressive};
    return SHARD_OK;
}
