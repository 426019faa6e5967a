/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A look-up in `look` by the next bits says of a symbol whose code fits in LOOK bits, as nearly all
 * do:
 *
 *     bits 0-7    how many bits its code and its value have together; 0: the code does not fit
 *     bits 8-15   by how many places the coefficient's number grows; AT_END where the block ends
 *     bits 16-23  how many bits the code has
 *     bits 24-31  how many the value has
 *
 * The next look-up waits for bits 0-7 only; the value is made meanwhile.
 *
 * Where coefficients are only read past, their values do not matter, and a look-up in `skip` takes
 * as many symbols as have their codes in LOOK bits:
 *
 *     bits 0-7    how many bits they have together
 *     bits 8-13   by how many places the coefficient's number grows
 *     bit 14      the first code does not fit
 *     bit 15      the block ends with them
 *
 * Two look-ups are made for each refill of the bits: each uses at most 16 bits of code and, as the
 * tables are refused otherwise, 10 of value (11 for DC), and a refill gives 56.
 */
#include "decode/huffman.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum {
    LOOK = SHARD_HUFFMAN_LOOK,
    SKIP_LONG = 0x4000,
    SKIP_AT_END = 0x8000,
    SKIP_STEPS_MOST = 63,
    DC_SIZE_MOST = 11,
    AC_SIZE_MOST = 10,
    AT_END = 80, /* past every number that a run of zeros can reach */
    BAD = 0,
};

/* Where the coefficients of a zigzag stand in a block. What runs over its end goes to the last
 * place, where it does no harm: a zero, or a block that will be refused. */
/* clang-format off */
static const uint8_t natural[64 + AT_END] = {
     0,  1,  8, 16,  9,  2,  3, 10, 17, 24, 32, 25, 18, 11,  4,  5,
    12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13,  6,  7, 14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51,
    58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
    63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63, 63,
};
/* clang-format on */

/* ---- tables */

static uint32_t steps_of(shard_huffman_class kind, uint8_t symbol)
{
    if (kind == SHARD_HUFFMAN_AC && symbol == 0)
        return AT_END;
    return (symbol >> 4) + 1U;
}

static uint32_t entry_of(shard_huffman_class kind, uint8_t symbol, uint32_t length)
{
    uint32_t size = symbol & 15;
    return (length + size) | steps_of(kind, symbol) << 8 | length << 16 | size << 24;
}

static bool symbol_valid(shard_huffman_class kind, uint8_t symbol)
{
    uint32_t run = symbol >> 4, size = symbol & 15;
    if (kind == SHARD_HUFFMAN_DC)
        return symbol <= DC_SIZE_MOST;
    return size == 0 ? run == 0 || run == 15 : size <= AC_SIZE_MOST;
}

static bool symbols_valid(shard_huffman_class kind, const uint8_t *symbols, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!symbol_valid(kind, symbols[i]))
            return false;
    return true;
}

/* A code that fits, with whatever may follow it. */
static void fill_look(shard_huffman_table *table, shard_huffman_class kind, uint32_t code,
                      uint32_t length, uint8_t symbol)
{
    uint32_t free_bits = LOOK - length;
    for (uint32_t rest = 0; rest < 1U << free_bits; rest++)
        table->look[code << free_bits | rest] = entry_of(kind, symbol, length);
}

/* The symbols whose codes stand in these LOOK bits. */
static uint16_t skip_entry(const shard_huffman_table *table, uint32_t bits)
{
    uint32_t used = 0, steps = 0;
    while (used < LOOK) {
        uint32_t entry = table->look[bits << used & ((1U << LOOK) - 1)];
        uint32_t more = entry >> 8 & 255, code = entry >> 16 & 255;
        if (entry == 0 || used + code > LOOK)
            break;
        if (more == AT_END)
            return (uint16_t)(SKIP_AT_END | steps << 8 | (used + code));
        if (steps + more > SKIP_STEPS_MOST)
            break;
        used += entry & 255;
        steps += more;
    }
    return (uint16_t)(used == 0 ? SKIP_LONG : steps << 8 | used);
}

static void fill_skip(shard_huffman_table *table)
{
    for (uint32_t bits = 0; bits < 1U << LOOK; bits++)
        table->skip[bits] = skip_entry(table, bits);
}

