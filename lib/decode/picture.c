/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/picture.h"

#include <string.h>

#include "decode/colour.h"

enum {
    SIDE_MOST = 1 << 20, /* pixels; no number below leaves its type */
    SCALER_ROWS = 80,    /* of bytes, that the scaler keeps at most */
};

static const size_t TABLE_SIZE = sizeof(float) * 256;

/* ---- the object ---- */

shard_status shard_picture_init(shard_picture *picture, const shard_image_opts *opts,
                                const fmt_alloc *alloc, shard_error *err)
{
    picture->opts = *opts;
    picture->alloc = *alloc;
    picture->channels = opts->grey ? 1 : 3;
    picture->number = shard_alloc_zeroed(alloc, picture->channels, TABLE_SIZE);
    if (!picture->number)
        return shard_fail_memory(err);
    shard_pixels_fill_table(opts->layout, picture->channels, opts->mean, opts->deviation,
                            picture->number);
    return shard_scaler_open(&picture->scaler, alloc, err);
}

void shard_picture_clear(shard_picture *picture)
{
    shard_scaler_close(picture->scaler);
    shard_alloc_free(&picture->alloc, picture->number);
    shard_alloc_free(&picture->alloc, picture->turned);
    shard_alloc_free(&picture->alloc, picture->rows);
    *picture = (shard_picture){0};
}

/* ---- the part ---- */

/*
 * From the image as it is seen to the image as it is stored. EXIF 2.3, 4.6.4: the orientation says
 * on which sides of the seen image the first stored row and column lie.
 */
static void turn(shard_picture *p, uint8_t orientation, const shard_crop *seen)
{
    static const struct {
        bool left_right, upside_down, transposed;
    } turns[9] = {
        [2] = {true, false, false}, [3] = {true, true, false}, [4] = {false, true, false},
        [5] = {false, false, true}, [6] = {false, true, true}, [7] = {true, true, true},
        [8] = {true, false, true},
    };
    p->left_right = turns[orientation].left_right;
    p->upside_down = turns[orientation].upside_down;
    p->transposed = turns[orientation].transposed;
    double x = p->transposed ? seen->y : seen->x, y = p->transposed ? seen->x : seen->y;
    p->part.width = p->transposed ? seen->height : seen->width;
    p->part.height = p->transposed ? seen->width : seen->height;
    p->part.x = p->left_right ? p->width - x - p->part.width : x;
    p->part.y = p->upside_down ? p->height - y - p->part.height : y;
    p->out_width = p->transposed ? p->opts.height : p->opts.width;
    p->out_height = p->transposed ? p->opts.width : p->opts.height;
    if (seen->mirror && p->transposed)
        p->upside_down = !p->upside_down;
    else if (seen->mirror)
        p->left_right = !p->left_right;
}

shard_status shard_picture_place(shard_picture *picture, uint32_t width, uint32_t height,
                                 uint8_t orientation, shard_error *err)
{
    if (width == 0 || height == 0)
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET, "image of %u x %u pixels", width,
                          height);
    if (width > SIDE_MOST || height > SIDE_MOST)
        return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                          "image of %u x %u pixels; each side may have %d at most", width, height,
                          SIDE_MOST);
    picture->width = width;
    picture->height = height;
    bool transposed = orientation >= 5;
    shard_crop drawn;
    if (!picture->crop)
        shard_crop_choose(&picture->opts, transposed ? height : width, transposed ? width : height,
                          picture->key, &drawn);
    turn(picture, orientation, picture->crop ? picture->crop : &drawn);
    return SHARD_OK;
}

static uint32_t rounded_up(double x, uint32_t most)
{
    uint32_t i = (uint32_t)x;
    i += i < x;
    return i < most ? i : most;
}

void shard_picture_cover(const shard_picture *picture, uint32_t denominator,
                         shard_picture_rows *out)
{
    double x = picture->part.x / denominator, right = picture->part.width / denominator + x;
    double y = picture->part.y / denominator, bottom = picture->part.height / denominator + y;
    uint32_t width = (picture->width + denominator - 1) / denominator;
    uint32_t height = (picture->height + denominator - 1) / denominator;
    out->denominator = denominator;
    out->left = x < width - 1 ? (uint32_t)x : width - 1;
    out->top = y < height - 1 ? (uint32_t)y : height - 1;
    out->width = rounded_up(right, width) - out->left;
    out->height = rounded_up(bottom, height) - out->top;
}

