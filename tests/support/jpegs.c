/* SPDX-License-Identifier: Apache-2.0 */
#include "jpegs.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "jpeg/jpeg_markers.h"

static void *room(size_t size)
{
    void *memory = malloc(size);
    if (!memory)
        abort();
    return memory;
}

static void fill_row(uint8_t *row, const test_jpeg *spec, uint32_t y, uint32_t *noise)
{
    for (uint32_t x = 0; x < spec->width; x++)
        for (uint32_t c = 0; c < (uint32_t)spec->components; c++) {
            *noise = *noise * 1664525 + 1013904223;
            uint32_t wave = (x * (3 + c) + y * (5 - c)) % 160;
            *row++ = (uint8_t)(wave + (*noise >> 26) + ((x / 8 + y / 8) % 3 == c ? 0U : 30U));
        }
}

static void set_up(struct jpeg_compress_struct *out, const test_jpeg *spec)
{
    static const J_COLOR_SPACE spaces[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_UNKNOWN, JCS_RGB,
                                           JCS_CMYK};
    out->image_width = spec->width;
    out->image_height = spec->height;
    out->input_components = spec->components;
    out->in_color_space = spaces[spec->components];
    jpeg_set_defaults(out);
    jpeg_set_quality(out, 90, TRUE);
    out->comp_info[0].h_samp_factor = spec->across;
    out->comp_info[0].v_samp_factor = spec->down;
    out->restart_interval = spec->restart;
    if (spec->progressive)
        jpeg_simple_progression(out);
}

uint8_t *test_make_jpeg(const test_jpeg *spec, size_t *size)
{
    struct jpeg_compress_struct out;
    struct jpeg_error_mgr errors; /* its own error_exit ends the program */
    unsigned char *bytes = NULL;
    unsigned long written = 0;
    uint32_t noise = 1;
    out.err = jpeg_std_error(&errors);
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &bytes, &written);
    set_up(&out, spec);
    jpeg_start_compress(&out, TRUE);
    if (spec->orientation > 0) {
        uint8_t exif[FMT_JPEG_EXIF_SIZE];
        fmt_jpeg_write_exif(exif, spec->orientation);
        jpeg_write_marker(&out, FMT_JPEG_APP1, exif, sizeof exif);
    }
    uint8_t *row = room((size_t)spec->width * (size_t)spec->components);
    for (uint32_t y = 0; y < spec->height; y++) {
        JSAMPROW rows = row;
        fill_row(row, spec, y, &noise);
        jpeg_write_scanlines(&out, &rows, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    free(row);
    *size = written;
    return bytes;
}

uint8_t *test_decode_jpeg(const uint8_t *bytes, size_t size, int channels, unsigned denominator,
                          uint32_t *width, uint32_t *height)
{
    struct jpeg_decompress_struct in;
    struct jpeg_error_mgr errors;
    in.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&in);
    jpeg_mem_src(&in, bytes, size);
    jpeg_read_header(&in, TRUE);
    in.out_color_space = channels == 1 ? JCS_GRAYSCALE : channels == 3 ? JCS_RGB : JCS_CMYK;
    in.scale_num = 1;
    in.scale_denom = denominator;
    jpeg_start_decompress(&in);
    size_t stride = (size_t)in.output_width * (size_t)channels;
    uint8_t *pixels = room(stride * in.output_height);
    while (in.output_scanline < in.output_height) {
        JSAMPROW row = pixels + in.output_scanline * stride;
        jpeg_read_scanlines(&in, &row, 1);
    }
    *width = in.output_width;
    *height = in.output_height;
    jpeg_destroy_decompress(&in);
    return pixels;
}

size_t test_find_segment(const uint8_t *bytes, size_t size, uint8_t marker)
{
    for (size_t at = 2; at + 4 <= size && bytes[at] == 0xff;
         at += 2 + ((size_t)bytes[at + 2] << 8 | bytes[at + 3]))
        if (bytes[at + 1] == marker)
            return at;
    return 0;
}
