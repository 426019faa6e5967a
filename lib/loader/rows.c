/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/rows.h"

enum { PAGE_ROWS = 16384 };

static uint32_t page_most(uint32_t batch)
{
    return batch < PAGE_ROWS ? PAGE_ROWS / batch : 1;
}

shard_status loader_rows_init(loader_rows *rows, const shard_order *order, const shard_split *split,
                              uint64_t epoch, uint64_t position, const fmt_alloc *alloc,
                              shard_error *err)
{
    rows->order = order;
    rows->split = *split;
    rows->epoch = epoch;
    rows->position = position;
    rows->alloc = *alloc;
    rows->page_most = page_most(split->batch);
    size_t count = (size_t)rows->page_most * split->batch;
    rows->row = shard_alloc_zeroed(alloc, count, sizeof *rows->row);
    rows->id = shard_alloc_zeroed(alloc, count, sizeof *rows->id);
    rows->position_of = shard_alloc_zeroed(alloc, count, sizeof *rows->position_of);
    rows->picked = shard_alloc_zeroed(alloc, count, sizeof *rows->picked);
    rows->row_of = shard_alloc_zeroed(alloc, count, sizeof *rows->row_of);
    if (!rows->row || !rows->id || !rows->position_of || !rows->picked || !rows->row_of)
        return shard_fail_memory(err);
    return SHARD_OK;
}

void loader_rows_clear(loader_rows *rows)
{
    if (!rows->order)
        return;
    shard_order_cursor_clear(&rows->cursor, &rows->alloc);
    shard_alloc_free(&rows->alloc, rows->row);
    shard_alloc_free(&rows->alloc, rows->id);
    shard_alloc_free(&rows->alloc, rows->position_of);
    shard_alloc_free(&rows->alloc, rows->picked);
    shard_alloc_free(&rows->alloc, rows->row_of);
    *rows = (loader_rows){0};
}

/* The samples of those of the page's rows that are of one epoch of the order. */
static shard_status pick_epoch(loader_rows *rows, uint64_t epoch, size_t count, shard_error *err)
{
    size_t found = 0;
    if (epoch >= SHARD_ORDER_EPOCHS_MAX)
        return shard_fail(err, SHARD_ELIMIT, NULL, SHARD_NO_OFFSET,
                          "epoch (expected less than 2^32, got %llu)", (unsigned long long)epoch);
    for (size_t i = 0; i < count; i++)
        if (rows->row[i].valid && rows->row[i].epoch == epoch) {
            rows->position_of[found] = rows->row[i].position;
            rows->row_of[found++] = (uint32_t)i;
        }
    SHARD_TRY(shard_order_pick(&rows->cursor, rows->order, epoch, rows->position_of, found,
                               rows->picked, err));
    for (size_t i = 0; i < found; i++)
        rows->id[rows->row_of[i]] = rows->picked[i];
    return SHARD_OK;
}

static shard_status fill_page(loader_rows *rows, uint64_t batches, shard_error *err)
{
    uint64_t step = shard_split_global_batch(&rows->split), first = UINT64_MAX, last = 0;
    uint32_t batch = rows->split.batch;
    rows->page_batches = batches < rows->page_most ? (uint32_t)batches : rows->page_most;
    rows->page_next = 0;
    for (uint32_t b = 0; b < rows->page_batches; b++)
        shard_split_rows(&rows->split, rows->epoch, rows->position + b * step,
                         rows->row + (size_t)b * batch);
    size_t count = (size_t)rows->page_batches * batch;
    for (size_t i = 0; i < count; i++) {
        if (!rows->row[i].valid)
            continue;
        first = rows->row[i].epoch < first ? rows->row[i].epoch : first;
        last = rows->row[i].epoch > last ? rows->row[i].epoch : last;
    }
    for (uint64_t epoch = first; epoch <= last; epoch++)
        SHARD_TRY(pick_epoch(rows, epoch, count, err));
    return SHARD_OK;
}

static void end_epoch(loader_rows *rows, loader_rows_batch *out)
{
    *out = (loader_rows_batch){
        .epoch = rows->epoch, .position = rows->position, .is_end = true, .place = out->place};
    rows->epoch++;
    rows->position = 0;
}

shard_status loader_rows_next(loader_rows *rows, loader_rows_batch *out, shard_error *err)
{
    uint32_t batch = rows->split.batch;
    if (rows->page_next == rows->page_batches) {
        uint64_t left = shard_split_batches(&rows->split, rows->position);
        if (left == 0) {
            end_epoch(rows, out);
            return SHARD_OK;
        }
        SHARD_TRY(fill_page(rows, left, err));
    }
    size_t first = (size_t)rows->page_next++ * batch;
    *out =
        (loader_rows_batch){.epoch = rows->epoch, .position = rows->position, .place = out->place};
    for (uint32_t i = 0; i < batch; i++) {
        const shard_split_row *row = &rows->row[first + i];
        out->place[i] = (loader_place){row->epoch, row->position, rows->id[first + i], row->valid};
    }
    rows->position += shard_split_global_batch(&rows->split);
    return SHARD_OK;
}
