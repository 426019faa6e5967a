/* SPDX-License-Identifier: Apache-2.0 */
#include "npy/npy.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

enum { FILE_MOST = 4096 };

typedef struct {
    uint8_t bytes[FILE_MOST];
    size_t size;
} file;

/* A file of this version whose header is `text` and a new line, and behind it `data` bytes. */
static file make(uint8_t version, const char *text, size_t data)
{
    file f = {.size = 8};
    size_t size = strlen(text) + 1;
    memcpy(f.bytes, "\x93NUMPY", 6);
    f.bytes[6] = version;
    if (version == 1)
        fmt_store16(f.bytes + f.size, (uint16_t)size);
    else
        fmt_store32(f.bytes + f.size, (uint32_t)size);
    f.size += version == 1 ? 2 : 4;
    memcpy(f.bytes + f.size, text, size - 1);
    f.bytes[f.size + size - 1] = '\n';
    f.size += size;
    for (size_t i = 0; i < data; i++)
        f.bytes[f.size++] = (uint8_t)i;
    assert_true(f.size <= FILE_MOST);
    return f;
}

/* Read from memory of exactly this size, so that what is read past it is seen. */
static fmt_status read_bytes(const uint8_t *bytes, size_t size, fmt_npy *out, fmt_fault *fault)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    *fault = (fmt_fault){0};
    fmt_status status = fmt_npy_read(out, (fmt_span){copy, size}, fault);
    free(copy);
    return status;
}

static fmt_status read_text(const char *text, size_t data, fmt_npy *out, fmt_fault *fault)
{
    file f = make(1, text, data);
    return read_bytes(f.bytes, f.size, out, fault);
}

static fmt_status status_of(const char *text, size_t data, const char *why)
{
    fmt_npy npy;
    fmt_fault fault;
    fmt_status status = read_text(text, data, &npy, &fault);
    if (status != FMT_OK && (!fault.what || !strstr(fault.what, why)))
        fail_msg("%s: got \"%s\", expected \"%s\"", text, fault.what ? fault.what : "", why);
    return status;
}

/* ---- what is read ---- */

static void all_kinds_of_numbers_are_known(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        char kind;
        uint32_t width;
    } cases[] = {
        {"|b1", 'b', 1}, {"|u1", 'u', 1}, {"|i1", 'i', 1}, {"<u2", 'u', 2},
        {"<i2", 'i', 2}, {"<u4", 'u', 4}, {"<i4", 'i', 4}, {"<u8", 'u', 8},
        {"<i8", 'i', 8}, {"<f2", 'f', 2}, {"<f4", 'f', 4}, {"<f8", 'f', 8},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[100];
        fmt_npy npy;
        fmt_fault fault;
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (3, 2), }",
                 cases[i].type);
        assert_int_equal(read_text(text, (size_t)6 * cases[i].width, &npy, &fault), FMT_OK);
        assert_int_equal(npy.kind, cases[i].kind);
        assert_int_equal(npy.width, cases[i].width);
        assert_int_equal(npy.dims, 2);
        assert_true(npy.shape[0] == 3 && npy.shape[1] == 2);
        assert_int_equal(npy.size, 6 * cases[i].width);
        assert_int_equal(npy.data, 10 + strlen(text) + 1);
    }
}

static void all_three_versions_are_read(void **state)
{
    (void)state;
    const char *text = "{'descr': '<u2', 'fortran_order': False, 'shape': (4,), }";
    for (uint8_t version = 1; version <= 3; version++) {
        fmt_npy npy;
        fmt_fault fault;
        file f = make(version, text, 8);
        assert_int_equal(read_bytes(f.bytes, f.size, &npy, &fault), FMT_OK);
        assert_int_equal(npy.data, f.size - 8);
    }
    for (int version = 0; version < 256; version++) {
        fmt_npy npy;
        fmt_fault fault;
        file f = make((uint8_t)version, text, 8);
        if (version < 1 || version > 3)
            assert_int_equal(read_bytes(f.bytes, f.size, &npy, &fault), FMT_EUNSUPPORTED);
    }
}

