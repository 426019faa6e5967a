/* SPDX-License-Identifier: Apache-2.0 */
#include "core/hash.h"

#include <stdio.h>

#include "test.h"

enum { MOST = 100000 };

/* By Python's xxhash, of bytes (i * 131 + 7) % 256: one for each of XXH3's ways with a length. */
static const struct {
    size_t size;
    const char *hash;
    uint64_t hash64, seeded;
} vectors[] = {
    {1, "495b62073ef70ca44c5cca45d0f4811f", 0x4c5cca45d0f4811f, 0x6dcb95d31de5966b},
    {3, "390cdc5b4a895dd76e3e2670e61106ac", 0x6e3e2670e61106ac, 0x911f06f10ddb4cd2},
    {4, "aa6e2f274640a3f43d668af6f2a44d77", 0x5c4c63133443d03f, 0xac127d990d6a1500},
    {8, "6a86a3bda6af4e3d61ddbe7f31a6100d", 0xf9fd4dd0b04d78f5, 0x9c622ca7116e701f},
    {9, "664c7ca18afd62558c7b67fd458a936b", 0x7c20df9712c26edf, 0x6ccff5be3cc44ec4},
    {16, "7f9a218b0425449ae2ce54a7c19c730d", 0x86abf6baccea0858, 0x81ebfa79d47aa6f2},
    {17, "66fc23f6439dbd778d96ef110fcdebb4", 0xb58bf5dc5022d071, 0xfd2e9d73f8cca2d4},
    {128, "aec730751478556cff361dec1385710a", 0x10d17f72c0ccba41, 0x357be72a285cd85e},
    {129, "98cd36ccbb5579264545b3a09738e31a", 0x1648bdc3db49d1a2, 0x1376e00df4c705f0},
    {240, "5293e17bf553903d3f2c53e72293711f", 0xb6cfaf343fab81e6, 0xd43296f42088f6c4},
    {241, "b53840fe3fedf161956cae592c67279e", 0x956cae592c67279e, 0x4cbae25b11e4b16b},
    {512, "7509d702d4519576a0e9790eb93990d7", 0xa0e9790eb93990d7, 0x4727a2d5cc065618},
    {1024, "f69630613f24324d70bd377d9574f4bb", 0x70bd377d9574f4bb, 0x9239f56d73396e44},
    {4097, "bebdd8b523e9ec6a34eecaecd32195a4", 0x34eecaecd32195a4, 0xadd8aeb5c3220b7e},
    {MOST, "e9e46da59b77e42314ce8d6fc2c4868b", 0x14ce8d6fc2c4868b, 0x3daf6ab302e64ac9},
};

static uint8_t bytes[MOST];

static int setup(void **state)
{
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i * 131 + 7);
    *state = shard_hash_new();
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    shard_hash_free(*state);
    return 0;
}

static void check(const shard_hash *hash, const char *expected)
{
    uint8_t out[SHARD_HASH_SIZE];
    char text[2 * SHARD_HASH_SIZE + 1];
    shard_hash_get(hash, out);
    for (size_t i = 0; i < sizeof out; i++)
        snprintf(text + 2 * i, sizeof text - 2 * i, "%02x", out[i]);
    assert_string_equal(text, expected);
}

static void hashes_are_those_of_other_programs(void **state)
{
    for (size_t i = 0; i < COUNT(vectors); i++) {
        shard_hash_reset(*state);
        shard_hash_add(*state, bytes, vectors[i].size);
        check(*state, vectors[i].hash);
        assert_int_equal(shard_hash64(bytes, vectors[i].size, 0), vectors[i].hash64);
        assert_int_equal(shard_hash64(bytes, vectors[i].size, 0x123456789abcdef),
                         vectors[i].seeded);
    }
}

static void pieces_do_not_matter(void **state)
{
    static const size_t steps[] = {1, 63, 64, 255, 256, 257, 4096, 65536};
    for (size_t i = 0; i < COUNT(steps); i++) {
        shard_hash_reset(*state);
        for (size_t at = 0; at < MOST; at += steps[i]) {
            shard_hash_add(*state, bytes + at, at + steps[i] < MOST ? steps[i] : MOST - at);
            shard_hash_add(*state, NULL, 0);
        }
        check(*state, vectors[COUNT(vectors) - 1].hash);
    }
}

static void asking_changes_nothing(void **state)
{
    shard_hash_add(*state, bytes, 129);
    check(*state, vectors[8].hash);
    check(*state, vectors[8].hash);
    shard_hash_add(*state, bytes + 129, MOST - 129);
    check(*state, vectors[COUNT(vectors) - 1].hash);
}

static void a_copy_goes_its_own_way(void **state)
{
    shard_hash *copy = shard_hash_new();
    shard_hash_add(*state, bytes, 1000);
    shard_hash_copy(copy, *state);
    shard_hash_add(*state, "something else", 14);
    shard_hash_add(copy, bytes + 1000, 24);
    check(copy, vectors[12].hash);
    shard_hash_free(copy);
    shard_hash_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(hashes_are_those_of_other_programs, setup, teardown),
        cmocka_unit_test_setup_teardown(pieces_do_not_matter, setup, teardown),
        cmocka_unit_test_setup_teardown(asking_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_copy_goes_its_own_way, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
