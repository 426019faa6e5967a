/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The segments of a JPEG file (ITU-T T.81, annex B) without its pixels: what metadata there is, and
 * the file without it.
 */
#ifndef FMT_JPEG_MARKERS_H
#define FMT_JPEG_MARKERS_H

#include "fmt.h"

enum {
    FMT_JPEG_APP0 = 0xe0,
    FMT_JPEG_APP1 = 0xe1,
    FMT_JPEG_APP2 = 0xe2,
    FMT_JPEG_APP14 = 0xee,
    FMT_JPEG_COM = 0xfe,
    FMT_JPEG_JFIF_SIZE = 14, /* of an APP0 payload without a thumbnail */
    FMT_JPEG_EXIF_SIZE = 32, /* of an APP1 payload that says the orientation and no more */
};

/* What is to become of a segment when metadata is dropped. */
typedef enum {
    FMT_JPEG_KEEP,        /* needed to decode: tables, frames, JFIF, Adobe; and ICC profiles */
    FMT_JPEG_JFIF,        /* has a thumbnail: keep what comes before it */
    FMT_JPEG_ORIENTATION, /* EXIF that turns the image: keep that of it */
    FMT_JPEG_DROP,
} fmt_jpeg_fate;

/* The fate of a segment with this marker and payload (without its length); `*orientation` is 1
 * to 8. */
fmt_jpeg_fate fmt_jpeg_segment_fate(uint8_t marker, fmt_span payload, uint8_t *orientation);

/* Write the payload of an APP0 segment like this one, at least as long, but without a thumbnail. */
void fmt_jpeg_write_jfif(uint8_t out[FMT_JPEG_JFIF_SIZE], fmt_span payload);

/* Write the payload of an APP1 segment that says the orientation and no more. */
void fmt_jpeg_write_exif(uint8_t out[FMT_JPEG_EXIF_SIZE], uint8_t orientation);

/*
 * Copy a JPEG file without its metadata and without what follows its end; pixels stay as they are,
 * bit for bit. `out` has room for in.size + 64 bytes; `*out_size` is what was written.
 */
fmt_status fmt_jpeg_strip(fmt_span in, uint8_t *out, size_t *out_size, fmt_fault *fault);

#endif
