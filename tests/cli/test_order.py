# SPDX-License-Identifier: Apache-2.0
"""order: which sample stands where in an epoch, and what --stats says of that, worked out a second time."""
import json
import os
import re
import signal
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
import second_order
from conftest import SHARDTOOL, make_tree, write

SIZES = [[1], [7], [0, 5, 0, 0, 3], [250, 250, 250], [999, 1, 0, 1000], [61] * 37]
PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=open("peak", "w"))
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def is_sanitized():
    cache = Path(os.environ.get("SHARD_BUILD", "")) / "CMakeCache.txt"
    return cache.is_file() and re.search("^SHARD_SANITIZE:.*=.", cache.read_text(), re.M)


def make_manifest(shards, name="x.shards.json", sample_bytes=1000):
    """A manifest alone: no shard, no index."""
    write(name, json.dumps({
        "format": "shardset", "version": 1, "samples": sum(shards), "bytes": sum(shards) * sample_bytes,
        "components": {}, "shards": len(shards), "names": [f"x-{i}.tar" for i in range(len(shards))],
        "shard_samples": shards, "shard_bytes": [n * sample_bytes for n in shards]}))
    return name


def expected(shuffle, shards, seed=0, epoch=0, memory=16384):
    if shuffle == "full":
        return second_order.by_lanes(shards, seed, epoch, memory)
    return (second_order.stored if shuffle == "none" else second_order.by_shards)(shards, seed, epoch)


def rows(result):
    return [line.split("\t") for line in result.out.splitlines()]


def ids(result):
    return [int(row[1]) for row in rows(result)]


# ---- the order


@pytest.mark.parametrize("shards", SIZES, ids=lambda s: f"{sum(s)}")
@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_a_manifest_alone_gives_the_order_of_the_specification(tool, shuffle, shards):
    make_manifest(shards)
    for seed, epoch, memory in (0, 0, 16384), (7, 3, 100), (2**63 - 1, 2**32 - 1, 777):
        result = tool("order", "x.shards.json", "--shuffle", shuffle, "--seed", seed, "--epoch", epoch,
                      "--shuffle-samples", memory)
        want = expected(shuffle, shards, seed, epoch, memory)
        assert rows(result) == [[str(i), str(n), "-"] for i, n in enumerate(want)]


def test_without_options_it_is_the_stored_order_of_epoch_0(tool):
    make_manifest([5, 6])
    assert ids(tool("order", "x.shards.json")) == list(range(11))


@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_a_range_is_a_slice_of_the_whole(tool, shuffle):
    make_manifest([61] * 37)
    command = ["order", "x.shards.json", "--shuffle", shuffle, "--shuffle-samples", "300", "--epoch", "2"]
    whole = rows(tool(*command))
    for first, count in (0, 1), (0, 2257), (1, 10), (1000, 700), (2256, 1), (2257, 0), (5, 0):
        assert rows(tool(*command, "--from", first, "--count", count)) == whole[first:first + count]
    assert rows(tool(*command, "--from", 2000)) == whole[2000:]


@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_a_range_longer_than_what_is_worked_out_at_a_time(tool, shuffle):
    make_manifest([1000] * 150)
    command = ["order", "x.shards.json", "--shuffle", shuffle, "--shuffle-samples", "3000"]
    assert ids(tool(*command)) == expected(shuffle, [1000] * 150, memory=3000)


# ---- keys


@pytest.fixture
def packed(tool):
    make_tree("in", samples=60)
    tool("pack", "in", "out-<0..4>.tar", "-q")
    return tool


@pytest.mark.parametrize("names", [["out.shards.json"], ["out-{0..4}.tar"]])
@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_keys_and_shards_are_those_that_ls_tells(packed, shuffle, names):
    samples = packed("ls", "--json", *names).lines
    command = ["order", *names, "--shuffle", shuffle, "--shuffle-samples", "9"]
    want = expected(shuffle, [12] * 5, memory=9)
    assert rows(packed(*command)) == [[str(i), str(n), samples[n]["key"]] for i, n in enumerate(want)]
    assert packed(*command, "--json").lines == [
        {"position": i, "id": n, "key": samples[n]["key"], "shard": samples[n]["shard"]}
        for i, n in enumerate(want)]


