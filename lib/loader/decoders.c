/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/decoders.h"

#include <stdio.h>
#include <string.h>

#include "npy/npy.h"

shard_status loader_decoders_init(loader_decoders *decoders, const loader_fields *fields,
                                  const shard_allocator *allocator, const fmt_alloc *alloc,
                                  shard_error *err)
{
    decoders->fields = fields;
    decoders->alloc = *alloc;
    decoders->image = shard_alloc_zeroed(alloc, fields->count + 1, sizeof(shard_image_decoder *));
    if (!decoders->image)
        return shard_fail_memory(err);
    for (size_t i = 0; i < fields->count; i++)
        if (fields->field[i].given.kind == SHARD_FIELD_IMAGE)
            SHARD_TRY(shard_image_decoder_open(&decoders->image[i], fields->field[i].given.image,
                                               allocator, err));
    return SHARD_OK;
}

void loader_decoders_clear(loader_decoders *decoders)
{
    for (size_t i = 0; decoders->image && i < decoders->fields->count; i++)
        shard_image_decoder_close(decoders->image[i]);
    if (decoders->image)
        shard_alloc_free(&decoders->alloc, decoders->image);
    *decoders = (loader_decoders){0};
}

/* ---- one kind after the other ---- */

/* A sign, digits, and nothing else but white space around them. */
static shard_status decode_integer(const shard_sample_component *c, int64_t *out, shard_error *err)
{
    const uint8_t *at = c->data, *end = at + c->size;
    uint64_t value = 0, limit = INT64_MAX;
    while (at < end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
        at++;
    while (end > at && (end[-1] == ' ' || (end[-1] >= '\t' && end[-1] <= '\r')))
        end--;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    limit += negative;
    bool good = at < end;
    for (; good && at < end; at++) {
        good = *at >= '0' && *at <= '9' && value <= (limit - (*at - '0')) / 10;
        value = value * 10 + (uint64_t)(*at - '0');
    }
    if (!good)
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET, "not a decimal number: \"%.*s\"",
                          (int)(c->size < 40 ? c->size : 40), (const char *)c->data);
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return SHARD_OK;
}

static shard_dtype npy_dtype(const fmt_npy *npy)
{
    static const struct {
        char kind;
        uint32_t width;
        shard_dtype dtype;
    } known[] = {
        {'b', 1, SHARD_U8},  {'u', 1, SHARD_U8},  {'i', 1, SHARD_I8},  {'u', 2, SHARD_U16},
        {'i', 2, SHARD_I16}, {'u', 4, SHARD_U32}, {'i', 4, SHARD_I32}, {'u', 8, SHARD_U64},
        {'i', 8, SHARD_I64}, {'f', 2, SHARD_F16}, {'f', 4, SHARD_F32}, {'f', 8, SHARD_F64},
    };
    size_t i = 0;
    while (known[i].kind != npy->kind || known[i].width != npy->width)
        i++; /* fmt_npy_read lets no others through */
    return known[i].dtype;
}

static void shape_text(char out[200], const fmt_npy *npy)
{
    size_t at = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < npy->dims && at < 170; i++)
        at += (size_t)snprintf(out + at, 200 - at, "%s%llu", i > 0 ? "," : "",
                               (unsigned long long)npy->shape[i]);
}

static shard_status decode_npy(const shard_field *field, const shard_sample_component *c, void *out,
                               shard_error *err)
{
    fmt_npy npy;
    fmt_fault fault;
    fmt_status status = fmt_npy_read(&npy, (fmt_span){c->data, c->size}, &fault);
    if (status != FMT_OK)
        return shard_fail_fmt(err, status, &fault, NULL, 0);
    bool same = npy.dims == field->dims && npy_dtype(&npy) == field->dtype;
    for (uint32_t i = 0; same && i < npy.dims; i++)
        same = npy.shape[i] == (uint64_t)field->shape[i];
    if (!same) {
        char shape[200];
        shape_text(shape, &npy);
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                          "npy: an array of other numbers or shape than expected: (%s) of %c%u",
                          shape, npy.kind, npy.width);
    }
    memcpy(out, (const uint8_t *)c->data + npy.data, (size_t)npy.size);
    return SHARD_OK;
}

