/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/jpeg.h"

#include <string.h>

#include "decode/libjpeg.h"
#include "decode/resample.h"
#include "jpeg/jpeg_markers.h"

enum {
    OUT_LEAST = 64 << 10,
    COEFFICIENT_BYTES = 2, /* JCOEF */
};

struct shard_jpeg {
    shard_libjpeg lib; /* first: libjpeg hands it back */
    struct jpeg_compress_struct out;
    struct jpeg_destination_mgr destination;

    uint8_t *bytes; /* of the image that is written */
    size_t capacity;
    uint8_t *rows; /* of pixels, on their way */
    size_t rows_capacity;
    uint64_t memory_max;
    fmt_alloc alloc;
};

/* ---- what libjpeg calls back ---- */

static shard_jpeg *owner(j_common_ptr info)
{
    return info->client_data;
}

static void begin_output(j_compress_ptr info)
{
    shard_jpeg *jpeg = owner((j_common_ptr)info);
    info->dest->next_output_byte = jpeg->bytes;
    info->dest->free_in_buffer = jpeg->capacity;
}

/* The buffer is full: libjpeg counts on all of it being taken. */
static boolean grow_output(j_compress_ptr info)
{
    shard_jpeg *jpeg = owner((j_common_ptr)info);
    size_t used = jpeg->capacity;
    if (!shard_alloc_grow(&jpeg->alloc, &jpeg->bytes, &jpeg->capacity, used + 1, 1))
        ERREXIT1(info, JERR_OUT_OF_MEMORY, 0);
    info->dest->next_output_byte = jpeg->bytes + used;
    info->dest->free_in_buffer = jpeg->capacity - used;
    return TRUE;
}

static void end_output(j_compress_ptr info)
{
    (void)info;
}

/* ---- the object ---- */

static void init(shard_jpeg *jpeg)
{
    jpeg->out.err = &jpeg->lib.errors;
    jpeg->out.client_data = jpeg;
    jpeg_create_compress(&jpeg->out);
    jpeg->destination.init_destination = begin_output;
    jpeg->destination.empty_output_buffer = grow_output;
    jpeg->destination.term_destination = end_output;
    jpeg->out.dest = &jpeg->destination;
}

shard_status shard_jpeg_open(shard_jpeg **out, uint64_t memory_max, const fmt_alloc *alloc,
                             shard_error *err)
{
    shard_jpeg *jpeg = shard_alloc_zeroed(alloc, 1, sizeof *jpeg);
    *out = NULL;
    if (!jpeg)
        return shard_fail_memory(err);
    jpeg->alloc = *alloc;
    jpeg->memory_max = memory_max;
    shard_libjpeg_init(&jpeg->lib);
    if (!shard_alloc_grow(alloc, &jpeg->bytes, &jpeg->capacity, OUT_LEAST, 1) ||
        setjmp(jpeg->lib.failed) != 0) {
        shard_jpeg_close(jpeg);
        return shard_fail_memory(err);
    }
    init(jpeg);
    *out = jpeg;
    return SHARD_OK;
}

void shard_jpeg_close(shard_jpeg *jpeg)
{
    if (!jpeg)
        return;
    fmt_alloc alloc = jpeg->alloc;
    jpeg_destroy_compress(&jpeg->out);
    shard_alloc_free(&alloc, jpeg->bytes);
    shard_alloc_free(&alloc, jpeg->rows);
    shard_alloc_free(&alloc, jpeg);
}

/* ---- the work on an image ---- */

/* Leaves the compressor ready for the next image. */
static shard_status with_image(shard_jpeg *jpeg, fmt_span image, shard_libjpeg_work work,
                               void *arguments, shard_error *err)
{
    shard_status status =
        shard_libjpeg_run(&jpeg->lib, image, SHARD_LIBJPEG_ALL_MARKERS, work, arguments, err);
    jpeg_abort_compress(&jpeg->out);
    return status;
}

