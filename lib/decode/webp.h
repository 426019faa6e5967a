/* SPDX-License-Identifier: Apache-2.0 */
/* The pixels of a part of a WebP image, by libwebp; built where that is there. */
#ifndef DECODE_WEBP_H
#define DECODE_WEBP_H

#include "decode/picture.h"

shard_status shard_webp_decode(fmt_span image, shard_picture *picture, shard_error *err);

#endif
