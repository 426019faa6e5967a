/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/jpeg_pixels.h"

#include "decode/colour.h"
#include "decode/jpeg_entropy_check.h"
#include "jpeg/jpeg_markers.h"

struct shard_jpeg_pixels {
    shard_libjpeg lib;
    shard_jpeg_entropy *entropy;
    fmt_alloc alloc;
    bool ours; /* `entropy` is to be used where it can be */
    bool used; /* by the last image */
};

typedef struct {
    shard_picture *picture;
    shard_jpeg_entropy *entropy; /* NULL: libjpeg's own */
    bool taken;                  /* by it */
} decoding;

enum {
    BLOCK_BYTES = DCTSIZE2 * sizeof(JCOEF),
    BUFFERED_ROWS = 128, /* of a component, that libjpeg keeps at most; a guess from above */
};

/* Ours, unless libjpeg is not what it seems to be. */
static shard_status open_entropy(shard_jpeg_pixels *jpeg, const fmt_alloc *alloc, shard_error *err)
{
    SHARD_TRY(shard_jpeg_entropy_open(&jpeg->entropy, alloc, err));
    if (jpeg->entropy && !shard_jpeg_entropy_check(jpeg->entropy)) {
        shard_jpeg_entropy_close(jpeg->entropy);
        jpeg->entropy = NULL;
    }
    return SHARD_OK;
}

shard_status shard_jpeg_pixels_open(shard_jpeg_pixels **out, const fmt_alloc *alloc,
                                    shard_error *err)
{
    *out = shard_alloc_zeroed(alloc, 1, sizeof **out);
    if (!*out)
        return shard_fail_memory(err);
    (*out)->alloc = *alloc;
    (*out)->ours = true;
    shard_libjpeg_init(&(*out)->lib);
    shard_status status = open_entropy(*out, alloc, err);
    if (status != SHARD_OK) {
        shard_jpeg_pixels_close(*out);
        *out = NULL;
    }
    return status;
}

void shard_jpeg_pixels_close(shard_jpeg_pixels *jpeg)
{
    if (!jpeg)
        return;
    fmt_alloc alloc = jpeg->alloc;
    shard_jpeg_entropy_close(jpeg->entropy);
    shard_alloc_free(&alloc, jpeg);
}

void shard_jpeg_pixels_use_ours(shard_jpeg_pixels *jpeg, bool ours)
{
    jpeg->ours = ours;
}

bool shard_jpeg_pixels_used_ours(const shard_jpeg_pixels *jpeg)
{
    return jpeg->used;
}

/* ---- before the pixels ---- */

/* The first that turns the image counts, as it does where pack strips metadata. */
static uint8_t orientation_of(const shard_libjpeg *lib)
{
    for (const struct jpeg_marker_struct *m = lib->in.marker_list; m; m = m->next) {
        uint8_t orientation;
        fmt_span payload = {m->data, m->data_length};
        if (fmt_jpeg_segment_fate(m->marker, payload, &orientation) == FMT_JPEG_ORIENTATION)
            return orientation;
    }
    return 1;
}

static shard_status choose_colours(shard_libjpeg *lib, const shard_picture *picture,
                                   shard_error *err)
{
    switch (lib->in.jpeg_color_space) {
    case JCS_GRAYSCALE:
    case JCS_YCbCr:
    case JCS_RGB:
        lib->in.out_color_space = picture->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
        return SHARD_OK;
    case JCS_CMYK:
    case JCS_YCCK:
        lib->in.out_color_space = JCS_CMYK;
        return SHARD_OK;
    default:
        return shard_fail(err, SHARD_EUNSUPPORTED, NULL, SHARD_NO_OFFSET,
                          "JPEG of %d components, of which nothing says what they mean",
                          lib->in.num_components);
    }
}

/*
 * Whether each component, as it would come out of the transform, has the result's size in the part
 * at least, or all that is stored of it: colours are sampled coarsely, and would be more so.
 */
static bool components_suffice(const shard_libjpeg *lib, const shard_picture *p)
{
    bool luminance_alone = lib->in.out_color_space == JCS_GRAYSCALE;
    int count = luminance_alone && lib->in.jpeg_color_space != JCS_RGB ? 1 : lib->in.num_components;
    for (int i = 0; i < count; i++) {
        const jpeg_component_info *c = &lib->in.comp_info[i];
        double across = p->part.width / p->width, down = p->part.height / p->height;
        bool unscaled = c->downsampled_width > (c->width_in_blocks - 1) * DCTSIZE &&
                        c->downsampled_height > (c->height_in_blocks - 1) * DCTSIZE;
        if (!unscaled && (c->downsampled_width * across < p->out_width ||
                          c->downsampled_height * down < p->out_height))
            return false;
    }
    return true;
}

/* By 1/2, 1/4 or 1/8 in the transform where `margin` times what is wanted is left, or more. */
static uint32_t choose_denominator(shard_libjpeg *lib, const shard_picture *picture)
{
    const uint32_t margin = picture->opts.fast ? 1 : 2;
    double width = picture->part.width, height = picture->part.height;
    for (uint32_t d = DCTSIZE; d > 1; d /= 2) {
        if (width / d < margin * picture->out_width || height / d < margin * picture->out_height)
            continue;
        lib->in.scale_denom = d;
        jpeg_calc_output_dimensions(&lib->in);
        if (components_suffice(lib, picture))
            return d;
    }
    return 1;
}

