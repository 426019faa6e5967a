/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of JPEG images against all of them by libjpeg; what others make of images is compared in
 * tests/integration/test_pixels.py. */
#include "decode/image_decoder.h"

#include <stdlib.h>

#include "jpegs.h"
#include "test.h"

enum { SOF0 = 0xc0, SOF3 = 0xc3, DHT = 0xc4, DQT = 0xdb };

typedef struct {
    uint8_t *bytes;
    size_t size;
} image;

static image make(const test_jpeg *spec)
{
    image made;
    made.bytes = test_make_jpeg(spec, &made.size);
    return made;
}

static const test_jpeg PLAIN = {67, 53, 3, 2, 2, false, 0, 0};

static shard_image_decoder *open(const shard_image_opts *opts)
{
    shard_image_decoder *decoder;
    assert_int_equal(shard_image_decoder_open(&decoder, opts, NULL, NULL), SHARD_OK);
    return decoder;
}

static shard_image_opts sized(uint32_t width, uint32_t height)
{
    shard_image_opts opts = SHARD_IMAGE_OPTS_INIT;
    opts.width = width;
    opts.height = height;
    return opts;
}

/* Decode with these options and report the status; the pixels are freed. */
static shard_status try(const shard_image_opts *opts, const image *im, shard_error *err)
{
    shard_image_decoder *decoder = open(opts);
    uint8_t *out = malloc(shard_image_decoder_size(decoder));
    assert_non_null(out);
    shard_status status = shard_image_decode(decoder, im->bytes, im->size, 0, out, err);
    free(out);
    shard_image_decoder_close(decoder);
    return status;
}

/* ---- parts ---- */

/* The part, unscaled: pixels must come through as they are. */
static uint8_t *decode_part(const image *im, shard_crop part, bool grey)
{
    shard_image_opts opts = sized((uint32_t)part.width, (uint32_t)part.height);
    opts.grey = grey;
    shard_image_decoder *decoder = open(&opts);
    uint8_t *out = malloc(shard_image_decoder_size(decoder));
    assert_non_null(out);
    shard_error err;
    if (shard_image_decode_part(decoder, (fmt_span){im->bytes, im->size}, &part, out, &err) !=
        SHARD_OK)
        fail_msg("%s", err.message);
    shard_image_decoder_close(decoder);
    return out;
}

static void assert_part(const image *im, const uint8_t *whole, uint32_t width, int channels,
                        shard_crop part)
{
    uint8_t *got = decode_part(im, part, channels == 1);
    size_t row = (size_t)part.width * (size_t)channels;
    for (size_t y = 0; y < (size_t)part.height; y++) {
        size_t at = ((y + (size_t)part.y) * width + (size_t)part.x) * (size_t)channels;
        assert_memory_equal(got + y * row, whole + at, row);
    }
    free(got);
}

static void compare_parts(const test_jpeg *spec, int channels)
{
    uint32_t width, height, random = 1;
    image im = make(spec);
    uint8_t *whole = test_decode_jpeg(im.bytes, im.size, channels, 1, &width, &height);
    for (uint32_t y = 0; y < height; y++) /* each edge at each place */
        for (uint32_t x = 0; x < width; x += 1 + (y % 3)) {
            uint32_t w = x + 7 < width ? 7 : width - x, h = y + 5 < height ? 5 : height - y;
            assert_part(&im, whole, width, channels, (shard_crop){x, y, w, h, false});
        }
    for (int i = 0; i < 300; i++) {
        uint32_t n[4];
        for (int k = 0; k < 4; k++)
            n[k] = (random = random * 1664525 + 1013904223) >> 8;
        uint32_t w = 1 + n[0] % width, h = 1 + n[1] % height;
        shard_crop part = {n[2] % (width - w + 1), n[3] % (height - h + 1), w, h, false};
        assert_part(&im, whole, width, channels, part);
    }
    free(whole);
    free(im.bytes);
}

static void a_part_is_the_same_part_of_the_whole(void **state)
{
    (void)state;
    static const int samplings[][2] = {{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}, {1, 4}};
    for (size_t i = 0; i < COUNT(samplings); i++)
        for (int kind = 0; kind < 3; kind++) {
            test_jpeg spec = PLAIN;
            spec.across = samplings[i][0];
            spec.down = samplings[i][1];
            spec.progressive = kind == 1;
            spec.restart = kind == 2 ? 3 : 0;
            compare_parts(&spec, 3);
        }
}