bool shard_huffman_set(shard_huffman_table *table, shard_huffman_class kind,
                       const uint8_t lengths[16], const uint8_t *symbols, size_t count)
{
    if (count > sizeof table->symbols || !symbols_valid(kind, symbols, count))
        return false;
    *table = (shard_huffman_table){0};
    memcpy(table->symbols, symbols, count);
    uint32_t code = 0, next = 0;
    for (uint32_t length = 1; length <= 16; length++, code *= 2) {
        if (lengths[length - 1] > count - next || code + lengths[length - 1] > 1U << length)
            return false;
        table->symbol[length] = (int32_t)next - (int32_t)code;
        for (uint32_t i = 0; i < lengths[length - 1]; i++, code++, next++)
            if (length <= LOOK)
                fill_look(table, kind, code, length, symbols[next]);
        table->behind[length] = code << (16 - length);
    }
    if (kind == SHARD_HUFFMAN_AC)
        fill_skip(table);
    return next == count;
}

/* ---- bytes */

size_t shard_huffman_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *used)
{
    uint8_t *to = out;
    size_t at = 0;
    while (at < size) {
        const uint8_t *found = memchr(in + at, 0xff, size - at);
        size_t plain = found ? (size_t)(found - in) - at : size - at;
        memcpy(to, in + at, plain);
        to += plain;
        at += plain;
        if (size - at < 2 || in[at + 1] != 0)
            break; /* a marker, half of one, or the end */
        *to++ = 0xff;
        at += 2;
    }
    memset(to, 0, SHARD_HUFFMAN_PAD);
    *used = at;
    return (size_t)(to - out);
}

void shard_huffman_begin(shard_huffman *huffman, const uint8_t *bytes, size_t size)
{
    *huffman = (shard_huffman){.at = bytes, .end = bytes + size};
}

/* What is read of a scan, while it is read: apart, so that it can stay in registers. */
typedef struct {
    const uint8_t *at, *last;
    uint64_t bits;
    uint32_t count;
} reader;

INLINE uint64_t load_big_endian(const uint8_t *p)
{
    return (uint64_t)p[0] << 56 | (uint64_t)p[1] << 48 | (uint64_t)p[2] << 40 |
           (uint64_t)p[3] << 32 | (uint64_t)p[4] << 24 | (uint64_t)p[5] << 16 |
           (uint64_t)p[6] << 8 | (uint64_t)p[7];
}

/* At least 56 bits, without a branch. Zeros stand behind the end, and reading stays in them. */
INLINE void refill(reader *r)
{
    r->bits |= load_big_endian(r->at) >> r->count;
    r->at += (63 - r->count) >> 3;
    r->at = r->at < r->last ? r->at : r->last;
    r->count |= 56;
}

/* Whether bits were used that are not there. Where reading was kept from going on, it is 64 bits
 * behind the end, and fewer are left. */
static bool past_end(const shard_huffman *h)
{
    return h->at - h->end > (ptrdiff_t)(h->count / 8);
}

size_t shard_huffman_left(const shard_huffman *h)
{
    return past_end(h) ? 0 : (size_t)(h->end - h->at + (ptrdiff_t)(h->count / 8));
}

/* ---- symbols */

/* Of a code that is longer than LOOK; BAD: there is none. */
__attribute__((noinline)) static uint32_t long_entry(const shard_huffman_table *table,
                                                     shard_huffman_class kind, uint64_t bits)
{
    uint32_t length = LOOK + 1, next = (uint32_t)(bits >> 48);
    while (length <= 16 && next >= table->behind[length])
        length++;
    if (length > 16)
        return BAD;
    int32_t at = (int32_t)(next >> (16 - length)) + table->symbol[length];
    return entry_of(kind, table->symbols[at], length);
}

/* The value that the `size` leftmost bits stand for (T.81, F.2.2.1): the lower half is negative. */
INLINE uint32_t value_of(uint64_t bits, uint32_t size)
{
    uint32_t digits = (uint32_t)(bits >> 1 >> (63 - size));
    uint32_t negative = (uint32_t)(bits >> 63) - 1; /* all ones or zero */
    return digits + (negative & ((UINT32_MAX << size) + 1));
}

