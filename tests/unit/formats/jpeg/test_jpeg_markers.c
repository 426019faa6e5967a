/* SPDX-License-Identifier: Apache-2.0 */
#include "jpeg/jpeg_markers.h"

#include <stdlib.h>

#include "test.h"

enum { SOI = 0xd8, EOI = 0xd9, SOS = 0xda, DQT = 0xdb, SOF0 = 0xc0, ROOM = 64 };

/* A JPEG file, segment by segment. */
typedef struct {
    uint8_t bytes[4096];
    size_t size;
} jpeg_bytes;

static void put(jpeg_bytes *jpeg, const void *bytes, size_t size)
{
    assert_true(jpeg->size + size <= sizeof jpeg->bytes);
    memcpy(jpeg->bytes + jpeg->size, bytes, size);
    jpeg->size += size;
}

static void put_marker(jpeg_bytes *jpeg, uint8_t marker)
{
    put(jpeg, (uint8_t[]){0xff, marker}, 2);
}

static void put_segment(jpeg_bytes *jpeg, uint8_t marker, const void *payload, size_t size)
{
    put_marker(jpeg, marker);
    put(jpeg, (uint8_t[]){(uint8_t)((size + 2) >> 8), (uint8_t)(size + 2)}, 2);
    put(jpeg, payload, size);
}

static void put_exif(jpeg_bytes *jpeg, uint8_t orientation)
{
    uint8_t payload[FMT_JPEG_EXIF_SIZE];
    fmt_jpeg_write_exif(payload, orientation);
    put_segment(jpeg, FMT_JPEG_APP1, payload, sizeof payload);
}

/* Two scans with stuffed bytes, fill bytes and a restart marker in their data. */
static void put_image(jpeg_bytes *jpeg)
{
    put_segment(jpeg, DQT, "tables", 6);
    put_segment(jpeg, SOF0, "frame", 5);
    put_segment(jpeg, SOS, "scan", 4);
    put(jpeg, "data\xff\0more\xff\xd3rest\xff\xff\xd7\xff\0", 20);
    put_segment(jpeg, SOS, "next", 4);
    put(jpeg, "x", 1);
    put_marker(jpeg, EOI);
}

static fmt_span span_of(const jpeg_bytes *jpeg)
{
    return (fmt_span){jpeg->bytes, jpeg->size};
}

/* Strip bytes that end where memory does, into memory that ends where the header says. */
static fmt_status strip(fmt_span in, jpeg_bytes *out, fmt_fault *fault)
{
    uint8_t *tight = malloc(in.size + !in.size), *room = malloc(in.size + ROOM);
    memcpy(tight, in.data, in.size);
    fmt_status status = fmt_jpeg_strip((fmt_span){tight, in.size}, room, &out->size, fault);
    if (status == FMT_OK)
        memcpy(out->bytes, room, out->size);
    free(tight);
    free(room);
    return status;
}

static void check_stripped(const jpeg_bytes *in, const jpeg_bytes *expected)
{
    jpeg_bytes out;
    fmt_fault fault;
    assert_int_equal(strip(span_of(in), &out, &fault), FMT_OK);
    assert_int_equal(out.size, expected->size);
    assert_memory_equal(out.bytes, expected->bytes, out.size);
}

static fmt_jpeg_fate fate_of(uint8_t marker, const void *payload, size_t size, uint8_t *orientation)
{
    return fmt_jpeg_segment_fate(marker, (fmt_span){payload, size}, orientation);
}

static void what_decodes_stays_and_the_rest_goes(void **state)
{
    (void)state;
    static const struct {
        uint8_t marker;
        const char *payload;
        size_t size;
        fmt_jpeg_fate fate;
    } segments[] = {
        {FMT_JPEG_APP0, "JFIF\0", 5, FMT_JPEG_KEEP},
        {FMT_JPEG_APP0, "JFXX\0", 5, FMT_JPEG_DROP},
        {FMT_JPEG_APP0, "JFIF", 4, FMT_JPEG_DROP},
        {FMT_JPEG_APP2, "ICC_PROFILE\0\1\1", 14, FMT_JPEG_KEEP},
        {FMT_JPEG_APP2, "MPF\0", 4, FMT_JPEG_DROP},
        {FMT_JPEG_APP1, "http://ns.adobe.com/xap/1.0/\0", 29, FMT_JPEG_DROP},
        {FMT_JPEG_APP14, "Adobe\0d", 7, FMT_JPEG_KEEP},
        {FMT_JPEG_APP14, "other", 5, FMT_JPEG_DROP},
        {FMT_JPEG_APP0 + 13, "Photoshop 3.0", 13, FMT_JPEG_DROP},
        {0xef, "last of the APPn", 16, FMT_JPEG_DROP},
        {0xf0, "behind them", 11, FMT_JPEG_KEEP},
        {FMT_JPEG_COM, "a comment", 9, FMT_JPEG_DROP},
        {DQT, "", 0, FMT_JPEG_KEEP},
        {0xc4, "", 0, FMT_JPEG_KEEP},
        {SOF0, "", 0, FMT_JPEG_KEEP},
        {0xdd, "", 0, FMT_JPEG_KEEP},
        {SOS, "", 0, FMT_JPEG_KEEP},
    };
    for (size_t i = 0; i < COUNT(segments); i++) {
        uint8_t orientation = 0;
        fmt_jpeg_fate fate =
            fate_of(segments[i].marker, segments[i].payload, segments[i].size, &orientation);
        if (fate != segments[i].fate)
            fail_msg("segment %zu: %d", i, fate);
        assert_int_equal(orientation, 1);
    }
}

