/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/huffman.h"

#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

#include "test.h"

/* ---- JPEG files, by libjpeg */

typedef struct {
    uint32_t width, height;
    int components, h, v; /* sampling of the first one; of the others 1 x 1 */
    int quality;
    bool optimize;    /* Huffman tables of its own */
    unsigned restart; /* MCUs from one restart marker to the next; 0: none */
} making;

typedef struct {
    unsigned char *bytes;
    unsigned long size;
} file;

/* Slopes with noise of an amount that differs from place to place. */
static uint8_t pixel(uint64_t *seed, uint32_t x, uint32_t y, int c)
{
    *seed = *seed * 6364136223846793005U + 1442695040888963407U;
    uint32_t noise = (uint32_t)(*seed >> 56), amount = x / 16 % 4;
    return (uint8_t)(x * 2 + y * (uint32_t)(c + 1) + noise * amount / 3);
}

static file make_jpeg(const making *how)
{
    struct jpeg_compress_struct out;
    struct jpeg_error_mgr errors;
    file made = {NULL, 0};
    uint8_t *row = malloc((size_t)how->width * 4);
    uint64_t seed = 1;
    assert_non_null(row);
    out.err = jpeg_std_error(&errors);
    jpeg_create_compress(&out);
    jpeg_mem_dest(&out, &made.bytes, &made.size);
    out.image_width = how->width, out.image_height = how->height;
    out.input_components = how->components;
    out.in_color_space = how->components == 1   ? JCS_GRAYSCALE
                         : how->components == 4 ? JCS_CMYK
                                                : JCS_RGB;
    jpeg_set_defaults(&out);
    jpeg_set_quality(&out, how->quality, TRUE);
    out.comp_info[0].h_samp_factor = how->h, out.comp_info[0].v_samp_factor = how->v;
    out.optimize_coding = how->optimize;
    out.restart_interval = how->restart;
    jpeg_start_compress(&out, TRUE);
    for (uint32_t y = 0; y < how->height; y++) {
        for (uint32_t i = 0; i < how->width * (uint32_t)how->components; i++)
            row[i] = pixel(&seed, i / (uint32_t)how->components, y, (int)i % how->components);
        jpeg_write_scanlines(&out, &row, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    free(row);
    return made;
}

/* ---- the headers of such a file */

typedef struct {
    shard_huffman_table table[2][4];
    shard_huffman_block blocks[SHARD_HUFFMAN_BLOCKS];
    size_t count; /* blocks in an MCU */
    int h[4], v[4];
    uint8_t *bytes; /* of the scan, unstuffed, with its padding */
    size_t size, used;
    const uint8_t *scan, *end; /* as it stands in the file */
} jpeg;

static void read_tables(jpeg *j, const uint8_t *p, const uint8_t *end)
{
    while (p < end) {
        size_t count = 0;
        for (int i = 1; i <= 16; i++)
            count += p[i];
        shard_huffman_class kind = p[0] >> 4 ? SHARD_HUFFMAN_AC : SHARD_HUFFMAN_DC;
        assert_true(shard_huffman_set(&j->table[kind][p[0] & 3], kind, p + 1, p + 17, count));
        p += 17 + count;
    }
}

static void read_scan(jpeg *j, const uint8_t *p)
{
    int components = p[0];
    j->count = 0;
    for (int c = 0; c < components; c++) {
        uint8_t tables = p[2 + 2 * c];
        for (int i = 0; i < (components == 1 ? 1 : j->h[c] * j->v[c]); i++)
            j->blocks[j->count++] =
                (shard_huffman_block){&j->table[SHARD_HUFFMAN_DC][tables >> 4],
                                      &j->table[SHARD_HUFFMAN_AC][tables & 3], (uint8_t)c};
    }
}

static void next_bytes(jpeg *j, const uint8_t *from)
{
    free(j->bytes);
    j->bytes = malloc((size_t)(j->end - from) + SHARD_HUFFMAN_PAD);
    assert_non_null(j->bytes);
    j->size = shard_huffman_unstuff(from, (size_t)(j->end - from), j->bytes, &j->used);
    j->scan = from;
}

static jpeg *read_jpeg(const file *from)
{
    jpeg *j = calloc(1, sizeof *j);
    assert_non_null(j);
    const uint8_t *p = from->bytes + 2;
    j->end = from->bytes + from->size;
    for (;; p += 2 + (p[2] << 8 | p[3])) {
        const uint8_t *body = p + 4, *end = p + 2 + (p[2] << 8 | p[3]);
        if (p[1] == 0xc4)
            read_tables(j, body, end);
        for (int c = 0; p[1] == 0xc0 && c < body[5]; c++)
            j->h[c] = body[7 + 3 * c] >> 4, j->v[c] = body[7 + 3 * c] & 15;
        if (p[1] == 0xda) {
            read_scan(j, body);
            next_bytes(j, end);
            return j;
        }
    }
}

static void free_jpeg(jpeg *j)
{
    free(j->bytes);
    free(j);
}

/* ---- libjpeg's coefficients beside ours */

typedef struct {
    struct jpeg_decompress_struct in;
    struct jpeg_error_mgr errors;
    jvirt_barray_ptr *arrays;
} reference;

static void open_reference(reference *ref, const file *from)
{
    ref->in.err = jpeg_std_error(&ref->errors);
    jpeg_create_decompress(&ref->in);
    jpeg_mem_src(&ref->in, from->bytes, from->size);
    assert_int_equal(jpeg_read_header(&ref->in, TRUE), JPEG_HEADER_OK);
    ref->arrays = jpeg_read_coefficients(&ref->in);
}

static void assert_block(reference *ref, int component, uint32_t x, uint32_t y, const int16_t *got)
{
    jpeg_component_info *info = &ref->in.comp_info[component];
    if (x >= info->width_in_blocks || y >= info->height_in_blocks)
        return; /* there to fill the MCU */
    JBLOCKARRAY row = ref->in.mem->access_virt_barray((j_common_ptr)&ref->in,
                                                      ref->arrays[component], y, 1, FALSE);
    assert_memory_equal(got, row[0][x], 64 * sizeof *got);
}

/* Of the blocks that were read past, got[] is NULL. */
static void assert_mcu(reference *ref, const jpeg *j, uint32_t x, uint32_t y, int16_t *const *got)
{
    if (j->count == 1) {
        assert_block(ref, 0, x, y, got[0]);
        return;
    }
    for (int c = 0; c < ref->in.num_components; c++)
        for (int v = 0; v < j->v[c]; v++)
            for (int h = 0; h < j->h[c]; h++, got++)
                if (*got)
                    assert_block(ref, c, x * (uint32_t)j->h[c] + (uint32_t)h,
                                 y * (uint32_t)j->v[c] + (uint32_t)v, *got);
}

/* Decode all; `wanted` 2: only every second MCU's coefficients, and there not each third block's.
 */
static void assert_as_libjpeg(const making *how, uint32_t wanted)
{
    file made = make_jpeg(how);
    jpeg *j = read_jpeg(&made);
    reference ref;
    shard_huffman huffman;
    open_reference(&ref, &made);
    shard_huffman_begin(&huffman, j->bytes, j->size);
    assert_int_equal(shard_huffman_left(&huffman), j->size);
    uint32_t wide = j->count == 1 ? 8 : 8 * (uint32_t)how->h;
    uint32_t high = j->count == 1 ? 8 : 8 * (uint32_t)how->v;
    uint32_t across = (how->width + wide - 1) / wide, down = (how->height + high - 1) / high;
    for (uint32_t i = 0; i < across * down; i++) {
        int16_t got[SHARD_HUFFMAN_BLOCKS][64] = {{0}}, *to[SHARD_HUFFMAN_BLOCKS];
        for (size_t b = 0; b < SHARD_HUFFMAN_BLOCKS; b++)
            to[b] = wanted > 1 && (i + b) % 3 == 0 ? NULL : got[b];
        if (how->restart && i && i % how->restart == 0) {
            assert_int_equal(shard_huffman_left(&huffman), 0);
            next_bytes(j, j->scan + j->used + 2);
            shard_huffman_begin(&huffman, j->bytes, j->size);
        }
        bool skipped = i % wanted;
        assert_true(shard_huffman_mcu(&huffman, j->blocks, j->count, skipped ? NULL : to));
        if (!skipped)
            assert_mcu(&ref, j, i % across, i / across, to);
    }
    assert_int_equal(shard_huffman_left(&huffman), 0);
    assert_memory_equal(j->scan + j->used, "\xff\xd9", 2);
    jpeg_destroy_decompress(&ref.in);
    free_jpeg(j);
    free(made.bytes);
}

static const making ordinary = {200, 130, 3, 2, 2, 85, false, 0};

static void coefficients_are_those_of_libjpeg(void **state)
{
    (void)state;
    static const int shapes[][3] = {{3, 2, 2}, {3, 2, 1}, {3, 1, 1}, {3, 1, 2},
                                    {3, 4, 1}, {1, 1, 1}, {1, 2, 2}, {4, 1, 1}};
    for (size_t i = 0; i < COUNT(shapes); i++)
        for (int quality = 1; quality <= 100; quality += 11)
            for (int optimize = 0; optimize <= 1; optimize++) {
                making how = {117,          93 + (uint32_t)quality,
                              shapes[i][0], shapes[i][1],
                              shapes[i][2], quality,
                              optimize,     0};
                assert_as_libjpeg(&how, 1);
            }
}

static void restart_markers_begin_anew(void **state)
{
    (void)state;
    for (unsigned restart = 1; restart < 40; restart += 6) {
        making how = ordinary;
        how.restart = restart;
        assert_as_libjpeg(&how, 1);
    }
}

static void skipped_blocks_count(void **state)
{
    (void)state;
    making how = ordinary;
    for (how.quality = 5; how.quality <= 100; how.quality += 19) {
        assert_as_libjpeg(&how, 2);
        assert_as_libjpeg(&how, 7);
    }
}

/* ---- damage */

/* How many MCUs can be decoded before an error, `most` at most. */
static uint32_t decodable(const jpeg *j, const uint8_t *bytes, size_t size, uint32_t most)
{
    int16_t got[SHARD_HUFFMAN_BLOCKS][64], *to[SHARD_HUFFMAN_BLOCKS];
    for (size_t b = 0; b < SHARD_HUFFMAN_BLOCKS; b++)
        to[b] = got[b];
    shard_huffman huffman;
    shard_huffman_begin(&huffman, bytes, size);
    uint32_t n = 0;
    while (n < most && shard_huffman_mcu(&huffman, j->blocks, j->count, to))
        n++;
    return n;
}

static void a_cut_scan_comes_to_an_end(void **state)
{
    (void)state;
    enum { MCUS = 4 * 3 };
    const making how = {64, 48, 3, 2, 2, 60, false, 0};
    file made = make_jpeg(&how);
    jpeg *j = read_jpeg(&made);
    assert_int_equal(decodable(j, j->bytes, j->size, 1000), MCUS);
    for (size_t size = 0; size < j->size; size++) {
        uint8_t *cut = calloc(1, size + SHARD_HUFFMAN_PAD); /* its end is the memory's */
        assert_non_null(cut);
        memcpy(cut, j->bytes, size);
        assert_true(decodable(j, cut, size, MCUS) < MCUS);
        free(cut);
    }
    free_jpeg(j);
    free(made.bytes);
}

static void noise_is_decoded_within_its_bounds(void **state)
{
    (void)state;
    making how = ordinary;
    uint64_t seed = 7;
    for (int optimize = 0; optimize <= 1; optimize++) {
        how.optimize = optimize;
        file made = make_jpeg(&how);
        jpeg *j = read_jpeg(&made);
        for (size_t size = 0; size < 600; size++) {
            uint8_t *noise = calloc(1, size + SHARD_HUFFMAN_PAD);
            assert_non_null(noise);
            for (size_t i = 0; i < size; i++) {
                seed = seed * 6364136223846793005U + 1442695040888963407U;
                noise[i] = (uint8_t)(seed >> 56);
            }
            assert_true(decodable(j, noise, size, 100000) <= size * 2);
            free(noise);
        }
        free_jpeg(j);
        free(made.bytes);
    }
}

/* One DC code, 0: no change. AC codes as `lengths` and `symbols` say. */
static bool decode_one(const uint8_t lengths[16], const uint8_t *symbols, size_t count,
                       const uint8_t *bytes, size_t size, int16_t block[64])
{
    const uint8_t one[16] = {1}, none = 0;
    shard_huffman_table *table = calloc(2, sizeof *table);
    uint8_t padded[64] = {0};
    shard_huffman huffman;
    int16_t *to[1] = {block};
    assert_non_null(table);
    assert_true(shard_huffman_set(&table[0], SHARD_HUFFMAN_DC, one, &none, 1));
    assert_true(shard_huffman_set(&table[1], SHARD_HUFFMAN_AC, lengths, symbols, count));
    const shard_huffman_block how = {&table[0], &table[1], 0};
    memcpy(padded, bytes, size);
    shard_huffman_begin(&huffman, padded, size);
    bool good = shard_huffman_mcu(&huffman, &how, 1, to);
    free(table);
    return good;
}

static void a_code_that_does_not_exist_is_an_error(void **state)
{
    (void)state;
    const uint8_t lengths[16] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
                  symbols[] = {0, 1};
    int16_t block[64] = {0};
    assert_true(decode_one(lengths, symbols, 2, (uint8_t[]){0x00}, 1, block));
    assert_false(decode_one(lengths, symbols, 2, (uint8_t[]){0x7f, 0xff, 0xff}, 3, block));
    assert_false(decode_one(lengths, symbols, 2, (uint8_t[]){0x20, 0x01, 0xff}, 3, block));
    /* 0, then 0100000000000000 1: a 1; then 00 */
    assert_true(decode_one(lengths, symbols, 2, (uint8_t[]){0x20, 0x00, 0x40}, 3, block));
    assert_int_equal(block[1], 1);
}

static void a_block_has_64_coefficients(void **state)
{
    (void)state;
    const uint8_t lengths[16] = {0, 3}, symbols[] = {0xf0, 0xf1, 0x00};
    int16_t block[64] = {0};
    /* 0; three times 16 zeros; 15 zeros and a 1: 63 in all, and nothing ends the block */
    assert_true(decode_one(lengths, symbols, 3, (uint8_t[]){0x00, 0xe0}, 2, block) == false);
    /* 0; 00 00 00; 10: the end */
    assert_true(decode_one(lengths, symbols, 3, (uint8_t[]){0x01, 0x00}, 2, block));
    /* 0; 00 00 00; 01 1: 64 coefficients and the first */
    assert_false(decode_one(lengths, symbols, 3, (uint8_t[]){0x00, 0xff}, 2, block));
}

/* ---- tables and bytes */

static void tables_that_are_none_are_refused(void **state)
{
    (void)state;
    shard_huffman_table *t = malloc(sizeof *t);
    assert_non_null(t);
    const uint8_t two[16] = {2}, three[16] = {3}, crowded[16] = {1, 3}, many[16] = {0, 0, 9};
    const uint8_t symbols[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    assert_true(shard_huffman_set(t, SHARD_HUFFMAN_DC, two, symbols, 2));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, two, symbols, 1));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, two, symbols, 3));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, three, symbols, 3));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, crowded, symbols, 4));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, many, symbols, 9));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_DC, two, (uint8_t[]){11, 12}, 2));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_AC, two, (uint8_t[]){0x0a, 0x0b}, 2));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_AC, two, (uint8_t[]){0x01, 0x50}, 2));
    assert_false(shard_huffman_set(t, SHARD_HUFFMAN_AC, two, symbols, 257));
    free(t);
}

