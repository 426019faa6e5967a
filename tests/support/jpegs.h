/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG images in memory, and their pixels by libjpeg alone. All die when they fail. */
#ifndef TEST_JPEGS_H
#define TEST_JPEGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t width, height;
    int components;   /* 1: grey, 3: YCbCr, 4: CMYK */
    int across, down; /* sampling factors of the first component, or of grey */
    bool progressive;
    unsigned restart;    /* MCUs from one restart marker to the next; 0: none */
    uint8_t orientation; /* in EXIF; 0: no EXIF */
} test_jpeg;

/* Waves and noise. free() it. */
uint8_t *test_make_jpeg(const test_jpeg *spec, size_t *size);

/* All of it at 1/denominator, in `channels` bytes a pixel. free() it. */
uint8_t *test_decode_jpeg(const uint8_t *bytes, size_t size, int channels, unsigned denominator,
                          uint32_t *width, uint32_t *height);

/* Where the first segment of this kind begins, at its marker; 0: there is none. */
size_t test_find_segment(const uint8_t *bytes, size_t size, uint8_t marker);

#endif