def test_indexes_are_enough_for_keys(packed):
    before = packed("order", "out.shards.json", "--shuffle", "full").out
    for i in range(5):
        os.remove(f"out-{i}.tar")
    assert packed("order", "out.shards.json", "--shuffle", "full").out == before


def test_a_shard_without_an_index_has_no_keys(packed):
    os.remove("out-2.tar.sidx")
    for line in packed("order", "out.shards.json", "--shuffle", "full", "--json").lines:
        assert (line["key"] is None) == (line["shard"] == "out-2.tar") == (24 <= line["id"] < 36)
    assert [row[2] for row in rows(packed("order", "out.shards.json"))].count("-") == 12


def test_more_shards_than_indexes_are_kept_open(tool):
    for i in range(600):
        write(f"in/{i:04d}.txt", "")
    tool("pack", "in", "out-<0..299>.tar", "-q")
    for names in (["out.shards.json"], ["out-<0..299>.tar"]):
        for row in rows(tool("order", *names, "--shuffle", "full")):
            assert int(row[1]) == int(row[2])


def test_keys_of_odd_bytes_are_one_field(tool):
    with tarfile.open("out.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("a\tb\\c.txt"))
    tool("index", "out.tar", "-q")
    assert tool("order", "out.tar").out == "0\t0\ta\\x09b\\\\c\n"
    assert tool("order", "out.tar", "--json").json["key"] == "a\tb\\c"


# ---- what does not fit


@pytest.mark.parametrize("options, code, named", [
    (["--shuffle", "all"], 2, "none|shards|full"),
    (["--from", "12"], 2, "12"),
    (["--from", "18446744073709551615"], 2, "18446744073709551615"),
    (["--count", "12"], 2, "12"),
    (["--from", "5", "--count", "7"], 2, "5"),
    (["--from", "11", "--count", "18446744073709551615"], 2, "an epoch has 11"),
    (["--seed", "9223372036854775808"], 2, "seed"),
    (["--epoch", "4294967296"], 2, "4294967296"),
    (["--shuffle", "full", "--shuffle-samples", "16777217"], None, "16777217"),
    (["--batch", "10"], 2, "--stats"),
    (["--world-size", "10"], 2, "--stats"),
    (["--stats", "--count", "5"], 2, "--count"),
    (["--stats", "--batch", "0"], 2, "--batch"),
    (["--stats", "--world-size", "0"], 2, "--world-size"),
    (["--stats", "--world-size", "3", "--batch", "10"], 2, "multiple"),
    (["--stats", "--class-samples", "0"], 2, "--class-samples"),
    (["--stats", "--epoch", "4294967296"], 2, "4294967296"),
])
def test_wrong_arguments_are_told_in_a_line(tool, options, code, named):
    make_manifest([5, 6])
    failed = tool("order", "x.shards.json", *options, code=code)
    first, *rest = failed.err.splitlines()
    assert failed.code in (1, 2) and failed.out == ""
    assert named in first and rest in ([], ["Try 'shardtool order --help'."])


@pytest.mark.parametrize("options", [[], ["--stats"]])
def test_shards_without_indexes_have_no_order(packed, options):
    os.remove("out-1.tar.sidx")
    (line,) = packed("order", "out-{0..4}.tar", *options, code=3).err.splitlines()
    assert "out-1.tar" in line and "index" in line and line.endswith("[SHARD_ENOTFOUND]")
    make_manifest([0, 0])
    assert "no samples" in packed("order", "x.shards.json", *options, code=1).err


def test_an_index_of_another_shard_is_an_error(packed):
    os.replace("out-1.tar.sidx", "out-0.tar.sidx")
    assert "SHARD_ESTALE" in packed("order", "out.shards.json", code=1).err


# ---- large sets, signals


@pytest.fixture
def huge(tool):
    """10^9 samples in 10^5 shards."""
    return make_manifest([10_000] * 100_000)


@pytest.mark.skipif(is_sanitized(), reason="a sanitizer needs memory of its own")
@pytest.mark.parametrize("options", [["--from", "777777777", "--count", "5"], ["--stats", "--json"]])
@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_a_huge_set_takes_little_memory(huge, shuffle, options):
    result = subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, SHARDTOOL, "order", huge, "--shuffle",
                             shuffle, *options], capture_output=True)
    assert result.returncode == 0 and result.stderr == b""
    assert int(Path("peak").read_text()) < 100 << 10
    if options[0] == "--from":
        lines = [line.split("\t") for line in result.stdout.decode().splitlines()]
        assert [int(line[0]) for line in lines] == list(range(777777777, 777777782))
        assert len({line[1] for line in lines}) == 5 and all(0 <= int(line[1]) < 10**9 for line in lines)
    else:
        stats = json.loads(result.stdout)
        assert 1000 < stats["looked"] < stats["batches"] == 10**9 // 1024


