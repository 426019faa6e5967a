/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SHARD_MEMORY_H
#define SHARD_MEMORY_H

#include <stddef.h>

#include <shard/attrs.h>

SHARD_BEGIN_DECLS

/**
 * Where an object's memory comes from. Options hold a pointer to one; NULL there means malloc. It
 * must outlive the object and may be called from any of its threads at once. libzstd, libarchive,
 * libjpeg, libwebp and jansson allocate for themselves.
 */
typedef struct shard_allocator {
    /** As realloc(3): `old` NULL allocates. NULL when there is none; `old` then stays. */
    void *(*realloc)(void *context, void *old, size_t size);
    /** As free(3): NULL is allowed. */
    void (*free)(void *context, void *memory);
    void *context;
} shard_allocator;

SHARD_END_DECLS

#endif
