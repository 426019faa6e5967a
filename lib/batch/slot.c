/* SPDX-License-Identifier: Apache-2.0 */
#include "batch/slot.h"

#include <string.h>

static size_t align(size_t size)
{
    return (size + SHARD_DEVICE_ALIGNMENT - 1) / SHARD_DEVICE_ALIGNMENT * SHARD_DEVICE_ALIGNMENT;
}

size_t shard_dtype_size(shard_dtype dtype)
{
    static const uint8_t size[] = {
        [SHARD_U8] = 1,  [SHARD_I8] = 1,  [SHARD_U16] = 2, [SHARD_I16] = 2,
        [SHARD_U32] = 4, [SHARD_I32] = 4, [SHARD_U64] = 8, [SHARD_I64] = 8,
        [SHARD_F16] = 2, [SHARD_F32] = 4, [SHARD_F64] = 8,
    };
    return (unsigned)dtype < sizeof size ? size[dtype] : 0;
}

static size_t row_size(const shard_tensor *tensor)
{
    return (size_t)tensor->stride[0] * shard_dtype_size(tensor->dtype);
}

size_t shard_slot_fixed_size(const shard_slot_layout *layout)
{
    size_t size = 0;
    for (size_t t = 0; t < layout->tensors; t++)
        if (!layout->ragged[t])
            size += align(row_size(&layout->tensor[t]) * layout->rows);
    return size;
}

static void set_tensors(shard_slot *slot)
{
    const shard_slot_layout *layout = slot->layout;
    uint8_t *at = slot->fixed;
    for (size_t t = 0; t < layout->tensors; t++) {
        slot->tensor[t] = layout->tensor[t];
        if (layout->ragged[t]) {
            slot->tensor[t].offsets = slot->offsets + t * layout->rows;
            slot->tensor[t].lengths = slot->lengths + t * layout->rows;
        } else {
            slot->tensor[t].data = at;
            at += align(row_size(&layout->tensor[t]) * layout->rows);
        }
    }
}

static bool allocate(shard_slot *slot, const shard_device *device, const fmt_alloc *alloc)
{
    size_t rows = slot->layout->rows, tensors = slot->layout->tensors;
    slot->tensor = shard_alloc_zeroed(alloc, tensors + 1, sizeof *slot->tensor);
    slot->offsets = shard_alloc_zeroed(alloc, tensors * rows + 1, sizeof *slot->offsets);
    slot->lengths = shard_alloc_zeroed(alloc, tensors * rows + 1, sizeof *slot->lengths);
    slot->valid = shard_alloc_zeroed(alloc, rows, sizeof *slot->valid);
    slot->ids = shard_alloc_zeroed(alloc, rows, sizeof *slot->ids);
    slot->keys = shard_alloc_zeroed(alloc, rows, sizeof *slot->keys);
    slot->samples = tensors == 0 ? shard_alloc_zeroed(alloc, rows, sizeof *slot->samples) : NULL;
    slot->fixed = slot->fixed_size > 0 ? device->take(device, slot->fixed_size) : NULL;
    return slot->tensor && slot->offsets && slot->lengths && slot->valid && slot->ids &&
           slot->keys && (slot->samples || tensors > 0) && (slot->fixed || slot->fixed_size == 0);
}

shard_status shard_slot_init(shard_slot *slot, const shard_slot_layout *layout,
                             const shard_device *device, shard_budget *budget, shard_error *err)
{
    size_t size = shard_slot_fixed_size(layout);
    slot->layout = layout;
    SHARD_TRY(shard_budget_take(budget, size, err));
    slot->fixed_size = size;
    if (!allocate(slot, device, &budget->alloc))
        return shard_fail_memory(err);
    set_tensors(slot);
    slot->batch = (shard_batch){.rows = layout->rows,
                                .valid = slot->valid,
                                .ids = slot->ids,
                                .keys = slot->keys,
                                .tensors = slot->tensor,
                                .tensor_count = layout->tensors,
                                .samples = slot->samples};
    return SHARD_OK;
}

void shard_slot_clear(shard_slot *slot, const shard_device *device, shard_budget *budget)
{
    const fmt_alloc *alloc = &budget->alloc;
    device->give(device, slot->fixed);
    shard_budget_give(budget, slot->fixed_size);
    shard_alloc_free(alloc, slot->tensor);
    shard_alloc_free(alloc, slot->offsets);
    shard_alloc_free(alloc, slot->lengths);
    shard_alloc_free(alloc, slot->valid);
    shard_alloc_free(alloc, slot->ids);
    shard_alloc_free(alloc, slot->keys);
    shard_alloc_free(alloc, slot->samples);
    shard_buffer_clear(&slot->bytes, budget);
    shard_buffer_clear(&slot->text, budget);
    shard_buffer_clear(&slot->components, budget);
    *slot = (shard_slot){0};
}

void *shard_slot_row(const shard_slot *slot, size_t t, uint32_t row, size_t *size)
{
    *size = row_size(&slot->tensor[t]);
    return (uint8_t *)slot->tensor[t].data + *size * row;
}

void shard_slot_blank(shard_slot *slot, uint32_t row)
{
    slot->valid[row] = 0;
    slot->ids[row] = SHARD_UNKNOWN;
    slot->keys[row] = "";
    if (slot->samples)
        slot->samples[row] = (shard_sample){.key = ""};
    for (size_t t = 0; t < slot->layout->tensors; t++) {
        size_t size;
        if (slot->layout->ragged[t]) {
            slot->offsets[t * slot->layout->rows + row] = 0;
            slot->lengths[t * slot->layout->rows + row] = 0;
        } else {
            void *out = shard_slot_row(slot, t, row, &size);
            memset(out, 0, size);
        }
    }
}

void shard_slot_publish(shard_slot *slot)
{
    slot->batch.valid_count = 0;
    for (uint32_t row = 0; row < slot->layout->rows; row++)
        slot->batch.valid_count += slot->valid[row];
    for (size_t t = 0; t < slot->layout->tensors; t++)
        if (slot->layout->ragged[t])
            slot->tensor[t].data = slot->bytes.bytes;
}