static void the_orientation_that_is_written_is_read(void **state)
{
    (void)state;
    for (uint8_t written = 0; written < 12; written++) {
        uint8_t payload[FMT_JPEG_EXIF_SIZE], read;
        bool turns = written >= 2 && written <= 8;
        fmt_jpeg_write_exif(payload, written);
        fmt_jpeg_fate fate = fate_of(FMT_JPEG_APP1, payload, sizeof payload, &read);
        assert_int_equal(fate, turns ? FMT_JPEG_ORIENTATION : FMT_JPEG_DROP);
        assert_int_equal(read, turns ? written : 1);
    }
}

/* As cameras write it: big-endian, other tags before and behind. */
static const uint8_t big_endian[] = "Exif\0\0"
                                    "MM\0*\0\0\0\x08"
                                    "\0\x03"
                                    "\x01\x0f\0\x02\0\0\0\x05\0\0\0\x32"
                                    "\x01\x12\0\x03\0\0\0\x01\0\x06\0\0"
                                    "\x01\x28\0\x03\0\0\0\x01\0\x02\0\0"
                                    "\0\0\0\0";

static void orientations_have_either_byte_order(void **state)
{
    (void)state;
    uint8_t orientation;
    assert_int_equal(fate_of(FMT_JPEG_APP1, big_endian, sizeof big_endian - 1, &orientation),
                     FMT_JPEG_ORIENTATION);
    assert_int_equal(orientation, 6);
}

static void broken_exif_turns_nothing(void **state)
{
    (void)state;
    enum { ORIENTATION_END = 6 + 8 + 2 + 2 * 12 };
    static const struct {
        size_t at, size;
        const char *bytes;
    } lies[] = {
        {6, 4, "MM*\0"},             /* no TIFF of either order */
        {10, 4, "\0\0\0\0"},         /* the directory in the header itself */
        {10, 4, "\0\0\0\x07"},       /**/
        {10, 4, "\0\0\xff\xff"},     /* behind the end */
        {10, 4, "\xff\xff\xff\xff"}, /**/
        {30, 2, "\0\x04"},           /* a LONG */
        {36, 2, "\0\x09"},           /* no such orientation */
    };
    uint8_t orientation;
    for (size_t i = 0; i < COUNT(lies); i++) {
        uint8_t payload[sizeof big_endian];
        memcpy(payload, big_endian, sizeof payload);
        memcpy(payload + lies[i].at, lies[i].bytes, lies[i].size);
        fmt_jpeg_fate fate = fate_of(FMT_JPEG_APP1, payload, sizeof payload - 1, &orientation);
        if (fate != FMT_JPEG_DROP)
            fail_msg("lie %zu: %d", i, fate);
    }
    for (size_t size = 0; size < sizeof big_endian - 1; size++) {
        uint8_t *tight = malloc(size + 1);
        memcpy(tight, big_endian, size);
        fmt_jpeg_fate fate = fate_of(FMT_JPEG_APP1, tight, size, &orientation);
        assert_int_equal(fate, size < ORIENTATION_END ? FMT_JPEG_DROP : FMT_JPEG_ORIENTATION);
        free(tight);
    }
}

static void metadata_is_dropped_and_pixels_stay(void **state)
{
    (void)state;
    jpeg_bytes in = {0}, expected = {0};
    put_marker(&in, SOI);
    put_segment(&in, FMT_JPEG_APP0, "JFIF\0\1\2", 7);
    put_segment(&in, FMT_JPEG_APP1, big_endian, sizeof big_endian - 1);
    put_segment(&in, FMT_JPEG_APP1, "http://ns.adobe.com/xap/1.0/\0<x/>", 33);
    put_segment(&in, FMT_JPEG_APP2, "ICC_PROFILE\0\1\1", 14);
    put_segment(&in, FMT_JPEG_COM, "a comment", 9);
    put_segment(&in, FMT_JPEG_COM, "", 0);
    put_image(&in);
    put(&in, "a second image, or a film", 25);

    put_marker(&expected, SOI);
    put_segment(&expected, FMT_JPEG_APP0, "JFIF\0\1\2", 7);
    put_exif(&expected, 6);
    put_segment(&expected, FMT_JPEG_APP2, "ICC_PROFILE\0\1\1", 14);
    put_image(&expected);
    check_stripped(&in, &expected);
    check_stripped(&expected, &expected);
}

