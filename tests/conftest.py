# SPDX-License-Identifier: Apache-2.0
"""What the Python tests share: the program under test, trees to pack, and the shards of others."""
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "support"))
pytest.register_assert_rewrite("second_view")

SHARDTOOL = os.environ.get("SHARDTOOL", str(Path(__file__).parent.parent / "build/dev/shardtool"))


class Result:
    """How a run of shardtool ended."""

    def __init__(self, process):
        self.code = process.returncode
        self.out_bytes = process.stdout
        self.err = process.stderr.decode("utf-8", "backslashreplace")

    @property
    def out(self):
        return self.out_bytes.decode()

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]


def shardtool(*args, code=0, stdin=b"", env=None, cwd=None, timeout=120):
    """Run shardtool; fail unless it exits with `code` (None: any)."""
    process = subprocess.run([SHARDTOOL, *map(str, args)], input=stdin, capture_output=True, cwd=cwd,
                             env={**os.environ, **(env or {})}, timeout=timeout)
    result = Result(process)
    if code is not None and result.code != code:
        raise AssertionError(f"shardtool {' '.join(map(str, args))}: exit {result.code}\n{result.err}")
    return result


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """shardtool(), in an empty folder of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
    return shardtool


def write(path, content):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def make_tree(folder, samples=20, classes=3, size=2000, components=("jpg", "txt"), seed=1):
    """A tree of class folders with files of random bytes; returns {path below folder: content}."""
    rng = random.Random(seed)
    files = {}
    for i in range(samples):
        for component in components:
            name = f"class{i % classes}/s{i:04d}.{component}"
            files[name] = rng.randbytes(rng.randrange(size))
    for name, content in files.items():
        write(Path(folder) / name, content)
    return files


def read_files(folder, pattern="*"):
    """{name: bytes} of the files in a folder that match, hidden ones too."""
    return {p.name: p.read_bytes() for p in sorted(Path(folder).glob(pattern)) if p.is_file()}


def without_digest(manifest):
    """A manifest's bytes without the line that says of which input and options they are."""
    return b"".join(line for line in manifest.splitlines(True) if b'"pack_digest"' not in line)
