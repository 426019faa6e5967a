/* SPDX-License-Identifier: Apache-2.0 */
/* Batch after batch, epoch after epoch: which samples this rank's rows are. */
#ifndef LOADER_ROWS_H
#define LOADER_ROWS_H

#include <shard/state.h>

#include "order/split.h"

typedef struct {
    uint64_t epoch, position; /* of the order */
    uint64_t id;
    bool valid; /* else the rest says nothing */
} loader_place;

/* One batch's, or the end of an epoch. */
typedef struct {
    uint64_t epoch, position; /* of the epoch's global batch */
    bool is_end;
    loader_place *place; /* `batch` of them */

    uint64_t round, departures, shard, first; /* of a stream, behind this batch: see state.h */
} loader_rows_batch;

/* One thread at a time. */
typedef struct {
    const shard_order *order;
    shard_split split;
    uint64_t epoch, position; /* of the batch that comes next */
    shard_order_cursor cursor;
    fmt_alloc alloc;

    /* Batches are worked out a page at a time, which costs less than one by one. */
    uint32_t page_batches, page_next, page_most;
    shard_split_row *row;
    uint64_t *id;
    uint64_t *position_of, *picked; /* scratch */
    uint32_t *row_of;
} loader_rows;

/* Begin at a position of an epoch. `rows` holds zeros; on failure it holds what may be cleared. */
shard_status loader_rows_init(loader_rows *rows, const shard_order *order, const shard_split *split,
                              uint64_t epoch, uint64_t position, const fmt_alloc *alloc,
                              shard_error *err);
void loader_rows_clear(loader_rows *rows);

/* `out->place` is the caller's. */
shard_status loader_rows_next(loader_rows *rows, loader_rows_batch *out, shard_error *err);

#endif
