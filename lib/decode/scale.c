/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Down before across: what comes is combined into as many rows as the result has, and only these
 * are scaled across. The last rows stand in a ring, so that each is there when the last one of its
 * output arrives. Where an output is made of so many rows that the ring would be large, its sums
 * are kept in its place: then no row belongs to more than OPEN outputs.
 */
#include "decode/scale.h"

#include <string.h>

#include "decode/scale_kernels.h"

enum { RING_MOST = 64, OPEN = 3 };

_Static_assert((int)SHARD_SCALER_SLACK >= (int)SHARD_SCALE_SLACK, "kernels read a decoder's rows");

struct shard_scaler {
    fmt_alloc alloc;
    const shard_scale_kernels *kernels;
    shard_scale_axis down, across;
    shard_pixels out;
    uint32_t row;      /* rows that are in */
    uint32_t next_out; /* row of the result to be made next */
    bool summing;      /* `sum` in place of a ring */

    size_t skip, size; /* bytes of a row: before the part that is scaled, and of it */
    size_t stride;     /* from one row of the ring to the next */
    uint32_t ring_rows;
    uint8_t *ring;
    size_t line_stride, result_stride;
    uint8_t *line;   /* scaled down, not yet across: two of them */
    uint8_t *result; /* scaled both ways */
    int32_t *sum;    /* of each output that is open: `size` of them */
    size_t ring_room, line_room, result_room, sum_room;
};

shard_status shard_scaler_open(shard_scaler **out, const fmt_alloc *alloc, shard_error *err)
{
    const shard_scale_kernels *list[SHARD_SCALE_KERNELS_MOST];
    shard_scaler *scaler = shard_alloc_zeroed(alloc, 1, sizeof *scaler);
    if (!scaler)
        return shard_fail_memory(err);
    (void)shard_scale_kernels_list(list);
    scaler->alloc = *alloc;
    scaler->kernels = list[0];
    *out = scaler;
    return SHARD_OK;
}

void shard_scaler_close(shard_scaler *scaler)
{
    if (!scaler)
        return;
    fmt_alloc alloc = scaler->alloc;
    shard_scale_axis_clear(&scaler->down, &alloc);
    shard_scale_axis_clear(&scaler->across, &alloc);
    shard_alloc_free(&alloc, scaler->ring);
    shard_alloc_free(&alloc, scaler->line);
    shard_alloc_free(&alloc, scaler->result);
    shard_alloc_free(&alloc, scaler->sum);
    shard_alloc_free(&alloc, scaler);
}

void shard_scaler_use(shard_scaler *scaler, const shard_scale_kernels *kernels)
{
    scaler->kernels = kernels;
}

static shard_status check(const shard_scale *scale, const shard_scale_span *down,
                          const shard_scale_span *across, const shard_pixels *out, shard_error *err)
{
    if (!shard_scale_span_valid(down) || !shard_scale_span_valid(across))
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "cannot scale %g x %g pixels at %g, %g of %u x %u to %u x %u",
                          scale->width, scale->height, scale->x, scale->y, scale->in_width,
                          scale->in_height, scale->out_width, scale->out_height);
    if ((scale->channels != 1 && scale->channels != 3) || out->channels != scale->channels ||
        out->width != scale->out_width || out->height != scale->out_height)
        return shard_fail(err, SHARD_EINVAL, NULL, SHARD_NO_OFFSET,
                          "a result of %u x %u pixels of %u channels has no room for %u x %u of %u",
                          out->width, out->height, out->channels, scale->out_width,
                          scale->out_height, scale->channels);
    return SHARD_OK;
}

/* Sizes of rows, which a valid span keeps below 2^31, and room for them. */
static bool make_room(shard_scaler *s, uint32_t in_width, uint32_t channels)
{
    const shard_scale_axis *across = &s->across;
    s->skip = (size_t)across->begin * channels;
    s->size = (size_t)(across->end - across->begin) * channels;
    s->stride = (size_t)in_width * channels + SHARD_SCALER_SLACK;
    s->summing = s->down.longest > RING_MOST;
    s->ring_rows = s->summing ? 1 : s->down.longest;
    s->line_stride = s->size + (size_t)across->taps * channels + SHARD_SCALE_SLACK;
    s->result_stride = (size_t)across->span.out * channels + SHARD_SCALE_SLACK;
    if (s->stride > SIZE_MAX / s->ring_rows)
        return false;
    return shard_alloc_grow(&s->alloc, &s->ring, &s->ring_room, s->stride * s->ring_rows, 1) &&
           shard_alloc_grow(&s->alloc, &s->line, &s->line_room, s->line_stride * 2, 1) &&
           shard_alloc_grow(&s->alloc, &s->result, &s->result_room, s->result_stride * 2, 1) &&
           (!s->summing ||
            shard_alloc_grow(&s->alloc, &s->sum, &s->sum_room, s->size * OPEN, sizeof *s->sum));
}

