/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Images to pixels: an image is refused with a status that says so, or gives the same pixels
 * whatever the decoder had before it, and whoever decodes the scan of a JPEG image.
 *
 * Input: two bytes of modes, one for each side of the result, one of the key, the image file.
 */
#include "fuzz.h"

#include "decode/image_decoder.h"

enum {
    /* first byte: fit and layout modulo 3, 9, and then */
    GREY = 0x20,
    FAST = 0x40,
    AS_STORED = 0x80,
    /* second byte */
    FLIP = 1,
    SHORTER = 2,
    MUCH_MEMORY = 0xc0, /* both bits: few inputs, as large images take long */
};

static void choose(fmt_span *in, shard_image_opts *opts, uint64_t *key)
{
    uint8_t first = fuzz_take_byte(in), second = fuzz_take_byte(in);
    opts->fit = (shard_image_fit)(first % 32 % 3);
    opts->layout = (shard_image_layout)(first % 32 / 3 % 3);
    opts->grey = first & GREY;
    opts->fast = first & FAST;
    opts->as_stored = first & AS_STORED;
    opts->flip = second & FLIP ? 0.5 : 0;
    opts->memory_max = (second & MUCH_MEMORY) == MUCH_MEMORY ? 32 << 20 : 1 << 20;
    opts->width = 1 + fuzz_take_byte(in) % 40U;
    opts->height = 1 + fuzz_take_byte(in) % 40U;
    opts->shorter = second & SHORTER ? 50 : 0;
    *key = fuzz_take_byte(in);
}

/* Exactly as many bytes as there are, of the image and of the pixels: what goes past is seen. */
static shard_status decode(shard_image_decoder *decoder, fmt_span image, uint64_t key, uint8_t *out)
{
    shard_error err;
    uint8_t *copy = fuzz_copy(image.data, image.size);
    shard_status status = shard_image_decode(decoder, copy, image.size, key, out, &err);
    FUZZ_CHECK(status == SHARD_OK || status == SHARD_EDATA || status == SHARD_EUNSUPPORTED ||
               status == SHARD_ELIMIT);
    FUZZ_CHECK(status == SHARD_OK || err.message[0] != 0);
    free(copy);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_span in = {data, size};
    shard_image_opts opts = SHARD_IMAGE_OPTS_INIT;
    shard_image_decoder *fresh, *used, *plain;
    uint64_t key;
    choose(&in, &opts, &key);
    FUZZ_CHECK(shard_image_decoder_open(&fresh, &opts, NULL, NULL) == SHARD_OK);
    FUZZ_CHECK(shard_image_decoder_open(&used, &opts, NULL, NULL) == SHARD_OK);
    FUZZ_CHECK(shard_image_decoder_open(&plain, &opts, NULL, NULL) == SHARD_OK);
    shard_image_decoder_use_ours(plain, false);
    size_t out_size = shard_image_decoder_size(fresh);
    uint8_t *a = malloc(out_size), *b = malloc(out_size);
    FUZZ_CHECK(a && b);
    (void)decode(used, (fmt_span){in.data, in.size / 2}, key + 1, b);
    shard_status status = decode(fresh, in, key, a);
    FUZZ_CHECK(decode(used, in, key, b) == status);
    FUZZ_CHECK(status != SHARD_OK || memcmp(a, b, out_size) == 0);
    FUZZ_CHECK(decode(plain, in, key, b) == status);
    FUZZ_CHECK(status != SHARD_OK || memcmp(a, b, out_size) == 0);
    free(a);
    free(b);
    shard_image_decoder_close(fresh);
    shard_image_decoder_close(used);
    shard_image_decoder_close(plain);
    return 0;
}
