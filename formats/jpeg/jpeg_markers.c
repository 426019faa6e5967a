/* SPDX-License-Identifier: Apache-2.0 */
#include "jpeg/jpeg_markers.h"

#include <string.h>

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, TEM = 0x01, RST0 = 0xd0, RST7 = 0xd7 };
enum { ORIENTATION_TAG = 0x0112, TYPE_SHORT = 3, TIFF_HEADER = 8, IFD_ENTRY = 12 };

static bool begins_with(fmt_span payload, const char *text, size_t size)
{
    return payload.size >= size && memcmp(payload.data, text, size) == 0;
}

/* ---- EXIF ---- */

/* Numbers of a TIFF structure, in the byte order that it says. */
typedef struct {
    fmt_span bytes;
    bool big;
} tiff;

static uint32_t get16(const tiff *t, size_t at)
{
    const uint8_t *p = t->bytes.data + at;
    return t->big ? (uint32_t)(p[0] << 8 | p[1]) : fmt_load16(p);
}

static uint32_t get32(const tiff *t, size_t at)
{
    return t->big ? get16(t, at) << 16 | get16(t, at + 2) : get16(t, at) | get16(t, at + 2) << 16;
}

/* The orientation in the first directory (TIFF 6.0, EXIF 2.3 section 4.6.2); 1 where there is none.
 */
static uint8_t find_orientation(const tiff *t)
{
    if (t->bytes.size < TIFF_HEADER)
        return 1;
    size_t directory = get32(t, 4);
    if (directory > t->bytes.size - 2 || directory < TIFF_HEADER)
        return 1;
    size_t entries = get16(t, directory);
    for (size_t i = 0; i < entries; i++) {
        size_t entry = directory + 2 + i * IFD_ENTRY;
        if (entry + IFD_ENTRY > t->bytes.size)
            break;
        if (get16(t, entry) != ORIENTATION_TAG)
            continue;
        uint32_t value = get16(t, entry + 8);
        bool usable = get16(t, entry + 2) == TYPE_SHORT && value >= 1 && value <= 8;
        return usable ? (uint8_t)value : 1;
    }
    return 1;
}

static uint8_t exif_orientation(fmt_span payload)
{
    tiff t = {{payload.data + 6, payload.size - 6}, false};
    if (begins_with(t.bytes, "MM\0*", 4))
        t.big = true;
    else if (!begins_with(t.bytes, "II*\0", 4))
        return 1;
    return find_orientation(&t);
}

void fmt_jpeg_write_exif(uint8_t out[FMT_JPEG_EXIF_SIZE], uint8_t orientation)
{
    memset(out, 0, FMT_JPEG_EXIF_SIZE);
    memcpy(out, "Exif\0\0II*\0", 10);
    fmt_store32(out + 10, TIFF_HEADER); /* where the directory begins */
    fmt_store16(out + 14, 1);           /* its entries */
    fmt_store16(out + 16, ORIENTATION_TAG);
    fmt_store16(out + 18, TYPE_SHORT);
    fmt_store32(out + 20, 1); /* value */
    fmt_store16(out + 24, orientation);
}

/* ---- JFIF ---- */

void fmt_jpeg_write_jfif(uint8_t out[FMT_JPEG_JFIF_SIZE], fmt_span payload)
{
    memcpy(out, payload.data, FMT_JPEG_JFIF_SIZE);
    out[12] = out[13] = 0; /* width and height of the thumbnail */
}

/* ---- segments ---- */

fmt_jpeg_fate fmt_jpeg_segment_fate(uint8_t marker, fmt_span payload, uint8_t *orientation)
{
    *orientation = 1;
    if (marker == FMT_JPEG_COM)
        return FMT_JPEG_DROP;
    if (marker < FMT_JPEG_APP0 || marker > 0xef)
        return FMT_JPEG_KEEP;
    if (marker == FMT_JPEG_APP0 && begins_with(payload, "JFIF", 5)) /* the colours are YCbCr */
        return payload.size > FMT_JPEG_JFIF_SIZE ? FMT_JPEG_JFIF : FMT_JPEG_KEEP;
    if (marker == FMT_JPEG_APP14 && begins_with(payload, "Adobe", 5))
        return FMT_JPEG_KEEP; /* says how the colours are coded */
    if (marker == FMT_JPEG_APP2 && begins_with(payload, "ICC_PROFILE", 12))
        return FMT_JPEG_KEEP;
    if (marker == FMT_JPEG_APP1 && begins_with(payload, "Exif\0\0", 6))
        *orientation = exif_orientation(payload);
    return *orientation != 1 ? FMT_JPEG_ORIENTATION : FMT_JPEG_DROP;
}

