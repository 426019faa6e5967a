/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale.h"

#include <stdlib.h>

#include "core/hash.h"
#include "core/rng.h"
#include "decode/scale_kernels.h"
#include "test.h"

/* An image that random numbers fill, and a part of it to be scaled. */
typedef struct {
    shard_scale scale;
    uint8_t *pixels;
} picture;

static uint8_t *random_bytes(size_t size, uint64_t seed)
{
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    for (size_t i = 0; i < size; i++) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        bytes[i] = (uint8_t)(seed >> 56);
    }
    return bytes;
}

static picture picture_of(shard_scale scale, uint64_t seed)
{
    size_t size = (size_t)scale.in_width * scale.in_height * scale.channels;
    return (picture){scale, random_bytes(size, seed)};
}

static shard_scale whole(uint32_t in_width, uint32_t in_height, uint32_t width, uint32_t height,
                         uint32_t channels)
{
    return (shard_scale){.in_width = in_width,
                         .in_height = in_height,
                         .width = in_width,
                         .height = in_height,
                         .out_width = width,
                         .out_height = height,
                         .channels = channels};
}

/* Sizes from 1 up to `most`, any part, enlarged or reduced, mirrored or not. */
static shard_scale random_scale(uint64_t seed, uint32_t most)
{
    shard_scale scale = {0};
    scale.in_width = 1 + (uint32_t)shard_rng_below(seed, 0, most);
    scale.in_height = 1 + (uint32_t)shard_rng_below(seed, 1, most);
    scale.out_width = 1 + (uint32_t)shard_rng_below(seed, 2, most);
    scale.out_height = 1 + (uint32_t)shard_rng_below(seed, 3, most);
    bool everything = shard_rng_below(seed, 4, 4) == 0, fraction = shard_rng_below(seed, 5, 2);
    double unit = fraction ? 64 : 1;
    uint64_t wide = (uint64_t)(scale.in_width * unit), high = (uint64_t)(scale.in_height * unit);
    uint64_t x = everything ? 0 : shard_rng_below(seed, 6, wide);
    uint64_t y = everything ? 0 : shard_rng_below(seed, 7, high);
    scale.x = (double)x / unit;
    scale.y = (double)y / unit;
    scale.width = (double)(everything ? wide : 1 + shard_rng_below(seed, 8, wide - x)) / unit;
    scale.height = (double)(everything ? high : 1 + shard_rng_below(seed, 9, high - y)) / unit;
    scale.channels = shard_rng_below(seed, 10, 3) ? 3 : 1;
    scale.mirror = shard_rng_below(seed, 11, 2);
    return scale;
}

static shard_scaler *scaler_with(const shard_scale_kernels *kernels)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_scaler *scaler = NULL;
    assert_int_equal(shard_scaler_open(&scaler, &alloc, NULL), SHARD_OK);
    if (kernels)
        shard_scaler_use(scaler, kernels);
    return scaler;
}

static size_t result_size(const shard_scale *scale)
{
    return (size_t)scale->out_width * scale->out_height * scale->channels;
}

static shard_pixels bytes_of(const shard_scale *scale, void *out)
{
    return (shard_pixels){
        SHARD_IMAGE_U8_NHWC, scale->out_width, scale->out_height, scale->channels, NULL, out};
}

/* Behind each row a decoder leaves what it likes. */
static void feed(shard_scaler *scaler, const picture *from)
{
    size_t size = (size_t)from->scale.in_width * from->scale.channels;
    for (uint32_t y = 0; y < shard_scaler_rows_needed(scaler); y++) {
        uint8_t *row = shard_scaler_next_row(scaler);
        memcpy(row, from->pixels + y * size, size);
        memset(row + size, 0xa5, SHARD_SCALER_SLACK);
        shard_scaler_row_done(scaler);
    }
}

static uint8_t *scaled(shard_scaler *scaler, const picture *from)
{
    uint8_t *out = calloc(1, result_size(&from->scale));
    shard_pixels pixels = bytes_of(&from->scale, out);
    assert_non_null(out);
    assert_int_equal(shard_scaler_begin(scaler, &from->scale, &pixels, NULL), SHARD_OK);
    feed(scaler, from);
    return out;
}

