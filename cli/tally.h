/* SPDX-License-Identifier: Apache-2.0 */
/* Counting things by name, and sizes by powers of two: what `info` shows. */
#ifndef CLI_TALLY_H
#define CLI_TALLY_H

#include <stddef.h>
#include <stdint.h>

enum { TALLY_BUCKETS = 64 };

typedef struct {
    uint64_t count, total, least, most;
    uint64_t bucket[TALLY_BUCKETS]; /* [0]: 0; [i]: 2^(i-1) to 2^i - 1 */
} size_tally;

void size_tally_add(size_tally *t, uint64_t size);

typedef struct {
    char name[256];
    size_tally sizes;
} named_tally;

typedef struct {
    named_tally *item;
    size_t count, capacity;
} tally_list;

/* The entry of this name, new or known. */
named_tally *tally_find(tally_list *list, const char *name);
void tally_sort_by_count(tally_list *list);
void tally_free(tally_list *list);

#endif