static void and_of_grey_ones(void **state)
{
    (void)state;
    test_jpeg spec = PLAIN;
    compare_parts(&spec, 1); /* the luminance alone */
    spec.components = 1;
    compare_parts(&spec, 1);
    compare_parts(&spec, 3);
    spec.across = spec.down = 1;
    spec.progressive = true;
    compare_parts(&spec, 1);
}

static void and_of_tiny_ones(void **state)
{
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {8, 1}, {1, 8}, {2, 3}, {16, 16}, {17, 33}, {3, 2}};
    for (size_t i = 0; i < COUNT(sizes); i++)
        for (int across = 1; across <= 2; across++) {
            test_jpeg spec = {sizes[i][0], sizes[i][1], 3, across, 2, i % 2 != 0, 0, 0};
            compare_parts(&spec, 3);
        }
}

/* Scaled in the transform: parts that lie on whole pixels of the scaled image. */
static void a_scaled_part_is_the_same_part_of_the_scaled_whole(void **state)
{
    (void)state;
    const test_jpeg spec = {272, 208, 3, 2, 2, false, 0, 0};
    image im = make(&spec);
    for (uint32_t d = 2; d <= 8; d *= 2) {
        uint32_t width, height;
        uint8_t *whole = test_decode_jpeg(im.bytes, im.size, 3, d, &width, &height);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t x = i * 3 % (width / 2), y = i * 5 % (height / 2), w = width - x - i % 4;
            shard_image_opts opts = sized(w, height - y);
            opts.fast = true; /* at the result's size, not at twice that */
            shard_crop part = {x * d, y * d, w * d, (height - y) * d, false};
            shard_image_decoder *decoder = open(&opts);
            uint8_t *got = malloc(shard_image_decoder_size(decoder));
            assert_int_equal(
                shard_image_decode_part(decoder, (fmt_span){im.bytes, im.size}, &part, got, NULL),
                SHARD_OK);
            for (uint32_t row = 0; row < height - y; row++)
                assert_memory_equal(got + (size_t)row * w * 3,
                                    whole + ((size_t)(y + row) * width + x) * 3, (size_t)w * 3);
            free(got);
            shard_image_decoder_close(decoder);
        }
        free(whole);
    }
    free(im.bytes);
}

/* ---- turned ---- */

/* Where the stored pixel x, y of a width x height image is seen (EXIF 2.3, 4.6.4). */
static void seen_at(int orientation, uint32_t width, uint32_t height, uint32_t x, uint32_t y,
                    uint32_t *to_x, uint32_t *to_y)
{
    uint32_t right = width - 1 - x, up = height - 1 - y;
    const uint32_t at[9][2] = {{x, y}, {x, y},  {right, y},  {right, up}, {x, up},
                               {y, x}, {up, x}, {up, right}, {y, right}};
    *to_x = at[orientation][0];
    *to_y = at[orientation][1];
}

static uint8_t *turned(const uint8_t *stored, int orientation, uint32_t width, uint32_t height)
{
    uint8_t *seen = malloc((size_t)width * height * 3);
    uint32_t seen_width = orientation >= 5 ? height : width, to_x, to_y;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++) {
            seen_at(orientation, width, height, x, y, &to_x, &to_y);
            memcpy(seen + ((size_t)to_y * seen_width + to_x) * 3,
                   stored + ((size_t)y * width + x) * 3, 3);
        }
    return seen;
}

static void images_are_turned_as_exif_says(void **state)
{
    (void)state;
    for (int orientation = 1; orientation <= 8; orientation++) {
        uint32_t width, height;
        test_jpeg spec = PLAIN;
        spec.orientation = (uint8_t)orientation;
        image im = make(&spec);
        uint8_t *stored = test_decode_jpeg(im.bytes, im.size, 3, 1, &width, &height);
        uint8_t *seen = turned(stored, orientation, width, height);
        uint32_t w = orientation >= 5 ? height : width, h = orientation >= 5 ? width : height;
        assert_part(&im, seen, w, 3, (shard_crop){0, 0, w, h, false});
        assert_part(&im, seen, w, 3, (shard_crop){5, 9, 21, 30, false});
        assert_part(&im, seen, w, 3, (shard_crop){w - 4, h - 2, 4, 2, false});
        free(stored);
        free(seen);
        free(im.bytes);
    }
}

