/* SPDX-License-Identifier: Apache-2.0 */
/* An allocator that counts what is live and fails on demand. */
#ifndef TEST_ALLOCATOR_H
#define TEST_ALLOCATOR_H

#include <shard/memory.h>

#include "fmt.h"

typedef struct {
    size_t live;    /* blocks not yet freed */
    size_t asked;   /* allocations and reallocations so far */
    size_t fail_at; /* this one (from 1) fails, once; 0: none */
} test_allocator;

fmt_alloc test_fmt_alloc(test_allocator *allocator);
shard_allocator test_shard_allocator(test_allocator *allocator);

/* Let jansson, which knows no allocator but a global one, ask this one too; NULL: no longer. */
void test_allocate_json_with(test_allocator *allocator);

/*
 * Run `body` with the first allocation failing, then with the second, and so on, until it gets
 * through without having met a failure. `body` says whether it succeeded and leaves nothing
 * allocated; each run that met a failure must not succeed. Returns how many failures there were.
 */
typedef bool (*test_body)(test_allocator *allocator, void *context);
size_t test_every_allocation(test_body body, void *context);

#endif
