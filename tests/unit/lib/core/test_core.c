/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/cancel.h>
#include <shard/version.h>

#include <errno.h>
#include <stdio.h>

#include "core/crc32c.h"
#include "core/error.h"
#include "core/hash.h"
#include "core/opts.h"
#include "test.h"

/* RFC 3720 appendix B.4 and the check value of the CRC catalogue. */
static void crc32c_has_its_published_values(void **state)
{
    (void)state;
    uint8_t bytes[32] = {0};
    assert_int_equal(shard_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(shard_crc32c(0, bytes, 32), 0x8a9136aa);
    memset(bytes, 0xff, 32);
    assert_int_equal(shard_crc32c(0, bytes, 32), 0x62a8ab43);
    for (int i = 0; i < 32; i++)
        bytes[i] = (uint8_t)i;
    assert_int_equal(shard_crc32c(0, bytes, 32), 0x46dd794e);
    assert_int_equal(shard_crc32c(shard_crc32c(0, bytes, 13), bytes + 13, 19), 0x46dd794e);
    assert_int_equal(shard_crc32c(7, bytes, 0), 7);
}

static void hash_is_xxh3(void **state)
{
    (void)state;
    /* XXH3-128 of nothing: the value that xxhsum -H2 prints. */
    static const uint8_t empty[SHARD_HASH_SIZE] = {0x99, 0xaa, 0x06, 0xd3, 0x01, 0x47, 0x98, 0xd8,
                                                   0x60, 0x01, 0xc3, 0x24, 0x46, 0x8d, 0x49, 0x7f};
    uint8_t out[SHARD_HASH_SIZE], again[SHARD_HASH_SIZE];
    shard_hash *hash = shard_hash_new(), *copy = shard_hash_new();
    shard_hash_get(hash, out);
    assert_memory_equal(out, empty, sizeof out);
    shard_hash_add(hash, "hello", 5);
    shard_hash_copy(copy, hash);
    shard_hash_add(hash, "x", 1);
    shard_hash_add(copy, "x", 1);
    shard_hash_get(hash, out);
    shard_hash_get(copy, again);
    assert_memory_equal(out, again, sizeof out);
    shard_hash_free(hash);
    shard_hash_free(copy);
}

static void errors_say_what_where_and_why(void **state)
{
    (void)state;
    shard_error err;
    fmt_fault fault;
    assert_int_equal(shard_fail_errno(&err, "/x/y", "cannot open", ENOENT), SHARD_ENOTFOUND);
    assert_string_equal(err.url, "/x/y");
    assert_string_equal(err.message, "cannot open: No such file or directory");
    assert_int_equal(err.sys_errno, ENOENT);
    assert_int_equal(shard_fail_errno(&err, "/x", "cannot write", ENOSPC), SHARD_EIO);
    fmt_fail_values(&fault, FMT_ECHECKSUM, "tar header checksum", 512, 3, 4);
    assert_int_equal(shard_fail_fmt(&err, FMT_ECHECKSUM, &fault, "a.tar", 1024), SHARD_ECHECKSUM);
    assert_int_equal(err.offset, 1536);
    assert_string_equal(err.message, "tar header checksum (expected 3, got 4)");
    fmt_fail_name(&fault, FMT_EUNSUPPORTED, "section", 0, "a\nb", 3);
    shard_fail_fmt(&err, FMT_EUNSUPPORTED, &fault, "a.tar", 0);
    assert_string_equal(err.message, "section a\\x0ab");
    assert_int_equal(shard_fail_fmt(NULL, FMT_ENOMEM, &fault, "a.tar", 0), SHARD_ENOMEM);
    assert_string_equal(shard_status_name(SHARD_ESTALE), "SHARD_ESTALE");
}

static void long_names_are_cut(void **state)
{
    (void)state;
    shard_error err;
    char url[3000];
    memset(url, 'u', sizeof url);
    url[sizeof url - 1] = 0;
    shard_fail(&err, SHARD_EINVAL, url, SHARD_NO_OFFSET, "%s", url);
    assert_int_equal(strlen(err.url), sizeof err.url - 1);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

typedef struct {
    size_t size;
    int a, b;
} options;

static void options_grow_in_both_directions(void **state)
{
    (void)state;
    options out;
    const options older = {offsetof(options, b), 5, 6}; /* as if it ended before b */
    const struct {
        size_t size;
        int a, b, c, d;
    } newer = {24, 5, 6, 0, 0}, unknown = {24, 5, 6, 7, 0};
    assert_int_equal(shard_opts_copy(&out, sizeof out, NULL, NULL), SHARD_OK);
    assert_int_equal(out.a, 0);
    assert_int_equal(shard_opts_copy(&out, sizeof out, &older, NULL), SHARD_OK);
    assert_int_equal(out.a, 5);
    assert_int_equal(out.b, 0);
    assert_int_equal(shard_opts_copy(&out, sizeof out, &newer, NULL), SHARD_OK);
    assert_int_equal(out.b, 6);
    assert_int_equal(shard_opts_copy(&out, sizeof out, &unknown, NULL), SHARD_EUNSUPPORTED);
    assert_int_equal(shard_opts_copy(&out, sizeof out, &(options){0, 1, 2}, NULL), SHARD_EINVAL);
}

static void cancel_tokens(void **state)
{
    (void)state;
    shard_cancel *cancel;
    assert_int_equal(shard_cancel_new(&cancel), SHARD_OK);
    assert_false(shard_cancel_is_set(cancel));
    shard_cancel_set(cancel);
    assert_true(shard_cancel_is_set(cancel));
    shard_cancel_free(cancel);
    assert_false(shard_cancel_is_set(NULL));
}

static void the_version_is_that_of_the_headers(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", SHARD_VERSION_MAJOR, SHARD_VERSION_MINOR,
             SHARD_VERSION_PATCH);
    assert_string_equal(shard_version(), text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc32c_has_its_published_values),    cmocka_unit_test(hash_is_xxh3),
        cmocka_unit_test(errors_say_what_where_and_why),      cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(options_grow_in_both_directions),    cmocka_unit_test(cancel_tokens),
        cmocka_unit_test(the_version_is_that_of_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
