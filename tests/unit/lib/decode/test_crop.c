/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/crop.h"

#include <math.h>

#include "decode/image_opts.h"
#include "test.h"

enum { DRAWS = 20000 };

static shard_image_opts options(shard_image_fit fit, uint32_t width, uint32_t height)
{
    shard_image_opts opts = SHARD_IMAGE_OPTS_INIT, read;
    opts.fit = fit;
    opts.width = width;
    opts.height = height;
    assert_int_equal(shard_image_opts_read(&opts, &read, NULL), SHARD_OK);
    return read;
}

static void assert_box(const shard_crop *crop, double x, double y, double width, double height)
{
    assert_true(crop->x == x && crop->y == y);
    assert_true(crop->width == width && crop->height == height);
}

/* ---- random crops ---- */

/*
 * By torchvision's algorithm in Python, with the C library's exp and sqrt, on numbers by Python's
 * xxhash as in core/test_rng.c.
 */
static void random_crops_are_frozen(void **state)
{
    (void)state;
    static const struct {
        uint32_t width, height;
        uint64_t key;
        uint32_t x, y, w, h;
        bool mirror;
    } vectors[] = {
        {500, 375, 0, 234, 197, 148, 161, false},
        {500, 375, 1, 127, 0, 260, 340, true},
        {500, 375, 2, 141, 61, 174, 141, false}, /* at the second attempt */
        {375, 500, 3, 48, 175, 185, 186, true},
        {1, 1, 4, 0, 0, 1, 1, false},
        {224, 224, UINT64_MAX, 76, 41, 101, 107, true},
        {2000, 10, 5, 993, 0, 13, 10, true}, /* no attempt succeeds */
        {10, 2000, 6, 0, 993, 10, 13, true},
        {65535, 65535, 7, 787, 5219, 62086, 59550, true},
        {3, 2, 8, 1, 0, 2, 2, true},
        {640, 480, 123456789012345, 158, 61, 182, 208, false},
    };
    shard_image_opts opts = options(SHARD_IMAGE_RANDOM_CROP, 224, 224);
    opts.flip = 0.5;
    for (size_t i = 0; i < COUNT(vectors); i++) {
        shard_crop crop;
        shard_crop_choose(&opts, vectors[i].width, vectors[i].height, vectors[i].key, &crop);
        assert_box(&crop, vectors[i].x, vectors[i].y, vectors[i].w, vectors[i].h);
        assert_int_equal(crop.mirror, vectors[i].mirror);
    }
}

/* In a square, every area up to 3/4 fits in whatever aspect: no attempt fails, none is favoured. */
static void areas_are_uniform_and_aspects_uniform_by_logarithm(void **state)
{
    (void)state;
    const uint32_t side = 10000;
    shard_image_opts opts = options(SHARD_IMAGE_RANDOM_CROP, 224, 224);
    opts.area_max = 0.75;
    double area = 0, area_square = 0, aspect = 0, aspect_square = 0, x = 0, y = 0;
    for (uint64_t key = 0; key < DRAWS; key++) {
        shard_crop c;
        shard_crop_choose(&opts, side, side, key, &c);
        double a = c.width * c.height / side / side, r = log(c.width / c.height);
        assert_true(a > 0.0799 && a < 0.7501 && fabs(r) < log(4.0 / 3) + 0.001);
        assert_true(c.x + c.width <= side && c.y + c.height <= side);
        area += a / DRAWS;
        area_square += a * a / DRAWS;
        aspect += r / DRAWS;
        aspect_square += r * r / DRAWS;
        x += c.x / (side - c.width) / DRAWS;
        y += c.y / (side - c.height) / DRAWS;
    }
    /* Of a uniform number in [a, b): mean (a + b) / 2, variance (b - a)^2 / 12. */
    const double span = 2 * log(4.0 / 3);
    assert_true(fabs(area - 0.415) < 0.005);
    assert_true(fabs(area_square - area * area - 0.67 * 0.67 / 12) < 0.001);
    assert_true(fabs(aspect) < 0.005);
    assert_true(fabs(aspect_square - aspect * aspect - span * span / 12) < 0.001);
    assert_true(fabs(x - 0.5) < 0.01 && fabs(y - 0.5) < 0.01);
}

static void a_wide_image_falls_back_to_its_middle(void **state)
{
    (void)state;
    shard_image_opts opts = options(SHARD_IMAGE_RANDOM_CROP, 224, 224);
    for (uint64_t key = 0; key < 100; key++) {
        shard_crop crop;
        shard_crop_choose(&opts, 60000, 3, key, &crop);
        if (crop.height == 3 && crop.width == 4)
            assert_box(&crop, 29998, 0, 4, 3);
        else
            assert_true(crop.height <= 3 && crop.width <= 4);
    }
}

