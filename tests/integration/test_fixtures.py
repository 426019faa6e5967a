# SPDX-License-Identifier: Apache-2.0
"""Files of every version of the formats: still read, and for the same input still written."""
import shutil
from pathlib import Path

import pytest
from conftest import read_files, without_digest, write

FIXTURES = Path(__file__).parents[2] / "fixtures/v1"
SETS = {"plain": "tar", "zstd": "tar.zst", "gzip": "tar.gz"}
LONG = "n" * 90 + "/" + "m" * 120
FILES = {
    "caf\u00e9/03.txt": b"x" * 1000,
    "cat/01.jpg": b"\xff\xd8 one", "cat/01.txt": b"a cat",
    "dog/02.jpg": b"\xff\xd8 two" * 100, "dog/02.txt": "ein Hund, gr\u00f6\u00dfer".encode(),
    "dog/a.b.seg.png": b"",
    LONG + ".bin": b"long",
}
LABELS = {"caf\u00e9/03": b"0", "cat/01": b"1", "dog/02": b"2", "dog/a": b"2", LONG: b"3"}


@pytest.fixture
def fixtures(tool):
    for path in FIXTURES.iterdir():
        shutil.copy(path, ".")


@pytest.mark.parametrize("name", SETS)
def test_a_set_is_still_read(tool, fixtures, name):
    tool("verify", f"{name}.shards.json")
    assert [line["key"] for line in tool("ls", "--json", f"{name}.shards.json").lines] == list(LABELS)
    for path, content in FILES.items():
        assert tool("cat", f"{name}.shards.json", path).out_bytes == content
    for key, label in LABELS.items():
        assert tool("cat", f"{name}.shards.json", key, "cls").out_bytes == label


def test_the_same_input_still_gives_the_same_bytes(tool):
    for path, content in FILES.items():
        write(Path("in") / path, content)
    tool("pack", "in", "plain-<0..1>.tar", "--label-from", "dir")
    made = {name: without_digest(content) if name.endswith(".json") else content
            for name, content in read_files(".").items()}
    kept = {name: without_digest(content) if name.endswith(".json") else content
            for name, content in read_files(FIXTURES, "plain*").items()}
    assert made == kept


@pytest.mark.parametrize("name", SETS)
def test_an_index_is_made_anew_as_it_was(tool, fixtures, name):
    for i in range(2):
        shard = f"{name}-{i}.{SETS[name]}"
        before = Path(f"{shard}.sidx").read_bytes()
        tool("index", shard)
        assert Path(f"{shard}.sidx").read_bytes() == before
