/* SPDX-License-Identifier: Apache-2.0 */
/* JPEG images whose scan we decode beside the same ones by libjpeg alone: the same bytes, or the
 * same error. */
#include "decode/jpeg_entropy_check.h"

#include <stdlib.h>

#include "decode/image_decoder.h"
#include "jpegs.h"
#include "test.h"

enum { OUT = 40 * 30 * 3, SOS = 0xda, RST0 = 0xd0 };

typedef struct {
    uint8_t *bytes;
    size_t size;
} image;

typedef struct {
    shard_image_decoder *ours, *theirs;
} pair;

static image make(const test_jpeg *spec)
{
    image made;
    made.bytes = test_make_jpeg(spec, &made.size);
    return made;
}

static shard_image_opts small(void)
{
    shard_image_opts opts = SHARD_IMAGE_OPTS_INIT;
    opts.width = 40;
    opts.height = 30;
    return opts;
}

static pair open(const shard_image_opts *opts)
{
    pair p;
    assert_int_equal(shard_image_decoder_open(&p.ours, opts, NULL, NULL), SHARD_OK);
    assert_int_equal(shard_image_decoder_open(&p.theirs, opts, NULL, NULL), SHARD_OK);
    shard_image_decoder_use_ours(p.theirs, false);
    return p;
}

static void close(pair p)
{
    shard_image_decoder_close(p.ours);
    shard_image_decoder_close(p.theirs);
}

/* Whether it is an image at all. */
static bool assert_same(pair p, image im, const shard_crop *part)
{
    static uint8_t ours[OUT], theirs[OUT];
    shard_error a = {0}, b = {0};
    const fmt_span bytes = {im.bytes, im.size};
    shard_status status = shard_image_decode_part(p.theirs, bytes, part, theirs, &a);
    assert_int_equal(shard_image_decode_part(p.ours, bytes, part, ours, &b), status);
    assert_string_equal(a.message, b.message);
    assert_false(shard_image_decoder_used_ours(p.theirs));
    if (status == SHARD_OK)
        assert_memory_equal(ours, theirs, shard_image_decoder_size(p.ours));
    return status == SHARD_OK;
}

static uint32_t draw(uint32_t *random, uint32_t below)
{
    *random = *random * 1664525 + 1013904223;
    return (*random >> 8) % below;
}

/* All of it, and parts anywhere. */
static void compare(const test_jpeg *spec, const shard_image_opts *opts, bool expected)
{
    image im = make(spec);
    pair p = open(opts);
    uint32_t random = 1, w = spec->width, h = spec->height;
    shard_crop part = {0, 0, w, h, false};
    for (int i = 0; i < 60; i++) {
        assert_true(assert_same(p, im, &part));
        assert_int_equal(shard_image_decoder_used_ours(p.ours), expected);
        part.width = 1 + draw(&random, w);
        part.height = 1 + draw(&random, h);
        part.x = draw(&random, w + 1 - (uint32_t)part.width);
        part.y = draw(&random, h + 1 - (uint32_t)part.height);
    }
    close(p);
    free(im.bytes);
}

/* ---- whole images ---- */

static const test_jpeg PLAIN = {301, 203, 3, 2, 2, false, 0, 0};

static void pixels_are_those_of_libjpeg(void **state)
{
    (void)state;
    static const int kinds[][3] = {{3, 1, 1}, {3, 2, 1}, {3, 1, 2}, {3, 2, 2}, {3, 4, 1},
                                   {3, 4, 2}, {3, 1, 4}, {1, 1, 1}, {1, 2, 2}, {4, 1, 1}};
    for (size_t i = 0; i < COUNT(kinds); i++)
        for (int mode = 0; mode < 4; mode++) {
            test_jpeg spec = PLAIN;
            spec.components = kinds[i][0];
            spec.across = kinds[i][1];
            spec.down = kinds[i][2];
            shard_image_opts opts = small();
            opts.grey = mode & 1;
            opts.fast = mode & 2; /* scaled in the transform, too */
            compare(&spec, &opts, true);
        }
}

static void and_with_restart_markers(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    for (unsigned restart = 1; restart < 300; restart += 1 + restart) {
        test_jpeg spec = PLAIN;
        spec.restart = restart;
        compare(&spec, &opts, true);
    }
}

/* Stuffing is taken out by pieces, which end anywhere. */
static void and_where_pieces_of_the_scan_meet(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    pair p = open(&opts);
    for (uint32_t width = 600; width < 700; width++) {
        test_jpeg spec = {width, 200, 3, 1 + (int)width % 2, 1, false, 0, 0};
        image im = make(&spec);
        assert_true(assert_same(p, im, &(shard_crop){0, 0, width, 200, false}));
        assert_true(shard_image_decoder_used_ours(p.ours));
        free(im.bytes);
    }
    close(p);
}

static void progressive_ones_are_left_to_libjpeg(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    test_jpeg spec = PLAIN;
    spec.progressive = true;
    compare(&spec, &opts, false);
}

