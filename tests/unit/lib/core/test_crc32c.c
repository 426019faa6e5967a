/* SPDX-License-Identifier: Apache-2.0 */
#include "core/crc32c.h"

#include "test.h"

enum { MOST = 5000 };

static uint8_t bytes[MOST];

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < MOST; i++)
        bytes[i] = (uint8_t)(i * i * 31 + i * 7 + 3);
    return 0;
}

/* Bit by bit, as RFC 3720 defines it. */
static uint32_t slow_crc32c(uint32_t crc, const uint8_t *data, size_t size)
{
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
    }
    return ~crc;
}

/* RFC 3720 appendix B.4: an iSCSI SCSI Read (10) command. */
static void a_published_command_has_its_value(void **state)
{
    (void)state;
    static const uint8_t command[48] = {
        0x01, 0xc0, [16] = 0x14, [22] = 0x04, [27] = 0x14, [31] = 0x18, [32] = 0x28, [40] = 0x02};
    assert_int_equal(shard_crc32c(0, command, sizeof command), 0xd9963a56);
}

/* Wide instructions take over at some sizes and alignments. */
static void every_size_and_alignment_is_right(void **state)
{
    (void)state;
    for (size_t size = 0; size < 1100; size++)
        assert_int_equal(shard_crc32c(0, bytes + size % 67, size),
                         slow_crc32c(0, bytes + size % 67, size));
    for (size_t begin = 0; begin < 64; begin++)
        assert_int_equal(shard_crc32c(0, bytes + begin, MOST - begin),
                         slow_crc32c(0, bytes + begin, MOST - begin));
}

static void pieces_do_not_matter(void **state)
{
    (void)state;
    uint32_t whole = slow_crc32c(0, bytes, MOST);
    for (size_t cut = 0; cut <= MOST; cut += 41)
        assert_int_equal(shard_crc32c(shard_crc32c(0, bytes, cut), bytes + cut, MOST - cut), whole);
}

static void one_changed_bit_changes_it(void **state)
{
    (void)state;
    uint32_t before = shard_crc32c(0, bytes, 64);
    for (size_t bit = 0; bit < 64 * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(shard_crc32c(0, bytes, 64), before);
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_published_command_has_its_value, setup),
        cmocka_unit_test_setup(every_size_and_alignment_is_right, setup),
        cmocka_unit_test_setup(pieces_do_not_matter, setup),
        cmocka_unit_test_setup(one_changed_bit_changes_it, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
