/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/scale_axis.h"

#include <stdlib.h>

#include "core/rng.h"
#include "test.h"

static shard_scale_axis axis_of(shard_scale_span span)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_scale_axis axis = {0};
    assert_true(shard_scale_span_valid(&span));
    assert_true(shard_scale_axis_set(&axis, &span, &alloc));
    return axis;
}

static void clear(shard_scale_axis *axis)
{
    fmt_alloc alloc = shard_alloc_from(NULL);
    shard_scale_axis_clear(axis, &alloc);
}

static void assert_weights(shard_scale_span span, uint32_t out, uint32_t first, uint32_t count,
                           const int16_t *weight)
{
    shard_scale_axis axis = axis_of(span);
    assert_int_equal(axis.first[out], first);
    assert_int_equal(axis.count[out], count);
    assert_memory_equal(axis.weight + (size_t)out * axis.taps, weight, count * sizeof *weight);
    clear(&axis);
}

static void weights_are_a_triangle(void **state)
{
    (void)state;
    const shard_scale_span half = {8, 0, 8, 4, false}, same = {5, 0, 5, 5, false},
                           twice = {4, 0, 4, 8, false}, part = {8, 2, 4, 2, false};
    assert_weights(half, 1, 1, 4, (int16_t[]){4096, 12288, 12288, 4096});
    assert_weights(half, 0, 0, 3, (int16_t[]){14043, 14044, 4681}); /* 3 : 3 : 1 */
    assert_weights(same, 4, 4, 1, (int16_t[]){16384});
    assert_weights(twice, 0, 0, 1, (int16_t[]){16384});
    assert_weights(twice, 1, 0, 2, (int16_t[]){12288, 4096});
    assert_weights(part, 0, 0, 3, (int16_t[]){14043, 14044, 4681}); /* nothing from outside */
}

static void assert_sound(shard_scale_span span)
{
    shard_scale_axis axis = axis_of(span);
    uint32_t n = axis.end - axis.begin, end = 0;
    assert_true(axis.begin < axis.end && axis.end <= span.in);
    assert_true(axis.begin <= span.from + 0.01 && axis.end >= span.from + span.length - 0.01);
    for (uint32_t i = 0; i < span.out; i++) {
        uint32_t at = span.mirror ? span.out - 1 - i : i, count = axis.count[at];
        const int16_t *weight = axis.weight + (size_t)at * axis.taps;
        int32_t sum = 0;
        for (uint32_t j = 0; j < axis.taps; j++) {
            assert_in_range(weight[j], 0, j < count ? INT16_MAX : 0);
            sum += weight[j];
        }
        assert_int_equal(sum, 1 << axis.bits);
        assert_in_range(count, 1, axis.longest);
        assert_true(axis.longest <= axis.taps && axis.first[at] + count <= n);
        assert_true(axis.first[at] + count >= end); /* a later output never ends sooner */
        end = axis.first[at] + count;
    }
    clear(&axis);
}

static void weights_add_up_to_one_at_any_scale(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        uint32_t in = 1 + (uint32_t)shard_rng_below(i, 0, i % 2 ? 40 : 2000);
        double from = (double)shard_rng_below(i, 1, 1000 * in) / 1000;
        double length = (in - from) * (double)(1 + shard_rng_below(i, 2, 1000)) / 1000;
        uint32_t out = 1 + (uint32_t)shard_rng_below(i, 3, i % 3 ? 30 : 400);
        assert_sound((shard_scale_span){in, from, length, out, i % 5 == 0});
    }
}

static void extreme_parts_are_sound(void **state)
{
    (void)state;
    const shard_scale_span spans[] = {
        {1, 0, 1, 1, false},
        {1, 0, 1, 16384, true},
        {1, 0.999999, 0.000001, 3, false},
        {65535, 0, 65535, 1, false},
        {65535, 0, 65535, 16384, true},
        {65535, 65534.5, 0.5, 7, false},
        {65535, 0, 1e-9, 5, false},
        {10, 2.9999999, 4.0000002, 4, false},
        {3, 0, 3.0000001, 2, false},
        {2, 1.9999999999, 1e-300, 2, false},
        {1 << 26, 0, 1 << 26, 1, false},
    };
    for (size_t i = 0; i < COUNT(spans); i++)
        assert_sound(spans[i]);
}

static void a_hair_of_a_pixel_does_not_count(void **state)
{
    (void)state;
    shard_scale_axis axis = axis_of((shard_scale_span){10, 2.9999999, 4.0000002, 4, false});
    assert_int_equal(axis.begin, 3);
    assert_int_equal(axis.end, 7);
    assert_int_equal(axis.count[0], 1);
    assert_int_equal(axis.weight[0], 1 << axis.bits);
    clear(&axis);
}

static void parts_outside_are_refused(void **state)
{
    (void)state;
    const double nan = strtod("nan", NULL), infinite = strtod("inf", NULL);
    const shard_scale_span spans[] = {
        {0, 0, 1, 1, false},         {1, 0, 1, 0, false},        {5, -0.1, 1, 1, false},
        {5, 0, 0, 1, false},         {5, 0, -1, 1, false},       {5, 0, 5.1, 1, false},
        {5, 4.5, 0.6, 1, false},     {5, nan, 1, 1, false},      {5, 0, nan, 1, false},
        {5, infinite, 1, 1, false},  {5, 0, infinite, 1, false}, {(1 << 26) + 1, 0, 1, 1, false},
        {5, 0, 5, UINT32_MAX, false}};
    for (size_t i = 0; i < COUNT(spans); i++)
        assert_false(shard_scale_span_valid(&spans[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_are_a_triangle),
        cmocka_unit_test(weights_add_up_to_one_at_any_scale),
        cmocka_unit_test(extreme_parts_are_sound),
        cmocka_unit_test(a_hair_of_a_pixel_does_not_count),
        cmocka_unit_test(parts_outside_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
