/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JPEG metadata: a stripped file fits the room that is promised, has nothing left to strip, and
 * still turns the image as before.
 *
 * Input: a JPEG file; also, a marker byte and the payload of its segment.
 */
#include "fuzz.h"

#include "jpeg/jpeg_markers.h"

enum { ROOM = 64 };

/* NULL where it is refused. free() it. */
static uint8_t *strip(fmt_span in, size_t *size)
{
    fmt_fault fault = {0};
    uint8_t *out = malloc(in.size + ROOM);
    FUZZ_CHECK(out);
    if (fmt_jpeg_strip(in, out, size, &fault) == FMT_OK) {
        FUZZ_CHECK(*size <= in.size + ROOM);
        return out;
    }
    FUZZ_CHECK(fault.what && fault.offset <= in.size);
    free(out);
    return NULL;
}

static void check_strip(fmt_span in)
{
    size_t once_size, twice_size;
    uint8_t *once = strip(in, &once_size);
    if (!once)
        return;
    uint8_t *twice = strip((fmt_span){once, once_size}, &twice_size);
    FUZZ_CHECK(twice);
    FUZZ_CHECK(fuzz_same((fmt_span){once, once_size}, (fmt_span){twice, twice_size}));
    free(twice);
    free(once);
}

static void check_fate(fmt_span in)
{
    uint8_t marker = fuzz_take_byte(&in), orientation = 0, again = 0;
    uint8_t exif[FMT_JPEG_EXIF_SIZE];
    uint8_t *payload = fuzz_copy(in.data, in.size);
    fmt_jpeg_fate fate = fmt_jpeg_segment_fate(marker, (fmt_span){payload, in.size}, &orientation);
    FUZZ_CHECK(orientation >= 1 && orientation <= 8);
    FUZZ_CHECK((fate == FMT_JPEG_ORIENTATION) == (orientation != 1));
    if (fate == FMT_JPEG_ORIENTATION) {
        fmt_jpeg_write_exif(exif, orientation);
        fate = fmt_jpeg_segment_fate(FMT_JPEG_APP1, (fmt_span){exif, sizeof exif}, &again);
        FUZZ_CHECK(fate == FMT_JPEG_ORIENTATION && again == orientation);
    }
    free(payload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    check_strip((fmt_span){data, size});
    check_fate((fmt_span){data, size});
    return 0;
}
