/* SPDX-License-Identifier: Apache-2.0 */
#include "loader/decoders.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

enum { ROWS = 2 };

/* One row of one sample by decoders of one field. */
typedef struct {
    test_allocator allocator;
    shard_budget budget;
    shard_device device;
    loader_fields fields;
    loader_decoders decoders;
    shard_slot slot;
    shard_error err;
} bench;

static void set_up(bench *b, const shard_field *field)
{
    shard_loader_opts o = SHARD_LOADER_OPTS_INIT;
    *b = (bench){0};
    o.fields = field;
    o.field_count = 1;
    o.batch = ROWS;
    b->budget = (shard_budget){.limit = 1 << 20, .alloc = test_fmt_alloc(&b->allocator)};
    shard_device_init_host(&b->device, &b->budget.alloc);
    assert_int_equal(loader_fields_init(&b->fields, &o, &b->budget.alloc, &b->err), SHARD_OK);
    assert_int_equal(
        loader_decoders_init(&b->decoders, &b->fields, NULL, &b->budget.alloc, &b->err), SHARD_OK);
    assert_int_equal(shard_slot_init(&b->slot, &b->fields.layout, &b->device, &b->budget, &b->err),
                     SHARD_OK);
}

static void tear_down(bench *b)
{
    shard_slot_clear(&b->slot, &b->device, &b->budget);
    loader_decoders_clear(&b->decoders);
    loader_fields_clear(&b->fields);
    assert_int_equal(b->allocator.live, 0);
}

/* Decode a sample "k" whose one component is `name`, into row 1. Its bytes end where memory does.
 */
static shard_status decode(bench *b, const char *name, const void *bytes, size_t size)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    shard_sample_component component = {name, copy, size};
    loader_sample sample = {"k", &component, 1, 77};
    shard_status status = loader_decode(&b->decoders, &sample, &b->slot, 1, &b->err);
    free(copy);
    return status;
}

/* ---- integers ---- */

static const shard_field integer = {.component = "cls", .kind = SHARD_FIELD_INTEGER};

static void decimal_numbers_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"0", 0},
        {"7", 7},
        {"-7", -7},
        {"+7", 7},
        {"007", 7},
        {" 42\n", 42},
        {"\t\r\n\v\f42 \t\r\n", 42},
        {"-0", 0},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
        {"00000000000000000000000000000009223372036854775807", INT64_MAX},
    };
    bench b;
    set_up(&b, &integer);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(decode(&b, "cls", cases[i].text, strlen(cases[i].text)), SHARD_OK);
        assert_true(((int64_t *)b.slot.tensor[0].data)[1] == cases[i].value);
    }
    tear_down(&b);
}

static void what_is_no_decimal_number_is_named(void **state)
{
    (void)state;
    static const char *const cases[] = {"",
                                        " ",
                                        "\n",
                                        "-",
                                        "+",
                                        "--1",
                                        "+-1",
                                        "- 1",
                                        "1 2",
                                        "1.0",
                                        "1e3",
                                        "0x10",
                                        "seven",
                                        "7a",
                                        "\xef\xbc\x97",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "18446744073709551617",
                                        "99999999999999999999999"};
    bench b;
    set_up(&b, &integer);
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_int_equal(decode(&b, "cls", cases[i], strlen(cases[i])), SHARD_EDATA);
        assert_non_null(strstr(b.err.message, "component \"cls\" of \"k\": not a decimal number"));
    }
    assert_int_equal(decode(&b, "cls", "7\0", 2), SHARD_EDATA);
    tear_down(&b);
}

/* ---- components that are not there ---- */

static void a_component_that_is_missing_is_named(void **state)
{
    (void)state;
    bench b;
    set_up(&b, &integer);
    assert_int_equal(decode(&b, "txt", "7", 1), SHARD_EDATA);
    assert_string_equal(b.err.message, "sample \"k\" has no component \"cls\"");
    tear_down(&b);
}

static void an_optional_one_is_zeros(void **state)
{
    (void)state;
    shard_field optional = integer;
    optional.optional = true;
    bench b;
    set_up(&b, &optional);
    assert_int_equal(decode(&b, "cls", "7", 1), SHARD_OK);
    assert_int_equal(decode(&b, "txt", "7", 1), SHARD_OK);
    assert_int_equal(((int64_t *)b.slot.tensor[0].data)[1], 0);
    assert_int_equal(decode(&b, "cls", "x", 1), SHARD_EDATA); /* one that is there must be good */
    tear_down(&b);
}

/* ---- arrays ---- */

static size_t make_npy(uint8_t *out, const char *type, const char *shape, size_t data)
{
    char header[128];
    int size = snprintf(header, sizeof header,
                        "{'descr': '%s', 'fortran_order': False, 'shape': %s}\n", type, shape);
    memcpy(out, "\x93NUMPY\1\0", 8);
    fmt_store16(out + 8, (uint16_t)size);
    memcpy(out + 10, header, (size_t)size);
    for (size_t i = 0; i < data; i++)
        out[10 + (size_t)size + i] = (uint8_t)(i + 1);
    return 10 + (size_t)size + data;
}

