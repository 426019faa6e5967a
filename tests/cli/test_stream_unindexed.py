# SPDX-License-Identifier: Apache-2.0
"""stream, of shards that are read from front to end: without indexes, of gzip, from a pipe."""
import subprocess
from pathlib import Path

import pytest
from conftest import SHARDTOOL, make_tree

NOTE = "shards are read from front to end"


@pytest.fixture(params=["tar", "tar.zst", "tar.gz"])
def shards(request, tool):
    """60 samples in five shards, whose indexes and manifest are gone; the pattern of their names."""
    make_tree("in", samples=60)
    tool("pack", "in", f"out-<0..4>.{request.param}", "-q")
    for path in [*Path().glob("*.sidx"), Path("out.shards.json")]:
        path.unlink()
    return f"out-{{0..4}}.{request.param}"


def keys(tool, *args, **options):
    return tool("stream", "--keys", *args, **options).out.splitlines()


def names():
    return sorted(str(p.with_suffix("").relative_to("in")) for p in Path("in").rglob("*.txt"))


@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_each_sample_comes_once_and_it_says_how(tool, shards, shuffle):
    result = tool("stream", "--keys", shards, "--shuffle", shuffle)
    assert sorted(result.out.splitlines()) == names() and NOTE in result.err
    assert keys(tool, shards, "--shuffle", shuffle, "-j4", "--batch", 7) == result.out.splitlines()
    if shuffle == "none":
        assert result.out.splitlines() == names()
    else:
        assert result.out.splitlines() != names()


def test_standard_input_is_a_shard(tool, shards):
    first = shards.replace("{0..4}", "0")
    run = subprocess.run([SHARDTOOL, "stream", "-", "--keys", "-q"], stdin=open(first, "rb"), capture_output=True,
                         text=True, check=True)
    assert run.stdout.splitlines() == keys(tool, first)


@pytest.mark.parametrize("after", [1, 10, 33, 59])
def test_it_goes_on_where_it_stopped(tool, shards, after):
    args = [shards, "--shuffle", "full", "--shuffle-samples", 20, "--seed", 3]
    whole = keys(tool, *args)
    begun = keys(tool, *args, "--batch", 1, "--stop-after", after, "--save-state", "s.json")
    assert '"order":"stream-1"' in Path("s.json").read_text() and len(begun) == after
    assert begun + keys(tool, *args, "--resume", "s.json", "-j3", "--batch", 5) == whole


def test_kept_indexes_are_those_that_index_makes(tool, shards):
    if shards.endswith("gz"):
        pytest.skip("the index of a gzip shard does not make it readable from anywhere")
    before = keys(tool, shards, "--keep-indexes")
    kept = {p.name: p.read_bytes() for p in Path().glob("*.sidx")}
    assert len(kept) == 5
    tool("index", shards, "-q")
    assert {p.name: p.read_bytes() for p in Path().glob("*.sidx")} == kept
    again = tool("stream", "--keys", shards)
    assert again.out.splitlines() == before and NOTE not in again.err


def test_ranks_need_the_size_of_an_epoch(tool, shards):
    args = [shards, "--rank", 1, "--world-size", 2]
    failed = tool("stream", *args, code=2)
    assert "epoch_size" in failed.err and "shardtool index" in failed.err
    parts = [keys(tool, shards, "--rank", r, "--world-size", 2, "--epoch-size", 40, "--batch", 5) for r in (0, 1)]
    assert [len(p) for p in parts] == [20, 20] and set(parts[0]) != set(parts[1])


def test_nothing_stands_in_for_a_bad_sample(tool, shards):
    assert "mask" in tool("stream", shards, "--on-bad", "substitute", code=2).err


def test_a_shard_that_is_cut_off_is_named(tool, shards):
    path = Path(shards.replace("{0..4}", "2"))
    path.write_bytes(path.read_bytes()[:-path.stat().st_size // 2])
    failed = tool("stream", shards, "--keys", code=1)
    assert path.name in failed.err and "SHARD_E" in failed.err
    assert failed.out.splitlines() == names()[:len(failed.out.splitlines())]
