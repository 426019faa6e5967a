/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the memory of batches comes from: a vtable, a file for each kind. The host is always there;
 * a GPU adds pinned memory, and then copies and events.
 */
#ifndef DEVICE_DEVICE_H
#define DEVICE_DEVICE_H

#include "core/alloc.h"

enum { SHARD_DEVICE_ALIGNMENT = 64 };

typedef struct shard_device {
    /* `size` > 0 bytes as they come, aligned to SHARD_DEVICE_ALIGNMENT; NULL: there are none. */
    void *(*take)(const struct shard_device *device, size_t size);
    void (*give)(const struct shard_device *device, void *memory); /* NULL allowed */
    fmt_alloc alloc;
} shard_device;

void shard_device_init_host(shard_device *device, const fmt_alloc *alloc);

#endif
