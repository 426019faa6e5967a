/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers are computed with + - * / alone, which IEEE 754 rounds in one way only; the C library's
 * exp, log and sqrt differ from one to the next in the last bit. (Built without contraction to
 * multiply-add, for the same reason.)
 */
#include "decode/crop.h"

#include "core/rng.h"

enum { ATTEMPTS = 10 };

/* Which number of the key's stream decides what. An attempt takes four from AT_ATTEMPT on. */
enum { AT_MIRROR = 0, AT_ATTEMPT = 1, AREA = 0, ASPECT, LEFT, TOP, NUMBERS };

/* Uniform in [0, 1), with the 53 bits that a double has. */
static double uniform(uint64_t key, uint64_t counter)
{
    const uint64_t steps = UINT64_C(1) << 53;
    return (double)shard_rng_below(key, counter, steps) / (double)steps;
}

/* ---- functions ---- */

/* ln(x) of x > 0: by 2 atanh((x - 1) / (x + 1)) between 3/4 and 3/2, and powers of two. */
static double natural_log(double x)
{
    const double ln2 = 0.69314718055994530942;
    double powers = 0;
    while (x > 1.5) {
        x /= 2;
        powers++;
    }
    while (x < 0.75) {
        x *= 2;
        powers--;
    }
    double z = (x - 1) / (x + 1), square = z * z, sum = 0;
    for (int n = 23; n >= 1; n -= 2) /* |z| <= 1/5: what is left out is below 2^-53 */
        sum = sum * square + 1.0 / n;
    return powers * ln2 + 2 * z * sum;
}

/* e to the x, for small x: Taylor's series at x / 256, squared eight times. */
static double exponential(double x)
{
    double sum = 1;
    for (int n = 8; n >= 1; n--)
        sum = 1 + x / 256 / n * sum;
    for (int i = 0; i < 8; i++)
        sum *= sum;
    return sum;
}

/* The square root of a number below 2^62, to the nearest integer. */
static uint64_t rounded_root(double x)
{
    uint64_t square = (uint64_t)(x * 4), root = 0; /* twice the root, rounded down */
    for (uint64_t bit = UINT64_C(1) << 31; bit > 0; bit >>= 1)
        if ((root | bit) * (root | bit) <= square)
            root |= bit;
    return (root + 1) / 2;
}

/* ---- random crop ---- */

static bool attempt(const shard_image_opts *opts, uint32_t width, uint32_t height, uint64_t key,
                    uint64_t counter, shard_crop *out)
{
    double part = opts->area_min + (opts->area_max - opts->area_min) * uniform(key, counter + AREA);
    double area = part * width * height;
    double log_min = natural_log(opts->aspect_min), log_max = natural_log(opts->aspect_max);
    double aspect = exponential(log_min + (log_max - log_min) * uniform(key, counter + ASPECT));
    uint64_t w = rounded_root(area * aspect), h = rounded_root(area / aspect);
    if (w < 1 || w > width || h < 1 || h > height)
        return false;
    out->x = (double)shard_rng_below(key, counter + LEFT, width - w + 1);
    out->y = (double)shard_rng_below(key, counter + TOP, height - h + 1);
    out->width = (double)w;
    out->height = (double)h;
    return true;
}

static uint32_t rounded(double x, uint32_t most)
{
    uint32_t i = x + 0.5 < most ? (uint32_t)(x + 0.5) : most;
    return i > 0 ? i : 1;
}

/* The middle, cut where the image is too wide or too high for any aspect. */
static void fall_back(const shard_image_opts *opts, uint32_t width, uint32_t height,
                      shard_crop *out)
{
    uint32_t w = rounded(height * opts->aspect_max, width);
    uint32_t h = rounded(width / opts->aspect_min, height);
    uint32_t left = (width - w) / 2, top = (height - h) / 2; /* whole pixels */
    out->x = left;
    out->y = top;
    out->width = w;
    out->height = h;
}

static void random_crop(const shard_image_opts *opts, uint32_t width, uint32_t height, uint64_t key,
                        shard_crop *out)
{
    for (uint64_t i = 0; i < ATTEMPTS; i++)
        if (attempt(opts, width, height, key, AT_ATTEMPT + i * NUMBERS, out))
            return;
    fall_back(opts, width, height, out);
}

/* ---- centre ---- */

static void center(const shard_image_opts *opts, uint32_t width, uint32_t height, shard_crop *out)
{
    double scale = (double)width / opts->width; /* pixels of the image to one of the result */
    if ((double)height / opts->height < scale)
        scale = (double)height / opts->height;
    double wanted =
        opts->shorter > 0 ? (double)(width < height ? width : height) / opts->shorter : scale;
    if (wanted < scale) /* the part lies inside the image */
        scale = wanted;
    out->width = opts->width * scale < width ? opts->width * scale : width;
    out->height = opts->height * scale < height ? opts->height * scale : height;
    out->x = (width - out->width) / 2;
    out->y = (height - out->height) / 2;
}

void shard_crop_choose(const shard_image_opts *opts, uint32_t width, uint32_t height, uint64_t key,
                       shard_crop *out)
{
    *out = (shard_crop){.width = width, .height = height};
    out->mirror = opts->flip > 0 && uniform(key, AT_MIRROR) < opts->flip;
    if (opts->fit == SHARD_IMAGE_RANDOM_CROP)
        random_crop(opts, width, height, key, out);
    else if (opts->fit == SHARD_IMAGE_CENTER)
        center(opts, width, height, out);
}
