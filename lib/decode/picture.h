/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stands between a format's decoder and the caller's memory: which part of the image is
 * wanted, the scaler, and the turning that EXIF asks for. A decoder says an image's size
 * (_place), reads `part`, says which rows it will hand over (_begin), and hands them to `scaler`;
 * then _finish.
 */
#ifndef DECODE_PICTURE_H
#define DECODE_PICTURE_H

#include "decode/crop.h"
#include "decode/scale.h"

typedef struct {
    shard_image_opts opts; /* defaults filled in */
    shard_scaler *scaler;
    uint32_t channels; /* of the result: 1 or 3 */
    fmt_alloc alloc;

    /* Of the image at hand, from whoever calls a format's decoder. */
    uint64_t key;
    const shard_crop *crop; /* in place of what the key decides; NULL: none */
    void *out;

    /* Set by _place, all of the image as stored, before it is turned. */
    uint32_t width, height;
    struct {
        double x, y, width, height;
    } part;
    uint32_t out_width, out_height; /* to what the part is scaled */
    bool left_right, upside_down, transposed;

    void *number;    /* tables of the float layouts */
    uint8_t *turned; /* a scaled image on its way to be turned, and a row behind it */
    uint8_t *rows;   /* for the formats' decoders */
    size_t turned_capacity, rows_capacity;
} shard_picture;

/* Pixels as they come: image pixels at 1/denominator, of which the first is at left, top. */
typedef struct {
    uint32_t denominator;
    uint32_t left, top, width, height;
} shard_picture_rows;

/* `opts` were checked. Zero `picture` before; clear it even when this fails. */
shard_status shard_picture_init(shard_picture *picture, const shard_image_opts *opts,
                                const fmt_alloc *alloc, shard_error *err);
void shard_picture_clear(shard_picture *picture);

/* Find the part for an image of this size; `orientation` as in EXIF: 1 to 8. */
shard_status shard_picture_place(shard_picture *picture, uint32_t width, uint32_t height,
                                 uint8_t orientation, shard_error *err);

/* The pixels that cover the part at 1/denominator. */
void shard_picture_cover(const shard_picture *picture, uint32_t denominator,
                         shard_picture_rows *out);

/* Refuse an image for which its decoder needs `bytes` beside the scaler's. */
shard_status shard_picture_check_memory(const shard_picture *picture, uint64_t bytes,
                                        shard_error *err);

/* Memory for the decoder's own rows, until the next call. */
shard_status shard_picture_rows_room(shard_picture *picture, size_t size, uint8_t **out,
                                     shard_error *err);

shard_status shard_picture_begin(shard_picture *picture, const shard_picture_rows *rows,
                                 shard_error *err);

/* The next row, where it is not decoded into the scaler's memory: grey or RGB. */
void shard_picture_put_row(shard_picture *picture, const uint8_t *row, uint32_t channels,
                           uint32_t width);

/* All rows are there that the scaler needs. */
void shard_picture_finish(shard_picture *picture);

#endif
