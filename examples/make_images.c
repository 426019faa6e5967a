/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_images FOLDER COUNT: JPEG files in six class folders, for demonstrations. Each is a patch of
 * waves in its class's colour; the same arguments give the same files.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <jpeglib.h>

enum { WIDTH = 320, HEIGHT = 240, CLASSES = 6 };

static const char *const class_names[CLASSES] = {"cat", "dog", "fox", "hen", "owl", "yak"};

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* A triangle wave, 0 to 255. */
static uint8_t wave(uint32_t x, uint32_t period)
{
    uint32_t phase = x % period * 510 / period;
    return (uint8_t)(phase < 256 ? phase : 510 - phase);
}

/* Bits of the colour say which of red, green and blue are bright. */
static void draw_row(uint8_t *row, uint32_t y, uint32_t colour, const uint32_t *periods,
                     uint32_t *noise)
{
    for (uint32_t x = 0; x < WIDTH; x++)
        for (uint32_t c = 0; c < 3; c++) {
            uint32_t value = wave(x * (c + 1) + y * periods[c] / 7, periods[c]);
            value = colour >> c & 1 ? 64 + value * 3 / 4 : value * 3 / 4;
            *row++ = (uint8_t)((value * 7 + (next_random(noise) & 0xff)) / 8);
        }
}

static int write_image(const char *path, uint32_t seed)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors; /* the default: a message, and exit */
    uint8_t row[WIDTH * 3], *rows[1] = {row};
    uint32_t noise = seed * 2654435761u + 1, periods[3];
    FILE *file = fopen(path, "wb");
    if (!file)
        return -1;
    for (int c = 0; c < 3; c++)
        periods[c] = 40 + next_random(&noise) % 200;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_stdio_dest(&jpeg, file);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = 3;
    jpeg.in_color_space = JCS_RGB;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 90, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    for (uint32_t y = 0; y < HEIGHT; y++) {
        draw_row(row, y, seed % CLASSES + 1, periods, &noise);
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    return fclose(file);
}

static int make_folder(const char *path)
{
    return mkdir(path, 0777) != 0 && errno != EEXIST ? -1 : 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: make_images FOLDER COUNT\n");
        return 2;
    }
    char path[4096];
    long count = strtol(argv[2], NULL, 10);
    int failed = make_folder(argv[1]);
    for (int c = 0; c < CLASSES && !failed; c++) {
        snprintf(path, sizeof path, "%s/%s", argv[1], class_names[c]);
        failed = make_folder(path);
    }
    for (long i = 0; i < count && !failed; i++) {
        snprintf(path, sizeof path, "%s/%s/%06ld.jpg", argv[1], class_names[i % CLASSES], i);
        failed = write_image(path, (uint32_t)i);
    }
    if (failed)
        perror(argv[1]);
    return failed ? 1 : 0;
}
