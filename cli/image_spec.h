/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_IMAGE_SPEC_H
#define CLI_IMAGE_SPEC_H

#include <shard/image.h>

/*
 * "rrc:224", "resize:256,center:224", "center:224", "resize:224", each size a number of pixels or
 * WIDTHxHEIGHT where it is that of the result. On failure `*why` says what is wrong.
 */
bool image_spec_parse(const char *text, shard_image_opts *out, const char **why);

#endif
