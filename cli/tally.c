/* SPDX-License-Identifier: Apache-2.0 */
#include "tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

void size_tally_add(size_tally *t, uint64_t size)
{
    int bucket = 0;
    for (uint64_t rest = size; rest > 0; rest >>= 1)
        bucket++;
    t->bucket[bucket < TALLY_BUCKETS ? bucket : TALLY_BUCKETS - 1]++;
    if (t->count == 0 || size < t->least)
        t->least = size;
    if (size > t->most)
        t->most = size;
    t->total += size;
    t->count++;
}

named_tally *tally_find(tally_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].name, name) == 0)
            return &list->item[i];
    if (list->count == list->capacity) {
        list->capacity = list->capacity * 2 + 8;
        list->item = realloc(list->item, list->capacity * sizeof *list->item);
        if (!list->item)
            cli_die_memory();
    }
    named_tally *item = &list->item[list->count++];
    memset(item, 0, sizeof *item);
    snprintf(item->name, sizeof item->name, "%s", name);
    return item;
}

static int compare(const void *a_, const void *b_)
{
    const named_tally *a = a_, *b = b_;
    if (a->sizes.count != b->sizes.count)
        return a->sizes.count < b->sizes.count ? 1 : -1;
    return strcmp(a->name, b->name);
}

void tally_sort_by_count(tally_list *list)
{
    if (list->count > 0)
        qsort(list->item, list->count, sizeof *list->item, compare);
}

void tally_free(tally_list *list)
{
    free(list->item);
    *list = (tally_list){0};
}
