/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_head.h"

#include <string.h>

static uint32_t big16(const uint8_t *p)
{
    return (uint32_t)(p[0] << 8 | p[1]);
}

static uint32_t big32(const uint8_t *p)
{
    return big16(p) << 16 | big16(p + 2);
}

static uint32_t little24(const uint8_t *p)
{
    return (uint32_t)(p[0] | p[1] << 8 | p[2] << 16);
}

static bool begins(fmt_span bytes, size_t at, const char *text, size_t size)
{
    return bytes.size >= at + size && memcmp(bytes.data + at, text, size) == 0;
}

/* Start-of-frame markers but DHT, JPG and DAC, which lie among them (T.81 table B.1). */
static bool is_frame(uint8_t marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static fmt_status read_jpeg(fmt_span bytes, fmt_image_head *out)
{
    size_t at = 2;
    while (at + 9 <= bytes.size) {
        const uint8_t *p = bytes.data + at;
        if (p[0] != 0xff)
            return FMT_END;
        if (p[1] == 0xff) { /* fill byte */
            at++;
            continue;
        }
        if (is_frame(p[1])) {
            out->height = big16(p + 5);
            out->width = big16(p + 7);
            out->progressive = p[1] == 0xc2 || p[1] == 0xc6 || p[1] == 0xca || p[1] == 0xce;
            return FMT_OK;
        }
        if (p[1] == 0xda || p[1] == 0xd9 || big16(p + 2) < 2)
            return FMT_END; /* a scan before any frame */
        at += 2 + big16(p + 2);
    }
    return FMT_NEED_MORE;
}

static fmt_status read_png(fmt_span bytes, fmt_image_head *out)
{
    if (bytes.size < 24)
        return FMT_NEED_MORE;
    if (!begins(bytes, 12, "IHDR", 4))
        return FMT_END;
    out->width = big32(bytes.data + 16);
    out->height = big32(bytes.data + 20);
    return FMT_OK;
}

static fmt_status read_gif(fmt_span bytes, fmt_image_head *out)
{
    if (bytes.size < 10)
        return FMT_NEED_MORE;
    out->width = fmt_load16(bytes.data + 6);
    out->height = fmt_load16(bytes.data + 8);
    return FMT_OK;
}

/* The first chunk tells the size, in one of three ways; a whole lossless file may have 26 bytes. */
static fmt_status read_webp(fmt_span bytes, fmt_image_head *out)
{
    bool is_lossless = begins(bytes, 12, "VP8L", 4);
    const uint8_t *chunk = bytes.data + 20;
    if (bytes.size < (is_lossless ? 25 : 30))
        return FMT_NEED_MORE;
    if (begins(bytes, 12, "VP8X", 4)) {
        out->width = little24(chunk + 4) + 1;
        out->height = little24(chunk + 7) + 1;
        return FMT_OK;
    }
    if (is_lossless && chunk[0] == 0x2f) {
        uint32_t bits = fmt_load32(chunk + 1);
        out->width = (bits & 0x3fff) + 1;
        out->height = (bits >> 14 & 0x3fff) + 1;
        return FMT_OK;
    }
    if (begins(bytes, 12, "VP8 ", 4) && begins(bytes, 23, "\x9d\x01\x2a", 3)) {
        out->width = fmt_load16(chunk + 6) & 0x3fff;
        out->height = fmt_load16(chunk + 8) & 0x3fff;
        return FMT_OK;
    }
    return FMT_END;
}

enum { OS2_BITMAP_HEADER = 12 }; /* bytes; its sizes have 16 bits */

static fmt_status read_bmp(fmt_span bytes, fmt_image_head *out)
{
    if (bytes.size < 26)
        return FMT_NEED_MORE;
    if (fmt_load32(bytes.data + 14) == OS2_BITMAP_HEADER) {
        out->width = fmt_load16(bytes.data + 18);
        out->height = fmt_load16(bytes.data + 20);
        return FMT_OK;
    }
    uint32_t height = fmt_load32(bytes.data + 22);
    out->width = fmt_load32(bytes.data + 18);
    out->height = height >> 31 ? -height : height; /* negative: rows from top to bottom */
    return FMT_OK;
}

fmt_status fmt_image_read_head(fmt_span bytes, fmt_image_head *out)
{
    *out = (fmt_image_head){0};
    if (begins(bytes, 0, "\xff\xd8\xff", 3)) {
        out->kind = FMT_IMAGE_JPEG;
        return read_jpeg(bytes, out);
    }
    if (begins(bytes, 0, "\x89PNG\r\n\x1a\n", 8)) {
        out->kind = FMT_IMAGE_PNG;
        return read_png(bytes, out);
    }
    if (begins(bytes, 0, "GIF87a", 6) || begins(bytes, 0, "GIF89a", 6)) {
        out->kind = FMT_IMAGE_GIF;
        return read_gif(bytes, out);
    }
    if (begins(bytes, 0, "RIFF", 4) && begins(bytes, 8, "WEBP", 4)) {
        out->kind = FMT_IMAGE_WEBP;
        return read_webp(bytes, out);
    }
    if (begins(bytes, 0, "BM", 2) && begins(bytes, 6, "\0\0\0\0", 4)) {
        out->kind = FMT_IMAGE_BMP;
        return read_bmp(bytes, out);
    }
    return FMT_END;
}
