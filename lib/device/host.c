/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "device/device.h"

/* What the allocator gave stands before the aligned memory. */
static void *take(const shard_device *device, size_t size)
{
    size_t room = SHARD_DEVICE_ALIGNMENT + sizeof(void *);
    if (size > SIZE_MAX - room)
        return NULL;
    uint8_t *given = device->alloc.realloc(device->alloc.context, NULL, size + room);
    if (!given)
        return NULL;
    size_t past = (uintptr_t)(given + room) % SHARD_DEVICE_ALIGNMENT;
    uint8_t *memory = given + room - past;
    memcpy(memory - sizeof given, &given, sizeof given);
    return memory;
}

static void give(const shard_device *device, void *memory)
{
    uint8_t *given;
    if (!memory)
        return;
    memcpy(&given, (uint8_t *)memory - sizeof given, sizeof given);
    shard_alloc_free(&device->alloc, given);
}

void shard_device_init_host(shard_device *device, const fmt_alloc *alloc)
{
    *device = (shard_device){take, give, *alloc};
}
