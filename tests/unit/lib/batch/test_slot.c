/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/slot.h"

#include "test.h"

enum { ROWS = 3 };

/* Two tensors of fixed shape, of 5 floats and of one number, around a ragged one. */
static const shard_tensor tensors[] = {
    {.name = "floats", .dtype = SHARD_F32, .dims = 2, .shape = {ROWS, 5}, .stride = {5, 1}},
    {.name = "text", .dtype = SHARD_U8, .dims = 1, .shape = {ROWS}, .stride = {1}},
    {.name = "number", .dtype = SHARD_I64, .dims = 1, .shape = {ROWS}, .stride = {1}},
};
static const bool ragged[] = {false, true, false};
static const shard_slot_layout layout = {ROWS, tensors, ragged, COUNT(tensors)};
static const shard_slot_layout raw = {ROWS, NULL, NULL, 0};

typedef struct {
    test_allocator allocator;
    shard_budget budget;
    shard_device device;
} memory;

static void set_up(memory *m)
{
    m->budget = (shard_budget){.limit = 1 << 20, .alloc = test_fmt_alloc(&m->allocator)};
    shard_device_init_host(&m->device, &m->budget.alloc);
}

static void numbers_have_their_sizes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8, 2, 4, 8};
    for (size_t i = 0; i < COUNT(sizes); i++)
        assert_int_equal(shard_dtype_size((shard_dtype)i), sizes[i]);
    assert_int_equal(shard_dtype_size((shard_dtype)COUNT(sizes)), 0);
    assert_int_equal(shard_dtype_size((shard_dtype)-1), 0);
}

static void tensors_lie_side_by_side_and_aligned(void **state)
{
    (void)state;
    memory m = {0};
    shard_slot slot = {0};
    set_up(&m);
    assert_int_equal(shard_slot_fixed_size(&layout), 64 + 64); /* 60 and 24 bytes */
    assert_int_equal(shard_slot_init(&slot, &layout, &m.device, &m.budget, NULL), SHARD_OK);
    assert_int_equal(m.budget.used, 128);
    const shard_batch *batch = &slot.batch;
    assert_int_equal(batch->rows, ROWS);
    assert_int_equal(batch->tensor_count, 3);
    assert_null(batch->samples);
    assert_string_equal(batch->tensors[2].name, "number");
    assert_int_equal((uintptr_t)batch->tensors[0].data % 64, 0);
    assert_ptr_equal(batch->tensors[2].data, (uint8_t *)batch->tensors[0].data + 64);
    assert_true(!batch->tensors[0].offsets && batch->tensors[1].offsets);
    assert_true(!batch->tensors[2].lengths && batch->tensors[1].lengths);
    size_t size;
    uint8_t *row = shard_slot_row(&slot, 0, 2, &size);
    assert_int_equal(size, 20);
    assert_ptr_equal(row, (uint8_t *)batch->tensors[0].data + 40);
    shard_slot_clear(&slot, &m.device, &m.budget);
    assert_int_equal(m.allocator.live, 0);
    assert_int_equal(m.budget.used, 0);
}

static void a_blank_row_is_nobodys(void **state)
{
    (void)state;
    static const uint8_t zeros[20];
    memory m = {0};
    shard_slot slot = {0};
    size_t size;
    set_up(&m);
    assert_int_equal(shard_slot_init(&slot, &layout, &m.device, &m.budget, NULL), SHARD_OK);
    for (uint32_t row = 0; row < ROWS; row++) {
        void *floats = shard_slot_row(&slot, 0, row, &size);
        memset(floats, 7, size);
        slot.offsets[ROWS + row] = slot.lengths[ROWS + row] = 7;
        slot.valid[row] = 1;
        slot.ids[row] = row;
        slot.keys[row] = "key";
    }
    shard_slot_blank(&slot, 1);
    shard_slot_publish(&slot);
    assert_int_equal(slot.batch.valid_count, 2);
    assert_true(slot.batch.valid[0] && !slot.batch.valid[1] && slot.batch.valid[2]);
    assert_true(slot.batch.ids[1] == SHARD_UNKNOWN && slot.batch.ids[2] == 2);
    assert_string_equal(slot.batch.keys[1], "");
    assert_string_equal(slot.batch.keys[0], "key");
    assert_int_equal(slot.batch.tensors[1].lengths[1], 0);
    assert_int_equal(slot.batch.tensors[1].lengths[2], 7);
    assert_memory_equal(shard_slot_row(&slot, 0, 1, &size), zeros, 20);
    assert_int_equal(*(uint8_t *)shard_slot_row(&slot, 0, 2, &size), 7);
    assert_int_equal(((uint8_t *)shard_slot_row(&slot, 0, 0, &size))[19], 7);
    shard_slot_clear(&slot, &m.device, &m.budget);
}

