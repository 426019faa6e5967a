/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/fields.h"

#include <string.h>

static shard_status invalid(size_t i, const char *why, shard_error *err)
{
    return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET, "field %zu: %s", i, why);
}

/* ---- names ---- */

/* "jpg;JPEG" into { "jpg", "jpeg" }: components are known in lower case. */
static shard_status split_names(loader_fields *f, loader_field *field, size_t i, shard_error *err)
{
    const char *given = field->given.component;
    size_t most = 1;
    if (!given || !*given)
        return invalid(i, "which component is not said", err);
    for (const char *c = given; *c; c++)
        most += *c == ';';
    field->alternative = fmt_arena_array(&f->arena, most, sizeof *field->alternative);
    char *text = fmt_arena_text(&f->arena, given, strlen(given));
    if (!field->alternative || !text)
        return shard_fail_memory(err);
    for (char *c = text; *c; c++)
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
    for (char *next; text; text = next) {
        next = strchr(text, ';');
        if (next)
            *next++ = 0;
        if (*text == 0)
            return invalid(i, "an empty name among its components", err);
        field->alternative[field->alternatives++] = text;
    }
    field->given.component = field->alternative[0];
    return SHARD_OK;
}

static shard_status name_tensor(loader_fields *f, loader_field *field, size_t i, shard_error *err)
{
    const char *name = field->given.name ? field->given.name : field->given.component;
    field->given.name = fmt_arena_text(&f->arena, name, strlen(name));
    if (!field->given.name)
        return shard_fail_memory(err);
    for (size_t j = 0; j < i; j++)
        if (strcmp(f->field[j].given.name, field->given.name) == 0)
            return invalid(i, "another field has this name", err);
    return SHARD_OK;
}

static shard_status collect_wanted(loader_fields *f, shard_error *err)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < f->count; i++)
        total += f->field[i].alternatives;
    const char **name = fmt_arena_array(&f->arena, total + 1, sizeof *name);
    if (!name)
        return shard_fail_memory(err);
    for (size_t i = 0; i < f->count; i++)
        for (size_t j = 0; j < f->field[i].alternatives; j++)
            name[at++] = f->field[i].alternative[j];
    f->wanted = (shard_wanted){name, total};
    return SHARD_OK;
}

/* ---- shapes ---- */

/* Which images are too large must not depend on the number of threads. */
enum { IMAGE_SHARE = 4 };

static shard_status image_shape(loader_fields *f, loader_field *field, size_t i,
                                const shard_loader_opts *loader, shard_error *err)
{
    const shard_image_opts *opts = field->given.image;
    shard_image_decoder *decoder; /* opened once to check its options */
    if (!opts)
        return invalid(i, "an image field needs image options", err);
    SHARD_TRY(shard_image_decoder_open(&decoder, opts, loader->allocator, err));
    shard_image_decoder_close(decoder);
    shard_image_opts *copy =
        fmt_arena_array(&f->arena, 1, opts->size > sizeof *opts ? opts->size : sizeof *opts);
    if (!copy)
        return shard_fail_memory(err);
    memcpy(copy, opts, opts->size);
    if (copy->memory_max == 0)
        copy->memory_max = loader->memory / IMAGE_SHARE;
    field->given.image = copy;
    int64_t channels = copy->grey ? 1 : 3, width = copy->width, height = copy->height;
    bool bytes = copy->layout == SHARD_IMAGE_U8_NHWC;
    field->given.dtype = bytes                                  ? SHARD_U8
                         : copy->layout == SHARD_IMAGE_F32_NCHW ? SHARD_F32
                                                                : SHARD_F16;
    field->given.dims = 3;
    field->given.shape[0] = bytes ? height : channels;
    field->given.shape[1] = bytes ? width : height;
    field->given.shape[2] = bytes ? channels : width;
    return SHARD_OK;
}

