/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: how a path is split, how keys and components are stored, and patterns there and back.
 *
 * Input: eight bytes that choose one of a pattern's names, the text.
 */
#include "fuzz.h"

#include "naming/pattern.h"
#include "naming/sample_name.h"

enum { LIST_MOST = 32, CONTROL = 8 };

static void check_stored(fmt_span key, fmt_span component)
{
    char *text = (char *)fuzz_copy(key.data, key.size);
    const char *before = (const char *)key.data;
    FUZZ_CHECK(fmt_key_write(text, before, key.size) ==
               !fuzz_same(key, (fmt_span){(uint8_t *)text, key.size}));
    FUZZ_CHECK(!memchr(text, '.', key.size));
    FUZZ_CHECK(!fmt_key_write(text, text, key.size)); /* once is enough */
    free(text);
    text = (char *)fuzz_copy(component.data, component.size);
    fmt_component_copy(text, (const char *)component.data, component.size);
    fmt_component_write(text, (const char *)component.data, component.size);
    char *again = (char *)fuzz_copy(text, component.size);
    fmt_component_write(again, text, component.size);
    FUZZ_CHECK(memcmp(text, again, component.size) == 0);
    free(again);
    free(text);
}

static void check_split(const char *path, size_t size)
{
    fmt_name name;
    if (fmt_name_split(path, size, &name) != FMT_NAME_COMPONENT)
        return;
    FUZZ_CHECK(name.key_size > 0 && path[name.key_size] == '.');
    FUZZ_CHECK(name.component_size > 0 && name.component_size <= FMT_COMPONENT_MAX);
    FUZZ_CHECK(name.key_size + 1 + name.component_size == size);
    FUZZ_CHECK(!memchr(path + name.key_size, '/', size - name.key_size));
    const uint8_t *bytes = (const uint8_t *)path;
    check_stored((fmt_span){bytes, name.key_size},
                 (fmt_span){bytes + name.key_size + 1, name.component_size});
}

/* A name fits just where there is room for it and its NUL, and nothing is written behind that. */
static void check_name(const fmt_pattern *pattern, uint64_t i)
{
    char name[FMT_PATTERN_NAME_MAX];
    if (fmt_pattern_name(pattern, i, name, sizeof name) != FMT_OK)
        return;
    size_t size = strlen(name) + 1;
    char *exact = malloc(size);
    FUZZ_CHECK(exact);
    FUZZ_CHECK(fmt_pattern_name(pattern, i, exact, size) == FMT_OK);
    FUZZ_CHECK(memcmp(exact, name, size) == 0);
    FUZZ_CHECK(fmt_pattern_name(pattern, i, exact, size - 1) == FMT_ELIMIT);
    free(exact);
}

static const char *name_of_pattern(const void *context, size_t i)
{
    static char names[3][FMT_PATTERN_NAME_MAX]; /* more than fmt_pattern_of holds at a time */
    static unsigned next;
    char *name = names[next++ % 3];
    return fmt_pattern_name(context, i, name, FMT_PATTERN_NAME_MAX) == FMT_OK ? name : "";
}

static void check_pattern(const char *text, size_t size, bool counter, uint64_t some)
{
    fmt_pattern pattern;
    fmt_fault fault = {0};
    char of[FMT_PATTERN_NAME_MAX];
    if (fmt_pattern_parse(&pattern, text, size, counter, &fault) != FMT_OK) {
        FUZZ_CHECK(fault.what);
        return;
    }
    FUZZ_CHECK(pattern.count > 0 && pattern.parts >= 0 && pattern.parts <= FMT_PATTERN_PARTS_MAX);
    uint64_t count = pattern.count < INT64_MAX ? pattern.count : INT64_MAX;
    check_name(&pattern, 0);
    check_name(&pattern, count - 1);
    check_name(&pattern, some % count);
    if (count <= LIST_MOST)
        (void)fmt_pattern_of(name_of_pattern, &pattern, (size_t)count, of, sizeof of);
}

/* ---- the pattern of a list ---- */

static const char *name_of_list(const void *context, size_t i)
{
    char *const *names = context;
    return names[i];
}

/* The text's lines as names: a pattern that is found must stand for just these. */
static void check_list(const char *text, size_t size)
{
    char *copy = (char *)fuzz_copy(text, size), *names[LIST_MOST], of[FMT_PATTERN_NAME_MAX];
    size_t count = 0, at = 0;
    fmt_pattern pattern;
    fmt_fault fault;
    while (at < size && count < LIST_MOST) {
        const char *end = memchr(copy + at, '\n', size - at);
        if (!end)
            break;
        names[count++] = copy + at;
        at = (size_t)(end - copy) + 1;
        copy[at - 1] = 0;
    }
    if (fmt_pattern_of(name_of_list, names, count, of, sizeof of)) {
        FUZZ_CHECK(fmt_pattern_parse(&pattern, of, strlen(of), false, &fault) == FMT_OK);
        FUZZ_CHECK(pattern.count == count);
        for (size_t i = 0; i < count; i++)
            FUZZ_CHECK(strcmp(name_of_pattern(&pattern, i), names[i]) == 0);
    }
    (void)fmt_pattern_of(name_of_list, names, count, of, 1);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < CONTROL)
        return 0;
    const char *text = (const char *)data + CONTROL;
    uint64_t some = fmt_load64(data);
    check_split(text, size - CONTROL);
    if (memchr(text, 0, size - CONTROL))
        return 0; /* patterns come from options and manifests, which hold no NUL */
    check_pattern(text, size - CONTROL, false, some);
    check_pattern(text, size - CONTROL, true, some);
    check_list(text, size - CONTROL);
    return 0;
}
