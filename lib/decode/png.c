/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/png.h"

#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include <png.h>

enum {
    PASSES_MANY = 7,    /* of an interlaced image */
    ROWS_OF_LIBPNG = 4, /* that it keeps */
    PIXEL_MOST = 8,     /* bytes */
};

/* Lives in the frame above the one that has the setjmp. */
typedef struct {
    png_structp png;
    png_infop info;
    jmp_buf failed;
    bool short_of_memory;
    char message[128];
    fmt_span rest; /* of the file */
    shard_picture *picture;
} png_work;

/* ---- what libpng calls back ---- */

static void on_error(png_structp png, png_const_charp message)
{
    png_work *w = png_get_error_ptr(png);
    snprintf(w->message, sizeof w->message, "%s", message);
    longjmp(w->failed, 1);
}

/* Of colour profiles and the like, which are not looked at; what hurts the pixels is an error. */
static void on_warning(png_structp png, png_const_charp message)
{
    (void)png, (void)message;
}

static void on_read(png_structp png, png_bytep out, size_t size)
{
    png_work *w = png_get_io_ptr(png);
    if (size > w->rest.size)
        png_error(png, "the file ends inside the image");
    memcpy(out, w->rest.data, size);
    w->rest.data += size;
    w->rest.size -= size;
}

static png_voidp on_malloc(png_structp png, png_alloc_size_t size)
{
    png_work *w = png_get_mem_ptr(png);
    const fmt_alloc *alloc = &w->picture->alloc;
    void *memory = alloc->realloc(alloc->context, NULL, size);
    if (!memory)
        w->short_of_memory = true;
    return memory;
}

static void on_free(png_structp png, png_voidp memory)
{
    png_work *w = png_get_mem_ptr(png);
    shard_alloc_free(&w->picture->alloc, memory);
}

/* ---- before the pixels ---- */

/* Rows of bytes, grey or RGB. Of 16 bits the upper 8 are taken, as Pillow does. */
static void ask_for_bytes(png_work *w)
{
    int colour = png_get_color_type(w->png, w->info), bits = png_get_bit_depth(w->png, w->info);
    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(w->png);
    if (colour == PNG_COLOR_TYPE_GRAY && bits < 8)
        png_set_expand_gray_1_2_4_to_8(w->png);
    if (bits == 16)
        png_set_strip_16(w->png);
    png_set_strip_alpha(w->png);
}

/* Begin to read; the image's part is known afterwards. `*passes`: how often rows come. */
static shard_status begin(png_work *w, int *passes, shard_error *err)
{
    png_set_read_fn(w->png, w, on_read);
    png_set_keep_unknown_chunks(w->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1); /* all but pixels */
    png_read_info(w->png, w->info);
    uint32_t width = png_get_image_width(w->png, w->info);
    uint32_t height = png_get_image_height(w->png, w->info);
    SHARD_TRY(shard_picture_place(w->picture, width, height, 1, err));
    bool interlaced = png_get_interlace_type(w->png, w->info) != PNG_INTERLACE_NONE;
    uint64_t rows = ROWS_OF_LIBPNG * (uint64_t)PIXEL_MOST;
    rows += interlaced ? (uint64_t)height * 3 : 3;
    SHARD_TRY(shard_picture_check_memory(w->picture, width * rows, err));
    ask_for_bytes(w);
    *passes = png_set_interlace_handling(w->png);
    png_read_update_info(w->png, w->info);
    return SHARD_OK;
}

/* ---- the pixels ---- */

/* Rows come from top to bottom, and those below the part need not be read. */
static shard_status read_rows(png_work *w, const shard_picture_rows *rows, shard_error *err)
{
    uint8_t *row;
    uint32_t width = rows->width, channels = png_get_channels(w->png, w->info);
    SHARD_TRY(shard_picture_rows_room(w->picture, png_get_rowbytes(w->png, w->info), &row, err));
    for (uint32_t y = 0; y < rows->top; y++)
        png_read_row(w->png, row, NULL);
    uint32_t needed = shard_scaler_rows_needed(w->picture->scaler);
    for (uint32_t y = 0; y < needed; y++) {
        png_read_row(w->png, row, NULL);
        shard_picture_put_row(w->picture, row, channels, width);
    }
    return SHARD_OK;
}

/* Each pass fills in some of the pixels: the image is kept whole. */
static shard_status read_passes(png_work *w, int passes, const shard_picture_rows *rows,
                                shard_error *err)
{
    uint8_t *image;
    uint32_t width = rows->width, channels = png_get_channels(w->png, w->info);
    size_t stride = png_get_rowbytes(w->png, w->info);
    SHARD_TRY(shard_picture_rows_room(w->picture, stride * w->picture->height, &image, err));
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t y = 0; y < w->picture->height; y++)
            png_read_row(w->png, image + y * stride, NULL);
    uint32_t needed = shard_scaler_rows_needed(w->picture->scaler);
    for (uint32_t y = 0; y < needed; y++)
        shard_picture_put_row(w->picture, image + (rows->top + y) * stride, channels, width);
    return SHARD_OK;
}

static shard_status decode(png_work *w, shard_error *err)
{
    int passes;
    shard_picture_rows rows;
    SHARD_TRY(begin(w, &passes, err));
    shard_picture_cover(w->picture, 1, &rows);
    rows.left = 0; /* a row comes whole */
    rows.width = w->picture->width;
    SHARD_TRY(shard_picture_begin(w->picture, &rows, err));
    return passes == PASSES_MANY ? read_passes(w, passes, &rows, err) : read_rows(w, &rows, err);
}

static shard_status run(png_work *w, shard_error *err)
{
    if (setjmp(w->failed) == 0) {
        w->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, w, on_error, on_warning, w,
                                          on_malloc, on_free);
        w->info = w->png ? png_create_info_struct(w->png) : NULL;
        return w->info ? decode(w, err) : shard_fail_memory(err);
    }
    if (w->short_of_memory)
        return shard_fail_memory(err);
    return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET, "PNG: %s", w->message);
}

shard_status shard_png_decode(fmt_span image, shard_picture *picture, shard_error *err)
{
    png_work work = {.rest = image, .picture = picture};
    shard_status status = run(&work, err);
    png_destroy_read_struct(&work.png, &work.info, NULL);
    return status;
}
