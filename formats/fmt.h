/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all of formats/ shares: byte spans, the answers of a parser, and little-endian numbers.
 *
 * formats/ is pure: bytes in, structs out. No I/O, no threads, no globals, no allocation but
 * through a caller's fmt_alloc. A parser that is pushed bytes answers FMT_OK, FMT_END,
 * FMT_NEED_MORE or an error, and describes an error in an fmt_fault.
 */
#ifndef FMT_H
#define FMT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const uint8_t *data;
    size_t size;
} fmt_span;

typedef enum {
    FMT_OK = 0,
    FMT_END,          /* nothing more will come, and all that came was whole */
    FMT_NEED_MORE,    /* the input is used up in the middle of something */
    FMT_EINVALID,     /* the bytes break the format's specification */
    FMT_ETRUNCATED,   /* the input ended in the middle of something */
    FMT_ECHECKSUM,    /* a stored checksum differs from the computed one */
    FMT_EUNSUPPORTED, /* valid, but a feature that is refused by name */
    FMT_ELIMIT,       /* a number is larger than a stated limit */
    FMT_ENOMEM,
} fmt_status;

/* Why a parser refused, and where. `what` is static text. */
typedef struct {
    const char *what;
    uint64_t offset; /* of the offending bytes, counted from the start of the input */
    bool has_values; /* expected and got are set */
    uint64_t expected, got;
    char name[32]; /* the offending tag, key or record where one has a name; else "" */
} fmt_fault;

/* Memory from the caller; the same contract as malloc, realloc and free. */
typedef struct {
    void *(*realloc)(void *context, void *old, size_t size); /* old NULL: allocate */
    void (*free)(void *context, void *memory);               /* NULL allowed */
    void *context;
} fmt_alloc;

/* Record a fault and hand its status back: `return fmt_fail(fault, FMT_EINVALID, "...", offset);`
 */
fmt_status fmt_fail(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset);

/* The same, with the two values that differ. */
fmt_status fmt_fail_values(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset,
                           uint64_t expected, uint64_t got);

/* The same, with the name of the thing refused (cut at 31 bytes). */
fmt_status fmt_fail_name(fmt_fault *fault, fmt_status status, const char *what, uint64_t offset,
                         const char *name, size_t name_size);

/* clang-tidy sees one file at a time: tell it that no failure is FMT_OK. */
#if defined __clang_analyzer__ && !defined FMT_C
#define fmt_fail(...) ((void)fmt_fail(__VA_ARGS__), FMT_EINVALID)
#define fmt_fail_values(...) ((void)fmt_fail_values(__VA_ARGS__), FMT_EINVALID)
#define fmt_fail_name(...) ((void)fmt_fail_name(__VA_ARGS__), FMT_EINVALID)
#endif

static inline uint16_t fmt_load16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t fmt_load32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t fmt_load64(const uint8_t *p)
{
    return (uint64_t)fmt_load32(p) | (uint64_t)fmt_load32(p + 4) << 32;
}

static inline void fmt_store16(uint8_t *p, uint16_t v)
{
    p[0] = (uint8_t)v;
    p[1] = (uint8_t)(v >> 8);
}

static inline void fmt_store32(uint8_t *p, uint32_t v)
{
    fmt_store16(p, (uint16_t)v);
    fmt_store16(p + 2, (uint16_t)(v >> 16));
}

static inline void fmt_store64(uint8_t *p, uint64_t v)
{
    fmt_store32(p, (uint32_t)v);
    fmt_store32(p + 4, (uint32_t)(v >> 32));
}

/* Write a number's digits, without a NUL; how many there are. */
enum { FMT_DECIMAL_MAX = 20 };
size_t fmt_decimal(char *out, uint64_t value);

#endif
