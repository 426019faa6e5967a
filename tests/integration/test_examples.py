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


def test_what_is_wrong_is_told(tool):
    make_tree("in", samples=2)
    tool("pack", "in", "out.tar")
    missing = run("one_sample", "out.tar", 2)
    assert missing.returncode == 1 and "no sample 2 of 2" in missing.stderr
    write("cut.tar", Path("out.tar").read_bytes()[:700])
    cut = run("all_samples", "cut.tar")
    assert cut.returncode == 1 and "cut.tar: " in cut.stderr and cut.stdout == ""
