/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of image some bytes are, and how large, from their first bytes alone. */
#ifndef FMT_IMAGE_HEAD_H
#define FMT_IMAGE_HEAD_H

#include "fmt.h"

typedef enum {
    FMT_IMAGE_JPEG, /* ITU-T T.81 */
    FMT_IMAGE_PNG,  /* ISO/IEC 15948 */
    FMT_IMAGE_GIF,
    FMT_IMAGE_WEBP, /* RFC 9649 */
    FMT_IMAGE_BMP,
} fmt_image_kind;

typedef struct {
    fmt_image_kind kind;
    uint32_t width, height;
    bool progressive; /* JPEG */
} fmt_image_head;

/* FMT_END: not an image of these kinds; FMT_NEED_MORE: one, but its size stands further behind. */
fmt_status fmt_image_read_head(fmt_span bytes, fmt_image_head *out);

#endif
