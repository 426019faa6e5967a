/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that is taken piece by piece and given back all at once. */
#ifndef FMT_ARENA_H
#define FMT_ARENA_H

#include "fmt.h"

typedef struct {
    const fmt_alloc *alloc;
    struct fmt_arena_chunk *chunks;
    size_t left;    /* in the newest chunk */
    uint64_t total; /* bytes of all chunks */
} fmt_arena;

void fmt_arena_init(fmt_arena *arena, const fmt_alloc *alloc);
void fmt_arena_clear(fmt_arena *arena); /* and ready for use again */

/* `size` bytes, aligned for any type, as they come; NULL when memory is short. */
void *fmt_arena_take(fmt_arena *arena, size_t size);

/* `count` elements of `size` bytes, all zeros; NULL when memory is short or the product overflows.
 */
void *fmt_arena_array(fmt_arena *arena, size_t count, size_t size);

/* A copy of `size` bytes, a NUL behind them, unaligned; NULL when memory is short. */
char *fmt_arena_text(fmt_arena *arena, const void *bytes, size_t size);

#endif
