# SPDX-License-Identifier: Apache-2.0
"""The order of samples, written a second time from docs/format/order.md: slow, and sharing nothing with the first."""
import struct

import xxhash

MASK = (1 << 64) - 1
BLOCKS, TAIL, DELAY, SHARDS = 1, 2, 3, 4


def key(seed, epoch, use, number):
    return xxhash.xxh3_64_intdigest(struct.pack("<QQQQ", seed, epoch, use, number))


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def permutation(size, seed, epoch, use):
    """The function i -> place of i, for i < size."""
    bits = max(8, (size - 1).bit_length())
    left_bits, right_bits = bits // 2, bits - bits // 2
    keys = [key(seed, epoch, use, r) for r in range(8)]

    def part(half, k, count):
        return mix(half + k & MASK) >> 64 - count

    def at(i):
        while True:
            left, right = i >> right_bits, i & (1 << right_bits) - 1
            for r in range(0, 8, 2):
                left ^= part(right, keys[r], left_bits)
                right ^= part(left, keys[r + 1], right_bits)
            i = left << right_bits | right
            if i < size:
                return i
    return at


def stored(shards, seed, epoch):
    return list(range(sum(shards)))


def by_shards(shards, seed, epoch):
    at = permutation(len(shards), seed, epoch, SHARDS)
    first = [sum(shards[:i]) for i in range(len(shards))]
    return [first[s] + i for s in map(at, range(len(shards))) for i in range(shards[s])]


def lanes_of(samples, memory):
    """Block, lanes, delay and the first position of the tail."""
    if samples <= memory:
        return samples, 1, 1, 0
    lanes = next(n for n in (192, 96, 48, 24, 12, 6, 3, 1) if memory // n >= 4 or n == 1)
    share = memory // lanes
    block = max(1, share // 6)
    delay = 2 * (share - block) if share > block else 1
    return block, lanes, delay, samples // block // lanes * lanes * block


def by_lanes(shards, seed, epoch, memory=16384):
    samples = sum(shards)
    block, lanes, delay, tail = lanes_of(samples, memory)
    at = permutation(samples // block, seed, epoch, BLOCKS)
    row = [b * block + i for b in map(at, range(samples // block)) for i in range(block)]
    row += range(len(row), samples)
    ids = [None] * tail
    for lane in range(lanes if tail else 0):
        k = key(seed, epoch, DELAY, lane)
        times = [(i << 32) + delay * (mix(k + i * 0x9E3779B97F4A7C15 & MASK) >> 32) for i in range(tail // lanes)]
        leaves = sorted(range(len(times)), key=lambda i: (times[i], i))
        ids[lane::lanes] = [row[(i // block * lanes + lane) * block + i % block] for i in leaves]
    if tail < samples:
        back = permutation(samples - tail, seed, epoch, TAIL)
        ids += [row[tail + back(i)] for i in range(samples - tail)]
    return ids