static shard_jpeg *owner_of(shard_libjpeg *lib)
{
    return (shard_jpeg *)lib;
}

static shard_status check_memory(const shard_jpeg *jpeg, uint64_t bytes_a_pixel, shard_error *err)
{
    uint64_t needed =
        (uint64_t)jpeg->lib.in.image_width * jpeg->lib.in.image_height * bytes_a_pixel;
    if (needed <= jpeg->memory_max)
        return SHARD_OK;
    return shard_fail(
        err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
        "JPEG of %u x %u pixels takes %llu MiB to work on, more than a thread may use "
        "(--memory)",
        jpeg->lib.in.image_width, jpeg->lib.in.image_height, (unsigned long long)(needed >> 20));
}

/* ---- examine ---- */

static shard_status examine(shard_libjpeg *lib, void *arguments, shard_error *err)
{
    shard_jpeg *jpeg = owner_of(lib);
    shard_jpeg_info *out = arguments;
    (void)err;
    *out = (shard_jpeg_info){.width = jpeg->lib.in.image_width,
                             .height = jpeg->lib.in.image_height,
                             .components = (uint32_t)jpeg->lib.in.num_components,
                             .progressive = jpeg->lib.in.progressive_mode,
                             .arithmetic = jpeg->lib.in.arith_code};
    return SHARD_OK;
}

shard_status shard_jpeg_examine(shard_jpeg *jpeg, fmt_span image, shard_jpeg_info *out,
                                shard_error *err)
{
    return with_image(jpeg, image, examine, out, err);
}

/* ---- metadata ---- */

/* libjpeg writes these two itself where they belong. */
static bool is_written_already(const shard_jpeg *jpeg, const struct jpeg_marker_struct *marker)
{
    return (jpeg->out.write_JFIF_header && marker->marker == JPEG_APP0 &&
            marker->data_length >= 5 && memcmp(marker->data, "JFIF", 5) == 0) ||
           (jpeg->out.write_Adobe_marker && marker->marker == JPEG_APP0 + 14 &&
            marker->data_length >= 5 && memcmp(marker->data, "Adobe", 5) == 0);
}

static void write_markers(shard_jpeg *jpeg, bool strip)
{
    uint8_t exif[FMT_JPEG_EXIF_SIZE], jfif[FMT_JPEG_JFIF_SIZE], orientation;
    bool has_exif = false; /* the first orientation counts */
    for (const struct jpeg_marker_struct *m = jpeg->lib.in.marker_list; m; m = m->next) {
        if (is_written_already(jpeg, m))
            continue;
        fmt_span payload = {m->data, m->data_length};
        fmt_jpeg_fate fate =
            strip ? fmt_jpeg_segment_fate(m->marker, payload, &orientation) : FMT_JPEG_KEEP;
        if (fate == FMT_JPEG_KEEP)
            jpeg_write_marker(&jpeg->out, m->marker, m->data, m->data_length);
        if (fate == FMT_JPEG_JFIF) {
            fmt_jpeg_write_jfif(jfif, payload);
            jpeg_write_marker(&jpeg->out, JPEG_APP0, jfif, sizeof jfif);
        }
        if (fate == FMT_JPEG_ORIENTATION && !has_exif) {
            fmt_jpeg_write_exif(exif, orientation);
            jpeg_write_marker(&jpeg->out, JPEG_APP0 + 1, exif, sizeof exif);
            has_exif = true;
        }
    }
}

static fmt_span written(const shard_jpeg *jpeg)
{
    return (fmt_span){jpeg->bytes, jpeg->capacity - jpeg->destination.free_in_buffer};
}

/* ---- to baseline ---- */