static void arrays_of_each_dtype_are_copied(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        shard_dtype dtype;
    } cases[] = {{"|b1", SHARD_U8},  {"|u1", SHARD_U8},  {"|i1", SHARD_I8},  {"<u2", SHARD_U16},
                 {"<i2", SHARD_I16}, {"<u4", SHARD_U32}, {"<i4", SHARD_I32}, {"<u8", SHARD_U64},
                 {"<i8", SHARD_I64}, {"<f2", SHARD_F16}, {"<f4", SHARD_F32}, {"<f8", SHARD_F64}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t bytes[256];
        shard_field field = {.component = "npy",
                             .kind = SHARD_FIELD_NPY,
                             .dtype = cases[i].dtype,
                             .dims = 2,
                             .shape = {2, 3}};
        bench b;
        set_up(&b, &field);
        size_t data = 6 * shard_dtype_size(cases[i].dtype);
        size_t size = make_npy(bytes, cases[i].type, "(2, 3)", data);
        assert_int_equal(decode(&b, "npy", bytes, size), SHARD_OK);
        assert_memory_equal((uint8_t *)b.slot.tensor[0].data + data, bytes + size - data, data);
        tear_down(&b);
    }
}

static void an_array_of_no_dimensions_is_a_number(void **state)
{
    (void)state;
    uint8_t bytes[256];
    shard_field field = {.component = "npy", .kind = SHARD_FIELD_NPY, .dtype = SHARD_F32};
    bench b;
    set_up(&b, &field);
    assert_int_equal(decode(&b, "npy", bytes, make_npy(bytes, "<f4", "()", 4)), SHARD_OK);
    assert_memory_equal((uint8_t *)b.slot.tensor[0].data + 4, "\1\2\3\4", 4);
    tear_down(&b);
}

static void arrays_of_another_shape_or_dtype_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *type, *shape;
        size_t data;
        const char *named;
    } cases[] = {{"<f4", "(3, 2)", 24, "(3,2) of f4"},      {"<f4", "(6,)", 24, "(6) of f4"},
                 {"<f4", "(2, 3, 1)", 24, "(2,3,1) of f4"}, {"<i4", "(2, 3)", 24, "(2,3) of i4"},
                 {"<f8", "(2, 3)", 48, "(2,3) of f8"},      {"<f4", "(2, 0)", 0, "(2,0) of f4"}};
    shard_field field = {.component = "npy",
                         .kind = SHARD_FIELD_NPY,
                         .dtype = SHARD_F32,
                         .dims = 2,
                         .shape = {2, 3}};
    bench b;
    set_up(&b, &field);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint8_t bytes[256];
        size_t size = make_npy(bytes, cases[i].type, cases[i].shape, cases[i].data);
        assert_int_equal(decode(&b, "npy", bytes, size), SHARD_EDATA);
        assert_non_null(strstr(b.err.message, "component \"npy\" of \"k\""));
        assert_non_null(strstr(b.err.message, cases[i].named));
    }
    tear_down(&b);
}

static void what_is_no_array_is_an_error_of_its_format(void **state)
{
    (void)state;
    uint8_t bytes[256];
    shard_field field = {
        .component = "npy", .kind = SHARD_FIELD_NPY, .dtype = SHARD_F32, .dims = 1, .shape = {1}};
    bench b;
    set_up(&b, &field);
    size_t size = make_npy(bytes, "<f4", "(1,)", 4);
    assert_int_equal(decode(&b, "npy", bytes, size), SHARD_OK);
    assert_int_equal(decode(&b, "npy", bytes, size - 1), SHARD_ETRUNCATED);
    assert_int_equal(decode(&b, "npy", "PK\3\4", 4), SHARD_EFORMAT);
    size = make_npy(bytes, ">f4", "(1,)", 4);
    assert_int_equal(decode(&b, "npy", bytes, size), SHARD_EUNSUPPORTED);
    assert_non_null(strstr(b.err.message, ">f4"));
    tear_down(&b);
}

/* ---- the caller's ---- */

static shard_status custom(void *context, const shard_decode_input *input, void *out, size_t size,
                           shard_error *err)
{
    static const uint8_t zeros[6];
    (void)err;
    assert_string_equal(input->key, "k");
    assert_string_equal(input->component, "vec");
    assert_text(input->data, input->size, "abcdef");
    assert_int_equal(input->random, 77);
    assert_int_equal(size, 6);
    assert_memory_equal(out, zeros, 6);
    memcpy(out, context, 6);
    return SHARD_OK;
}

static void a_decoder_of_the_caller_gets_the_component_and_a_row(void **state)
{
    (void)state;
    char context[] = "uvwxyz";
    shard_field field = {.component = "vec",
                         .kind = SHARD_FIELD_CUSTOM,
                         .dtype = SHARD_I16,
                         .dims = 1,
                         .shape = {3},
                         .decode = custom,
                         .context = context};
    bench b;
    set_up(&b, &field);
    for (int i = 0; i < 2; i++) /* the row holds zeros again */
        assert_int_equal(decode(&b, "vec", "abcdef", 6), SHARD_OK);
    assert_memory_equal((uint8_t *)b.slot.tensor[0].data + 6, "uvwxyz", 6);
    tear_down(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decimal_numbers_are_read),
        cmocka_unit_test(what_is_no_decimal_number_is_named),
        cmocka_unit_test(a_component_that_is_missing_is_named),
        cmocka_unit_test(an_optional_one_is_zeros),
        cmocka_unit_test(arrays_of_each_dtype_are_copied),
        cmocka_unit_test(an_array_of_no_dimensions_is_a_number),
        cmocka_unit_test(arrays_of_another_shape_or_dtype_are_named),
        cmocka_unit_test(what_is_no_array_is_an_error_of_its_format),
        cmocka_unit_test(a_decoder_of_the_caller_gets_the_component_and_a_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