static uint8_t *scaled_once(const picture *from)
{
    shard_scaler *scaler = scaler_with(NULL);
    uint8_t *out = scaled(scaler, from);
    shard_scaler_close(scaler);
    return out;
}

/* ---- kernels */

static void assert_kernels_agree(const picture *from)
{
    const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST];
    size_t n = shard_scale_kernels_list(list);
    shard_scaler *plain = scaler_with(&shard_scale_plain);
    uint8_t *expected = scaled(plain, from);
    for (size_t i = 0; i < n; i++) {
        shard_scaler *scaler = scaler_with(list[i]);
        uint8_t *got = scaled(scaler, from);
        assert_memory_equal(got, expected, result_size(&from->scale));
        free(got);
        shard_scaler_close(scaler);
    }
    free(expected);
    shard_scaler_close(plain);
}

static void all_kernels_give_the_same_bytes(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 900; seed++) {
        picture image = picture_of(random_scale(seed, seed % 3 ? 60 : 400), seed);
        assert_kernels_agree(&image);
        free(image.pixels);
    }
}

static void all_kernels_give_the_same_bytes_at_extremes(void **state)
{
    (void)state;
    const shard_scale extremes[] = {
        whole(1, 1, 1, 1, 3),     whole(1, 1, 224, 224, 3),    whole(65535, 1, 1, 1, 3),
        whole(1, 65535, 1, 1, 3), whole(65535, 2, 224, 3, 1),  whole(2, 65535, 3, 224, 3),
        whole(1, 1, 16384, 1, 1), whole(3000, 3000, 2, 40, 3), whole(400, 260, 5, 4, 3),
    };
    for (size_t i = 0; i < COUNT(extremes); i++) {
        picture image = picture_of(extremes[i], i);
        assert_kernels_agree(&image);
        free(image.pixels);
    }
}

static void white_stays_white_in_all_kernels(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        picture image = picture_of(random_scale(seed, 90), seed);
        const shard_scale *scale = &image.scale;
        memset(image.pixels, 255, (size_t)scale->in_width * scale->in_height * scale->channels);
        assert_kernels_agree(&image);
        uint8_t *out = scaled_once(&image);
        for (size_t i = 0; i < result_size(scale); i++)
            assert_int_equal(out[i], 255);
        free(out);
        free(image.pixels);
    }
}

/* ---- what scaling is */

static void the_same_size_is_the_same_image(void **state)
{
    (void)state;
    for (uint32_t channels = 1; channels <= 3; channels += 2) {
        picture image = picture_of(whole(61, 37, 61, 37, channels), 5);
        uint8_t *out = scaled_once(&image);
        assert_memory_equal(out, image.pixels, result_size(&image.scale));
        free(out);
        free(image.pixels);
    }
}

static void a_mirrored_result_is_the_mirror_of_the_result(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        picture image = picture_of(random_scale(seed, 80), seed);
        image.scale.mirror = false;
        uint8_t *straight = scaled_once(&image), *other = malloc(result_size(&image.scale));
        image.scale.mirror = true;
        uint8_t *mirrored = scaled_once(&image);
        shard_pixels pixels = bytes_of(&image.scale, other);
        for (uint32_t y = 0; y < image.scale.out_height; y++)
            shard_pixels_put_row(&pixels, y, straight + (size_t)y * pixels.width * pixels.channels,
                                 true);
        assert_memory_equal(mirrored, other, result_size(&image.scale));
        free(straight);
        free(mirrored);
        free(other);
        free(image.pixels);
    }
}

/* The weight of input `j` for an output at `center`, not yet divided by the sum of all. */
static double weight_of(uint32_t j, double center, double support)
{
    double distance = j + 0.5 - center;
    distance = (distance < 0 ? -distance : distance) / support;
    return distance < 1 ? 1 - distance : 0;
}

