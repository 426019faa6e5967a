/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECODE_IMAGE_OPTS_H
#define DECODE_IMAGE_OPTS_H

#include <shard/image.h>

#include "core/error.h"

/* A copy of the caller's options, checked, with defaults filled in. */
shard_status shard_image_opts_read(const shard_image_opts *opts, shard_image_opts *out,
                                   shard_error *err);

#endif
