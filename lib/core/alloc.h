/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for the library's objects: the caller's allocator or malloc, overflow checked. */
#ifndef CORE_ALLOC_H
#define CORE_ALLOC_H

#include <shard/memory.h>

#include "fmt.h"

/* The caller's allocator, or malloc for NULL, in the form in which all inner code takes it. */
fmt_alloc shard_alloc_from(const shard_allocator *allocator);

/* `count` elements of `size` bytes, all zeros; NULL when there is none or the product overflows. */
void *shard_alloc_zeroed(const fmt_alloc *alloc, size_t count, size_t size);

/* NULL is nothing to free, whatever the allocator. */
void shard_alloc_free(const fmt_alloc *alloc, void *memory);

/*
 * Room for at least `needed` elements of `size` bytes in `*array`, whose capacity is `*capacity`:
 * grows by half. False when memory is short; the array then stays as it was.
 */
bool shard_alloc_grow(const fmt_alloc *alloc, void *array, size_t *capacity, size_t needed,
                      size_t size);

/* A copy of a string; NULL when memory is short. */
char *shard_alloc_text(const fmt_alloc *alloc, const char *text);

#endif
