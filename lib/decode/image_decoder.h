/* SPDX-License-Identifier: Apache-2.0 */
/* What the library itself, and its tests, can do with a shard_image_decoder beyond <shard/image.h>.
 */
#ifndef DECODE_IMAGE_DECODER_H
#define DECODE_IMAGE_DECODER_H

#include "decode/picture.h"

/* Decode this part in place of what the options and a key would choose. */
shard_status shard_image_decode_part(shard_image_decoder *decoder, fmt_span image,
                                     const shard_crop *part, void *out, shard_error *err);

/* For tests: JPEG by libjpeg's entropy decoder from now on, or by ours where it can. */
void shard_image_decoder_use_ours(shard_image_decoder *decoder, bool ours);

/* Whether ours decoded the last JPEG image. */
bool shard_image_decoder_used_ours(const shard_image_decoder *decoder);

#endif