static void ragged_tensors_point_at_the_bytes_once_shown(void **state)
{
    (void)state;
    memory m = {0};
    shard_slot slot = {0};
    set_up(&m);
    assert_int_equal(shard_slot_init(&slot, &layout, &m.device, &m.budget, NULL), SHARD_OK);
    assert_int_equal(shard_buffer_reserve(&slot.bytes, 100, &m.budget, NULL), SHARD_OK);
    shard_slot_publish(&slot);
    assert_ptr_equal(slot.batch.tensors[1].data, slot.bytes.bytes);
    shard_slot_clear(&slot, &m.device, &m.budget);
    assert_int_equal(m.budget.used, 0);
}

static void without_tensors_there_are_samples(void **state)
{
    (void)state;
    memory m = {0};
    shard_slot slot = {0};
    set_up(&m);
    assert_int_equal(shard_slot_init(&slot, &raw, &m.device, &m.budget, NULL), SHARD_OK);
    assert_int_equal(m.budget.used, 0);
    slot.samples[1].count = 5;
    shard_slot_blank(&slot, 1);
    assert_ptr_equal(slot.batch.samples, slot.samples);
    assert_int_equal(slot.batch.samples[1].count, 0);
    shard_slot_clear(&slot, &m.device, &m.budget);
    assert_int_equal(m.allocator.live, 0);
}

static void a_slot_past_the_limit_is_refused(void **state)
{
    (void)state;
    memory m = {0};
    shard_slot slot = {0};
    set_up(&m);
    m.budget.limit = 127;
    assert_int_equal(shard_slot_init(&slot, &layout, &m.device, &m.budget, NULL), SHARD_ENOMEM);
    shard_slot_clear(&slot, &m.device, &m.budget);
    assert_int_equal(m.budget.used, 0);
    assert_int_equal(m.allocator.live, 0);
}

static bool init_and_clear(test_allocator *allocator, void *context)
{
    shard_budget budget = {.limit = 1 << 20, .alloc = test_fmt_alloc(allocator)};
    shard_device device;
    shard_slot slot = {0};
    shard_device_init_host(&device, &budget.alloc);
    shard_status status = shard_slot_init(&slot, context, &device, &budget, NULL);
    assert_true(status == SHARD_OK || status == SHARD_ENOMEM);
    shard_slot_clear(&slot, &device, &budget);
    assert_int_equal(budget.used, 0);
    return status == SHARD_OK;
}

static void a_failed_allocation_leaves_what_may_be_cleared(void **state)
{
    (void)state;
    shard_slot_layout layouts[] = {layout, raw};
    assert_int_equal(test_every_allocation(init_and_clear, &layouts[0]), 7);
    assert_int_equal(test_every_allocation(init_and_clear, &layouts[1]), 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_have_their_sizes),
        cmocka_unit_test(tensors_lie_side_by_side_and_aligned),
        cmocka_unit_test(a_blank_row_is_nobodys),
        cmocka_unit_test(ragged_tensors_point_at_the_bytes_once_shown),
        cmocka_unit_test(without_tensors_there_are_samples),
        cmocka_unit_test(a_slot_past_the_limit_is_refused),
        cmocka_unit_test(a_failed_allocation_leaves_what_may_be_cleared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
