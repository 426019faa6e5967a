/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an image's first bytes say: more bytes never change an answer that fewer gave.
 *
 * Input: two bytes that say how much of the image is looked at first, the image.
 */
#include "fuzz.h"

#include "image/image_head.h"

enum { CONTROL = 2 };

static fmt_status read_prefix(fmt_span image, size_t size, fmt_image_head *out)
{
    uint8_t *copy = fuzz_copy(image.data, size); /* nothing behind it may be read */
    fmt_status status = fmt_image_read_head((fmt_span){copy, size}, out);
    FUZZ_CHECK(status == FMT_OK || status == FMT_END || status == FMT_NEED_MORE);
    free(copy);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_image_head part, whole;
    if (size < CONTROL)
        return 0;
    fmt_span image = {data + CONTROL, size - CONTROL};
    fmt_status before = read_prefix(image, fmt_load16(data) % (image.size + 1), &part);
    fmt_status after = read_prefix(image, image.size, &whole);
    if (before != FMT_OK)
        return 0;
    FUZZ_CHECK(after == FMT_OK && part.kind == whole.kind && part.width == whole.width &&
               part.height == whole.height && part.progressive == whole.progressive);
    return 0;
}
