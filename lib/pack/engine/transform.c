/* SPDX-License-Identifier: Apache-2.0 */
#include "pack/engine/transform.h"

#include <string.h>

#include "decode/jpeg.h"
#include "jpeg/jpeg_markers.h"

enum { DEFAULT_QUALITY = 90 };

struct pack_transform {
    const shard_pack_opts *opts;
    shard_jpeg *jpeg;
    uint64_t memory;
    uint8_t *image; /* as it was read */
    size_t image_capacity;
    uint8_t *stripped;
    size_t stripped_capacity;
    pack_transform_counts counts;
    fmt_alloc alloc;
};

shard_status pack_transform_open(pack_transform **out, const shard_pack_opts *opts, uint64_t memory,
                                 const fmt_alloc *alloc, shard_error *err)
{
    *out = NULL;
    if (!opts->jpeg_baseline && opts->resize_shorter == 0 && !opts->strip)
        return SHARD_OK;
    pack_transform *t = shard_alloc_zeroed(alloc, 1, sizeof *t);
    if (!t)
        return shard_fail_memory(err);
    t->opts = opts;
    t->memory = memory;
    t->alloc = *alloc;
    shard_status status = shard_jpeg_open(&t->jpeg, memory, alloc, err);
    if (status != SHARD_OK)
        pack_transform_close(t);
    else
        *out = t;
    return status;
}

void pack_transform_close(pack_transform *transform)
{
    if (!transform)
        return;
    fmt_alloc alloc = transform->alloc;
    shard_jpeg_close(transform->jpeg);
    shard_alloc_free(&alloc, transform->image);
    shard_alloc_free(&alloc, transform->stripped);
    shard_alloc_free(&alloc, transform);
}

bool pack_transform_wants(const pack_transform *transform, const char *name)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name; /* "rgb.jpg" too */
    return transform && (strcmp(last, "jpg") == 0 || strcmp(last, "jpeg") == 0);
}

shard_status pack_transform_buffer(pack_transform *t, uint64_t size, uint8_t **out,
                                   shard_error *err)
{
    if (size > t->memory)
        return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                          "an image of %llu bytes is more than a thread may work on (--memory)",
                          (unsigned long long)size);
    if (!shard_alloc_grow(&t->alloc, &t->image, &t->image_capacity, (size_t)size + 1, 1))
        return shard_fail_memory(err);
    *out = t->image;
    return SHARD_OK;
}

/* The size for a shorter side of `shorter`; false where the image is no larger. */
static bool scaled_size(const shard_jpeg_info *info, uint32_t shorter, uint32_t *width,
                        uint32_t *height)
{
    uint32_t least = info->width < info->height ? info->width : info->height;
    if (shorter == 0 || least <= shorter)
        return false;
    *width = (uint32_t)(((uint64_t)info->width * shorter + least / 2) / least);
    *height = (uint32_t)(((uint64_t)info->height * shorter + least / 2) / least);
    return true;
}

static shard_status strip(pack_transform *t, fmt_span image, fmt_span *out, shard_error *err)
{
    enum { ROOM = 64 };
    fmt_fault fault;
    size_t size;
    if (!shard_alloc_grow(&t->alloc, &t->stripped, &t->stripped_capacity, image.size + ROOM, 1))
        return shard_fail_memory(err);
    fmt_status status = fmt_jpeg_strip(image, t->stripped, &size, &fault);
    if (status != FMT_OK)
        return shard_fail_fmt(err, status, &fault, NULL, 0);
    bool changed = size != image.size;
    t->counts.stripped += changed;
    t->counts.kept += !changed;
    *out = (fmt_span){t->stripped, size};
    return SHARD_OK;
}

shard_status pack_transform_run(pack_transform *t, fmt_span image, fmt_span *out, shard_error *err)
{
    shard_jpeg_info info;
    uint32_t width, height, quality = t->opts->quality ? t->opts->quality : DEFAULT_QUALITY;
    SHARD_TRY(shard_jpeg_examine(t->jpeg, image, &info, err));
    if (scaled_size(&info, t->opts->resize_shorter, &width, &height)) {
        SHARD_TRY(
            shard_jpeg_resize(t->jpeg, image, width, height, quality, t->opts->strip, out, err));
        t->counts.resized++;
        return SHARD_OK;
    }
    if (t->opts->jpeg_baseline && (info.progressive || info.arithmetic)) {
        SHARD_TRY(shard_jpeg_to_baseline(t->jpeg, image, t->opts->strip, out, err));
        t->counts.baselined++;
        return SHARD_OK;
    }
    if (t->opts->strip)
        return strip(t, image, out, err);
    t->counts.kept++;
    *out = image;
    return SHARD_OK;
}

void pack_transform_get_counts(const pack_transform *transform, pack_transform_counts *out)
{
    *out = transform ? transform->counts : (pack_transform_counts){0};
}

void pack_transform_set_counts(pack_transform *transform, const pack_transform_counts *counts)
{
    if (transform)
        transform->counts = *counts;
}
