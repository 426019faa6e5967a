/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names with ranges in them: "out-{000..099}.tar" is a hundred names, found by number without being
 * listed. Braces as bash writes them, without nesting: {000..099}, {0..30..10}, {a..e}, {x,y,z};
 * <000..099> is the same as {000..099} and needs no quotes against brace expansion. Anything else
 * in braces or angle brackets stands for itself. `%06d` is a counter without end.
 */
#ifndef FMT_PATTERN_H
#define FMT_PATTERN_H

#include "fmt.h"

enum {
    FMT_PATTERN_PARTS_MAX = 16,
    FMT_PATTERN_DIGITS_MAX = 9,
    FMT_PATTERN_NAME_MAX = 4096,
};

#define FMT_PATTERN_ENDLESS UINT64_MAX

typedef struct {
    enum {
        FMT_PART_LITERAL,
        FMT_PART_NUMBERS,
        FMT_PART_LETTERS,
        FMT_PART_CHOICE,
        FMT_PART_COUNTER
    } kind;
    fmt_span text; /* a literal, or the choices between their braces */
    int64_t first, step;
    uint64_t count;
    int width; /* digits, zeros in front; 0: as many as needed */
} fmt_pattern_part;

typedef struct {
    fmt_pattern_part part[FMT_PATTERN_PARTS_MAX];
    int parts;
    uint64_t count; /* how many names; FMT_PATTERN_ENDLESS with a counter */
} fmt_pattern;

/* Parse `text`, which must stay as it is while `out` is used. `counter`: %d and %06d are counters.
 */
fmt_status fmt_pattern_parse(fmt_pattern *out, const char *text, size_t size, bool counter,
                             fmt_fault *fault);

/*
 * Write name number `i` < count with a final NUL into `out`; the rightmost range runs fastest.
 * FMT_ELIMIT where it does not fit `capacity`.
 */
fmt_status fmt_pattern_name(const fmt_pattern *pattern, uint64_t i, char *out, size_t capacity);

/*
 * The pattern with one range that stands for these names in this order, with a final NUL:
 * consecutive numbers of one width between the same beginning and end. False where there is none,
 * or it does not fit `capacity`, or there are fewer than two names.
 */
typedef const char *(*fmt_pattern_name_at)(const void *context, size_t i);
bool fmt_pattern_of(fmt_pattern_name_at name, const void *context, size_t count, char *out,
                    size_t capacity);

#endif