static shard_status to_baseline(shard_libjpeg *lib, void *arguments, shard_error *err)
{
    shard_jpeg *jpeg = owner_of(lib);
    const bool *strip = arguments;
    SHARD_TRY(check_memory(jpeg, (uint64_t)jpeg->lib.in.num_components * COEFFICIENT_BYTES, err));
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&jpeg->lib.in);
    jpeg_copy_critical_parameters(&jpeg->lib.in, &jpeg->out);
    jpeg->out.optimize_coding = TRUE; /* smaller, and as fast to decode */
    jpeg->out.arith_code = FALSE;
    jpeg_write_coefficients(&jpeg->out, coefficients);
    write_markers(jpeg, *strip);
    jpeg_finish_compress(&jpeg->out);
    jpeg_finish_decompress(&jpeg->lib.in);
    return SHARD_OK;
}

shard_status shard_jpeg_to_baseline(shard_jpeg *jpeg, fmt_span image, bool strip, fmt_span *out,
                                    shard_error *err)
{
    SHARD_TRY(with_image(jpeg, image, to_baseline, &strip, err));
    *out = written(jpeg);
    return SHARD_OK;
}

/* ---- resize ---- */

typedef struct {
    uint32_t width, height, quality;
    bool strip;
    shard_resample_axis across, down;
} resize_work;

/* Decode at 1/2, 1/4 or 1/8 where that leaves at least twice what is wanted: the filter does the
 * rest. */
static void choose_scale(shard_jpeg *jpeg, const resize_work *r)
{
    jpeg->lib.in.scale_num = 1;
    jpeg->lib.in.scale_denom = 1;
    while (jpeg->lib.in.scale_denom < 8 &&
           jpeg->lib.in.image_width / (jpeg->lib.in.scale_denom * 2) >= 2 * r->width &&
           jpeg->lib.in.image_height / (jpeg->lib.in.scale_denom * 2) >= 2 * r->height)
        jpeg->lib.in.scale_denom *= 2;
}

static void choose_colours(shard_jpeg *jpeg)
{
    switch (jpeg->lib.in.jpeg_color_space) {
    case JCS_GRAYSCALE:
        jpeg->lib.in.out_color_space = JCS_GRAYSCALE;
        break;
    case JCS_CMYK:
    case JCS_YCCK:
        jpeg->lib.in.out_color_space = JCS_CMYK;
        break;
    default:
        jpeg->lib.in.out_color_space = JCS_RGB;
    }
}

/* The sampling of the original, as far as every decoder knows it. */
static void copy_sampling(shard_jpeg *jpeg)
{
    int h = jpeg->lib.in.comp_info[0].h_samp_factor, v = jpeg->lib.in.comp_info[0].v_samp_factor;
    bool known = h >= 1 && h <= 2 && v >= 1 && v <= 2;
    for (int i = 1; i < jpeg->lib.in.num_components; i++) {
        bool chroma = i < 3;
        known = known && jpeg->lib.in.comp_info[i].h_samp_factor == (chroma ? 1 : h) &&
                jpeg->lib.in.comp_info[i].v_samp_factor == (chroma ? 1 : v);
    }
    if (!known || jpeg->out.jpeg_color_space == JCS_GRAYSCALE)
        return;
    jpeg->out.comp_info[0].h_samp_factor = h;
    jpeg->out.comp_info[0].v_samp_factor = v;
    if (jpeg->out.num_components == 4) {
        jpeg->out.comp_info[3].h_samp_factor = h;
        jpeg->out.comp_info[3].v_samp_factor = v;
    }
}

/* Each decoded row, resampled across, behind the one before it. */
static void read_rows(shard_jpeg *jpeg, const resize_work *r, uint8_t *source, uint8_t *rows)
{
    uint32_t channels = (uint32_t)jpeg->lib.in.output_components;
    size_t row_size = (size_t)r->width * channels;
    while (jpeg->lib.in.output_scanline < jpeg->lib.in.output_height) {
        uint32_t y = jpeg->lib.in.output_scanline;
        JSAMPROW row = source;
        jpeg_read_scanlines(&jpeg->lib.in, &row, 1);
        shard_resample_row(&r->across, channels, source, rows + y * row_size);
    }
}

