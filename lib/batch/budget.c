/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/budget.h"

shard_status shard_budget_take(shard_budget *budget, uint64_t size, shard_error *err)
{
    uint64_t before = atomic_fetch_add(&budget->used, size);
    if (size <= budget->limit && before <= budget->limit - size)
        return SHARD_OK;
    shard_budget_give(budget, size);
    return shard_fail(err, SHARD_ENOMEM, NULL, SHARD_NO_OFFSET,
                      "memory: %llu MiB are in use and %llu more are needed, but the limit is %llu "
                      "MiB: allow more memory, fewer threads, or smaller batches",
                      (unsigned long long)(before >> 20), (unsigned long long)((size >> 20) + 1),
                      (unsigned long long)(budget->limit >> 20));
}

void shard_budget_give(shard_budget *budget, uint64_t size)
{
    atomic_fetch_sub(&budget->used, size);
}

size_t shard_buffer_capacity(size_t size)
{
    enum { LEAST = 4096 };
    size_t capacity = LEAST;
    while (capacity < size && capacity < SIZE_MAX / 4)
        capacity *= 2;
    return capacity / 4 * 3 >= size && capacity > LEAST ? capacity / 4 * 3 : capacity;
}

shard_status shard_buffer_reserve(shard_buffer *buffer, size_t size, shard_budget *budget,
                                  shard_error *err)
{
    if (size <= buffer->capacity)
        return SHARD_OK;
    size_t capacity = shard_buffer_capacity(size);
    if (capacity < size)
        return shard_fail_memory(err);
    SHARD_TRY(shard_budget_take(budget, capacity - buffer->capacity, err));
    void *bytes = budget->alloc.realloc(budget->alloc.context, buffer->bytes, capacity);
    if (!bytes) {
        shard_budget_give(budget, capacity - buffer->capacity);
        return shard_fail_memory(err);
    }
    *buffer = (shard_buffer){bytes, capacity};
    return SHARD_OK;
}

void shard_buffer_clear(shard_buffer *buffer, shard_budget *budget)
{
    shard_alloc_free(&budget->alloc, buffer->bytes);
    shard_budget_give(budget, buffer->capacity);
    *buffer = (shard_buffer){0};
}
