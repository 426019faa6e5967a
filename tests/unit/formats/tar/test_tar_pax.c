/* SPDX-License-Identifier: Apache-2.0 */
#include "tar/tar_pax.h"

#include <stdio.h>
#include <stdlib.h>

#include "test.h"

/* Push `body` in pieces of `step` bytes. */
static fmt_status push(fmt_tar_pax *pax, const char *body, size_t size, bool global, size_t step,
                       fmt_fault *fault)
{
    fmt_status status = fmt_tar_pax_begin(pax, size, 512, global, fault);
    for (size_t at = 0; status == FMT_OK && at < size; at += step) {
        fmt_span in = {(const uint8_t *)body + at, at + step < size ? step : size - at};
        status = fmt_tar_pax_push(pax, &in, fault);
        if (status == FMT_NEED_MORE)
            status = FMT_OK;
    }
    if (status == FMT_OK && pax->left == 0) {
        fmt_span nothing = {NULL, 0};
        status = fmt_tar_pax_push(pax, &nothing, fault);
    }
    return status;
}

static fmt_status push_text(fmt_tar_pax *pax, const char *body, fmt_fault *fault)
{
    return push(pax, body, strlen(body), false, strlen(body) + 1, fault);
}

static void path_and_size_are_kept(void **state)
{
    (void)state;
    static const char body[] = "30 mtime=1700000000.123456789\n"
                               "23 path=dog/01.seg.png\n"
                               "16 size=1234567\n"
                               "24 LIBARCHIVE.xattr.a=b\n";
    fmt_tar_pax pax;
    fmt_fault fault;
    for (size_t step = 1; step < sizeof body; step++) {
        assert_int_equal(push(&pax, body, sizeof body - 1, false, step, &fault), FMT_OK);
        assert_true(pax.has_path && pax.has_size);
        assert_text(pax.path, pax.path_size, "dog/01.seg.png");
        assert_int_equal(pax.size, 1234567);
    }
}

static void last_record_wins(void **state)
{
    (void)state;
    fmt_tar_pax pax;
    fmt_fault fault;
    assert_int_equal(push_text(&pax, "9 path=a\n9 path=b\n9 size=1\n11 size=22\n", &fault), FMT_OK);
    assert_text(pax.path, pax.path_size, "b");
    assert_int_equal(pax.size, 22);
}

static void a_path_may_hold_equals_and_utf8(void **state)
{
    (void)state;
    fmt_tar_pax pax;
    fmt_fault fault;
    assert_int_equal(push_text(&pax, "17 path=a=b=\xc3\xa9.c\n", &fault), FMT_OK);
    assert_text(pax.path, pax.path_size, "a=b=\xc3\xa9.c");
}

static void bad_bodies_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *body, *what;
        fmt_status status;
    } bad[] = {
        {"x path=a\n", "pax record does not begin with its length", FMT_EINVALID},
        {" 9 path=a\n", "pax record does not begin with its length", FMT_EINVALID},
        {"9path=a\n", "pax record does not begin with its length", FMT_EINVALID},
        {"99 path=a\n", "pax record is longer than its header", FMT_EINVALID},
        {"99999999999999999999 a=b\n", "pax record is longer than its header", FMT_EINVALID},
        {"8 path=a\n", "pax record does not end with a line's end", FMT_EINVALID},
        {"4 a=", "pax record has no '=' and value", FMT_EINVALID},
        {"6 abc\n", "pax record has no '=' and value", FMT_EINVALID},
        {"2 a=b\n", "pax record's length is too small", FMT_EINVALID},
        {"8 path=\n", "pax record has no value", FMT_EINVALID},
        {"8 size=\n", "pax record has no value", FMT_EINVALID},
        {"11 size=-1\n", "pax size is not a number", FMT_EINVALID},
        {"11 size=1x\n", "pax size is not a number", FMT_EINVALID},
        {"28 size=9999999999999999999\n", "pax size is out of range", FMT_EINVALID},
        {"22 GNU.sparse.major=1\n", "sparse file", FMT_EUNSUPPORTED},
        {"9 path=a\n5", "pax record is cut off by the header's end", FMT_EINVALID},
        {"9 path=a\n7 ab", "pax record is longer than its header", FMT_EINVALID},
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        fmt_tar_pax pax;
        fmt_fault fault = {0};
        fmt_status status = push_text(&pax, bad[i].body, &fault);
        if (status != bad[i].status)
            fail_msg("%s: %d", bad[i].body, status);
        assert_string_equal(fault.what, bad[i].what);
        assert_true(fault.offset >= 512 && fault.offset < 512 + strlen(bad[i].body));
    }
}

static void nul_in_a_path_is_refused(void **state)
{
    (void)state;
    fmt_tar_pax pax;
    fmt_fault fault;
    assert_int_equal(push(&pax, "12 path=a\0b\n", 12, false, 99, &fault), FMT_EINVALID);
}

static void long_paths_are_refused(void **state)
{
    (void)state;
    static char body[FMT_TAR_PATH_MAX + 32];
    fmt_tar_pax pax;
    fmt_fault fault;
    int n = snprintf(body, sizeof body, "%d path=", FMT_TAR_PATH_MAX + 11);
    memset(body + n, 'p', FMT_TAR_PATH_MAX);
    body[n + FMT_TAR_PATH_MAX] = '\n';
    assert_int_equal(push(&pax, body, FMT_TAR_PATH_MAX + 11, false, 100, &fault), FMT_OK);
    assert_int_equal(pax.path_size, FMT_TAR_PATH_MAX);
    n = snprintf(body, sizeof body, "%d path=", FMT_TAR_PATH_MAX + 12);
    memset(body + n, 'p', FMT_TAR_PATH_MAX + 1);
    body[n + FMT_TAR_PATH_MAX + 1] = '\n';
    assert_int_equal(push(&pax, body, FMT_TAR_PATH_MAX + 12, false, 100, &fault), FMT_ELIMIT);
}

/* GNU tar applies a global size or path to all later members, libarchive to none. */
static void global_size_is_refused(void **state)
{
    (void)state;
    fmt_tar_pax pax;
    fmt_fault fault;
    assert_int_equal(push(&pax, "9 size=1\n", 9, true, 99, &fault), FMT_EUNSUPPORTED);
    assert_string_equal(fault.name, "size");
    assert_int_equal(push(&pax, "16 comment=hello\n", 17, true, 99, &fault), FMT_EINVALID);
    assert_int_equal(push(&pax, "17 comment=hello\n", 17, true, 99, &fault), FMT_OK);
}

static void huge_bodies_are_refused(void **state)
{
    (void)state;
    fmt_tar_pax pax;
    fmt_fault fault;
    assert_int_equal(fmt_tar_pax_begin(&pax, FMT_TAR_PAX_BODY_MAX + 1, 0, false, &fault),
                     FMT_ELIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_and_size_are_kept),
        cmocka_unit_test(last_record_wins),
        cmocka_unit_test(a_path_may_hold_equals_and_utf8),
        cmocka_unit_test(bad_bodies_are_refused),
        cmocka_unit_test(nul_in_a_path_is_refused),
        cmocka_unit_test(long_paths_are_refused),
        cmocka_unit_test(global_size_is_refused),
        cmocka_unit_test(huge_bodies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
