/* SPDX-License-Identifier: Apache-2.0 */
/* The pixels of a part of a PNG image, by libpng; built where that is there. */
#ifndef DECODE_PNG_H
#define DECODE_PNG_H

#include "decode/picture.h"

shard_status shard_png_decode(fmt_span image, shard_picture *picture, shard_error *err);

#endif
