/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of pixels from one kind of colours to another, with Pillow's rounding. */
#ifndef DECODE_COLOUR_H
#define DECODE_COLOUR_H

#include "fmt.h"

/* Four bytes a pixel to three, inverted as Adobe stores them: 0 is full ink. In place is allowed.
 */
void shard_colour_cmyk_to_rgb(const uint8_t *in, uint8_t *out, uint32_t pixels);

/* Luminance (ITU-R BT.601). In place is allowed. */
void shard_colour_rgb_to_grey(const uint8_t *in, uint8_t *out, uint32_t pixels);

/* Grey or RGB (1 or 3 channels) to either. */
void shard_colour_convert(const uint8_t *in, uint32_t in_channels, uint8_t *out,
                          uint32_t out_channels, uint32_t pixels);

#endif
