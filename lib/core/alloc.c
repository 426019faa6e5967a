/* SPDX-License-Identifier: Apache-2.0 */
#include "core/alloc.h"

#include <stdlib.h>
#include <string.h>

static void *default_realloc(void *context, void *old, size_t size)
{
    (void)context;
    return realloc(old, size);
}

static void default_free(void *context, void *memory)
{
    (void)context;
    free(memory);
}

fmt_alloc shard_alloc_from(const shard_allocator *allocator)
{
    if (!allocator)
        return (fmt_alloc){default_realloc, default_free, NULL};
    return (fmt_alloc){allocator->realloc, allocator->free, allocator->context};
}

void *shard_alloc_zeroed(const fmt_alloc *alloc, size_t count, size_t size)
{
    if (count == 0 || count > SIZE_MAX / size)
        return NULL;
    void *memory = alloc->realloc(alloc->context, NULL, count * size);
    return memory ? memset(memory, 0, count * size) : NULL;
}

void shard_alloc_free(const fmt_alloc *alloc, void *memory)
{
    if (memory)
        alloc->free(alloc->context, memory);
}

bool shard_alloc_grow(const fmt_alloc *alloc, void *array, size_t *capacity, size_t needed,
                      size_t size)
{
    enum { LEAST = 16 };
    if (needed <= *capacity)
        return true;
    size_t wanted = *capacity + *capacity / 2;
    if (wanted < needed)
        wanted = needed;
    if (wanted < LEAST)
        wanted = LEAST;
    if (wanted > SIZE_MAX / size)
        return false;
    void *old, *grown;
    memcpy(&old, array, sizeof old); /* any pointer type */
    grown = alloc->realloc(alloc->context, old, wanted * size);
    if (!grown)
        return false;
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}

char *shard_alloc_text(const fmt_alloc *alloc, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = alloc->realloc(alloc->context, NULL, size);
    return copy ? memcpy(copy, text, size) : NULL;
}