def test_a_signal_ends_it(huge):
    with subprocess.Popen([SHARDTOOL, "order", huge], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert (process.stderr.read(), process.wait(60)) == (b"", 130)


def test_a_reader_that_goes_away_ends_it_silently(huge):
    process = subprocess.run(f"{SHARDTOOL} order {huge} --shuffle full | head -n 2", shell=True, capture_output=True)
    assert len(process.stdout.splitlines()) == 2 and process.stderr == b""


# ---- --stats


def ranks_of_batch(first, batch, world, samples, lanes):
    """Who has which place of a global batch: docs/format/order.md, "Batches and ranks"."""
    if lanes % world == 0 and first + batch <= samples:
        return [(first + i) % samples % world for i in range(batch)]
    by_lane = sorted(range(batch), key=lambda i: (first + i) % samples % lanes)
    ranks = [None] * batch
    for at, i in enumerate(by_lane):
        ranks[i] = at // (batch // world)
    return ranks


def amplification(order, batch, world, block, lanes):
    samples, touched = len(order), defaultdict(set)
    for first in range(0, samples, batch):
        for rank, sample in zip(ranks_of_batch(first, batch, world, samples, lanes), order[first:first + batch]):
            touched[rank].add(sample // block)
    return sum(min(block, samples - b * block) for blocks in touched.values() for b in blocks) / samples


def inflation(batches, samples, size):
    """Mean squared distance of batches' means from the set's, over that of random picks; for labels of 1 or -1
    at random the squares of the differences of the classes' parts add up."""
    part = {c: n / samples for c, n in Counter(i // size for i in range(samples)).items()}
    if not batches or len(part) == 1:
        return None
    batch = len(batches[0])
    sums = [sum((counts[c] / batch - p) ** 2 for c, p in part.items())
            for counts in (Counter(i // size for i in b) for b in batches)]
    random = (1 - sum(p * p for p in part.values())) / batch * (samples - batch) / (samples - 1)
    return sum(sums) / len(sums) / random


def shards_of_random_picks(shards, batch):
    total, samples = 0.0, sum(shards)
    for size in shards:
        none = 1.0
        for i in range(batch):
            none *= max(0, samples - size - i) / (samples - i)
        total += 1 - none
    return total


@pytest.mark.parametrize("shards", [[100] * 30, [1000, 0, 1, 500, 1499, 7], [61] * 37], ids=len)
@pytest.mark.parametrize("batch, world, size", [(100, 1, 20), (96, 8, 7), (100, 5, 1), (700, 7, 2000)])
@pytest.mark.parametrize("shuffle, memory", [("none", 9), ("shards", 9), ("full", 2000), ("full", 50),
                                             ("full", 10**5)])
def test_stats_are_those_of_the_printed_order(tool, shuffle, memory, batch, world, size, shards):
    make_manifest(shards)
    command = ["order", "x.shards.json", "--shuffle", shuffle, "--shuffle-samples", memory, "--epoch", "1"]
    order = ids(tool(*command))
    stats = tool(*command, "--stats", "--json", "--batch", batch, "--world-size", world,
                 "--class-samples", size).json
    samples = len(order)
    shard_of = [s for s, n in enumerate(shards) for _ in range(n)]
    block, lanes, delay, tail = second_order.lanes_of(samples, memory) if shuffle == "full" else (1, 1, 1, samples)
    assert [stats[k] for k in ("block", "lanes", "delay", "tail")] == [block, lanes, delay, tail]
    assert stats["memory_samples"] == (lanes * (delay // 2 + block) if shuffle == "full" else 0)
    assert stats["memory_bytes"] == stats["memory_samples"] * 1000

    batches = [order[i:i + batch] for i in range(0, samples - batch + 1, batch)]
    edge = max(1, len(batches) // 100)
    assert (stats["batches"], stats["looked"]) == (len(batches), len(batches))
    assert stats["variance_inflation"] == pytest.approx({
        "head": inflation(batches[:edge], samples, size), "tail": inflation(batches[-edge:], samples, size),
        "body": inflation(batches[edge:-edge], samples, size)}, rel=1e-4)
    assert stats["shards_a_batch"] == pytest.approx(
        sum(len({shard_of[i] for i in b}) for b in batches) / len(batches), rel=1e-4)
    assert stats["shards_a_batch_random"] == pytest.approx(shards_of_random_picks(shards, batch), rel=0.02)
    same = sum(shard_of[a] == shard_of[b] for a, b in pairwise(order))
    assert stats["same_shard"] == pytest.approx(same / (samples - 1), rel=1e-4)
    assert stats["same_shard_random"] == pytest.approx(
        sum(n * (n - 1) for n in shards) / samples / (samples - 1), rel=1e-4)
    assert stats["read_amplification"] == pytest.approx(amplification(order, batch, world, block, lanes), rel=1e-4)


@pytest.mark.parametrize("shuffle, least, most", [("none", 300, 1025), ("shards", 300, 1025), ("full", 0.9, 2)])
def test_variance_inflation_of_a_million_samples(tool, shuffle, least, most):
    make_manifest([4096] * 256)
    stats = tool("order", "x.shards.json", "--shuffle", shuffle, "--stats", "--json", "--world-size", "48").json
    assert least < stats["variance_inflation"]["body"] < most
    assert stats["looked"] == stats["batches"] and stats["batch"] == 1056
    if shuffle == "full":
        assert stats["read_amplification"] == pytest.approx(1, abs=0.02), "but for the last batch, which is cut off"
        assert stats["shards_a_batch"] > 0.95 * stats["shards_a_batch_random"]


def test_a_part_of_a_large_set_tells_what_the_whole_would(tool):
    """Above 4 million samples a part is looked at."""
    make_manifest([4096] * 1000)
    whole = tool("order", "x.shards.json", "--shuffle", "full", "--stats", "--json", "--world-size", "7").json
    make_manifest([4096] * 1100)
    part = tool("order", "x.shards.json", "--shuffle", "full", "--stats", "--json", "--world-size", "7").json
    assert whole["looked"] == whole["batches"] and part["looked"] < part["batches"]
    assert part["variance_inflation"]["body"] == pytest.approx(whole["variance_inflation"]["body"], rel=0.1)
    assert part["read_amplification"] == pytest.approx(whole["read_amplification"], rel=0.02)
    assert part["shards_a_batch"] / part["shards_a_batch_random"] == pytest.approx(
        whole["shards_a_batch"] / whole["shards_a_batch_random"], rel=0.05)


def test_a_set_smaller_than_a_batch_has_no_variance(tool):
    make_manifest([3, 2])
    stats = tool("order", "x.shards.json", "--shuffle", "full", "--stats", "--json").json
    assert stats["batches"] == 0 and stats["variance_inflation"] == {"head": None, "body": None, "tail": None}
    assert stats["shards_a_batch"] is None and stats["read_amplification"] == 1
    make_manifest([1])
    assert tool("order", "x.shards.json", "--stats", "--json").json["same_shard"] is None


def test_stats_as_text_say_the_numbers_and_what_they_mean(tool):
    make_manifest([4096] * 16)
    numbers = tool("order", "x.shards.json", "--shuffle", "full", "--stats", "--json").json
    text = tool("order", "x.shards.json", "--shuffle", "full", "--stats").out
    assert f"{numbers['variance_inflation']['body']:.2f} (1: as a perfect shuffle; below 2 is good)" in text
    for word in ("lanes-1, seed 0, epoch 0, 65,536 samples", "14 samples", "192", "16,320 samples, about 15.6 MiB",
                 "64 of 1,024 samples", f"{numbers['shards_a_batch']:.2f} (random picks: 16.00)",
                 f"{numbers['read_amplification']:.2f} for 1 rank"):
        assert word in text