/* One value of the result, in double precision, straight from the definition. */
static double exact_value(const picture *from, uint32_t x, uint32_t y, uint32_t channel)
{
    const shard_scale *s = &from->scale;
    double across = s->width / s->out_width, down = s->height / s->out_height;
    double wide = across < 1 ? 1 : across, high = down < 1 ? 1 : down, sum = 0, total = 0;
    double center_x = s->x + (x + 0.5) * across, center_y = s->y + (y + 0.5) * down;
    for (uint32_t j = (uint32_t)s->y; j < s->in_height && j < s->y + s->height; j++) {
        double row = weight_of(j, center_y, high);
        for (uint32_t i = (uint32_t)s->x; row > 0 && i < s->in_width && i < s->x + s->width; i++) {
            double weight = row * weight_of(i, center_x, wide);
            sum += weight * from->pixels[((size_t)j * s->in_width + i) * s->channels + channel];
            total += weight;
        }
    }
    return sum / total;
}

/* Each axis rounds once: by a half at most, and a little for the weights' own rounding. */
static void results_are_within_a_rounding_of_the_exact_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 150; seed++) {
        picture image = picture_of(random_scale(seed, seed % 4 ? 30 : 120), seed);
        const shard_scale *s = &image.scale;
        uint8_t *out = scaled_once(&image);
        for (uint64_t i = 0; i < 200; i++) {
            size_t at = (size_t)shard_rng_below(seed, 100 + i, result_size(s));
            uint32_t x = (uint32_t)(at / s->channels % s->out_width);
            uint32_t y = (uint32_t)(at / s->channels / s->out_width);
            if (s->mirror)
                x = s->out_width - 1 - x;
            double off = out[at] - exact_value(&image, x, y, (uint32_t)(at % s->channels));
            assert_true(off < 1.02 && off > -1.02);
        }
        free(out);
        free(image.pixels);
    }
}

static void pixels_outside_the_part_do_not_count(void **state)
{
    (void)state;
    picture image = picture_of(whole(50, 40, 20, 10, 3), 3);
    image.scale.x = 7, image.scale.width = 30, image.scale.y = 4, image.scale.height = 33;
    uint8_t *before = scaled_once(&image);
    for (size_t y = 0; y < 40; y++)
        for (size_t x = 0; x < 50; x++)
            if (x < 7 || x >= 37 || y < 4 || y >= 37)
                memset(image.pixels + (y * 50 + x) * 3, 77, 3);
    uint8_t *after = scaled_once(&image);
    assert_memory_equal(before, after, result_size(&image.scale));
    free(before);
    free(after);
    free(image.pixels);
}

/* ---- the object */

static void a_scaler_is_as_new_for_each_image(void **state)
{
    (void)state;
    shard_scaler *scaler = scaler_with(NULL);
    for (uint64_t seed = 0; seed < 200; seed++) {
        shard_scale scale = random_scale(seed, 150);
        if (seed % 7 == 0)
            scale = whole(9, 700, 9, 3 + (uint32_t)seed % 5, 3);
        picture image = picture_of(scale, seed);
        uint8_t *got = scaled(scaler, &image), *expected = scaled_once(&image);
        assert_memory_equal(got, expected, result_size(&scale));
        free(got);
        free(expected);
        free(image.pixels);
    }
    shard_scaler_close(scaler);
}

static void nothing_is_allocated_for_a_second_image_of_a_size(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    shard_scaler *scaler = NULL;
    picture large = picture_of(whole(300, 500, 40, 4, 3), 1);
    picture small = picture_of(whole(200, 100, 30, 4, 3), 1);
    assert_int_equal(shard_scaler_open(&scaler, &alloc, NULL), SHARD_OK);
    free(scaled(scaler, &large));
    free(scaled(scaler, &small));
    size_t asked = allocator.asked;
    free(scaled(scaler, &large));
    free(scaled(scaler, &small));
    assert_int_equal(allocator.asked, asked);
    shard_scaler_close(scaler);
    assert_int_equal(allocator.live, 0);
    free(large.pixels);
    free(small.pixels);
}

static bool scale_with(test_allocator *allocator, void *context)
{
    const picture *image = context;
    fmt_alloc alloc = test_fmt_alloc(allocator);
    shard_scaler *scaler = NULL;
    uint8_t out[4 * 4 * 3];
    shard_pixels pixels = bytes_of(&image->scale, out);
    if (shard_scaler_open(&scaler, &alloc, NULL) != SHARD_OK)
        return false;
    bool done = shard_scaler_begin(scaler, &image->scale, &pixels, NULL) == SHARD_OK;
    if (done)
        feed(scaler, image);
    shard_scaler_close(scaler);
    return done;
}

