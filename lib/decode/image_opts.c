/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/image_opts.h"

#include "core/opts.h"

enum { SIDE_MOST = 16384, ASPECT_MOST = 1000, DEFAULT_MEMORY = 1 << 30 };

static shard_status refuse(shard_error *err, const char *what)
{
    return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "image options: %s", what);
}

/* Comparisons are written so that what is no number fails them. */
static shard_status check_crop(shard_image_opts *o, shard_error *err)
{
    if (o->area_min == 0 && o->area_max == 0) {
        o->area_min = 0.08;
        o->area_max = 1;
    }
    if (o->aspect_min == 0 && o->aspect_max == 0) {
        o->aspect_min = 3.0 / 4;
        o->aspect_max = 4.0 / 3;
    }
    if (!(o->area_min > 0 && o->area_min <= o->area_max && o->area_max <= 1))
        return refuse(err, "an area is above 0, the largest 1, and the smaller one comes first");
    if (!(o->aspect_min >= 1.0 / ASPECT_MOST && o->aspect_min <= o->aspect_max &&
          o->aspect_max <= ASPECT_MOST))
        return refuse(err, "an aspect is 1/1000 to 1000, and the smaller one comes first");
    return SHARD_OK;
}

static shard_status check_numbers(const shard_image_opts *o, shard_error *err)
{
    const float most = 3.4e38F; /* neither infinite nor no number */
    if (o->layout < SHARD_IMAGE_U8_NHWC || o->layout > SHARD_IMAGE_F16_NCHW)
        return refuse(err, "no such layout");
    for (int c = 0; c < 3; c++)
        if (!(o->mean[c] >= -most && o->mean[c] <= most && o->deviation[c] >= 0 &&
              o->deviation[c] <= most))
            return refuse(err, "mean and deviation are numbers, the latter not below 0");
    return SHARD_OK;
}

shard_status shard_image_opts_read(const shard_image_opts *opts, shard_image_opts *out,
                                   shard_error *err)
{
    SHARD_TRY(shard_opts_copy(out, sizeof *out, opts, err));
    if (out->fit < SHARD_IMAGE_RESIZE || out->fit > SHARD_IMAGE_RANDOM_CROP)
        return refuse(err, "no such fit");
    if (out->width < 1 || out->width > SIDE_MOST || out->height < 1 || out->height > SIDE_MOST)
        return refuse(err, "width and height are 1 to 16384");
    uint32_t least = out->width < out->height ? out->width : out->height;
    if (out->shorter != 0 && (out->shorter < least || out->shorter > SIDE_MOST))
        return refuse(err, "shorter is 0, or between the result's shorter side and 16384");
    if (!(out->flip >= 0 && out->flip <= 1))
        return refuse(err, "flip is a probability, 0 to 1");
    if (out->memory_max == 0)
        out->memory_max = DEFAULT_MEMORY;
    SHARD_TRY(check_crop(out, err));
    return check_numbers(out, err);
}
