/* SPDX-License-Identifier: Apache-2.0 */
#include "image/image_head.h"

#include <stdlib.h>

#include "test.h"

/* The first bytes of a 640 x 480 image of each kind (an odd one out is told by its name). */
#define JPEG_HEAD "\xff\xd8\xff\xe0\0\x04??\xff\xff\xc4\0\x03?"
#define JPEG_SIZE "\0\x0b\x08\x01\xe0\x02\x80\x01"
#define PNG_HEAD "\x89PNG\r\n\x1a\n\0\0\0\x0d"
#define WEBP_HEAD "RIFF\x40\0\0\0WEBP"

typedef struct {
    const char *bytes;
    size_t size;
    fmt_image_kind kind;
    uint32_t width, height;
    bool progressive;
} image;

#define BYTES(text) text, sizeof text - 1

static const image images[] = {
    {BYTES(JPEG_HEAD "\xff\xc0" JPEG_SIZE), FMT_IMAGE_JPEG, 640, 480, false},
    {BYTES(JPEG_HEAD "\xff\xc1" JPEG_SIZE), FMT_IMAGE_JPEG, 640, 480, false},
    {BYTES(JPEG_HEAD "\xff\xc2" JPEG_SIZE), FMT_IMAGE_JPEG, 640, 480, true},
    {BYTES(JPEG_HEAD "\xff\xc9" JPEG_SIZE), FMT_IMAGE_JPEG, 640, 480, false},
    {BYTES(JPEG_HEAD "\xff\xca" JPEG_SIZE), FMT_IMAGE_JPEG, 640, 480, true},
    {BYTES(PNG_HEAD "IHDR\0\0\x02\x80\0\0\x01\xe0\x08\x02"), FMT_IMAGE_PNG, 640, 480, false},
    {BYTES("GIF87a\x80\x02\xe0\x01"), FMT_IMAGE_GIF, 640, 480, false},
    {BYTES("GIF89a\x80\x02\xe0\x01"), FMT_IMAGE_GIF, 640, 480, false},
    {BYTES(WEBP_HEAD "VP8X\x0a\0\0\0\x10\0\0\0\x7f\x02\0\xdf\x01\0"), FMT_IMAGE_WEBP, 640, 480,
     false},
    {BYTES(WEBP_HEAD "VP8L\x0a\0\0\0\x2f\x7f\xc2\x77\0?????"), FMT_IMAGE_WEBP, 640, 480, false},
    {BYTES(WEBP_HEAD "VP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2a\x80\x42\xe0\x81"), FMT_IMAGE_WEBP, 640,
     480, false},
    {BYTES("BM\x40\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x80\x02\0\0\xe0\x01\0\0"), FMT_IMAGE_BMP, 640,
     480, false},
    {BYTES("BM\x40\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0\x80\x02\0\0\x20\xfe\xff\xff"), FMT_IMAGE_BMP,
     640, 480, false}, /* rows from top to bottom */
};

/* Bytes that end where memory does. */
static fmt_status read_head(const char *bytes, size_t size, fmt_image_head *out)
{
    uint8_t *tight = malloc(size + !size);
    memcpy(tight, bytes, size);
    fmt_status status = fmt_image_read_head((fmt_span){tight, size}, out);
    free(tight);
    return status;
}

static void check(const image *expected)
{
    fmt_image_head head;
    assert_int_equal(read_head(expected->bytes, expected->size, &head), FMT_OK);
    assert_int_equal(head.kind, expected->kind);
    assert_int_equal(head.width, expected->width);
    assert_int_equal(head.height, expected->height);
    assert_int_equal(head.progressive, expected->progressive);
}

static void kinds_and_sizes_are_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(images); i++)
        check(&images[i]);
}

/* Once it is known what it is, more is asked for, until the size is there; never another size. */
static void a_head_that_is_cut_asks_for_more(void **state)
{
    (void)state;
    enum { LONGEST_MAGIC = 12 };
    for (size_t i = 0; i < COUNT(images); i++)
        for (size_t size = 0; size < images[i].size; size++) {
            fmt_image_head head;
            fmt_status status = read_head(images[i].bytes, size, &head);
            if (status == FMT_OK) {
                assert_int_equal(head.width, images[i].width);
                assert_int_equal(head.height, images[i].height);
            } else if (size >= LONGEST_MAGIC) {
                assert_int_equal(status, FMT_NEED_MORE);
            }
        }
}

static void other_bytes_are_no_image(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } others[] = {
        {BYTES("")},
        {BYTES("\xff\xd8")},
        {BYTES("II*\0\x08\0\0\0 a TIFF file, which is none of the kinds")},
        {BYTES("GIF88a\x80\x02\xe0\x01")},
        {BYTES("RIFF\x40\0\0\0WAVEfmt and so on, a sound")},
        {BYTES("BM is how this text begins, but it is no image")},
        {BYTES(PNG_HEAD "tEXt\0\0\x02\x80\0\0\x01\xe0")},
        {BYTES(WEBP_HEAD "ALPH\x0a\0\0\0\x10\0\0\x9d\x01\x2a\x80\x42\xe0\x81")},
        {BYTES(WEBP_HEAD "VP8L\x0a\0\0\0\x2e\x7f\xc2\x77\0?????")},
        {BYTES(WEBP_HEAD "VP8 \x0a\0\0\0\x10\0\0\x9d\x01\x2b\x80\x42\xe0\x81")},
        {BYTES("\xff\xd8\xff\xda\0\x08 a scan before any frame")},
        {BYTES("\xff\xd8\xff\xd9 the end before any frame")},
        {BYTES("\xff\xd8\xff\xe0\0\x01 a length that does not count itself")},
        {BYTES("\xff\xd8\xff\xe0\0\x02no marker here")},
    };
    for (size_t i = 0; i < COUNT(others); i++) {
        fmt_image_head head;
        fmt_status status = read_head(others[i].bytes, others[i].size, &head);
        if (status != FMT_END)
            fail_msg("bytes %zu: %d", i, status);
    }
}

/* One pixel, 26 bytes in all. */
static void the_smallest_webp_is_whole(void **state)
{
    (void)state;
    check(&(image){BYTES("RIFF\x12\0\0\0WEBPVP8L\x06\0\0\0\x2f\0\0\0\0\0"), FMT_IMAGE_WEBP, 1, 1,
                   false});
}

/* The oldest header, of 12 bytes, has sizes of 16 bits. */
static void bitmaps_of_os2_have_short_sizes(void **state)
{
    (void)state;
    check(&(image){BYTES("BM\x40\0\0\0\0\0\0\0\x1a\0\0\0\x0c\0\0\0\x80\x02\xe0\x01\x01\0\x18\0"),
                   FMT_IMAGE_BMP, 640, 480, false});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_and_sizes_are_told),
        cmocka_unit_test(a_head_that_is_cut_asks_for_more),
        cmocka_unit_test(other_bytes_are_no_image),
        cmocka_unit_test(the_smallest_webp_is_whole),
        cmocka_unit_test(bitmaps_of_os2_have_short_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