static void a_failed_allocation_is_reported(void **state)
{
    (void)state;
    picture image = picture_of(whole(8, 400, 4, 4, 3), 1);
    assert_int_equal(test_every_allocation(scale_with, &image), 11);
    free(image.pixels);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    shard_scaler *scaler = scaler_with(NULL);
    uint8_t out[16 * 16 * 3];
    shard_error err;
    shard_scale scale = whole(20, 20, 16, 16, 3);
    shard_pixels pixels = bytes_of(&scale, out), narrow = pixels, grey = pixels;
    narrow.width = 15, grey.channels = 1;
    assert_int_equal(shard_scaler_begin(scaler, &scale, &narrow, &err), SHARD_EINVAL);
    assert_int_equal(shard_scaler_begin(scaler, &scale, &grey, &err), SHARD_EINVAL);
    scale.x = 1;
    assert_int_equal(shard_scaler_begin(scaler, &scale, &pixels, &err), SHARD_EINVAL);
    assert_string_equal(err.message, "cannot scale 20 x 20 pixels at 1, 0 of 20 x 20 to 16 x 16");
    scale.x = 0, scale.channels = pixels.channels = 2;
    assert_int_equal(shard_scaler_begin(scaler, &scale, &pixels, &err), SHARD_EINVAL);
    shard_scaler_close(scaler);
    shard_scaler_close(NULL);
}

static void rows_behind_the_part_are_not_needed(void **state)
{
    (void)state;
    shard_scaler *scaler = scaler_with(NULL);
    uint8_t out[8 * 8 * 3];
    shard_scale scale = whole(40, 40, 8, 8, 3);
    shard_pixels pixels = bytes_of(&scale, out);
    scale.y = 3.5, scale.height = 20.25;
    assert_int_equal(shard_scaler_begin(scaler, &scale, &pixels, NULL), SHARD_OK);
    assert_int_equal(shard_scaler_rows_needed(scaler), 24);
    shard_scaler_close(scaler);
}

/* By this code when it was new: the same pixels on every machine and in every release. */
static void results_are_frozen(void **state)
{
    (void)state;
    static const struct {
        shard_scale scale;
        uint64_t hash;
    } vectors[] = {
        {{300, 260, 0, 0, 300, 260, 224, 224, 3, false}, 0x22195780164af667},
        {{300, 260, 10.25, 20.5, 211.75, 190.125, 96, 128, 3, true}, 0x2ab8a6c06ad4db60},
        {{64, 64, 3, 5, 20, 30, 224, 224, 1, false}, 0xc41c64a90c4c750},
        {{1000, 800, 0, 0, 1000, 800, 224, 224, 3, false}, 0x9d2d311fde2686ea},
        {{500, 1000, 1, 2, 498, 997, 3, 5, 3, true}, 0xdb75f004cec5bc7c},
    };
    for (size_t i = 0; i < COUNT(vectors); i++) {
        picture image = picture_of(vectors[i].scale, i);
        uint8_t *out = scaled_once(&image);
        assert_int_equal(shard_hash64(out, result_size(&image.scale), 0), vectors[i].hash);
        free(out);
        free(image.pixels);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kernels_give_the_same_bytes),
        cmocka_unit_test(all_kernels_give_the_same_bytes_at_extremes),
        cmocka_unit_test(white_stays_white_in_all_kernels),
        cmocka_unit_test(the_same_size_is_the_same_image),
        cmocka_unit_test(a_mirrored_result_is_the_mirror_of_the_result),
        cmocka_unit_test(results_are_within_a_rounding_of_the_exact_ones),
        cmocka_unit_test(pixels_outside_the_part_do_not_count),
        cmocka_unit_test(a_scaler_is_as_new_for_each_image),
        cmocka_unit_test(nothing_is_allocated_for_a_second_image_of_a_size),
        cmocka_unit_test(a_failed_allocation_is_reported),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(rows_behind_the_part_are_not_needed),
        cmocka_unit_test(results_are_frozen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