static void assert_unstuffed(const char *in, size_t size, const char *expected,
                             size_t expected_size, size_t expected_used)
{
    uint8_t *out = malloc(size + SHARD_HUFFMAN_PAD), zeros[SHARD_HUFFMAN_PAD] = {0};
    size_t used = SIZE_MAX;
    assert_non_null(out);
    assert_int_equal(shard_huffman_unstuff((const uint8_t *)in, size, out, &used), expected_size);
    assert_int_equal(used, expected_used);
    assert_memory_equal(out, expected, expected_size);
    assert_memory_equal(out + expected_size, zeros, sizeof zeros);
    free(out);
}

static void stuffing_is_taken_out_up_to_a_marker(void **state)
{
    (void)state;
    assert_unstuffed("", 0, "", 0, 0);
    assert_unstuffed("ab", 2, "ab", 2, 2);
    assert_unstuffed("a\xff\0b\xff\xd9", 6,
                     "a\xff"
                     "b",
                     3, 4);
    assert_unstuffed("\xff\0\xff\0", 4, "\xff\xff", 2, 4);
    assert_unstuffed("a\xff", 2, "a", 1, 1);
    assert_unstuffed("a\xff\xff\0", 4, "a", 1, 1);
    assert_unstuffed("\xff\xd0"
                     "a",
                     3, "", 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients_are_those_of_libjpeg),
        cmocka_unit_test(restart_markers_begin_anew),
        cmocka_unit_test(skipped_blocks_count),
        cmocka_unit_test(a_cut_scan_comes_to_an_end),
        cmocka_unit_test(noise_is_decoded_within_its_bounds),
        cmocka_unit_test(a_code_that_does_not_exist_is_an_error),
        cmocka_unit_test(a_block_has_64_coefficients),
        cmocka_unit_test(tables_that_are_none_are_refused),
        cmocka_unit_test(stuffing_is_taken_out_up_to_a_marker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
