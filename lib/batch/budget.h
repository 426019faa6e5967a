/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of buffers that are kept and used again, counted against one limit. */
#ifndef BATCH_BUDGET_H
#define BATCH_BUDGET_H

#include <stdatomic.h>

#include "core/alloc.h"
#include "core/error.h"

/* Any thread may use it. */
typedef struct {
    uint64_t limit;
    _Atomic uint64_t used;
    fmt_alloc alloc;
} shard_budget;

typedef struct {
    uint8_t *bytes;
    size_t capacity;
} shard_buffer;

/* Count memory that others hold. SHARD_ENOMEM past the limit. */
shard_status shard_budget_take(shard_budget *budget, uint64_t size, shard_error *err);
void shard_budget_give(shard_budget *budget, uint64_t size);

/*
 * Room for `size` bytes, in powers of two and halves between them, so that it soon is enough for
 * ever; what stood there stays. SHARD_ENOMEM; the buffer is then as it was.
 */
shard_status shard_buffer_reserve(shard_buffer *buffer, size_t size, shard_budget *budget,
                                  shard_error *err);
void shard_buffer_clear(shard_buffer *buffer, shard_budget *budget);

/* The capacity that an empty buffer gets for `size` bytes. */
size_t shard_buffer_capacity(size_t size);

#endif
