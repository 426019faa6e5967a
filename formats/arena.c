/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdalign.h>
#include <string.h>

enum { CHUNK_SIZE = 64 << 10 };

struct fmt_arena_chunk {
    struct fmt_arena_chunk *next;
    size_t size;
    alignas(max_align_t) uint8_t bytes[];
};

void fmt_arena_init(fmt_arena *arena, const fmt_alloc *alloc)
{
    *arena = (fmt_arena){.alloc = alloc};
}

void fmt_arena_clear(fmt_arena *arena)
{
    while (arena->chunks) {
        struct fmt_arena_chunk *chunk = arena->chunks;
        arena->chunks = chunk->next;
        arena->alloc->free(arena->alloc->context, chunk);
    }
    arena->left = 0;
    arena->total = 0;
}

static struct fmt_arena_chunk *new_chunk(fmt_arena *arena, size_t size)
{
    if (size > SIZE_MAX - sizeof(struct fmt_arena_chunk))
        return NULL;
    size_t whole = sizeof(struct fmt_arena_chunk) + size;
    struct fmt_arena_chunk *chunk = arena->alloc->realloc(arena->alloc->context, NULL, whole);
    if (!chunk)
        return NULL;
    chunk->size = size;
    arena->total += whole;
    return chunk;
}

/* Large pieces get a chunk of their own, behind the one that is being filled. */
static void *take_alone(fmt_arena *arena, size_t size)
{
    struct fmt_arena_chunk *chunk = new_chunk(arena, size);
    if (!chunk)
        return NULL;
    struct fmt_arena_chunk **place = arena->chunks ? &arena->chunks->next : &arena->chunks;
    chunk->next = *place;
    *place = chunk;
    return chunk->bytes;
}

static void *take_bytes(fmt_arena *arena, size_t size)
{
    if (size > CHUNK_SIZE / 4)
        return take_alone(arena, size);
    if (size > arena->left || !arena->chunks) {
        struct fmt_arena_chunk *chunk = new_chunk(arena, CHUNK_SIZE);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->left = CHUNK_SIZE;
    }
    void *out = arena->chunks->bytes + CHUNK_SIZE - arena->left;
    arena->left -= size;
    return out;
}

void *fmt_arena_take(fmt_arena *arena, size_t size)
{
    size_t unaligned = arena->left % alignof(max_align_t);
    arena->left -= unaligned;
    return take_bytes(arena, size);
}

void *fmt_arena_array(fmt_arena *arena, size_t count, size_t size)
{
    if (count > SIZE_MAX / size)
        return NULL;
    void *out = fmt_arena_take(arena, count * size);
    return out ? memset(out, 0, count * size) : NULL;
}

char *fmt_arena_text(fmt_arena *arena, const void *bytes, size_t size)
{
    char *out = size < SIZE_MAX ? take_bytes(arena, size + 1) : NULL;
    if (!out)
        return NULL;
    memcpy(out, bytes, size);
    out[size] = 0;
    return out;
}