static void shapes_of_any_length_are_read(void **state)
{
    (void)state;
    fmt_npy npy;
    fmt_fault fault;
    assert_int_equal(
        read_text("{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 4, &npy, &fault),
        FMT_OK);
    assert_true(npy.dims == 0 && npy.size == 4);
    assert_int_equal(
        read_text("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }", 0, &npy, &fault),
        FMT_OK);
    assert_true(npy.dims == 2 && npy.size == 0);
    char text[400] = "{'descr': '|u1', 'fortran_order': False, 'shape': (";
    for (int i = 0; i < FMT_NPY_DIMS_MAX; i++)
        strcat(text, "1,");
    strcat(text, ")}");
    assert_int_equal(read_text(text, 1, &npy, &fault), FMT_OK);
    assert_int_equal(npy.dims, FMT_NPY_DIMS_MAX);
    strcpy(text + strlen(text) - 2, "1,)}");
    assert_int_equal(status_of(text, 1, "32 dimensions"), FMT_EINVALID);
}

/* Other programs write the dictionary in their own way. */
static void order_quotes_and_spaces_do_not_matter(void **state)
{
    (void)state;
    assert_int_equal(
        status_of("{\"shape\":(2,1),\"fortran_order\":False,\"descr\":\"<i2\"}", 4, ""), FMT_OK);
    assert_int_equal(
        status_of("{ 'shape' : ( 2 , ) ,\n'descr' :\t'<i2' , 'fortran_order':False }   \n", 4, ""),
        FMT_OK);
    assert_int_equal(status_of("{'descr':'<i2','fortran_order':True,'shape':(2,)}", 4, ""), FMT_OK);
    assert_int_equal(status_of("{'descr':'<i2','fortran_order':True,'shape':()}", 2, ""), FMT_OK);
}

/* ---- what is refused ---- */

static void numbers_that_cannot_be_copied_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const types[] = {
        ">f4", ">u2", "=f4",  "<c8", "|O", "|S5", "<U3", "<M8[ns]", "|V8", "<f1", "<b2", "|i2",
        "|f4", "<i3", "<f16", "<i",  "",   "<4i", "i4",  "<i44",    "|b8", "<u0", "<u9"};
    for (size_t i = 0; i < COUNT(types); i++) {
        char text[100];
        fmt_npy npy;
        fmt_fault fault;
        snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }",
                 types[i]);
        assert_int_equal(read_text(text, 4, &npy, &fault), FMT_EUNSUPPORTED);
        assert_string_equal(fault.name, types[i]);
    }
}

static void a_zero_byte_in_a_type_is_no_match(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        fmt_npy npy;
        fmt_fault fault;
        file f = make(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 4);
        f.bytes[10 + strlen("{'descr': '") + i] = 0;
        assert_int_equal(read_bytes(f.bytes, f.size, &npy, &fault), FMT_EUNSUPPORTED);
    }
}

static void structures_are_refused(void **state)
{
    (void)state;
    assert_int_not_equal(status_of("{'descr': [('a', '<f4')], 'fortran_order': False, "
                                   "'shape': (1,), }",
                                   4, ""),
                         FMT_OK);
}

static void fortran_order_is_refused_by_name(void **state)
{
    (void)state;
    assert_int_equal(
        status_of("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", 8, "Fortran"),
        FMT_EUNSUPPORTED);
}

