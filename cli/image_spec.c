/* SPDX-License-Identifier: Apache-2.0 */
#include "image_spec.h"

#include <stdlib.h>
#include <string.h>

enum { SIDE_MOST = 16384 };

/* A number of pixels at `*at`, which is then passed. */
static bool take_side(const char **at, uint32_t *out)
{
    char *end;
    if (**at < '0' || **at > '9')
        return false;
    unsigned long value = strtoul(*at, &end, 10);
    *out = (uint32_t)value;
    *at = end;
    return value >= 1 && value <= SIDE_MOST;
}

static bool take_size(const char **at, uint32_t *width, uint32_t *height)
{
    if (!take_side(at, width))
        return false;
    *height = *width;
    if (**at != 'x')
        return true;
    (*at)++;
    return take_side(at, height);
}

static bool take_word(const char **at, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(*at, word, size) != 0)
        return false;
    *at += size;
    return true;
}

bool image_spec_parse(const char *text, shard_image_opts *out, const char **why)
{
    const char *at = text;
    *why =
        "expected rrc:SIZE, resize:SIDE,center:SIZE, center:SIZE, resize:SIZE or none, where SIZE "
        "is 224 or 320x240, of at most 16384 pixels";
    if (take_word(&at, "rrc:")) {
        out->fit = SHARD_IMAGE_RANDOM_CROP;
        return take_size(&at, &out->width, &out->height) && *at == 0;
    }
    if (take_word(&at, "center:")) {
        out->fit = SHARD_IMAGE_CENTER;
        return take_size(&at, &out->width, &out->height) && *at == 0;
    }
    if (!take_word(&at, "resize:") || !take_size(&at, &out->width, &out->height))
        return false;
    if (*at == 0) {
        out->fit = SHARD_IMAGE_RESIZE;
        return true;
    }
    out->fit = SHARD_IMAGE_CENTER;
    out->shorter = out->width;
    if (out->width != out->height || !take_word(&at, ",center:") ||
        !take_size(&at, &out->width, &out->height) || *at != 0)
        return false;
    *why = "the result is larger than what it is cut out of";
    return out->width <= out->shorter && out->height <= out->shorter;
}