static shard_status check_shape(const loader_field *field, size_t i, shard_error *err)
{
    size_t size = shard_dtype_size(field->given.dtype);
    if (size == 0)
        return invalid(i, "no such dtype", err);
    if (field->given.dims >= SHARD_DIMS_MAX)
        return invalid(i, "too many dimensions", err);
    for (uint32_t d = 0; d < field->given.dims; d++) {
        int64_t n = field->given.shape[d];
        if (n < 1 || (uint64_t)n > (UINT64_C(1) << 32) / size)
            return invalid(i, "a row has no bytes, or more than 4 GiB", err);
        size *= (size_t)n;
    }
    return SHARD_OK;
}

static shard_status set_shape(loader_fields *f, loader_field *field, size_t i,
                              const shard_loader_opts *loader, shard_error *err)
{
    switch (field->given.kind) {
    case SHARD_FIELD_BYTES:
        field->given.dtype = SHARD_U8;
        field->given.dims = 0;
        return SHARD_OK;
    case SHARD_FIELD_INTEGER:
        field->given.dtype = SHARD_I64;
        field->given.dims = 0;
        return SHARD_OK;
    case SHARD_FIELD_IMAGE:
        return image_shape(f, field, i, loader, err);
    case SHARD_FIELD_NPY:
        return check_shape(field, i, err);
    case SHARD_FIELD_CUSTOM:
        return field->given.decode ? check_shape(field, i, err)
                                   : invalid(i, "a custom field needs its decoder", err);
    }
    return invalid(i, "no such kind", err);
}

/* ---- the batch ---- */

static shard_tensor tensor_of(const loader_field *field, uint32_t rows)
{
    const shard_field *given = &field->given;
    shard_tensor t = {.name = given->name, .dtype = given->dtype, .dims = given->dims + 1};
    int64_t stride = 1;
    for (uint32_t d = given->dims; d > 0; d--) {
        t.shape[d] = given->shape[d - 1];
        t.stride[d] = stride;
        stride *= t.shape[d];
    }
    t.shape[0] = rows;
    t.stride[0] = stride;
    return t;
}

static shard_status set_layout(loader_fields *f, uint32_t rows, shard_error *err)
{
    shard_tensor *tensor = fmt_arena_array(&f->arena, f->count + 1, sizeof *tensor);
    bool *ragged = fmt_arena_array(&f->arena, f->count + 1, sizeof *ragged);
    if (!tensor || !ragged)
        return shard_fail_memory(err);
    f->keeps_bytes = f->count == 0;
    for (size_t i = 0; i < f->count; i++) {
        tensor[i] = tensor_of(&f->field[i], rows);
        ragged[i] = f->field[i].given.kind == SHARD_FIELD_BYTES;
        f->keeps_bytes = f->keeps_bytes || ragged[i];
    }
    f->layout = (shard_slot_layout){rows, tensor, ragged, f->count};
    return SHARD_OK;
}

shard_status loader_fields_init(loader_fields *fields, const shard_loader_opts *opts,
                                const fmt_alloc *alloc, shard_error *err)
{
    fmt_arena_init(&fields->arena, alloc);
    fields->field = fmt_arena_array(&fields->arena, opts->field_count + 1, sizeof *fields->field);
    if (!fields->field)
        return shard_fail_memory(err);
    for (size_t i = 0; i < opts->field_count; i++) {
        loader_field *field = &fields->field[i];
        field->given = opts->fields[i];
        SHARD_TRY(split_names(fields, field, i, err));
        SHARD_TRY(name_tensor(fields, field, i, err));
        SHARD_TRY(set_shape(fields, field, i, opts, err));
        fields->count++;
    }
    SHARD_TRY(collect_wanted(fields, err));
    return set_layout(fields, opts->batch, err);
}

void loader_fields_clear(loader_fields *fields)
{
    if (fields->arena.alloc)
        fmt_arena_clear(&fields->arena);
    *fields = (loader_fields){0};
}

const shard_sample_component *
loader_field_find(const loader_field *field, const shard_sample_component *components, size_t count)
{
    for (size_t a = 0; a < field->alternatives; a++)
        for (size_t i = 0; i < count; i++)
            if (strcmp(components[i].name, field->alternative[a]) == 0)
                return &components[i];
    return NULL;
}