static void a_header_that_is_none_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"", "dictionary"},
        {"[]", "dictionary"},
        {"{}", "lacks a key"},
        {"{'descr': '<f4', 'shape': (1,)}", "lacks a key"},
        {"{'descr': '<f4', 'fortran_order': False}", "lacks a key"},
        {"{'fortran_order': False, 'shape': (1,)}", "lacks a key"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "twice"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "unknown key"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "unknown key or value"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': [1]}", "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1.5,)}", "end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", "number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "end"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,", ""},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)", "end"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "end"},
        {"{'descr' '<f4'}", "without its value"},
        {"{'descr", "without its end"},
        {"{descr: '<f4'}", "string is missing"},
        {"{'descr': 4}", "string is missing"},
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(status_of(cases[i].text, 4, cases[i].why), FMT_EINVALID);
}

static void sizes_that_overflow_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *why;
        fmt_status status;
    } cases[] = {
        {"(18446744073709551616,)", "too large", FMT_EINVALID},
        {"(99999999999999999999999,)", "too large", FMT_EINVALID},
        {"(18446744073709551615,)", "too large", FMT_ELIMIT},
        {"(4611686018427387904,)", "too large", FMT_ELIMIT}, /* times 4: 2^64 */
        {"(4294967296, 4294967296)", "too large", FMT_ELIMIT},
        {"(4611686018427387903,)", "bytes of the array", FMT_ETRUNCATED},
        {"(2,)", "bytes of the array", FMT_ETRUNCATED},
        {"(0,)", "bytes of the array", FMT_EINVALID},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[200];
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': %s}",
                 cases[i].shape);
        assert_int_equal(status_of(text, 4, cases[i].why), cases[i].status);
    }
}

static void the_array_must_be_all_that_is_left(void **state)
{
    (void)state;
    const char *text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}";
    fmt_npy npy;
    fmt_fault fault;
    assert_int_equal(read_text(text, 9, &npy, &fault), FMT_EINVALID);
    assert_true(fault.has_values && fault.expected == 8 && fault.got == 9);
    assert_int_equal(read_text(text, 7, &npy, &fault), FMT_ETRUNCATED);
    assert_true(fault.has_values && fault.expected == 8 && fault.got == 7);
}

static void every_truncation_is_an_error(void **state)
{
    (void)state;
    for (uint8_t version = 1; version <= 3; version++) {
        file f = make(version, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }", 32);
        fmt_npy npy;
        fmt_fault fault;
        assert_int_equal(read_bytes(f.bytes, f.size, &npy, &fault), FMT_OK);
        for (size_t size = 0; size < f.size; size++) {
            fmt_status status = read_bytes(f.bytes, size, &npy, &fault);
            assert_int_equal(status, size < 8 ? FMT_EINVALID : FMT_ETRUNCATED);
            assert_non_null(fault.what);
        }
    }
}

static void a_fault_stands_where_the_byte_is(void **state)
{
    (void)state;
    fmt_npy npy;
    fmt_fault fault;
    assert_int_equal(read_text("{'descr': '<f4', 'shape': x}", 4, &npy, &fault), FMT_EINVALID);
    assert_int_equal(fault.offset, 10 + strlen("{'descr': '<f4', 'shape': "));
    file f = make(3, "{'descr': '<f4', 'shape': x}", 4);
    assert_int_equal(read_bytes(f.bytes, f.size, &npy, &fault), FMT_EINVALID);
    assert_int_equal(fault.offset, 12 + strlen("{'descr': '<f4', 'shape': "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_kinds_of_numbers_are_known),
        cmocka_unit_test(all_three_versions_are_read),
        cmocka_unit_test(shapes_of_any_length_are_read),
        cmocka_unit_test(order_quotes_and_spaces_do_not_matter),
        cmocka_unit_test(numbers_that_cannot_be_copied_are_refused_by_name),
        cmocka_unit_test(a_zero_byte_in_a_type_is_no_match),
        cmocka_unit_test(structures_are_refused),
        cmocka_unit_test(fortran_order_is_refused_by_name),
        cmocka_unit_test(a_header_that_is_none_is_refused),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(the_array_must_be_all_that_is_left),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(a_fault_stands_where_the_byte_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
