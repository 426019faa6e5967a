# SPDX-License-Identifier: Apache-2.0
"""pack killed at any moment: only whole shards are there, and --resume ends as one run would."""
import fcntl
import json
import os
import random
import re
import signal
import subprocess
import tarfile
import time
from pathlib import Path

import pytest
from conftest import SHARDTOOL, make_tree, read_files, shardtool, write

SEED = 20261121
KILLS = 6  # a case: 54 in all, and as many again of resumed runs now and then
SAMPLES, SHARDS = 1500, 20
RANGE = "out-<00..19>"
DATA, IO, BUSY = 1, 3, 4
PARTIAL = re.compile(r"\.out.*(\.partial|\.shards\.json\.journal)")
MANIFEST, JOURNAL = "out.shards.json", ".out.shards.json.journal"
SHIM_SOURCE = Path(__file__).parent.parent / "support/fault_shim.c"

CASES = {
    "plain": ["../in", f"{RANGE}.tar"],
    "zst": ["../in", f"{RANGE}.tar.zst", "--level", "5"],
    "gz": ["../in", f"{RANGE}.tar.gz", "--level", "1"],
    "counter": ["../in", "out-%06d.tar", "--max-samples", str(SAMPLES // SHARDS)],
    "cut by size": ["../in", "out-%06d.tar.zst", "--max-size", "300KiB"],
    "shuffled": ["../in", f"{RANGE}.tar", "--shuffle", "7", "--label-from", "dir"],
    "part": ["../in", "out-<00..39>.tar", "--part", "1/2"],
    "table": ["--from", "../rows.jsonl", "--fields", "caption=txt", f"{RANGE}.tar"],
    "archive": ["../in.tar", f"{RANGE}.tar.zst"],
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """A tree, the same as an archive, and a table of its images."""
    folder = tmp_path_factory.mktemp("inputs")
    files = make_tree(folder / "in", samples=SAMPLES, size=4000)
    with tarfile.open(folder / "in.tar", "w") as tar:
        tar.add(folder / "in", "")
    images = [name for name in files if name.endswith(".jpg")]
    rows = [{"key": f"row/{i:05d}", "jpg": f"in/{name}", "caption": name * 3, "n": i}
            for i, name in enumerate(images)]
    write(folder / "rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    return folder


@pytest.fixture
def out(tool, inputs):
    """An empty folder `out` beside links to the inputs."""
    for name in ("in", "in.tar", "rows.jsonl"):
        os.symlink(inputs / name, name)
    os.mkdir("out")
    return Path("out")


def pack(*args, **options):
    return shardtool("pack", "-q", *args, cwd="out", **options)


def clear():
    for path in Path("out").iterdir():
        path.unlink()


def undisturbed(args):
    """What one run writes: {name: bytes}, and the seconds it takes. The folder is empty again."""
    begin = time.monotonic()
    pack(*args)
    seconds = time.monotonic() - begin
    reference = read_files("out")
    clear()
    return reference, seconds


def is_shard(name):
    return re.fullmatch(r"out.*\.tar(\.zst|\.gz)?", name) is not None


def finished():
    return sum(map(is_shard, os.listdir("out")))


def start(*args):
    return subprocess.Popen([SHARDTOOL, "pack", "-q", *args], cwd="out",
                            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


def end(process, number):
    """Send a signal and wait: (exit status, messages)."""
    process.send_signal(number)
    try:
        err = process.communicate(timeout=60)[1].decode()
    finally:
        process.kill()  # no more than a test that fails is left
    return process.returncode, err


def wait_shards(process, count):
    while process.poll() is None and finished() < count:
        pass


def wait_seconds(process, seconds):
    try:
        process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        pass


class Killer:
    """Ends runs of pack at moments spread over a whole run, by its time or by its shards."""

    def __init__(self, reference, seconds):
        self.shards, self.seconds = sum(map(is_shard, reference)), seconds

    def run(self, args, fraction, by_shards, number=signal.SIGKILL):
        process = start(*args)
        if by_shards:
            wait_shards(process, 1 + int(fraction * (self.shards - 2)))
        else:
            wait_seconds(process, fraction * self.seconds)
        return end(process, number)

    def kill(self, args, fraction, by_shards):
        """A run from nothing that is killed: earlier, if it was done before that."""
        while self.run(args, fraction, by_shards)[0] != -signal.SIGKILL:
            assert fraction > 1e-6
            clear()
            fraction /= 2


def check_killed(reference, why):
    """What stands under a final name is whole; all else is hidden, and known to the next run."""
    found = read_files("out")
    visible = {name for name in found if not name.startswith(".")}
    assert all(PARTIAL.fullmatch(name) for name in found.keys() - visible), why
    assert visible <= reference.keys(), why
    assert [name for name in visible if found[name] != reference[name]] == [], why
    assert {f"{name}.sidx" for name in filter(is_shard, visible)} <= visible, why
    manifests = {name for name in visible if name.endswith(".json")}
    assert not manifests or visible == reference.keys(), why


def check_same(reference, why):
    found = read_files("out")
    assert sorted(found) == sorted(reference), why
    assert [name for name in found if found[name] != reference[name]] == [], why


@pytest.mark.parametrize("case", CASES)
def test_killed_at_random_and_resumed_gives_the_bytes_of_one_run(out, case):
    rng = random.Random(f"{SEED} {case}")
    args = CASES[case]
    reference, seconds = undisturbed([*args, "-j1"])
    killer = Killer(reference, seconds)
    assert killer.shards >= SHARDS and any(name.endswith(".json") for name in reference)
    done = []
    for i in range(KILLS):
        why = f"seed {SEED}, {case}, kill {i}"
        jobs = f"-j{(1, 3)[i // 2 % 2]}"
        killer.kill([*args, jobs], (i + rng.random()) / KILLS, i % 2 == 1)
        done.append(finished())
        check_killed(reference, why)
        while rng.random() < 0.4:
            killer.run([*args, f"-j{rng.choice((1, 3))}", "--resume"], rng.random(), False)
            check_killed(reference, f"{why}, killed again")
        pack(*args, f"-j{rng.choice((1, 3))}", "--resume")
        check_same(reference, why)
        clear()
    assert len(set(done)) >= 3 and any(0 < n < killer.shards for n in done), (SEED, case, done)


# ---- at each step


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "fault_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIM_SOURCE, "-ldl"],
                   check=True)
    return library


def pack_until(shim, call, *args):
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    rule = call.replace(":", ":SIGKILL:path=", 1)
    env = {"LD_PRELOAD": str(shim), "SHIM_FAIL": rule, "ASAN_OPTIONS": asan}
    pack(*args, code=-signal.SIGKILL, env=env)


STEPS = ["open:.journal", "pwrite:.journal:nth=1", "open:.out-0.tar.partial",
         "write:.out-0.tar.partial", "open:.out-0.tar.sidx.partial",
         "write:.out-0.tar.sidx.partial", "rename:out-0.tar.sidx$", "rename:out-0.tar$",
         "pwrite:.journal:nth=2", "rename:out-2.tar$", "pwrite:.journal:nth=4",
         "open:.shards.json.partial", "write:.shards.json.partial", "rename:out.shards.json$"]


@pytest.mark.parametrize("jobs", ["-j1", "-j3"])
@pytest.mark.parametrize("step", [*STEPS, "unlink:.journal"])
def test_killed_before_each_step_and_resumed(tool, shim, step, jobs):
    make_tree("in", samples=30)
    os.mkdir("out")
    args = ["../in", "out-<0..2>.tar", jobs]
    reference, _ = undisturbed(args)
    pack_until(shim, step, *args)
    check_killed(reference, step)
    pack(*args, "--resume")
    check_same(reference, step)


def test_a_line_of_the_journal_that_is_cut_off_is_written_over(tool, shim):
    make_tree("in", samples=30)
    os.mkdir("out")
    args = ["../in", "out-<0..2>.tar", "-j1"]
    reference, _ = undisturbed(args)
    pack_until(shim, "pwrite:.journal:nth=4", *args)
    journal = Path("out", JOURNAL).read_bytes()
    lines = journal.splitlines(keepends=True)
    assert len(lines) == 3
    for cut in (1, len(lines[2]) - 1, len(lines[2]), len(journal) - 1, len(journal)):
        write(f"out/{JOURNAL}", journal[:len(journal) - cut])
        pack(*args, "--resume")
        check_same(reference, cut)
        os.remove(f"out/{MANIFEST}")


@pytest.mark.parametrize("content", ["rubbish\n", "{}\n", '{"journal": 2, "digest": "x"}\n',
                                     '[]\n', '{"journal": "1"}\n', "\0\0\0\0\n"])
def test_what_is_no_journal_is_refused_by_name(tool, content):
    make_tree("in", samples=3)
    os.mkdir("out")
    write(f"out/{JOURNAL}", content)
    assert JOURNAL in pack("../in", "out.tar", "--resume", code=DATA).err
    assert read_files("out") == {JOURNAL: content.encode()}
    pack("../in", "out.tar", "--force")
    assert JOURNAL not in read_files("out")


# ---- what resume finds


@pytest.fixture
def half(out):
    """Args of a pack that was killed with some shards done, and the bytes of one run."""
    args = CASES["plain"]
    reference, _ = undisturbed(args)
    assert start_and_kill(args, 3)
    return args, reference


def start_and_kill(args, shards):
    """True where the run was killed with at least so many shards done."""
    for _ in range(50):
        process = start(*args, "-j1")
        wait_shards(process, shards)
        if end(process, signal.SIGKILL)[0] == -signal.SIGKILL and finished() >= shards:
            return True
        clear()
    return False


def test_shards_that_are_done_are_counted_and_not_written_again(half):
    args, reference = half
    done = finished()
    before = {name: os.stat(f"out/{name}").st_ino for name in reference
              if os.path.exists(f"out/{name}")}
    summary = shardtool("pack", "--json", *args, "--resume", cwd="out").json
    kept = [name for name in before if os.stat(f"out/{name}").st_ino == before[name]]
    assert summary["resumed_shards"] in (done, done - 1)
    assert sum(map(is_shard, kept)) == summary["resumed_shards"] >= 2
    assert (summary["shards"], summary["samples"]) == (SHARDS, SAMPLES)
    check_same(reference, "resumed")


@pytest.mark.parametrize("damage", [
    lambda: os.remove("out/out-00.tar"), lambda: os.remove("out/out-01.tar.sidx"),
    lambda: os.truncate("out/out-00.tar", 5000), lambda: os.truncate("out/out-01.tar.sidx", 99),
], ids=["no shard", "no index", "shard cut", "index cut"])
def test_a_shard_that_is_not_as_it_was_done_is_written_anew(half, damage):
    args, reference = half
    damage()
    pack(*args, "--resume")
    check_same(reference, "damaged")


def test_threads_memory_and_sync_may_be_others(half):
    args, reference = half
    pack(*args, "-j2", "--memory", "64MiB", "--sync", "--resume")
    check_same(reference, "other threads")


@pytest.mark.parametrize("other", [
    ["--shuffle", "1"], ["--map", "jpg=jpeg"], ["--label-from", "dir"], ["--require", "jpg"],
    ["--split", "last"], ["--strip"], ["--links", "skip"], ["--on-error", "skip"],
], ids=lambda other: other[0])
def test_other_options_are_refused(half, other):
    args, _ = half
    before = read_files("out")
    assert "cannot resume" in pack(*args, *other, "--resume", code=DATA).err
    assert read_files("out") == before


@pytest.mark.parametrize("args", [["../in", "out-<000..019>.tar"], ["../in", "out-<00..20>.tar"],
                                  ["../in/class0", f"{RANGE}.tar"], ["../in/", f"{RANGE}.tar"],
                                  ["../in", "out-%02d.tar", "--max-samples", "75"]])
def test_other_outputs_or_sources_are_refused(half, args):
    before = read_files("out")
    assert "cannot resume" in pack(*args, "--resume", code=DATA).err
    assert read_files("out") == before


def test_another_time_of_the_members_is_refused(half):
    args, _ = half
    env = {"SOURCE_DATE_EPOCH": "1700000000"}
    assert "cannot resume" in pack(*args, "--resume", code=DATA, env=env).err


def test_without_resume_or_force_what_is_there_is_refused(half):
    args, _ = half
    before = read_files("out")
    assert "--resume" in pack(*args, code=IO).err
    assert read_files("out") == before


def test_force_takes_over_what_a_killed_run_left(half):
    args, reference = half
    pack(*args, "--force")
    check_same(reference, "forced")


CHANGES = {
    "a file more": lambda: write("in/class0/x.jpg", "x"),
    "a file less": lambda: os.remove("in/class1/s0001.jpg"),
    "another name": lambda: os.rename("in/class1/s0001.jpg", "in/class1/s0001.png"),
    "a sample less": lambda: [p.unlink() for p in Path("in/class1").glob("s0001.*")],
}


def pack_until_second(shim, *args):
    """The bytes of one run; then one that is killed when its first shard is done."""
    os.mkdir("out")
    reference, _ = undisturbed(args)
    pack_until(shim, "pwrite:.journal:nth=3", *args)
    return reference


@pytest.mark.parametrize("change", CHANGES)
def test_another_tree_is_refused(tool, shim, change):
    make_tree("in", samples=30)
    args = ["../in", "out-<0..2>.tar", "-j1"]
    pack_until_second(shim, *args)
    before = read_files("out")
    CHANGES[change]()
    assert "cannot resume" in pack(*args, "--resume", code=DATA).err
    assert read_files("out") == before


def test_another_table_is_refused(tool, shim):
    rows = [json.dumps({"key": f"k{i:02d}", "text": "x" * i}) + "\n" for i in range(30)]
    write("rows.jsonl", "".join(rows))
    args = ["--from", "../rows.jsonl", "out-<0..2>.tar", "-j1"]
    pack_until_second(shim, *args)
    write("rows.jsonl", "".join(rows).replace("xxx", "yyy", 1))
    assert "cannot resume" in pack(*args, "--resume", code=DATA).err


def make_archive(suffix):
    with tarfile.open("in.tar", "w") as tar:
        for path in sorted(Path("in").rglob("*.*")):
            tar.add(path, f"{suffix}{path.name}")


@pytest.mark.parametrize("out", [["out-<0..2>.tar"], ["out-%06d.tar", "--max-samples", "10"]])
def test_another_archive_is_refused(tool, shim, out):
    make_tree("in", samples=30)
    make_archive("one")
    args = ["../in.tar", *out, "-j1"]
    pack_until_second(shim, *args)
    make_archive("other")
    assert "cannot resume" in pack(*args, "--resume", code=DATA).err


def test_what_was_left_out_before_the_kill_is_listed_after_it(tool, shim):
    make_tree("in", samples=30, components=("txt",))
    for i in (1, 8, 29):
        write(f"in/a/{i}.jpg", b"\xff\xd8\xff no image")
    args = ["../in", "out-<0..2>.tar", "-j1", "--jpeg-baseline", "--on-error", "skip"]
    reference = pack_until_second(shim, *args)
    assert len(json.loads(reference[MANIFEST])["skipped"]) == 3
    pack(*args, "--resume")
    check_same(reference, "left out")


@pytest.mark.parametrize("case", CASES)
def test_resuming_where_nothing_was_done_packs_from_the_start(out, case):
    reference, _ = undisturbed(CASES[case])
    pack(*CASES[case], "--resume")
    check_same(reference, case)
    pack(*CASES[case], "--resume")
    check_same(reference, case)


# ---- replacing a set


def test_a_replacement_that_is_killed_is_never_taken_for_the_set_that_was(tool, shim):
    make_tree("in", samples=30)
    os.mkdir("out")
    args = ["../in", "out-<0..2>.tar", "-j1"]
    pack(*args)
    before = read_files("out")
    make_tree("in", samples=30, seed=2)
    pack_until(shim, "rename:out-1.tar$", *args, "--force")
    found = read_files("out")
    assert MANIFEST not in found and found["out-0.tar"] != before["out-0.tar"]
    assert found["out-1.tar"] == before["out-1.tar"]
    pack(*args, "--resume")
    found = read_files("out")
    clear()
    pack(*args)
    check_same(found, "replaced")


def test_a_replacement_that_was_just_begun_is_resumed_as_one(tool, shim):
    make_tree("in", samples=30)
    os.mkdir("out")
    args = ["../in", "out-<0..2>.tar", "-j1"]
    pack(*args)
    make_tree("in", samples=30, seed=2)
    pack_until(shim, "unlink:out.shards.json$", *args, "--force")
    pack(*args, "--resume")
    found = read_files("out")
    clear()
    pack(*args)
    check_same(found, "replaced")


# ---- two at once


@pytest.fixture
def under_way(out, inputs):
    """A pack of an archive on a pipe that has shards under way: function that lets it end."""
    reference, _ = undisturbed(["../in.tar", "out-%02d.tar", "--max-samples", "75"])
    data = (inputs / "in.tar").read_bytes()
    process = subprocess.Popen([SHARDTOOL, "pack", "-q", "-", "out-%02d.tar", "--max-samples",
                                "75", "-j1"], cwd="out", stdin=subprocess.PIPE)
    process.stdin.write(data[:len(data) // 2])
    process.stdin.flush()
    wait_shards(process, 3)

    def finish():
        assert process.poll() is None
        process.stdin.write(data[len(data) // 2:])
        process.stdin.close()
        assert process.wait(timeout=60) == 0
        names = {name for name in reference if not name.endswith(".json")}
        found = read_files("out")
        assert found.keys() == reference.keys()
        assert [name for name in names if found[name] != reference[name]] == []
        shardtool("verify", "-q", f"out/{MANIFEST}")
    yield finish
    if process.poll() is None:
        process.kill()
    process.stdin.close()
    process.wait()


@pytest.mark.parametrize("how", ["--resume", "--force"])
@pytest.mark.parametrize("args", [["../in", f"{RANGE}.tar"],
                                  ["../in.tar", "out-%02d.tar", "--max-samples", "75"]])
def test_a_second_pack_of_the_same_set_is_refused_and_harms_nothing(under_way, args, how):
    err = pack(*args, how, code=BUSY).err
    assert JOURNAL in err and "another pack" in err and "SHARD_EBUSY" in err
    under_way()


def test_a_second_pack_of_a_shard_that_is_written_is_refused(under_way):
    """Another manifest, and so another journal: the shards themselves are locked."""
    name = next(p.name for p in Path("out").glob(".out-*.tar.partial"))[1:-len(".partial")]
    err = pack("../in", name, "--manifest", "x.shards.json", "--force", code=BUSY).err
    assert name in err and "another process" in err
    assert [path.name for path in Path("out").glob("*x.*")] == []
    under_way()


@pytest.mark.parametrize("number", range(6))
def test_of_two_that_start_together_one_packs_and_none_does_harm(out, number):
    args = CASES["plain" if number % 2 else "counter"]
    reference, _ = undisturbed(args)
    both = [start(*args, "--resume") for _ in range(2)]
    for process in both:
        process.communicate()
    codes = [process.returncode for process in both]
    assert 0 in codes and set(codes) <= {0, IO, BUSY}, codes
    check_same(reference, codes)


# ---- signals


@pytest.mark.parametrize("case", ["plain", "zst", "cut by size", "archive"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_at_random_leaves_finished_shards_and_a_journal(out, name, case):
    rng = random.Random(f"{SEED} {name} {case}")
    number = getattr(signal, name)
    reference, seconds = undisturbed(CASES[case])
    killer = Killer(reference, seconds)
    codes = []
    for i in range(5):
        why = f"seed {SEED}, {name}, {case}, {i}"
        code, err = killer.run(CASES[case], (i + rng.random()) / 5, i % 2 == 1, number)
        codes.append(code)
        assert code in (0, 128 + number, -number), (why, err)  # at once, before there are handlers
        check_killed(reference, why)
        hidden = {p.name for p in Path("out").glob(".*")}
        assert hidden == ({JOURNAL} if code > 0 and finished() else set()), why
        pack(*CASES[case], "--resume")
        check_same(reference, why)
        clear()
    assert 128 + number in codes, (SEED, codes)


def test_a_second_signal_ends_at_once_and_resume_takes_over(out):
    reference, _ = undisturbed(CASES["gz"])
    process = start(*CASES["gz"], "-j1")
    wait_shards(process, 2)
    process.send_signal(signal.SIGINT)
    code, _ = end(process, signal.SIGTERM)
    assert code in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    check_killed(reference, "two signals")
    pack(*CASES["gz"], "--resume")
    check_same(reference, "two signals")


def wait_writing(process):
    """Until it sleeps in a write to a pipe that is full (x86-64)."""
    while process.poll() is None:
        state = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "S" and Path(f"/proc/{process.pid}/syscall").read_text().startswith("1 "):
            return
    raise AssertionError("it ended by itself")


def wait_taken(process):
    """Until no signal waits for it any more."""
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        if not any(int(mask, 16) for mask in re.findall(r"^S\w+Pnd:\s*(\w+)", status, re.M)):
            return


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls")
def test_a_signal_while_the_last_line_is_written_ends_as_any_other(tool):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    reader, writer = os.pipe()
    os.write(writer, bytes(fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)))
    process = subprocess.Popen([SHARDTOOL, "verify", "--json", "out.tar"], stdout=writer,
                               stderr=subprocess.PIPE)
    os.close(writer)
    wait_writing(process)
    process.send_signal(signal.SIGINT)
    wait_taken(process)
    os.read(reader, 1 << 16)
    err = process.communicate(timeout=60)[1].decode()
    os.close(reader)
    assert "Sanitizer" not in err and process.returncode in (0, 128 + signal.SIGINT), err