static void the_whole_image_is_a_crop_too(void **state)
{
    (void)state;
    shard_crop crop;
    shard_image_opts opts = options(SHARD_IMAGE_RANDOM_CROP, 8, 8);
    opts.area_min = opts.area_max = opts.aspect_min = opts.aspect_max = 1;
    for (uint32_t side = 1; side < 70000; side = side * 3 + 1) {
        shard_crop_choose(&opts, side, side, side, &crop);
        assert_box(&crop, 0, 0, side, side);
    }
}

/* ---- mirrored ---- */

static double mirrored(double flip)
{
    shard_image_opts opts = options(SHARD_IMAGE_RESIZE, 8, 8);
    opts.flip = flip;
    double count = 0;
    for (uint64_t key = 0; key < DRAWS; key++) {
        shard_crop crop;
        shard_crop_choose(&opts, 10, 10, key, &crop);
        count += crop.mirror;
    }
    return count / DRAWS;
}

static void images_are_mirrored_as_often_as_wanted(void **state)
{
    (void)state;
    assert_true(mirrored(0) == 0);
    assert_true(mirrored(1) == 1);
    assert_true(fabs(mirrored(0.5) - 0.5) < 0.01);
    assert_true(fabs(mirrored(0.1) - 0.1) < 0.01);
}

/* ---- what is not random ---- */

static void resizing_takes_all_of_it(void **state)
{
    (void)state;
    shard_crop crop;
    shard_image_opts opts = options(SHARD_IMAGE_RESIZE, 10, 20);
    shard_crop_choose(&opts, 301, 7, 1, &crop);
    assert_box(&crop, 0, 0, 301, 7);
}

static void the_middle_has_the_results_proportions(void **state)
{
    (void)state;
    static const struct {
        uint32_t out_width, out_height, shorter, width, height;
        double x, y, w, h;
    } cases[] = {
        {224, 224, 0, 500, 300, 100, 0, 300, 300},
        {224, 224, 0, 300, 500, 0, 100, 300, 300},
        {100, 200, 0, 300, 300, 75, 0, 150, 300},
        {224, 224, 256, 512, 768, 32, 160, 448, 448},
        {224, 224, 256, 256, 256, 16, 16, 224, 224},
        {224, 112, 224, 448, 448, 0, 112, 448, 224},
        /* 112 wide at the shorter side's scale, but the result is 224: as much as there is */
        {224, 112, 112, 112, 500, 0, 222, 112, 56},
        {1, 1, 16384, 16384, 16384, 8191.5, 8191.5, 1, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        shard_crop crop;
        shard_image_opts opts =
            options(SHARD_IMAGE_CENTER, cases[i].out_width, cases[i].out_height);
        opts.shorter = cases[i].shorter;
        shard_crop_choose(&opts, cases[i].width, cases[i].height, i, &crop);
        assert_box(&crop, cases[i].x, cases[i].y, cases[i].w, cases[i].h);
    }
}

static void every_part_lies_inside_the_image(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < DRAWS; i++) {
        shard_crop crop;
        shard_image_opts opts = options(i % 2 ? SHARD_IMAGE_RANDOM_CROP : SHARD_IMAGE_CENTER,
                                        1 + i * 7 % 300, 1 + i * 11 % 500);
        opts.shorter = i % 3 ? 500 : 0;
        uint32_t width = 1 + i * 31 % 700, height = 1 + i * 17 % 900;
        shard_crop_choose(&opts, width, height, i, &crop);
        assert_true(crop.x >= 0 && crop.y >= 0 && crop.width > 0 && crop.height > 0);
        assert_true(crop.x + crop.width <= width + 1e-9);
        assert_true(crop.y + crop.height <= height + 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_crops_are_frozen),
        cmocka_unit_test(areas_are_uniform_and_aspects_uniform_by_logarithm),
        cmocka_unit_test(a_wide_image_falls_back_to_its_middle),
        cmocka_unit_test(the_whole_image_is_a_crop_too),
        cmocka_unit_test(images_are_mirrored_as_often_as_wanted),
        cmocka_unit_test(resizing_takes_all_of_it),
        cmocka_unit_test(the_middle_has_the_results_proportions),
        cmocka_unit_test(every_part_lies_inside_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
