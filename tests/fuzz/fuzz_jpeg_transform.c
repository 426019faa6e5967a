/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JPEG, transformed: an image is refused, or what comes out is a JPEG of the kind and size that was
 * asked for, and is turned as it was.
 *
 * Input: a byte of modes, a byte for each side of the resized image, the JPEG file.
 */
#include "fuzz.h"

#include "decode/jpeg.h"
#include "jpeg/jpeg_markers.h"

enum {
    STRIP = 1,
    MUCH_MEMORY = 0xc0, /* both bits: few inputs, as large images take long */
    QUALITY = 75,
};

/* How the image is to be turned, from the segments before its first scan; 1: not, or not clear. */
static uint8_t orientation_of(fmt_span image)
{
    enum { DQT = 0xdb, SOF0 = 0xc0, DHT = 0xc4, DRI = 0xdd };
    uint8_t orientation = 1;
    for (size_t at = 2; orientation == 1 && at + 4 <= image.size;) {
        const uint8_t *p = image.data + at;
        bool known = p[1] >= FMT_JPEG_APP0 || p[1] == DQT || p[1] == DHT || p[1] == DRI ||
                     (p[1] >= SOF0 && p[1] <= SOF0 + 2);
        size_t length = (size_t)p[2] << 8 | p[3];
        if (p[0] != 0xff || p[1] == 0xff || !known || length < 2 || at + 2 + length > image.size)
            break;
        fmt_jpeg_segment_fate(p[1], (fmt_span){p + 4, length - 2}, &orientation);
        at += 2 + length;
    }
    return orientation;
}

static void check_baseline(shard_jpeg *jpeg, fmt_span image, bool strip)
{
    shard_jpeg_info before, after;
    shard_error err;
    fmt_span out, again;
    if (shard_jpeg_examine(jpeg, image, &before, &err) != SHARD_OK ||
        shard_jpeg_to_baseline(jpeg, image, strip, &out, &err) != SHARD_OK)
        return;
    uint8_t *copy = fuzz_copy(out.data, out.size); /* the object's own goes with its next call */
    fmt_span made = {copy, out.size};
    FUZZ_CHECK(shard_jpeg_examine(jpeg, made, &after, &err) == SHARD_OK);
    FUZZ_CHECK(after.width == before.width && after.height == before.height &&
               after.components == before.components);
    FUZZ_CHECK(!after.progressive && !after.arithmetic);
    FUZZ_CHECK(orientation_of(image) == 1 || orientation_of(made) == orientation_of(image));
    FUZZ_CHECK(shard_jpeg_to_baseline(jpeg, made, strip, &again, &err) == SHARD_OK);
    FUZZ_CHECK(fuzz_same(made, again)); /* the coefficients were kept */
    free(copy);
}

static void check_resize(shard_jpeg *jpeg, fmt_span image, uint32_t width, uint32_t height,
                         bool strip)
{
    shard_jpeg_info info;
    shard_error err;
    fmt_span out;
    if (shard_jpeg_resize(jpeg, image, width, height, QUALITY, strip, &out, &err) != SHARD_OK)
        return;
    uint8_t *copy = fuzz_copy(out.data, out.size);
    FUZZ_CHECK(shard_jpeg_examine(jpeg, (fmt_span){copy, out.size}, &info, &err) == SHARD_OK);
    FUZZ_CHECK(info.width == width && info.height == height && !info.progressive);
    FUZZ_CHECK(orientation_of(image) == 1 ||
               orientation_of((fmt_span){copy, out.size}) == orientation_of(image));
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_span image = {data, size};
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_jpeg *jpeg;
    shard_error err;
    uint8_t mode = fuzz_take_byte(&image);
    uint32_t width = fuzz_take_byte(&image) % 64u + 1, height = fuzz_take_byte(&image) % 64u + 1;
    uint64_t memory_max = (mode & MUCH_MEMORY) == MUCH_MEMORY ? 64 << 20 : 2 << 20;
    FUZZ_CHECK(shard_jpeg_open(&jpeg, memory_max, &alloc, &err) == SHARD_OK);
    check_baseline(jpeg, image, mode & STRIP);
    check_resize(jpeg, image, width, height, mode & STRIP);
    shard_jpeg_close(jpeg);
    return 0;
}