static void begin_compress(shard_jpeg *jpeg, const resize_work *r)
{
    jpeg->out.image_width = r->width;
    jpeg->out.image_height = r->height;
    jpeg->out.input_components = jpeg->lib.in.output_components;
    jpeg->out.in_color_space = jpeg->lib.in.out_color_space;
    jpeg_set_defaults(&jpeg->out);
    if (jpeg->lib.in.jpeg_color_space == JCS_YCCK || jpeg->lib.in.jpeg_color_space == JCS_RGB)
        jpeg_set_colorspace(&jpeg->out, jpeg->lib.in.jpeg_color_space); /* not the default */
    copy_sampling(jpeg);
    jpeg_set_quality(&jpeg->out, (int)r->quality, TRUE);
    jpeg->out.optimize_coding = TRUE;
    jpeg_start_compress(&jpeg->out, TRUE);
    write_markers(jpeg, r->strip);
}

static void write_rows(shard_jpeg *jpeg, const resize_work *r, const uint8_t *rows, uint8_t *line)
{
    size_t row_size = (size_t)r->width * (uint32_t)jpeg->out.input_components;
    for (uint32_t y = 0; y < r->height; y++) {
        JSAMPROW row = line;
        shard_resample_column(&r->down, y, row_size, rows, line);
        jpeg_write_scanlines(&jpeg->out, &row, 1);
    }
    jpeg_finish_compress(&jpeg->out);
}

static shard_status prepare_resize(shard_jpeg *jpeg, resize_work *r, shard_error *err)
{
    choose_scale(jpeg, r);
    choose_colours(jpeg);
    jpeg_calc_output_dimensions(&jpeg->lib.in);
    uint64_t channels = (uint64_t)jpeg->lib.in.out_color_components;
    /* libjpeg buffers a progressive image whole; the rows are ours. */
    uint64_t a_pixel = jpeg->lib.in.progressive_mode ? channels * COEFFICIENT_BYTES : 0;
    SHARD_TRY(check_memory(jpeg, a_pixel + channels, err));
    size_t size = (size_t)(channels * ((uint64_t)r->width * (jpeg->lib.in.output_height + 1) +
                                       jpeg->lib.in.output_width));
    if (!shard_alloc_grow(&jpeg->alloc, &jpeg->rows, &jpeg->rows_capacity, size, 1) ||
        !shard_resample_axis_init(&r->across, jpeg->lib.in.output_width, r->width, &jpeg->alloc) ||
        !shard_resample_axis_init(&r->down, jpeg->lib.in.output_height, r->height, &jpeg->alloc))
        return shard_fail_memory(err);
    return SHARD_OK;
}

static shard_status resize(shard_libjpeg *lib, void *arguments, shard_error *err)
{
    shard_jpeg *jpeg = owner_of(lib);
    resize_work *r = arguments;
    SHARD_TRY(prepare_resize(jpeg, r, err));
    jpeg_start_decompress(&jpeg->lib.in);
    size_t channels = (size_t)jpeg->lib.in.output_components;
    uint8_t *source = jpeg->rows, *line = source + channels * jpeg->lib.in.output_width;
    uint8_t *rows = line + channels * r->width;
    read_rows(jpeg, r, source, rows);
    begin_compress(jpeg, r); /* needs what finishing the decoder frees */
    jpeg_finish_decompress(&jpeg->lib.in);
    write_rows(jpeg, r, rows, line);
    return SHARD_OK;
}

shard_status shard_jpeg_resize(shard_jpeg *jpeg, fmt_span image, uint32_t width, uint32_t height,
                               uint32_t quality, bool strip, fmt_span *out, shard_error *err)
{
    resize_work r = {.width = width, .height = height, .quality = quality, .strip = strip};
    r.across.alloc = r.down.alloc = jpeg->alloc;
    shard_status status = with_image(jpeg, image, resize, &r, err);
    shard_resample_axis_clear(&r.across);
    shard_resample_axis_clear(&r.down);
    if (status == SHARD_OK)
        *out = written(jpeg);
    return status;
}
