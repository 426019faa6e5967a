/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets share. Each target is one file with one LLVMFuzzerTestOneInput; a finding
 * is a crash, a sanitizer's report, or an invariant that FUZZ_CHECK saw broken.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Unlike assert(), there in every build type. */
#define FUZZ_CHECK(condition)                                                       \
    do {                                                                            \
        if (!(condition)) {                                                         \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            abort();                                                                \
        }                                                                           \
    } while (0)

static inline bool fuzz_same(fmt_span a, fmt_span b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

/* Reads every byte, so that a span that leaves its memory is seen by the sanitizers. */
static inline void fuzz_touch(fmt_span span)
{
    static volatile uint8_t sum;
    for (size_t i = 0; i < span.size; i++)
        sum = (uint8_t)(sum + span.data[i]);
}

/* A copy of exactly this size on the heap: what is read behind it is seen. free() it. */
static inline uint8_t *fuzz_copy(const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    FUZZ_CHECK(copy);
    if (size > 0)
        memcpy(copy, bytes, size);
    return copy;
}

/* The first byte of the input; 0 where there is none. */
static inline uint8_t fuzz_take_byte(fmt_span *in)
{
    if (in->size == 0)
        return 0;
    in->size--;
    return *in->data++;
}

/* Text that grows, as a sink for writers. Starts as {0}; free(bytes). */
typedef struct {
    char *bytes;
    size_t size;
} fuzz_text;

static inline bool fuzz_put(void *context, const char *bytes, size_t size)
{
    fuzz_text *text = context;
    text->bytes = realloc(text->bytes, text->size + size + 1);
    FUZZ_CHECK(text->bytes);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = 0;
    return true;
}

static inline fmt_span fuzz_text_span(const fuzz_text *text)
{
    return (fmt_span){(const uint8_t *)text->bytes, text->size};
}

#endif