static void a_turned_part_is_mirrored_as_it_is_seen(void **state)
{
    (void)state;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        test_jpeg spec = PLAIN;
        spec.orientation = orientation;
        image im = make(&spec);
        shard_crop part = {3, 4, 20, 10, false};
        uint8_t *plain = decode_part(&im, part, false);
        part.mirror = true;
        uint8_t *mirrored = decode_part(&im, part, false);
        for (size_t i = 0; i < 200; i++)
            assert_memory_equal(plain + i * 3, mirrored + (i / 20 * 20 + 19 - i % 20) * 3, 3);
        free(plain);
        free(mirrored);
        free(im.bytes);
    }
}

static void as_stored_means_not_turned(void **state)
{
    (void)state;
    test_jpeg spec = PLAIN;
    spec.orientation = 6;
    image im = make(&spec);
    uint32_t width, height;
    uint8_t *stored = test_decode_jpeg(im.bytes, im.size, 3, 1, &width, &height);
    shard_image_opts opts = sized(width, height);
    opts.as_stored = true;
    shard_image_decoder *decoder = open(&opts);
    size_t size = shard_image_decoder_size(decoder);
    uint8_t *out = malloc(size);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, out, NULL), SHARD_OK);
    assert_memory_equal(out, stored, size);
    shard_image_decoder_close(decoder);
    free(out);
    free(stored);
    free(im.bytes);
}

/* ---- keys, layouts ---- */

static void a_key_gives_the_same_pixels_whatever_came_before(void **state)
{
    (void)state;
    enum { SIZE = 32 * 24 * 3 };
    static uint8_t first[SIZE], other[SIZE], again[SIZE];
    image im = make(&PLAIN);
    shard_image_opts opts = sized(32, 24);
    opts.fit = SHARD_IMAGE_RANDOM_CROP;
    opts.flip = 0.5;
    shard_image_decoder *a = open(&opts), *b = open(&opts);
    for (uint64_t key = 0; key < 50; key++) {
        assert_int_equal(shard_image_decode(a, im.bytes, im.size, key, first, NULL), SHARD_OK);
        assert_int_equal(shard_image_decode(b, im.bytes, im.size, ~key, other, NULL), SHARD_OK);
        assert_int_equal(shard_image_decode(b, im.bytes, im.size, key, again, NULL), SHARD_OK);
        assert_memory_equal(first, again, SIZE);
        assert_memory_not_equal(first, other, SIZE);
    }
    shard_image_decoder_close(a);
    shard_image_decoder_close(b);
    free(im.bytes);
}

static void floats_are_normalised_planes(void **state)
{
    (void)state;
    enum { PIXELS = 16 * 12 };
    uint8_t bytes[PIXELS * 3];
    float planes[PIXELS * 3];
    image im = make(&PLAIN);
    shard_image_opts opts = sized(16, 12);
    shard_image_decoder *decoder = open(&opts);
    assert_int_equal(shard_image_decoder_size(decoder), sizeof bytes);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, bytes, NULL), SHARD_OK);
    shard_image_decoder_close(decoder);
    opts.layout = SHARD_IMAGE_F32_NCHW;
    opts.mean[1] = 0.5F;
    opts.deviation[1] = 0.25F;
    decoder = open(&opts);
    assert_int_equal(shard_image_decoder_size(decoder), sizeof planes);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, planes, NULL), SHARD_OK);
    for (int i = 0; i < PIXELS; i++) {
        float red = planes[i], green = planes[PIXELS + i];
        assert_true(red == (float)bytes[i * 3] / 255.0F);
        assert_true(green == ((float)bytes[i * 3 + 1] / 255.0F - 0.5F) / 0.25F);
    }
    shard_image_decoder_close(decoder);
    free(im.bytes);
}

/* ---- what is refused ---- */

static void assert_refused(const image *im, shard_status status, const char *text)
{
    shard_error err = {0};
    shard_image_opts opts = sized(8, 8);
    assert_int_equal(try(&opts, im, &err), status);
    if (!strstr(err.message, text))
        fail_msg("\"%s\" does not say \"%s\"", err.message, text);
}