/* One symbol: its entry and its value. */
INLINE uint32_t next_symbol(reader *r, const shard_huffman_table *table, shard_huffman_class kind,
                            uint32_t *value)
{
    uint32_t entry = table->look[r->bits >> (64 - LOOK)];
    if (entry == 0)
        entry = long_entry(table, kind, r->bits);
    *value = value_of(r->bits << (entry >> 16 & 63), entry >> 24);
    r->bits <<= entry & 63;
    r->count -= entry & 63;
    return entry;
}

/* Sets coefficient k and returns the next one's number; AT_END or more for the last, or BAD. */
INLINE uint32_t next_coefficient(reader *r, const shard_huffman_table *table, uint32_t k,
                                 int16_t *block)
{
    uint32_t value, entry = next_symbol(r, table, SHARD_HUFFMAN_AC, &value);
    if (entry == BAD)
        return BAD;
    k += entry >> 8 & 255;
    block[natural[k - 1]] = (int16_t)value;
    return k;
}

INLINE bool next_dc(reader *r, const shard_huffman_block *how, uint32_t *dc)
{
    uint32_t change;
    refill(r);
    if (next_symbol(r, how->dc, SHARD_HUFFMAN_DC, &change) == BAD)
        return false;
    dc[how->component] += change;
    return true;
}

INLINE bool is_end(uint32_t k)
{
    return k == 64 || k >= AT_END;
}

INLINE bool decode_block(reader *r, const shard_huffman_block *how, uint32_t *dc, int16_t *block)
{
    if (!next_dc(r, how, dc))
        return false;
    block[0] = (int16_t)dc[how->component];
    uint32_t k = next_coefficient(r, how->ac, 1, block);
    while (k - 1 < 63) { /* neither BAD nor at an end */
        refill(r);
        k = next_coefficient(r, how->ac, k, block);
        if (k - 1 < 63)
            k = next_coefficient(r, how->ac, k, block);
    }
    return is_end(k);
}

/* As next_coefficient, past one or more. One by one where the block might be full before the last
 * of them: what stands behind is not its own. */
INLINE uint32_t skip_coefficients(reader *r, const shard_huffman_table *table, uint32_t k)
{
    uint32_t value, entry = table->skip[r->bits >> (64 - LOOK)], next = k + (entry >> 8);
    if (next & SKIP_LONG >> 8) {
        entry = next_symbol(r, table, SHARD_HUFFMAN_AC, &value);
        return entry == BAD ? BAD : k + (entry >> 8 & 255);
    }
    r->bits <<= entry & 63;
    r->count -= entry & 63;
    return next;
}

INLINE bool skip_block(reader *r, const shard_huffman_block *how, uint32_t *dc)
{
    if (!next_dc(r, how, dc))
        return false;
    uint32_t k = skip_coefficients(r, how->ac, 1);
    while (k - 1 < 63) {
        refill(r);
        k = skip_coefficients(r, how->ac, k);
        if (k - 1 < 63)
            k = skip_coefficients(r, how->ac, k);
    }
    return is_end(k);
}

INLINE bool decode_mcu(shard_huffman *huffman, const shard_huffman_block *blocks, size_t count,
                       int16_t *const *coefficients)
{
    const uint8_t *last = huffman->end + (SHARD_HUFFMAN_PAD - sizeof(uint64_t));
    reader r = {huffman->at, last, huffman->bits, huffman->count};
    bool good = true;
    for (size_t i = 0; good && i < count; i++)
        good = coefficients && coefficients[i]
                   ? decode_block(&r, &blocks[i], huffman->dc, coefficients[i])
                   : skip_block(&r, &blocks[i], huffman->dc);
    huffman->at = r.at;
    huffman->bits = r.bits;
    huffman->count = r.count;
    return good && !past_end(huffman);
}

#if defined __x86_64__

/* Its shifts by a variable are faster. */
__attribute__((target("bmi2"))) static bool decode_mcu_bmi2(shard_huffman *huffman,
                                                            const shard_huffman_block *blocks,
                                                            size_t count,
                                                            int16_t *const *coefficients)
{
    return decode_mcu(huffman, blocks, count, coefficients);
}

#endif

bool shard_huffman_mcu(shard_huffman *huffman, const shard_huffman_block *blocks, size_t count,
                       int16_t *const *coefficients)
{
#if defined __x86_64__
    if (__builtin_cpu_supports("bmi2"))
        return decode_mcu_bmi2(huffman, blocks, count, coefficients);
#endif
    return decode_mcu(huffman, blocks, count, coefficients);
}
