/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/pixels.h"

#include <stdlib.h>

#include "test.h"

static const float none[3], mean[3] = {0.485F, 0.456F, 0.406F},
                            deviation[3] = {0.229F, 0.224F, 0.225F};

static void bytes_are_put_as_they_are(void **state)
{
    (void)state;
    const uint8_t row[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint8_t data[18] = {0};
    const shard_pixels pixels = {SHARD_IMAGE_U8_NHWC, 3, 2, 3, NULL, data};
    assert_int_equal(shard_pixels_size(SHARD_IMAGE_U8_NHWC, 3, 2, 3), sizeof data);
    shard_pixels_put_row(&pixels, 1, row, false);
    assert_int_equal(data[8], 0);
    assert_memory_equal(data + 9, row, 9);
}

static void mirrored_pixels_keep_their_channels_in_order(void **state)
{
    (void)state;
    const uint8_t row[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
    uint8_t data[9], grey[9];
    shard_pixels_put_row(&(shard_pixels){SHARD_IMAGE_U8_NHWC, 3, 1, 3, NULL, data}, 0, row, true);
    assert_memory_equal(data, ((uint8_t[]){7, 8, 9, 4, 5, 6, 1, 2, 3}), 9);
    shard_pixels_put_row(&(shard_pixels){SHARD_IMAGE_U8_NHWC, 9, 1, 1, NULL, grey}, 0, row, true);
    assert_memory_equal(grey, ((uint8_t[]){9, 8, 7, 6, 5, 4, 3, 2, 1}), 9);
}

static void floats_are_put_in_planes(void **state)
{
    (void)state;
    const uint8_t row[] = {0, 51, 102, 153, 204, 255};
    float number[3 * 256], data[12] = {0};
    const shard_pixels pixels = {SHARD_IMAGE_F32_NCHW, 2, 2, 3, number, data};
    assert_int_equal(shard_pixels_size(SHARD_IMAGE_F32_NCHW, 2, 2, 3), sizeof data);
    shard_pixels_fill_table(SHARD_IMAGE_F32_NCHW, 3, none, none, number);
    shard_pixels_put_row(&pixels, 0, row, false);
    shard_pixels_put_row(&pixels, 1, row, true);
    const float expected[] = {0.0F, 0.6F, 0.6F, 0.0F, 0.2F, 0.8F,
                              0.8F, 0.2F, 0.4F, 1.0F, 1.0F, 0.4F};
    assert_memory_equal(data, expected, sizeof expected);
}

static void halves_are_put_in_planes(void **state)
{
    (void)state;
    const uint8_t row[] = {0, 255, 255, 0};
    uint16_t number[2 * 256], data[4] = {0};
    const shard_pixels pixels = {SHARD_IMAGE_F16_NCHW, 4, 1, 1, number, data};
    assert_int_equal(shard_pixels_size(SHARD_IMAGE_F16_NCHW, 4, 1, 1), sizeof data);
    shard_pixels_fill_table(SHARD_IMAGE_F16_NCHW, 1, none, none, number);
    shard_pixels_put_row(&pixels, 0, row, false);
    assert_memory_equal(data, ((uint16_t[]){0, 0x3c00, 0x3c00, 0}), sizeof data);
}

/* Every width up to 40, so that all that is done for several numbers at once meets its end. */
static void every_number_is_looked_up_in_its_channel(void **state)
{
    (void)state;
    float number[3 * 256], single[3 * 40];
    uint16_t half_number[3 * 256], half[3 * 40];
    uint8_t row[3 * 40];
    for (int i = 0; i < 120; i++)
        row[i] = (uint8_t)(i * 37 + 11);
    shard_pixels_fill_table(SHARD_IMAGE_F32_NCHW, 3, mean, deviation, number);
    shard_pixels_fill_table(SHARD_IMAGE_F16_NCHW, 3, mean, deviation, half_number);
    for (uint32_t i = 0; i < 4 * 40; i++) {
        uint32_t width = i / 4 + 1, channels = i & 1 ? 3 : 1;
        bool mirror = i & 2;
        shard_pixels_put_row(
            &(shard_pixels){SHARD_IMAGE_F32_NCHW, width, 1, channels, number, single}, 0, row,
            mirror);
        shard_pixels_put_row(
            &(shard_pixels){SHARD_IMAGE_F16_NCHW, width, 1, channels, half_number, half}, 0, row,
            mirror);
        for (uint32_t j = 0; j < width * channels; j++) {
            uint32_t channel = j / width, x = mirror ? width - 1 - j % width : j % width;
            uint32_t at = channel * 256 + row[x * channels + channel];
            assert_true(single[j] == number[at]);
            assert_int_equal(half[j], half_number[at]);
        }
    }
}

/* In float, step by step: what torch's div(255), sub(mean) and div(deviation) give. */
static void numbers_are_normalized_in_single_precision(void **state)
{
    (void)state;
    float number[3 * 256];
    shard_pixels_fill_table(SHARD_IMAGE_F32_NCHW, 3, mean, deviation, number);
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++) {
            volatile float value = (float)v / 255.0F; /* no wider in between */
            value = value - mean[c];
            value = value / deviation[c];
            assert_true(number[c * 256 + v] == value);
        }
}

static double value_of_half(uint16_t half)
{
    int exponent = half >> 10 & 31, digits = half & 0x3ff;
    double value = exponent ? 1024 + digits : digits;
    for (int i = exponent ? exponent : 1; i < 25; i++)
        value /= 2;
    for (int i = 25; i < exponent; i++)
        value *= 2;
    return half & 0x8000 ? -value : value;
}

/* Whatever half is chosen, neither neighbour is nearer, and of two equally near it is the even. */
static void assert_nearest(float number, uint16_t half)
{
    uint16_t size = half & 0x7fff;
    double value = number < 0 ? -number : number, got = value_of_half(size);
    double off = got < value ? value - got : got - value;
    assert_int_equal(half >> 15, number < 0);
    if (size < 0x7bff) {
        double above = value_of_half((uint16_t)(size + 1)) - value;
        assert_true(off < above || (off == above && !(size & 1)));
    }
    if (size > 0) {
        double below = value - value_of_half((uint16_t)(size - 1));
        assert_true(off < below || (off == below && !(size & 1)));
    }
}

static void halves_are_the_nearest(void **state)
{
    (void)state;
    float single[256];
    uint16_t half[256];
    float scale = 1;
    for (int i = 0; i < 40; i++, scale *= 3.7F) { /* from thousands down to below the least */
        const float by[1] = {scale / 4096}, off[1] = {0.37F};
        shard_pixels_fill_table(SHARD_IMAGE_F32_NCHW, 1, off, by, single);
        shard_pixels_fill_table(SHARD_IMAGE_F16_NCHW, 1, off, by, half);
        for (int v = 0; v < 256; v++)
            assert_nearest(single[v], half[v]);
    }
}

static uint16_t half_of_one(float number)
{
    uint16_t half[256];
    const float by[1] = {1}, off[1] = {-number};
    shard_pixels_fill_table(SHARD_IMAGE_F16_NCHW, 1, off, by, half);
    return half[0];
}

static void halves_at_their_limits(void **state)
{
    (void)state;
    static const struct {
        float number;
        uint16_t half;
    } vectors[] = {
        {0x1p-24F, 0x0001},     {0x1p-25F, 0x0000},      {0x1.000002p-25F, 0x0001},
        {0x1.8p-24F, 0x0002},   {0x1.4p-23F, 0x0002},    {0x1.ff8p-15F, 0x03ff},
        {0x1.ffcp-15F, 0x0400}, {0x1p-14F, 0x0400},      {1.0F, 0x3c00},
        {0x1.002p0F, 0x3c00},   {0x1.002002p0F, 0x3c01}, {0x1.006p0F, 0x3c02},
        {65504.0F, 0x7bff},     {65519.0F, 0x7bff},      {65520.0F, 0x7c00},
        {1e30F, 0x7c00},        {-1e30F, 0xfc00},        {-0x1p-24F, 0x8001},
        {0x1p-126F, 0x0000},    {-2.5F, 0xc100},
    };
    for (size_t i = 0; i < COUNT(vectors); i++)
        assert_int_equal(half_of_one(vectors[i].number), vectors[i].half);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_put_as_they_are),
        cmocka_unit_test(mirrored_pixels_keep_their_channels_in_order),
        cmocka_unit_test(floats_are_put_in_planes),
        cmocka_unit_test(halves_are_put_in_planes),
        cmocka_unit_test(every_number_is_looked_up_in_its_channel),
        cmocka_unit_test(numbers_are_normalized_in_single_precision),
        cmocka_unit_test(halves_are_the_nearest),
        cmocka_unit_test(halves_at_their_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
