/* SPDX-License-Identifier: Apache-2.0 */
#include "allocator.h"

#include <jansson.h>
#include <stdlib.h>

#include "test.h"

static void *count_realloc(void *context, void *old, size_t size)
{
    test_allocator *a = context;
    if (++a->asked == a->fail_at)
        return NULL;
    void *memory = realloc(old, size);
    a->live += memory && !old;
    return memory;
}

static void count_free(void *context, void *memory)
{
    test_allocator *a = context;
    a->live -= memory != NULL;
    free(memory);
}

fmt_alloc test_fmt_alloc(test_allocator *allocator)
{
    return (fmt_alloc){count_realloc, count_free, allocator};
}

shard_allocator test_shard_allocator(test_allocator *allocator)
{
    return (shard_allocator){count_realloc, count_free, allocator};
}

static test_allocator *json_allocator;

static void *json_allocate(size_t size)
{
    return count_realloc(json_allocator, NULL, size);
}

static void json_release(void *memory)
{
    count_free(json_allocator, memory);
}

void test_allocate_json_with(test_allocator *allocator)
{
    json_allocator = allocator;
    if (allocator)
        json_set_alloc_funcs(json_allocate, json_release);
    else
        json_set_alloc_funcs(malloc, free);
}

size_t test_every_allocation(test_body body, void *context)
{
    for (size_t i = 1;; i++) {
        test_allocator allocator = {.fail_at = i};
        bool succeeded = body(&allocator, context);
        assert_int_equal(allocator.live, 0);
        if (allocator.asked < i) {
            assert_true(succeeded);
            return i - 1;
        }
        assert_false(succeeded);
    }
}