static void other_formats_are_refused(void **state)
{
    (void)state;
    static uint8_t gif[] = "GIF89a\x05\0\x05\0\0\0\0", bmp[30] = "BM", text[] = "hello", none[1];
    assert_refused(&(image){gif, sizeof gif}, SHARD_EUNSUPPORTED, "GIF");
    assert_refused(&(image){bmp, sizeof bmp}, SHARD_EUNSUPPORTED, "BMP");
    assert_refused(&(image){text, sizeof text}, SHARD_EUNSUPPORTED, "neither");
    assert_refused(&(image){none, 0}, SHARD_EUNSUPPORTED, "neither");
}

static void kinds_of_jpeg_that_are_not_decoded_are_named(void **state)
{
    (void)state;
    image im = make(&PLAIN);
    size_t frame = test_find_segment(im.bytes, im.size, SOF0);
    im.bytes[frame + 4] = 12;
    assert_refused(&im, SHARD_EUNSUPPORTED, "12");
    im.bytes[frame + 4] = 8;
    im.bytes[frame + 1] = SOF3;
    assert_refused(&im, SHARD_EUNSUPPORTED, "0xc3");
    free(im.bytes);
}

/* The tables of the image before must not serve: what comes out would hang on the order. */
static void an_image_without_its_tables_is_refused(void **state)
{
    (void)state;
    uint8_t out[8 * 8 * 3];
    image im = make(&PLAIN), bare = make(&PLAIN);
    size_t at = test_find_segment(bare.bytes, bare.size, DQT);
    bare.bytes[at + 1] = 0xfe; /* a comment */
    shard_image_opts opts = sized(8, 8);
    shard_image_decoder *decoder = open(&opts);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, out, NULL), SHARD_OK);
    assert_int_equal(shard_image_decode(decoder, bare.bytes, bare.size, 0, out, NULL), SHARD_EDATA);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, out, NULL), SHARD_OK);
    shard_image_decoder_close(decoder);
    free(im.bytes);
    free(bare.bytes);
}

static void memory_max_is_kept(void **state)
{
    (void)state;
    test_jpeg spec = {1000, 800, 3, 2, 2, false, 0, 0};
    image im = make(&spec);
    shard_image_opts opts = sized(8, 8);
    opts.memory_max = 1 << 20;
    assert_int_equal(try(&opts, &im, NULL), SHARD_OK);
    free(im.bytes);
    spec.progressive = true; /* its coefficients are kept: 2.4 MB of them */
    im = make(&spec);
    assert_int_equal(try(&opts, &im, NULL), SHARD_ELIMIT);
    opts.memory_max = 4 << 20;
    assert_int_equal(try(&opts, &im, NULL), SHARD_OK);
    free(im.bytes);
}

static shard_status open_with(shard_image_opts opts)
{
    shard_image_decoder *decoder;
    shard_status status = shard_image_decoder_open(&decoder, &opts, NULL, NULL);
    shard_image_decoder_close(decoder);
    return status;
}

static void options_out_of_range_are_refused(void **state)
{
    (void)state;
#define REFUSED(...)                                                                               \
    assert_int_equal(open_with((shard_image_opts){                                                 \
                         .size = sizeof(shard_image_opts), .width = 8, .height = 8, __VA_ARGS__}), \
                     SHARD_EINVAL)
    const float nan = strtof("nan", NULL), infinite = strtof("inf", NULL);
    assert_int_equal(open_with(sized(8, 8)), SHARD_OK);
    assert_int_equal(open_with(sized(0, 8)), SHARD_EINVAL);
    assert_int_equal(open_with(sized(8, 16385)), SHARD_EINVAL);
    REFUSED(.fit = (shard_image_fit)3);
    REFUSED(.layout = (shard_image_layout)3);
    REFUSED(.flip = -0.1);
    REFUSED(.flip = 1.1);
    REFUSED(.flip = (double)nan);
    REFUSED(.shorter = 7);
    REFUSED(.shorter = 16385);
    REFUSED(.area_min = 0.5);
    REFUSED(.area_max = 1.5, .area_min = 0.1);
    REFUSED(.area_max = 1);
    REFUSED(.aspect_min = 2, .aspect_max = 1);
    REFUSED(.aspect_min = 1, .aspect_max = 1e9);
    REFUSED(.mean = {nan, 0, 0});
    REFUSED(.deviation = {0, infinite, 0});
    REFUSED(.deviation = {0, 0, -1});
#undef REFUSED
}

