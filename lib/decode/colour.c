/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/colour.h"

#include <string.h>

/* a * b / 255, rounded to the nearest, of two bytes. */
static uint8_t product(uint32_t a, uint32_t b)
{
    uint32_t x = a * b + 128;
    return (uint8_t)((x + (x >> 8)) >> 8);
}

void shard_colour_cmyk_to_rgb(const uint8_t *in, uint8_t *out, uint32_t pixels)
{
    for (uint32_t i = 0; i < pixels; i++, in += 4, out += 3) {
        uint8_t black = in[3];
        for (int c = 0; c < 3; c++)
            out[c] = (uint8_t)(black - product(255U - in[c], black));
    }
}

void shard_colour_rgb_to_grey(const uint8_t *in, uint8_t *out, uint32_t pixels)
{
    const uint32_t red = 19595, green = 38470, blue = 7471, half = 1U << 15; /* in 1/2^16 */
    for (uint32_t i = 0; i < pixels; i++, in += 3)
        out[i] = (uint8_t)((in[0] * red + in[1] * green + in[2] * blue + half) >> 16);
}

static void grey_to_rgb(const uint8_t *in, uint8_t *out, uint32_t pixels)
{
    for (uint32_t i = 0; i < pixels; i++)
        memset(out + (size_t)i * 3, in[i], 3);
}

void shard_colour_convert(const uint8_t *in, uint32_t in_channels, uint8_t *out,
                          uint32_t out_channels, uint32_t pixels)
{
    if (in_channels == out_channels)
        memcpy(out, in, (size_t)pixels * in_channels);
    else if (out_channels == 3)
        grey_to_rgb(in, out, pixels);
    else
        shard_colour_rgb_to_grey(in, out, pixels);
}
