/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECODE_JPEG_ENTROPY_CHECK_H
#define DECODE_JPEG_ENTROPY_CHECK_H

#include "decode/jpeg_entropy.h"

/*
 * Whether libjpeg calls what it is given and makes the same pixels of it, shown by a small image:
 * another library may go by the same name. Not NULL.
 */
bool shard_jpeg_entropy_check(shard_jpeg_entropy *entropy);

#endif