static shard_status check_memory(shard_libjpeg *lib, const shard_picture *picture, shard_error *err)
{
    uint64_t needed = 0;
    bool whole = jpeg_has_multiple_scans(&lib->in);
    for (int i = 0; i < lib->in.num_components; i++) {
        const jpeg_component_info *c = &lib->in.comp_info[i];
        if (whole)
            needed += (uint64_t)c->width_in_blocks * c->height_in_blocks * BLOCK_BYTES;
        needed += (uint64_t)lib->in.image_width * BUFFERED_ROWS;
    }
    return shard_picture_check_memory(picture, needed, err);
}

static uint32_t set_up(shard_libjpeg *lib, const shard_picture *picture)
{
    lib->in.dct_method = JDCT_ISLOW;
    /* It guesses what a progressive image lacks from blocks around, that are not all there. */
    lib->in.do_block_smoothing = FALSE;
    lib->in.scale_num = 1;
    lib->in.scale_denom = choose_denominator(lib, picture);
    return lib->in.scale_denom;
}

/* ---- the rows ---- */

/*
 * Read only the columns of `rows` and skip those above; `rows` becomes what will be read. A column
 * to the left and the right more than wanted: at an edge, libjpeg computes colours from one
 * neighbour instead of two. It cares for the rows above itself.
 */
static void cut(shard_libjpeg *lib, decoding *how, shard_picture_rows *rows)
{
    /* Before 3.0, libjpeg-turbo reads memory that nothing was written to if it cuts these. */
    if (lib->in.max_h_samp_factor > 2 || lib->in.max_v_samp_factor > 2) {
        rows->height += rows->top;
        rows->left = rows->top = 0;
        rows->width = lib->in.output_width;
        return;
    }
    JDIMENSION left = rows->left > 0 ? rows->left - 1 : 0;
    JDIMENSION right = rows->left + rows->width;
    JDIMENSION width = (right < lib->in.output_width ? right + 1 : right) - left;
    jpeg_crop_scanline(&lib->in, &left, &width);
    if (how->taken)
        shard_jpeg_entropy_columns(how->entropy, lib, left, width);
    rows->left = left;
    rows->width = width;
    if (rows->top > 0)
        jpeg_skip_scanlines(&lib->in, rows->top);
}

static void read_rows(shard_libjpeg *lib, shard_picture *picture)
{
    uint32_t needed = shard_scaler_rows_needed(picture->scaler);
    for (uint32_t i = 0; i < needed; i++) {
        JSAMPROW row = shard_scaler_next_row(picture->scaler);
        jpeg_read_scanlines(&lib->in, &row, 1);
        shard_scaler_row_done(picture->scaler);
    }
}

static shard_status read_cmyk_rows(shard_libjpeg *lib, shard_picture *picture, shard_error *err)
{
    JSAMPROW row;
    uint32_t needed = shard_scaler_rows_needed(picture->scaler), width = lib->in.output_width;
    SHARD_TRY(shard_picture_rows_room(picture, (size_t)width * 4 + SHARD_SCALER_SLACK, &row, err));
    for (uint32_t i = 0; i < needed; i++) {
        jpeg_read_scanlines(&lib->in, &row, 1);
        shard_colour_cmyk_to_rgb(row, row, width);
        shard_picture_put_row(picture, row, 3, width);
    }
    return SHARD_OK;
}

static shard_status decode(shard_libjpeg *lib, void *arguments, shard_error *err)
{
    decoding *how = arguments;
    shard_picture *picture = how->picture;
    shard_picture_rows rows;
    SHARD_TRY(shard_picture_place(picture, lib->in.image_width, lib->in.image_height,
                                  orientation_of(lib), err));
    SHARD_TRY(choose_colours(lib, picture, err));
    SHARD_TRY(check_memory(lib, picture, err));
    uint32_t denominator = set_up(lib, picture);
    jpeg_start_decompress(&lib->in);
    how->taken = shard_jpeg_entropy_begin(how->entropy, lib);
    shard_picture_cover(picture, denominator, &rows);
    cut(lib, how, &rows);
    SHARD_TRY(shard_picture_begin(picture, &rows, err));
    if (lib->in.out_color_space == JCS_CMYK)
        return read_cmyk_rows(lib, picture, err);
    read_rows(lib, picture);
    return SHARD_OK; /* what comes behind the last row is not read at all */
}

shard_status shard_jpeg_pixels_decode(shard_jpeg_pixels *jpeg, fmt_span image,
                                      shard_picture *picture, shard_error *err)
{
    int keep = picture->opts.as_stored ? 0 : SHARD_LIBJPEG_EXIF;
    decoding how = {picture, jpeg->ours ? jpeg->entropy : NULL, false};
    shard_error first; /* which must not be seen where the second attempt succeeds */
    shard_status status = shard_libjpeg_run(&jpeg->lib, image, keep, decode, &how, &first);
    bool again = status != SHARD_OK && how.taken && shard_jpeg_entropy_gave_up(how.entropy);
    jpeg->used = how.taken && !again;
    if (again) {
        how = (decoding){picture, NULL, false};
        return shard_libjpeg_run(&jpeg->lib, image, keep, decode, &how, err);
    }
    if (status != SHARD_OK && err)
        *err = first;
    return status;
}
