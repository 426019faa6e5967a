/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for one batch, used again for batch after batch, and the view of it that callers get. */
#ifndef BATCH_SLOT_H
#define BATCH_SLOT_H

#include <shard/batch.h>

#include "batch/budget.h"
#include "device/device.h"

/* What all batches of a loader look like. `tensor` is without data. */
typedef struct {
    uint32_t rows;
    const shard_tensor *tensor;
    const bool *ragged; /* by tensor */
    size_t tensors;
} shard_slot_layout;

typedef struct {
    shard_batch batch; /* first, so that a caller's pointer leads back here */
    const shard_slot_layout *layout;

    shard_tensor *tensor;
    void *fixed; /* of tensors of fixed shape; the device's */
    size_t fixed_size;
    uint64_t *offsets, *lengths; /* of ragged ones: `rows` of each tensor */
    uint8_t *valid;
    uint64_t *ids;
    const char **keys;
    shard_sample *samples; /* NULL unless there are no tensors */

    shard_buffer bytes;      /* as stored; ragged tensors point into it */
    shard_buffer text;       /* of keys */
    shard_buffer components; /* of samples */
} shard_slot;

/* Bytes of a slot's tensors of fixed shape. */
size_t shard_slot_fixed_size(const shard_slot_layout *layout);

/* `slot` holds zeros; `layout` must outlive it. On failure it holds what may be cleared. */
shard_status shard_slot_init(shard_slot *slot, const shard_slot_layout *layout,
                             const shard_device *device, shard_budget *budget, shard_error *err);
void shard_slot_clear(shard_slot *slot, const shard_device *device, shard_budget *budget);

/* Row `row` of fixed tensor `t`, and how many bytes it has. */
void *shard_slot_row(const shard_slot *slot, size_t t, uint32_t row, size_t *size);

/* Make a row nobody's: not valid, without key and number, zeros and no bytes. */
void shard_slot_blank(shard_slot *slot, uint32_t row);

/* Show what is in the slot: count valid rows, point tensors at their bytes. */
void shard_slot_publish(shard_slot *slot);

#endif