shard_status shard_scaler_begin(shard_scaler *scaler, const shard_scale *scale,
                                const shard_pixels *out, shard_error *err)
{
    const shard_scale_span down = {scale->in_height, scale->y, scale->height, scale->out_height,
                                   false};
    const shard_scale_span across = {scale->in_width, scale->x, scale->width, scale->out_width,
                                     scale->mirror};
    SHARD_TRY(check(scale, &down, &across, out, err));
    if (!shard_scale_axis_set(&scaler->down, &down, &scaler->alloc) ||
        !shard_scale_axis_set(&scaler->across, &across, &scaler->alloc) ||
        !make_room(scaler, scale->in_width, scale->channels))
        return shard_fail_memory(err);
    scaler->out = *out;
    scaler->row = scaler->next_out = 0;
    if (scaler->summing)
        memset(scaler->sum, 0, scaler->size * OPEN * sizeof *scaler->sum);
    return SHARD_OK;
}

uint32_t shard_scaler_rows_needed(const shard_scaler *scaler)
{
    return scaler->down.end;
}

static uint8_t *row_at(const shard_scaler *scaler, uint32_t row)
{
    return scaler->ring + row % scaler->ring_rows * scaler->stride;
}

uint8_t *shard_scaler_next_row(shard_scaler *scaler)
{
    return row_at(scaler, scaler->row);
}

static int32_t *sums_of(const shard_scaler *scaler, uint32_t out)
{
    return scaler->sum + out % OPEN * scaler->size;
}

/* Add the last row to every output that it is a part of. */
static void add_row(shard_scaler *scaler, uint32_t at)
{
    const shard_scale_axis *down = &scaler->down;
    const uint8_t *row = row_at(scaler, scaler->row) + scaler->skip;
    for (uint32_t i = scaler->next_out; i < down->span.out && down->first[i] <= at; i++) {
        int32_t weight = down->weight[(size_t)i * down->taps + (at - down->first[i])];
        int32_t *sum = sums_of(scaler, i);
        for (size_t x = 0; x < scaler->size; x++)
            sum[x] += weight * row[x];
    }
}

static void take_sums(shard_scaler *scaler, uint32_t out, uint8_t *line)
{
    uint32_t bits = scaler->down.bits;
    int32_t *sum = sums_of(scaler, out);
    for (size_t x = 0; x < scaler->size; x++)
        line[x] = (uint8_t)((sum[x] + (1 << (bits - 1))) >> bits);
    memset(sum, 0, scaler->size * sizeof *sum);
}

static void combine_rows(shard_scaler *scaler, uint32_t out, uint8_t *line)
{
    const shard_scale_axis *down = &scaler->down;
    const uint8_t *rows[RING_MOST];
    uint32_t count = down->count[out], first = down->begin + down->first[out];
    for (uint32_t j = 0; j < count; j++)
        rows[j] = row_at(scaler, first + j) + scaler->skip;
    scaler->kernels->down(rows, down->weight + (size_t)out * down->taps, count, down->bits,
                          scaler->size, line);
}

/* The lines' rows: `out` and, with `both`, the next one. */
static void put_rows(shard_scaler *scaler, uint32_t out, bool both)
{
    const uint8_t *line[2] = {scaler->line, scaler->line + (both ? scaler->line_stride : 0)};
    uint8_t *result[2] = {scaler->result, scaler->result + (both ? scaler->result_stride : 0)};
    if (scaler->out.channels == 3)
        scaler->kernels->across_rgb(&scaler->across, line, result);
    else
        scaler->kernels->across_grey(&scaler->across, line, result);
    shard_pixels_put_row(&scaler->out, out, result[0], false);
    if (both)
        shard_pixels_put_row(&scaler->out, out + 1, result[1], false);
}

static void finish_row(shard_scaler *scaler, uint32_t out)
{
    bool second = out % 2;
    uint8_t *line = scaler->line + (second ? scaler->line_stride : 0);
    if (scaler->summing)
        take_sums(scaler, out, line);
    else
        combine_rows(scaler, out, line);
    if (second)
        put_rows(scaler, out - 1, true);
    else if (out + 1 == scaler->down.span.out)
        put_rows(scaler, out, false);
}

void shard_scaler_row_done(shard_scaler *scaler)
{
    const shard_scale_axis *down = &scaler->down;
    if (scaler->row >= down->begin && scaler->row < down->end) {
        uint32_t at = scaler->row - down->begin;
        if (scaler->summing)
            add_row(scaler, at);
        while (scaler->next_out < down->span.out &&
               down->first[scaler->next_out] + down->count[scaler->next_out] <= at + 1)
            finish_row(scaler, scaler->next_out++);
    }
    scaler->row++;
}
