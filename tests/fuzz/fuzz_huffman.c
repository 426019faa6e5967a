/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entropy decoder of JPEG beside a slow one that reads bit by bit, as T.81's figures F.12 to
 * F.16 draw it: both decode the same MCUs to the same coefficients and stop at the same one.
 *
 * Input: how many blocks an MCU has; a DC and an AC table as a DHT segment has them; a scan.
 */
#include "fuzz.h"

#include "decode/huffman.h"

typedef struct {
    const uint8_t *lengths, *symbols;
    size_t count;
} raw_table;

static bool take_table(fmt_span *in, raw_table *table)
{
    if (in->size < 16)
        return false;
    *table = (raw_table){in->data, in->data + 16, 0};
    for (int i = 0; i < 16; i++)
        table->count += in->data[i];
    if (in->size - 16 < table->count)
        return false;
    in->data += 16 + table->count;
    in->size -= 16 + table->count;
    return true;
}

/* ---- the slow one */

typedef struct {
    const uint8_t *bytes;
    size_t size, at; /* `at` in bits */
    int32_t dc;
} slow;

static uint32_t next_bit(slow *s)
{
    uint32_t bit = s->at / 8 < s->size ? s->bytes[s->at / 8] >> (7 - s->at % 8) & 1 : 0;
    s->at++;
    return bit;
}

/* -1: no such code. */
static int next_symbol(slow *s, const raw_table *table)
{
    uint32_t code = 0, first = 0, index = 0;
    for (int length = 0; length < 16; length++) {
        code = code << 1 | next_bit(s);
        if (code < first + table->lengths[length])
            return table->symbols[index + code - first];
        index += table->lengths[length];
        first = (first + table->lengths[length]) << 1;
    }
    return -1;
}

static int32_t next_value(slow *s, int size)
{
    int32_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 1 | (int32_t)next_bit(s);
    return size > 0 && value < 1 << (size - 1) ? value - (1 << size) + 1 : value;
}

/* In the zigzag's order. */
static bool slow_block(slow *s, const raw_table *dc, const raw_table *ac, int16_t zigzag[64])
{
    int symbol = next_symbol(s, dc);
    if (symbol < 0)
        return false;
    s->dc += next_value(s, symbol);
    zigzag[0] = (int16_t)s->dc;
    for (int k = 1; k < 64; k++) {
        symbol = next_symbol(s, ac);
        if (symbol <= 0)
            return symbol == 0;
        k += symbol >> 4;
        int16_t value = (int16_t)next_value(s, symbol & 15);
        if (k > 63)
            return false;
        zigzag[k] = value;
    }
    return true;
}

/* ---- both */

/* Where number k of the zigzag stands: along one diagonal after the other, up and down in turn. */
static void natural_order(const int16_t zigzag[64], int16_t block[64])
{
    int k = 0;
    for (int sum = 0; sum < 15; sum++)
        for (int i = 0; i <= sum; i++) {
            int row = sum % 2 ? i : sum - i, column = sum - row;
            if (row < 8 && column < 8)
                block[row * 8 + column] = zigzag[k++];
        }
}

static bool slow_mcu(slow *s, const raw_table *dc, const raw_table *ac, size_t count,
                     int16_t (*blocks)[64])
{
    for (size_t i = 0; i < count; i++) {
        int16_t zigzag[64] = {0};
        if (!slow_block(s, dc, ac, zigzag))
            return false;
        natural_order(zigzag, blocks[i]);
    }
    return s->at <= s->size * 8;
}

static void compare(const shard_huffman_table tables[2], const raw_table *dc, const raw_table *ac,
                    size_t count, fmt_span scan)
{
    shard_huffman_block how[SHARD_HUFFMAN_BLOCKS];
    for (size_t i = 0; i < count; i++)
        how[i] = (shard_huffman_block){&tables[0], &tables[1], 0};
    slow s = {.bytes = scan.data, .size = scan.size};
    shard_huffman fast, skipping;
    shard_huffman_begin(&fast, scan.data, scan.size);
    shard_huffman_begin(&skipping, scan.data, scan.size);
    for (bool good = true; good;) {
        int16_t got[SHARD_HUFFMAN_BLOCKS][64] = {{0}}, expected[SHARD_HUFFMAN_BLOCKS][64];
        int16_t *to[SHARD_HUFFMAN_BLOCKS];
        for (size_t i = 0; i < count; i++)
            to[i] = got[i];
        good = slow_mcu(&s, dc, ac, count, expected);
        FUZZ_CHECK(shard_huffman_mcu(&fast, how, count, to) == good);
        FUZZ_CHECK(shard_huffman_mcu(&skipping, how, count, NULL) == good);
        FUZZ_CHECK(!good || memcmp(got, expected, count * sizeof *got) == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fmt_span in = {data, size};
    size_t count = fuzz_take_byte(&in) % SHARD_HUFFMAN_BLOCKS + 1, used;
    raw_table dc, ac;
    if (!take_table(&in, &dc) || !take_table(&in, &ac))
        return 0;
    shard_huffman_table *tables = malloc(2 * sizeof *tables);
    uint8_t *scan = malloc(in.size + SHARD_HUFFMAN_PAD);
    FUZZ_CHECK(tables && scan);
    if (shard_huffman_set(&tables[0], SHARD_HUFFMAN_DC, dc.lengths, dc.symbols, dc.count) &&
        shard_huffman_set(&tables[1], SHARD_HUFFMAN_AC, ac.lengths, ac.symbols, ac.count)) {
        size_t copied = shard_huffman_unstuff(in.data, in.size, scan, &used);
        FUZZ_CHECK(copied <= used && used <= in.size);
        uint8_t *exact = fuzz_copy(scan, copied + SHARD_HUFFMAN_PAD);
        compare(tables, &dc, &ac, count, (fmt_span){exact, copied});
        free(exact);
    }
    free(scan);
    free(tables);
    return 0;
}