typedef struct {
    fmt_span in;
    size_t at;
    uint8_t *out;
    size_t size;
    bool has_exif; /* an orientation was written: the first one counts */
    fmt_fault *fault;
} stripping;

static void copy(stripping *s, size_t begin, size_t end)
{
    memcpy(s->out + s->size, s->in.data + begin, end - begin);
    s->size += end - begin;
}

/* A segment's marker and length; where its payload of `size` < 254 bytes is to be written. */
static uint8_t *put_segment(stripping *s, uint8_t marker, uint8_t size)
{
    uint8_t *out = s->out + s->size;
    out[0] = 0xff;
    out[1] = marker;
    out[2] = 0;
    out[3] = (uint8_t)(2 + size); /* the length counts itself */
    s->size += 4 + (size_t)size;
    return out + 4;
}

static void put_exif(stripping *s, uint8_t orientation)
{
    fmt_jpeg_write_exif(put_segment(s, FMT_JPEG_APP1, FMT_JPEG_EXIF_SIZE), orientation);
    s->has_exif = true;
}

/* Past the coded data that follows a scan's header, to the marker behind it (T.81 B.1.1.5). */
static fmt_status copy_scan(stripping *s)
{
    size_t begin = s->at;
    while (s->at + 1 < s->in.size) {
        const uint8_t *ff = memchr(s->in.data + s->at, 0xff, s->in.size - s->at - 1);
        if (!ff)
            break;
        s->at = (size_t)(ff - s->in.data);
        uint8_t next = ff[1];
        if (next != 0 && next != 0xff && (next < RST0 || next > RST7)) {
            copy(s, begin, s->at);
            return FMT_OK;
        }
        s->at += next == 0xff ? 1 : 2;
    }
    return fmt_fail(s->fault, FMT_ETRUNCATED, "JPEG ends inside its coded data", s->in.size);
}

/* One marker and its segment. FMT_END behind the end of the image. */
static fmt_status strip_segment(stripping *s)
{
    size_t begin = s->at;
    if (begin + 2 > s->in.size)
        return fmt_fail(s->fault, FMT_ETRUNCATED, "JPEG has no end", begin);
    uint8_t marker = s->in.data[begin + 1];
    if (s->in.data[begin] != 0xff)
        return fmt_fail(s->fault, FMT_EINVALID, "JPEG marker expected", begin);
    if (marker == 0xff) { /* fill bytes may stand before any marker */
        s->at++;
        return FMT_OK;
    }
    if (marker == EOI) {
        copy(s, begin, begin + 2);
        return FMT_END;
    }
    if (marker == SOI || marker == TEM || marker == 0 || (marker >= RST0 && marker <= RST7))
        return fmt_fail(s->fault, FMT_EINVALID, "JPEG marker out of place", begin);
    if (begin + 4 > s->in.size)
        return fmt_fail(s->fault, FMT_ETRUNCATED, "JPEG ends inside a segment", s->in.size);
    size_t length = (size_t)s->in.data[begin + 2] << 8 | s->in.data[begin + 3];
    if (length < 2) /* it counts itself (T.81 B.1.1.4) */
        return fmt_fail(s->fault, FMT_EINVALID, "JPEG segment without a length", begin + 2);
    if (begin + 2 + length > s->in.size)
        return fmt_fail(s->fault, FMT_ETRUNCATED, "JPEG ends inside a segment", s->in.size);
    s->at = begin + 2 + length;
    uint8_t orientation;
    fmt_span payload = {s->in.data + begin + 4, length - 2};
    fmt_jpeg_fate fate = fmt_jpeg_segment_fate(marker, payload, &orientation);
    if (fate == FMT_JPEG_KEEP)
        copy(s, begin, s->at);
    else if (fate == FMT_JPEG_JFIF)
        fmt_jpeg_write_jfif(put_segment(s, FMT_JPEG_APP0, FMT_JPEG_JFIF_SIZE), payload);
    else if (fate == FMT_JPEG_ORIENTATION && !s->has_exif)
        put_exif(s, orientation);
    return marker == SOS ? copy_scan(s) : FMT_OK;
}

fmt_status fmt_jpeg_strip(fmt_span in, uint8_t *out, size_t *out_size, fmt_fault *fault)
{
    stripping s = {.in = in, .at = 2, .out = out, .fault = fault};
    if (in.size < 4 || in.data[0] != 0xff || in.data[1] != SOI)
        return fmt_fail(fault, FMT_EINVALID, "not a JPEG file", 0);
    copy(&s, 0, 2);
    fmt_status status;
    do
        status = strip_segment(&s);
    while (status == FMT_OK);
    *out_size = s.size;
    return status == FMT_END ? FMT_OK : status;
}
