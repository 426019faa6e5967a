/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entropy decoder of sequential JPEG with 8-bit samples (ITU-T T.81, annex F): bytes of a scan
 * into coefficients. Pure: it knows neither files nor markers. What an ordinary encoder does not
 * write is an error here, and nothing is guessed; another decoder can then be asked.
 */
#ifndef DECODE_HUFFMAN_H
#define DECODE_HUFFMAN_H

#include "fmt.h"

enum {
    SHARD_HUFFMAN_LOOK = 10,   /* bits that are looked up at once */
    SHARD_HUFFMAN_PAD = 16,    /* bytes behind a scan that may be read */
    SHARD_HUFFMAN_BLOCKS = 10, /* in an MCU, at most */
    SHARD_HUFFMAN_COMPONENTS = 4,
};

typedef enum { SHARD_HUFFMAN_DC, SHARD_HUFFMAN_AC } shard_huffman_class;

/* One Huffman table, made ready. About 6 KiB. */
typedef struct {
    uint32_t look[1 << SHARD_HUFFMAN_LOOK]; /* huffman.c says what of both */
    uint16_t skip[1 << SHARD_HUFFMAN_LOOK]; /* of AC tables only */
    uint32_t behind[17]; /* of each length: the first longer code, in 16 bits from the left */
    int32_t symbol[17];  /* of each length: where a code's symbol stands, less the code */
    uint8_t symbols[256];
} shard_huffman_table;

/*
 * Make a table of what a DHT segment says: how many codes there are of each length (1 to 16), and
 * their symbols. False when `count` are too many symbols or not what the lengths add up to, or when
 * the codes do not fit in their lengths.
 */
bool shard_huffman_set(shard_huffman_table *table, shard_huffman_class kind,
                       const uint8_t lengths[16], const uint8_t *symbols, size_t count);

/*
 * Copy the bytes of a scan up to its first marker, FF 00 as FF, and zeros for SHARD_HUFFMAN_PAD
 * behind them. `out` has room for size + SHARD_HUFFMAN_PAD bytes. How many were copied, without
 * the zeros; `*used` is how many were read, so that a marker, if there is one, is at in + *used.
 */
size_t shard_huffman_unstuff(const uint8_t *in, size_t size, uint8_t *out, size_t *used);

/* One block of an MCU. */
typedef struct {
    const shard_huffman_table *dc, *ac;
    uint8_t component; /* below SHARD_HUFFMAN_COMPONENTS: whose DC values it continues */
} shard_huffman_block;

/* Where decoding stands. */
typedef struct {
    const uint8_t *at, *end; /* bytes to be read next; the end of those there are */
    uint64_t bits;           /* read, from the left */
    uint32_t count;          /* how many of them are valid */
    uint32_t dc[SHARD_HUFFMAN_COMPONENTS];
} shard_huffman;

/* Begin at the start of a scan or behind a restart marker; SHARD_HUFFMAN_PAD bytes stand behind. */
void shard_huffman_begin(shard_huffman *huffman, const uint8_t *bytes, size_t size);

/* How many bytes there are of which not one bit was used. */
size_t shard_huffman_left(const shard_huffman *huffman);

/*
 * Decode the next MCU: `count` blocks, of each its 64 coefficients in their natural order (row by
 * row), not yet multiplied. They are all zero before. A block for which there is NULL is read past,
 * which is faster; `coefficients` NULL: all of them. False when a code does not exist, a block has
 * more than 64 coefficients, or the bytes have come to an end; nothing more can then be decoded.
 */
bool shard_huffman_mcu(shard_huffman *huffman, const shard_huffman_block *blocks, size_t count,
                       int16_t *const *coefficients);

#endif
