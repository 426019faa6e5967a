# SPDX-License-Identifier: Apache-2.0
"""The programs in examples/ do what they say."""
import os
import subprocess
from pathlib import Path

import pytest
from conftest import make_tree, write

EXAMPLES = Path(os.environ.get("SHARD_BUILD", "build/dev")) / "examples"


def run(name, *args):
    return subprocess.run([EXAMPLES / name, *map(str, args)], capture_output=True, text=True)


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
def test_one_sample_and_all_of_them(tool, suffix):
    files = make_tree("in", samples=12)
    tool("pack", "in", f"out-<0..1>.{suffix}")
    keys = [line["key"] for line in tool("ls", "--json", "out.shards.json").lines]
    for number in (0, 7, 11):
        told = run("one_sample", "out.shards.json", number).stdout.splitlines()
        sizes = [f"  {c}: {len(files[f'{keys[number]}.{c}'])} bytes" for c in ("jpg", "txt")]
        assert told == [keys[number], *sizes]
    total = sum(map(len, files.values()))
    assert run("all_samples", f"out-0.{suffix}", f"out-1.{suffix}").stdout == f"12 samples, {total} bytes\n"


def test_read_local_tells_each_batch(tool):
    run("make_images", "in", 150)
    tool("pack", "in", "out-<0..2>.tar", "--label-from", "dir")
    order = tool("stream", "--shuffle", "full", "--keys", "out.shards.json").out.splitlines()
    classes = sorted({key.split("/")[0] for key in order})
    expected = [f"batch {i}: {rows} of 224x224x3, first {key} of class {classes.index(key.split('/')[0])}"
                for i, (rows, key) in enumerate(zip([64, 64, 22], order[::64]))]
    told = run("read_local", "out.shards.json")
    assert told.returncode == 0 and told.stdout.splitlines() == expected


def test_read_local_tells_what_is_wrong(tool):
    assert (usage := run("read_local")).returncode == 2 and usage.stderr == "usage: read_local SET\n"
    missing = run("read_local", "none.shards.json")
    assert missing.returncode == 1 and missing.stderr.startswith("none.shards.json: ")
    make_tree("in", samples=2)
    tool("pack", "in", "out.tar", "--label-from", "dir")
    no_image = run("read_local", "out.tar")
    assert no_image.returncode == 1 and 'component "jpg" of "class' in no_image.stderr
    assert missing.stderr.count("\n") == no_image.stderr.count("\n") == 1


def test_what_is_wrong_is_told(tool):
    make_tree("in", samples=2)
    tool("pack", "in", "out.tar")
    missing = run("one_sample", "out.tar", 2)
    assert missing.returncode == 1 and "no sample 2 of 2" in missing.stderr
    write("cut.tar", Path("out.tar").read_bytes()[:700])
    cut = run("all_samples", "cut.tar")
    assert cut.returncode == 1 and "cut.tar: " in cut.stderr and cut.stdout == ""