/* ---- memory ---- */

static bool decode_with(test_allocator *allocator, void *context)
{
    const image *im = context;
    uint8_t out[8 * 8 * 3];
    shard_image_opts opts = sized(8, 8);
    shard_image_decoder *decoder;
    shard_allocator own = test_shard_allocator(allocator);
    shard_status status = shard_image_decoder_open(&decoder, &opts, &own, NULL);
    if (status == SHARD_OK)
        status = shard_image_decode(decoder, im->bytes, im->size, 0, out, NULL);
    shard_image_decoder_close(decoder);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    return status == SHARD_OK;
}

/* 2 x 2 pixels, interlaced. */
static uint8_t png[] = {0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d,
                        0x49, 0x48, 0x44, 0x52, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02,
                        0x08, 0x02, 0x00, 0x00, 0x01, 0x8a, 0xd3, 0xaa, 0xe5, 0x00, 0x00, 0x00,
                        0x1a, 0x49, 0x44, 0x41, 0x54, 0x78, 0x01, 0x01, 0x0f, 0x00, 0xf0, 0xff,
                        0x00, 0x00, 0x14, 0xff, 0x00, 0x0a, 0x14, 0xe1, 0x00, 0x64, 0x14, 0xff,
                        0x6e, 0x14, 0xe1, 0x1e, 0x32, 0x04, 0xed, 0x80, 0x26, 0x07, 0x62, 0x00,
                        0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82};

static void memory_may_run_short_anywhere(void **state)
{
    (void)state;
    const test_jpeg cmyk = {40, 30, 4, 1, 1, false, 0, 6}; /* rows of its own, and turned */
    image im = make(&cmyk);
    assert_true(test_every_allocation(decode_with, &im) > 5);
    free(im.bytes);
    im = (image){png, sizeof png};
    shard_image_opts opts = sized(2, 2);
    if (try(&opts, &im, NULL) == SHARD_OK) /* built with libpng, which allocates through ours */
        assert_true(test_every_allocation(decode_with, &im) > 8);
}

static void a_second_image_like_the_first_allocates_nothing(void **state)
{
    (void)state;
    uint8_t out[8 * 8 * 3];
    test_jpeg spec = PLAIN;
    spec.orientation = 6;
    image im = make(&spec);
    test_allocator allocator = {0};
    shard_allocator own = test_shard_allocator(&allocator);
    shard_image_opts opts = sized(8, 8);
    shard_image_decoder *decoder;
    assert_int_equal(shard_image_decoder_open(&decoder, &opts, &own, NULL), SHARD_OK);
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, out, NULL), SHARD_OK);
    size_t asked = allocator.asked;
    assert_int_equal(shard_image_decode(decoder, im.bytes, im.size, 0, out, NULL), SHARD_OK);
    assert_int_equal(allocator.asked, asked);
    shard_image_decoder_close(decoder);
    free(im.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_the_same_part_of_the_whole),
        cmocka_unit_test(and_of_grey_ones),
        cmocka_unit_test(and_of_tiny_ones),
        cmocka_unit_test(a_scaled_part_is_the_same_part_of_the_scaled_whole),
        cmocka_unit_test(images_are_turned_as_exif_says),
        cmocka_unit_test(a_turned_part_is_mirrored_as_it_is_seen),
        cmocka_unit_test(as_stored_means_not_turned),
        cmocka_unit_test(a_key_gives_the_same_pixels_whatever_came_before),
        cmocka_unit_test(floats_are_normalised_planes),
        cmocka_unit_test(other_formats_are_refused),
        cmocka_unit_test(kinds_of_jpeg_that_are_not_decoded_are_named),
        cmocka_unit_test(an_image_without_its_tables_is_refused),
        cmocka_unit_test(memory_max_is_kept),
        cmocka_unit_test(options_out_of_range_are_refused),
        cmocka_unit_test(memory_may_run_short_anywhere),
        cmocka_unit_test(a_second_image_like_the_first_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