static void tables_change_from_image_to_image(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    pair p = open(&opts);
    image a = make(&PLAIN), b = make(&PLAIN);
    size_t table = test_find_segment(b.bytes, b.size, 0xc4);
    uint8_t *symbols = b.bytes + table + 4 + 17; /* of the first one */
    uint8_t first = symbols[0];
    symbols[0] = symbols[1];
    symbols[1] = first;
    for (int i = 0; i < 3; i++) {
        assert_same(p, a, &(shard_crop){0, 0, 301, 203, false});
        assert_same(p, b, &(shard_crop){0, 0, 301, 203, false});
    }
    close(p);
    free(a.bytes);
    free(b.bytes);
}

/* ---- damage ---- */

static size_t scan_of(image im)
{
    size_t segment = test_find_segment(im.bytes, im.size, SOS);
    return segment + 2 + ((size_t)im.bytes[segment + 2] << 8 | im.bytes[segment + 3]);
}

/* All of it, and a part above and to the right. */
static int both_parts(pair p, image im)
{
    return assert_same(p, im, &(shard_crop){0, 0, 67, 53, false}) +
           assert_same(p, im, &(shard_crop){30, 10, 37, 20, false});
}

static test_jpeg little(unsigned restart)
{
    return (test_jpeg){67, 53, 3, 2, 2, false, restart, 0};
}

static void cut_off_anywhere_is_the_same_error(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    pair p = open(&opts);
    for (unsigned restart = 0; restart <= 3; restart += 3) {
        test_jpeg spec = little(restart);
        image im = make(&spec);
        int good = 0;
        for (size_t size = scan_of(im); size <= im.size; size++) {
            uint8_t *copy = malloc(size); /* its end is the memory's */
            assert_non_null(copy);
            memcpy(copy, im.bytes, size);
            good += both_parts(p, (image){copy, size});
            free(copy);
        }
        assert_true(good > 100);
        free(im.bytes);
    }
    close(p);
}

static void a_changed_byte_is_the_same_error_or_pixels(void **state)
{
    (void)state;
    static const uint8_t values[] = {0, 0xff, 0xd0, 0xd9, 0x55};
    const shard_image_opts opts = small();
    pair p = open(&opts);
    int good = 0, bad = 0;
    for (unsigned restart = 0; restart <= 3; restart += 3) {
        test_jpeg spec = little(restart);
        image im = make(&spec);
        for (size_t at = test_find_segment(im.bytes, im.size, 0xc4); at < im.size; at++)
            for (size_t i = 0; i < COUNT(values); i++) {
                uint8_t before = im.bytes[at];
                im.bytes[at] = values[i];
                int n = both_parts(p, im);
                good += n;
                bad += 2 - n;
                im.bytes[at] = before;
            }
        free(im.bytes);
    }
    assert_true(good > 1000 && bad > 1000);
    close(p);
}

/* Bytes put in before a restart marker, which libjpeg forgives, and markers out of order. */
static void restart_markers_in_odd_places_are_left_to_libjpeg(void **state)
{
    (void)state;
    const shard_image_opts opts = small();
    const test_jpeg spec = little(2);
    pair p = open(&opts);
    image im = make(&spec);
    uint8_t *copy = malloc(im.size + 2);
    assert_non_null(copy);
    for (size_t at = scan_of(im); at + 1 < im.size; at++) {
        if (im.bytes[at] != 0xff || (im.bytes[at + 1] & 0xf8) != RST0)
            continue;
        for (uint8_t value = 0; value < 4; value++) {
            memcpy(copy, im.bytes, at);
            copy[at] = copy[at + 1] = (uint8_t)(value * 0x3f);
            memcpy(copy + at + 2, im.bytes + at, im.size - at);
            both_parts(p, (image){copy, im.size + 2});
            im.bytes[at + 1] ^= value;
            both_parts(p, im);
            im.bytes[at + 1] ^= value;
        }
    }
    free(copy);
    free(im.bytes);
    close(p);
}

/* ---- memory ---- */

static bool open_and_close(test_allocator *allocator, void *context)
{
    (void)context;
    shard_jpeg_entropy *entropy;
    shard_allocator own = test_shard_allocator(allocator);
    fmt_alloc alloc = shard_alloc_from(&own);
    shard_status status = shard_jpeg_entropy_open(&entropy, &alloc, NULL);
    if (status != SHARD_OK)
        return false;
    assert_true(shard_jpeg_entropy_check(entropy));
    shard_jpeg_entropy_close(entropy);
    return true;
}

static void memory_may_run_short(void **state)
{
    (void)state;
    assert_int_equal(test_every_allocation(open_and_close, NULL), 1);
    shard_jpeg_entropy_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_those_of_libjpeg),
        cmocka_unit_test(and_with_restart_markers),
        cmocka_unit_test(and_where_pieces_of_the_scan_meet),
        cmocka_unit_test(progressive_ones_are_left_to_libjpeg),
        cmocka_unit_test(tables_change_from_image_to_image),
        cmocka_unit_test(cut_off_anywhere_is_the_same_error),
        cmocka_unit_test(a_changed_byte_is_the_same_error_or_pixels),
        cmocka_unit_test(restart_markers_in_odd_places_are_left_to_libjpeg),
        cmocka_unit_test(memory_may_run_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
