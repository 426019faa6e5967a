/* SPDX-License-Identifier: Apache-2.0 */
#include "dali/dali_idx.h"

#include "test.h"

static fmt_span span(const char *text)
{
    return (fmt_span){(const uint8_t *)text, strlen(text)};
}

/* Read an index to its end: FMT_END, or the error. `count` gets the components. */
static fmt_status read_all(const char *text, int *count, int *samples)
{
    fmt_dali_reader reader;
    fmt_dali_component c;
    fmt_fault fault;
    fmt_status status = fmt_dali_open(&reader, span(text), &fault);
    *count = *samples = 0;
    while (status == FMT_OK && (status = fmt_dali_next(&reader, &c, &fault)) == FMT_OK) {
        ++*count;
        *samples += c.begins_sample;
    }
    return status;
}

static void samples_and_components(void **state)
{
    (void)state;
    int count, samples;
    assert_int_equal(read_all("v1.2 2\njpg 512 700 s0.jpg cls 2048 1 s0.cls\njpg 3072 7 s1.jpg\n",
                              &count, &samples),
                     FMT_END);
    assert_int_equal(count, 3);
    assert_int_equal(samples, 2);
    /* No last line's end; lines past the count; carriage returns; as DALI takes them. */
    assert_int_equal(read_all("v1.2 1\r\njpg 512 700 s0.jpg", &count, &samples), FMT_END);
    assert_int_equal(read_all("v1.2 1\njpg 512 700 s0.jpg\nwhatever", &count, &samples), FMT_END);
    assert_int_equal(count, 1);
}

static void fields_are_read(void **state)
{
    (void)state;
    fmt_dali_reader reader;
    fmt_dali_component c;
    fmt_fault fault;
    assert_int_equal(
        fmt_dali_open(&reader, span("v1.2 1\nseg.png 1024 41185 d/a.seg.png\n"), &fault), FMT_OK);
    assert_int_equal(fmt_dali_next(&reader, &c, &fault), FMT_OK);
    assert_true(c.begins_sample);
    assert_text(c.component.data, c.component.size, "seg.png");
    assert_text(c.name.data, c.name.size, "d/a.seg.png");
    assert_int_equal(c.offset, 1024);
    assert_int_equal(c.size, 41185);
}

static void damage_is_an_error(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        fmt_status status;
    } bad[] = {
        {"", FMT_EINVALID},
        {"v1.1 1\njpg 512 7\n", FMT_EUNSUPPORTED},
        {"v9 1\n", FMT_EINVALID},
        {"v1.2 -1\n", FMT_EINVALID},
        {"v1.2 99999999999999999999\n", FMT_EINVALID},
        {"v1.2 1 1\n", FMT_EINVALID},
        {"v1.2 2\njpg 512 7 a.jpg\n", FMT_ETRUNCATED},
        {"v1.2 2\n\njpg 512 7 a.jpg\n", FMT_EINVALID}, /* an empty line */
        {"v1.2 1\njpg 512 7\n", FMT_EINVALID},         /* a field is missing */
        {"v1.2 1\njpg 512 7 a b.jpg\n", FMT_EINVALID}, /* a space in a name */
        {"v1.2 1\njpg 513 7 a.jpg\n", FMT_EINVALID},
        {"v1.2 1\njpg 0 7 a.jpg\n", FMT_EINVALID},
        {"v1.2 1\njpg x 7 a.jpg\n", FMT_EINVALID},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        int count, samples;
        fmt_status status = read_all(bad[i].text, &count, &samples);
        if (status != bad[i].status)
            fail_msg("%s: %d", bad[i].text, status);
    }
}

static void what_is_written(void **state)
{
    (void)state;
    char out[FMT_DALI_LINE_MAX];
    assert_text(out, fmt_dali_write_head(out, 9039), "v1.2 9039\n");
    assert_text(out, fmt_dali_write(out, span("dog/01"), span("jpg"), 512, 41185),
                "jpg 512 41185 dog/01.jpg");
    assert_int_equal(fmt_dali_write(out, span("a b"), span("jpg"), 512, 1), 0);
    assert_int_equal(fmt_dali_write(out, span("ab"), span("j\tpg"), 512, 1), 0);
    assert_int_equal(fmt_dali_write(out, span(""), span("jpg"), 512, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_and_components),
        cmocka_unit_test(fields_are_read),
        cmocka_unit_test(damage_is_an_error),
        cmocka_unit_test(what_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