/* ---- memory ---- */

shard_status shard_picture_check_memory(const shard_picture *picture, uint64_t bytes,
                                        shard_error *err)
{
    uint64_t needed = bytes + (uint64_t)picture->width * picture->channels * SCALER_ROWS;
    if (needed <= picture->opts.memory_max)
        return SHARD_OK;
    return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                      "image of %u x %u pixels takes %llu MiB to decode, more than memory_max",
                      picture->width, picture->height, (unsigned long long)(needed >> 20));
}

shard_status shard_picture_rows_room(shard_picture *picture, size_t size, uint8_t **out,
                                     shard_error *err)
{
    if (!shard_alloc_grow(&picture->alloc, &picture->rows, &picture->rows_capacity, size, 1))
        return shard_fail_memory(err);
    *out = picture->rows;
    return SHARD_OK;
}

/* ---- rows ---- */

static bool is_turned(const shard_picture *picture)
{
    return picture->transposed || picture->upside_down;
}

/* Where the scaler writes: the caller's memory, or ours if rows are not to stay rows in order. */
static shard_status choose_target(shard_picture *picture, shard_pixels *out, shard_error *err)
{
    *out = (shard_pixels){.layout = picture->opts.layout,
                          .width = picture->out_width,
                          .height = picture->out_height,
                          .channels = picture->channels,
                          .number = picture->number,
                          .data = picture->out};
    if (!is_turned(picture))
        return SHARD_OK;
    size_t row = (size_t)picture->opts.width * picture->channels;
    size_t size = row * picture->opts.height + row;
    if (!shard_alloc_grow(&picture->alloc, &picture->turned, &picture->turned_capacity, size, 1))
        return shard_fail_memory(err);
    out->layout = SHARD_IMAGE_U8_NHWC;
    out->data = picture->turned;
    return SHARD_OK;
}

shard_status shard_picture_begin(shard_picture *picture, const shard_picture_rows *rows,
                                 shard_error *err)
{
    shard_pixels target;
    double left = rows->left, top = rows->top;
    const shard_scale scale = {.in_width = rows->width,
                               .in_height = rows->height,
                               .x = picture->part.x / rows->denominator - left,
                               .y = picture->part.y / rows->denominator - top,
                               .width = picture->part.width / rows->denominator,
                               .height = picture->part.height / rows->denominator,
                               .out_width = picture->out_width,
                               .out_height = picture->out_height,
                               .channels = picture->channels,
                               .mirror = picture->left_right};
    SHARD_TRY(choose_target(picture, &target, err));
    return shard_scaler_begin(picture->scaler, &scale, &target, err);
}

void shard_picture_put_row(shard_picture *picture, const uint8_t *row, uint32_t channels,
                           uint32_t width)
{
    shard_colour_convert(row, channels, shard_scaler_next_row(picture->scaler), picture->channels,
                         width);
    shard_scaler_row_done(picture->scaler);
}

/* Row `y` of the result from the image that was scaled as it is stored. */
static void gather_row(const shard_picture *p, uint32_t y, uint8_t *out)
{
    size_t channels = p->channels, stride = p->out_width * channels;
    if (!p->transposed) {
        memcpy(out, p->turned + (p->out_height - 1 - y) * stride, stride);
        return;
    }
    for (uint32_t x = 0; x < p->out_height; x++) {
        size_t row = p->upside_down ? p->out_height - 1 - x : x;
        memcpy(out + x * channels, p->turned + row * stride + y * channels, channels);
    }
}

void shard_picture_finish(shard_picture *picture)
{
    if (!is_turned(picture))
        return;
    const shard_pixels result = {.layout = picture->opts.layout,
                                 .width = picture->opts.width,
                                 .height = picture->opts.height,
                                 .channels = picture->channels,
                                 .number = picture->number,
                                 .data = picture->out};
    size_t row_size = (size_t)picture->opts.width * picture->channels;
    uint8_t *row = picture->turned + row_size * picture->opts.height;
    for (uint32_t y = 0; y < picture->opts.height; y++) {
        gather_row(picture, y, row);
        shard_pixels_put_row(&result, y, row, false);
    }
}
