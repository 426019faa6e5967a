# SPDX-License-Identifier: Apache-2.0
"""stream on disks that are slow, fail or change: the same samples or an error that says so, and never a hang."""
import random
import signal
import subprocess
from pathlib import Path

import pytest
from conftest import SHARDTOOL, write
from test_faults import IO, MESSAGES, faulty, shim  # noqa: F401 (fixtures)

SUFFIXES = ["tar", "tar.zst"]
ARGS = ["stream", "out.shards.json", "--to", "jsonl", "--shuffle", "full", "--batch", 4]
OLD_STATE = "what was here before\n"


@pytest.fixture(params=SUFFIXES)
def suffix(request, tool):
    """Shards of 60 samples of all sizes up to 200 kB."""
    rng = random.Random(1)
    for i in range(60):
        write(f"in/s{i:02}.bin", rng.randbytes(rng.choice([0, 100, 5000, 200_000])))
        write(f"in/s{i:02}.txt", f"sample {i}")
    tool("pack", "in", f"out-<0..4>.{request.param}", "-q")
    return request.param


@pytest.fixture
def whole(tool, suffix):
    return tool(*ARGS).lines


def check_part(result, whole):
    """Whole batches from the beginning, and an error in one line."""
    got = result.lines
    assert got == whole[:len(got)] and len(got) % 4 == 0 and len(got) < len(whole)
    assert len(result.err.splitlines()) == 1
    return got


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("rules", ["pread:SHORT:max=1000;read:SHORT:max=1000", "pread:SHORT:max=1:every=7",
                                   "pread:EINTR:every=2;read:EINTR:every=2", "pread:SLOW;read:SLOW"])
def test_short_interrupted_and_slow_reads_change_nothing(faulty, whole, rules, threads):  # noqa: F811
    assert faulty(rules, *ARGS, "-j", threads).lines == whole


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("nth", [1, 2, 3, 5, 8, 13, 21])
def test_an_error_at_any_read_names_the_shard_and_the_rest_can_be_had(tool, faulty, suffix, whole,  # noqa: F811
                                                                      nth, threads):
    rule = f"pread:EIO:path={suffix}$:nth={nth}"
    result = faulty(rule, *ARGS, "-j", threads, "--save-state", "s.json", code=IO)
    got = check_part(result, whole)
    assert f".{suffix}: cannot read: {MESSAGES['EIO']}" in result.err
    assert got + tool(*ARGS, "--resume", "s.json").lines == whole


@pytest.mark.parametrize("policy", ["substitute", "mask"])
def test_a_disk_that_fails_is_no_bad_sample(faulty, suffix, whole, policy):  # noqa: F811
    check_part(faulty(f"pread:EIO:path={suffix}$:nth=5", *ARGS, "--on-bad", policy, code=IO), whole)


@pytest.mark.parametrize("call, code", [("open", "EMFILE"), ("open", "EIO"), ("fstat", "EIO")])
def test_a_shard_that_cannot_be_opened_is_named(faulty, suffix, whole, call, code):  # noqa: F811
    result = faulty(f"{call}:{code}:path=out-3.{suffix}$", *ARGS, code=IO)
    check_part(result, whole)
    assert f"out-3.{suffix}" in result.err and MESSAGES[code] in result.err


@pytest.mark.parametrize("rule", ["mmap:ENOMEM", "open:EMFILE", "fstat:EIO"])
def test_an_index_that_cannot_be_opened_is_named(faulty, suffix, whole, rule):  # noqa: F811
    result = faulty(f"{rule}:path=out-3.{suffix}.sidx$", *ARGS, code=IO)
    check_part(result, whole)
    assert f"out-3.{suffix}.sidx" in result.err and MESSAGES[rule.split(":")[1]] in result.err


@pytest.mark.parametrize("nth", [1, 3])
def test_a_shard_that_is_cut_while_it_is_read_is_stale(faulty, suffix, whole, nth):  # noqa: F811
    result = faulty(f"pread:SHRINK:path={suffix}$:nth={nth}", *ARGS, code=None)
    if result.code != 0:
        check_part(result, whole)
        assert "SHARD_ESTALE" in result.err or "SHARD_ETRUNCATED" in result.err
    else:  # what was cut off had been read before
        assert result.lines == whole


def test_a_shard_that_is_deleted_while_it_is_open_is_read_to_its_end(faulty, suffix, whole):  # noqa: F811
    assert faulty(f"pread:GONE:path=out-3.{suffix}$:nth=1", *ARGS).lines == whole


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("nth", [1, 4, 9, 20])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_at_any_read_leaves_a_state_of_what_was_delivered(tool, faulty, suffix, whole,  # noqa: F811
                                                                   name, nth, threads):
    number = int(getattr(signal, name))
    result = faulty(f"pread:{name}:path={suffix}$:nth={nth}", *ARGS, "-j", threads, "--save-state", "s.json",
                    code=None)
    got = result.lines
    assert result.code == 128 + number or (result.code == 0 and got == whole)
    assert result.err == "" and got == whole[:len(got)]
    if result.code != 0:
        assert got + tool(*ARGS, "--resume", "s.json").lines == whole


# ---- the state's file


def test_whoever_is_killed_keeps_the_state_before(faulty, suffix):  # noqa: F811
    write("s.json", OLD_STATE)
    faulty(f"pread:SIGKILL:path={suffix}$:nth=7", *ARGS, "--save-state", "s.json", code=-signal.SIGKILL)
    assert Path("s.json").read_text() == OLD_STATE and not Path("s.json.tmp").exists()


@pytest.mark.parametrize("code", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("call, path", [("fsync", "s.json.tmp"), ("rename", "s.json")])
def test_a_state_that_cannot_be_written_is_an_error_and_the_old_one_stays(faulty, suffix, call, path,  # noqa: F811
                                                                          code):
    write("s.json", OLD_STATE)
    err = faulty(f"{call}:{code}:path={path}$", *ARGS, "--stop-after", 8, "--save-state", "s.json", code=IO).err
    assert "s.json" in err and MESSAGES[code] in err
    assert Path("s.json").read_text() == OLD_STATE and not Path("s.json.tmp").exists()


def test_a_state_that_finds_no_room_is_an_error_and_the_old_one_stays(suffix):
    write("s.json", OLD_STATE)
    script = 'trap "" XFSZ; ulimit -f 0; exec "$0" stream out.shards.json --keys --save-state s.json'
    result = subprocess.run(["sh", "-c", script, SHARDTOOL], capture_output=True, timeout=60)
    assert result.returncode == IO and b"s.json" in result.stderr and b"File too large" in result.stderr
    assert Path("s.json").read_text() == OLD_STATE and not Path("s.json.tmp").exists()
