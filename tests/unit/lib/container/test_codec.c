/* SPDX-License-Identifier: Apache-2.0 */
#include <shard/codec.h>

#include "container/decoder.h"
#include "test.h"

static const struct {
    const char *bytes;
    size_t size; /* that tell */
    shard_codec codec;
} beginnings[] = {
    {"\x28\xb5\x2f\xfd", 4, SHARD_CODEC_ZSTD},  {"\x50\x2a\x4d\x18", 4, SHARD_CODEC_ZSTD},
    {"\x5f\x2a\x4d\x18", 4, SHARD_CODEC_ZSTD},  {"\x1f\x8b", 2, SHARD_CODEC_GZIP},
    {"\xfd\x37zXZ\0", 6, SHARD_CODEC_OTHER},    {"BZh", 3, SHARD_CODEC_OTHER},
    {"\x04\x22\x4d\x18", 4, SHARD_CODEC_OTHER}, {"LZIP", 4, SHARD_CODEC_OTHER},
};

static void the_first_bytes_tell_the_codec(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(beginnings); i++) {
        uint8_t bytes[16] = {0};
        size_t size = beginnings[i].size;
        memcpy(bytes, beginnings[i].bytes, size);
        assert_int_equal(shard_codec_detect(bytes, size), beginnings[i].codec);
        assert_int_equal(shard_codec_detect(bytes, sizeof bytes), beginnings[i].codec);
        assert_int_equal(shard_codec_detect(bytes, size - 1), SHARD_CODEC_PLAIN);
    }
}

static void all_else_is_taken_for_tar(void **state)
{
    (void)state;
    static const char *others[] = {"dog/01.jpg",         "\x28\xb5\x2f\xfe??", "\x60\x2a\x4d\x18??",
                                   "\x4f\x2a\x4d\x18??", "\x1f\x8c????",       "\xfd\x37zXY?"};
    for (size_t i = 0; i < COUNT(others); i++)
        assert_int_equal(shard_codec_detect((const uint8_t *)others[i], 6), SHARD_CODEC_PLAIN);
    assert_int_equal(shard_codec_detect((const uint8_t *)"", 0), SHARD_CODEC_PLAIN);
    assert_int_equal(shard_codec_detect(NULL, 0), SHARD_CODEC_PLAIN);
}

static void codecs_have_names(void **state)
{
    (void)state;
    assert_string_equal(shard_codec_name(SHARD_CODEC_PLAIN), "tar");
    assert_string_equal(shard_codec_name(SHARD_CODEC_ZSTD), "tar.zst");
    assert_string_equal(shard_codec_name(SHARD_CODEC_GZIP), "tar.gz");
    assert_string_equal(shard_codec_name(SHARD_CODEC_OTHER), "other");
    assert_string_equal(shard_codec_name((shard_codec)99), "other");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_bytes_tell_the_codec),
        cmocka_unit_test(all_else_is_taken_for_tar),
        cmocka_unit_test(codecs_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
