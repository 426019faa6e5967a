/* SPDX-License-Identifier: Apache-2.0 */
/* DALI's index: read to its end, and what can be written of it read again. */
#include "fuzz.h"

#include "dali/dali_idx.h"

enum { BLOCK = 512 };

static void check_again(fmt_span line, const fmt_dali_component *expected)
{
    fuzz_text text = {0};
    char head[FMT_DALI_LINE_MAX];
    fmt_dali_reader reader;
    fmt_dali_component component;
    fmt_fault fault;
    fuzz_put(&text, head, fmt_dali_write_head(head, 1));
    fuzz_put(&text, (const char *)line.data, line.size);
    FUZZ_CHECK(fmt_dali_open(&reader, fuzz_text_span(&text), &fault) == FMT_OK);
    FUZZ_CHECK(fmt_dali_next(&reader, &component, &fault) == FMT_OK);
    FUZZ_CHECK(component.begins_sample);
    FUZZ_CHECK(fuzz_same(component.component, expected->component));
    FUZZ_CHECK(fuzz_same(component.name, expected->name));
    FUZZ_CHECK(component.offset == expected->offset && component.size == expected->size);
    FUZZ_CHECK(fmt_dali_next(&reader, &component, &fault) == FMT_END);
    free(text.bytes);
}

/* Where a name is KEY.COMPONENT, as in all that is written. */
static void write_again(const fmt_dali_component *c)
{
    char *line = malloc(FMT_DALI_LINE_MAX);
    FUZZ_CHECK(line);
    size_t behind = c->component.size + 1;
    if (c->name.size > behind && c->name.data[c->name.size - behind] == '.' &&
        memcmp(c->name.data + c->name.size - behind + 1, c->component.data, behind - 1) == 0) {
        fmt_span key = {c->name.data, c->name.size - behind};
        size_t size = fmt_dali_write(line, key, c->component, c->offset, c->size);
        FUZZ_CHECK(size <= FMT_DALI_LINE_MAX);
        if (size > 0)
            check_again((fmt_span){(uint8_t *)line, size}, c);
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_dali_reader reader;
    fmt_dali_component component;
    fmt_fault fault = {0};
    uint64_t samples = 0;
    size_t at = 0;
    fmt_status status = fmt_dali_open(&reader, (fmt_span){data, size}, &fault);
    while (status == FMT_OK && (status = fmt_dali_next(&reader, &component, &fault)) == FMT_OK) {
        FUZZ_CHECK(reader.at > at && reader.at <= size); /* so it comes to an end */
        at = reader.at;
        samples += component.begins_sample;
        FUZZ_CHECK(component.component.size > 0 && component.name.size > 0);
        FUZZ_CHECK(component.offset % BLOCK == 0 && component.offset >= BLOCK);
        FUZZ_CHECK(component.offset <= INT64_MAX && component.size <= INT64_MAX);
        write_again(&component);
    }
    FUZZ_CHECK(status == FMT_END ? samples == reader.samples : fault.what != NULL);
    return 0;
}