static shard_status decode_custom(const shard_field *field, const loader_sample *sample,
                                  const shard_sample_component *c, void *out, size_t size,
                                  shard_error *err)
{
    shard_decode_input input = {sample->key, c->name, c->data, c->size, sample->random};
    if (err)
        *err = (shard_error){.offset = SHARD_NO_OFFSET};
    memset(out, 0, size);
    shard_status status = field->decode(field->context, &input, out, size, err);
    if (status != SHARD_OK && (status < SHARD_EINVAL || status > SHARD_EDATA))
        status = SHARD_EDATA; /* an end, which would be taken for the epoch's, or no status */
    if (status != SHARD_OK && err && err->status == SHARD_OK) /* it said nothing more */
        return shard_fail(err, status, NULL, SHARD_NO_OFFSET, "the decoder refused it");
    return status;
}

static shard_status decode_field(loader_decoders *d, size_t i, const loader_sample *sample,
                                 const shard_sample_component *c, shard_slot *slot, uint32_t row,
                                 shard_error *err)
{
    const shard_field *field = &d->fields->field[i].given;
    if (field->kind == SHARD_FIELD_BYTES) {
        size_t at = i * slot->layout->rows + row;
        slot->offsets[at] = (uint64_t)((const uint8_t *)c->data - slot->bytes.bytes);
        slot->lengths[at] = c->size;
        return SHARD_OK;
    }
    size_t size;
    void *out = shard_slot_row(slot, i, row, &size);
    switch (field->kind) {
    case SHARD_FIELD_INTEGER:
        return decode_integer(c, out, err);
    case SHARD_FIELD_IMAGE:
        return shard_image_decode(d->image[i], c->data, c->size, sample->random, out, err);
    case SHARD_FIELD_NPY:
        return decode_npy(field, c, out, err);
    default:
        return decode_custom(field, sample, c, out, size, err);
    }
}

/* ---- a row ---- */

/* A field that the sample does not have: nothing where it is optional. */
static shard_status decode_nothing(loader_decoders *d, size_t i, const loader_sample *sample,
                                   shard_slot *slot, uint32_t row, shard_error *err)
{
    const loader_field *field = &d->fields->field[i];
    size_t size;
    if (!field->given.optional)
        return shard_fail(err, SHARD_EDATA, NULL, SHARD_NO_OFFSET,
                          "sample \"%.200s\" has no component \"%s\"", sample->key,
                          field->given.component);
    if (slot->layout->ragged[i]) {
        slot->offsets[i * slot->layout->rows + row] = 0;
        slot->lengths[i * slot->layout->rows + row] = 0;
    } else {
        void *out = shard_slot_row(slot, i, row, &size);
        memset(out, 0, size);
    }
    return SHARD_OK;
}

/* Which component of which sample it was. */
static shard_status name_error(shard_status status, const loader_sample *sample,
                               const shard_sample_component *c, shard_error *err)
{
    if (!err || status == SHARD_ENOMEM || status == SHARD_ECANCEL)
        return status;
    shard_error why = *err;
    return shard_fail(err, status, NULL, SHARD_NO_OFFSET,
                      "component \"%.60s\" of \"%.300s\": %.500s", c->name, sample->key,
                      why.message);
}

shard_status loader_decode(loader_decoders *decoders, const loader_sample *sample, shard_slot *slot,
                           uint32_t row, shard_error *err)
{
    for (size_t i = 0; i < decoders->fields->count; i++) {
        const shard_sample_component *c =
            loader_field_find(&decoders->fields->field[i], sample->components, sample->count);
        if (!c) {
            SHARD_TRY(decode_nothing(decoders, i, sample, slot, row, err));
            continue;
        }
        shard_status status = decode_field(decoders, i, sample, c, slot, row, err);
        if (status != SHARD_OK)
            return name_error(status, sample, c, err);
    }
    return SHARD_OK;
}
