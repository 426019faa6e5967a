/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device.h"

#include "test.h"

static void memory_is_aligned_and_whole(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 7, 63, 64, 65, 4096, 1000003};
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    shard_device device;
    shard_device_init_host(&device, &alloc);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        uint8_t *memory = device.take(&device, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % SHARD_DEVICE_ALIGNMENT, 0);
        memset(memory, 0xff, sizes[i]); /* a sanitizer sees if it is less */
        device.give(&device, memory);
        assert_int_equal(allocator.live, 0);
    }
}

static void nothing_may_be_given_back(void **state)
{
    (void)state;
    test_allocator allocator = {0};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    shard_device device;
    shard_device_init_host(&device, &alloc);
    device.give(&device, NULL);
    assert_int_equal(allocator.live, 0);
}

static void without_memory_there_is_none(void **state)
{
    (void)state;
    test_allocator allocator = {.fail_at = 1};
    fmt_alloc alloc = test_fmt_alloc(&allocator);
    shard_device device;
    shard_device_init_host(&device, &alloc);
    assert_null(device.take(&device, 100));
    assert_null(device.take(&device, SIZE_MAX));
    assert_null(device.take(&device, SIZE_MAX - 70));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_whole),
        cmocka_unit_test(nothing_may_be_given_back),
        cmocka_unit_test(without_memory_there_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