static void fill_bytes_before_a_marker_are_no_part_of_it(void **state)
{
    (void)state;
    jpeg_bytes in = {0}, expected = {0};
    put_marker(&in, SOI);
    put(&in, "\xff\xff\xff", 3);
    put_image(&in);
    put_marker(&expected, SOI);
    put_image(&expected);
    check_stripped(&in, &expected);
}

static void the_first_orientation_counts(void **state)
{
    (void)state;
    jpeg_bytes in = {0}, expected = {0};
    put_marker(&in, SOI);
    put_exif(&in, 3);
    put_exif(&in, 8);
    put_image(&in);
    put_marker(&expected, SOI);
    put_exif(&expected, 3);
    put_image(&expected);
    check_stripped(&in, &expected);
}

/* The shortest EXIF segment that turns an image is four bytes shorter than the one written for it.
 */
static void a_short_file_may_grow(void **state)
{
    (void)state;
    jpeg_bytes in = {0}, out;
    fmt_fault fault;
    put_marker(&in, SOI);
    put_segment(&in, FMT_JPEG_APP1,
                "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0", 28);
    put_marker(&in, EOI);
    assert_int_equal(strip(span_of(&in), &out, &fault), FMT_OK);
    assert_int_equal(out.size, in.size + 4);
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    jpeg_bytes in = {0}, out;
    fmt_fault fault;
    put_marker(&in, SOI);
    put_segment(&in, FMT_JPEG_APP0, "JFIF\0\1\2", 7);
    put_exif(&in, 6);
    put_image(&in);
    for (size_t size = 0; size < in.size; size++) {
        fmt_status status = strip((fmt_span){in.bytes, size}, &out, &fault);
        if (status != (size < 4 ? FMT_EINVALID : FMT_ETRUNCATED))
            fail_msg("cut to %zu bytes: status %d", size, status);
        if (size >= 4) /* at the end, or at the marker that is cut there */
            assert_in_range(fault.offset, size - 1, size);
    }
}

static void what_is_no_jpeg_is_refused_where_it_goes_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *what;
        uint64_t offset;
    } files[] = {
        {"\x89PNG\r\n\x1a\n", 8, "not a JPEG file", 0},
        {"\xff\xd8xx\xff\xd9", 6, "JPEG marker expected", 2},
        {"\xff\xd8\xff\xfe\0\2stray\xff\xd9", 13, "JPEG marker expected", 6},
        {"\xff\xd8\xff\xd8\0\2\xff\xd9", 8, "JPEG marker out of place", 2},
        {"\xff\xd8\xff\x01\0\2\xff\xd9", 8, "JPEG marker out of place", 2},
        {"\xff\xd8\xff\xd0\0\2\xff\xd9", 8, "JPEG marker out of place", 2},
        {"\xff\xd8\xff\0\0\2\xff\xd9", 8, "JPEG marker out of place", 2},
    };
    jpeg_bytes out;
    fmt_fault fault;
    for (size_t i = 0; i < COUNT(files); i++) {
        fmt_span in = {(const uint8_t *)files[i].bytes, files[i].size};
        assert_int_equal(strip(in, &out, &fault), FMT_EINVALID);
        assert_string_equal(fault.what, files[i].what);
        assert_int_equal(fault.offset, files[i].offset);
    }
}

/* A length counts its own two bytes. */
static void a_length_below_two_is_refused_where_it_stands(void **state)
{
    (void)state;
    jpeg_bytes out;
    fmt_fault fault;
    for (uint8_t length = 0; length < 2; length++) {
        const uint8_t in[] = {0xff, SOI, 0xff, FMT_JPEG_COM, 0, length, 'x', 0xff, EOI};
        assert_int_equal(strip((fmt_span){in, sizeof in}, &out, &fault), FMT_EINVALID);
        assert_in_range(fault.offset, 2, 4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_decodes_stays_and_the_rest_goes),
        cmocka_unit_test(the_orientation_that_is_written_is_read),
        cmocka_unit_test(orientations_have_either_byte_order),
        cmocka_unit_test(broken_exif_turns_nothing),
        cmocka_unit_test(metadata_is_dropped_and_pixels_stay),
        cmocka_unit_test(fill_bytes_before_a_marker_are_no_part_of_it),
        cmocka_unit_test(the_first_orientation_counts),
        cmocka_unit_test(a_short_file_may_grow),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(what_is_no_jpeg_is_refused_where_it_goes_wrong),
        cmocka_unit_test(a_length_below_two_is_refused_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
