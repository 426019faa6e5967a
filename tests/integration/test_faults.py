# SPDX-License-Identifier: Apache-2.0
"""Disks that fill up, files that cannot be read or that change, signals: an error that says so, and no debris."""
import json
import os
import random
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SHARDTOOL, make_tree, read_files, write

SUFFIXES = ["tar", "tar.zst", "tar.gz"]
SHIM_SOURCE = Path(__file__).parent.parent / "support/fault_shim.c"
SANITIZED = any(name in Path(SHARDTOOL).read_bytes() for name in (b"libasan.so", b"libtsan.so"))
JOURNAL = ".out.shards.json.journal"
DATA, IO = 1, 3
MESSAGES = {"EIO": "Input/output error", "ENOSPC": "No space left on device", "EDQUOT": "Disk quota exceeded",
            "ENOMEM": "Cannot allocate memory", "EMFILE": "Too many open files", "ENOSYS": "Function not implemented"}


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "fault_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", library, SHIM_SOURCE, "-ldl"],
                   check=True)
    return library


@pytest.fixture
def faulty(tool, shim):
    """shardtool under rules of the shim."""
    def run(rules, *args, **options):
        asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        result = tool(*args, env={"LD_PRELOAD": str(shim), "SHIM_FAIL": rules, "ASAN_OPTIONS": asan}, **options)
        assert "Sanitizer" not in result.err and "fault_shim" not in result.err, result.err
        return result
    return run


def hidden():
    """What a user would not see: partial files, journals, spools."""
    return sorted(p.name for p in Path(".").rglob(".*") if p.is_file())


def shards(pattern="out*.tar*"):
    return sorted(p.name for p in Path(".").glob(pattern) if not p.name.endswith(".sidx"))


def check_debris(tool):
    """No partial files; shards that are there are whole; a journal only where it has something to say."""
    found = shards()
    assert set(hidden()) <= ({JOURNAL} if found else set())
    if found:
        tool("verify", *found)
    assert not Path("out.shards.json").exists()


@pytest.fixture
def pack_once(tool):
    """Pack a tree undisturbed: the files that gives, which are then taken away again."""
    def run(*args):
        os.makedirs("undisturbed")
        os.symlink("../in", "undisturbed/in")
        tool("pack", *args, cwd="undisturbed")
        return read_files("undisturbed")
    return run


def check_resume(tool, reference, *args):
    tool("pack", *args, "--resume")
    assert read_files(".") == reference


# ---- disks that are full


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rule, name", [
    ("write:{}:path=out-1.tar", "out-1.tar"), ("write:{}:path=out-2.tar:nth=2", "out-2.tar"),
    ("write:{}:path=.sidx", "out-0.tar"), ("write:{}:path=shards.json.partial", "out.shards.json"),
    ("pwrite:{}:path=.journal:nth=3", JOURNAL)])
def test_a_full_disk_ends_pack_and_resume_goes_on(tool, faulty, pack_once, rule, name, suffix):
    make_tree("in", samples=60, size=40000)
    args = ["in", f"out-<0..2>.{suffix}"]
    reference = pack_once(*args)
    err = faulty(rule.format("ENOSPC"), "pack", *args, "-j1", code=IO).err
    assert name in err and MESSAGES["ENOSPC"] in err
    check_debris(tool)
    check_resume(tool, reference, *args)


@pytest.mark.parametrize("after", [0, 1, 100000, 5000000])
def test_a_disk_that_fills_up_in_mid_shard(tool, faulty, after):
    make_tree("in", samples=10, size=100000)
    write("in/class9/large.bin", random.Random(1).randbytes(9 << 20))
    err = faulty(f"write:ENOSPC:path=.tar.partial:after={after}", "pack", "in", "out.tar", code=IO).err
    assert "out.tar: cannot write: No space left on device" in err
    check_debris(tool)


def test_a_journal_that_cannot_be_begun_leaves_nothing(tool, faulty):
    make_tree("in")
    err = faulty("pwrite:ENOSPC", "pack", "in", "out.tar", code=IO).err
    assert JOURNAL in err and MESSAGES["ENOSPC"] in err
    check_debris(tool)


@pytest.mark.parametrize("command", ["pack in -", "ls --json out.tar", "cat -n out.tar 3", "index out.tar -o -",
                                     "info out.tar", "--help"])
def test_standard_output_that_is_full_or_closed(tool, command):
    make_tree("in", samples=50)
    tool("pack", "in", "out.tar")
    for target in (">/dev/full", ">&-"):
        result = subprocess.run(["sh", "-c", f'"$0" {command} {target}', SHARDTOOL], capture_output=True)
        assert result.returncode == IO, target
        assert "stdout" in result.stderr.decode().replace("standard output", "stdout"), target
    assert sorted(read_files(".")) == ["out.shards.json", "out.tar", "out.tar.sidx"]


def test_index_and_unpack_on_a_full_disk(tool, faulty):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    os.remove("out.tar.sidx")
    err = faulty("write:ENOSPC:path=.sidx", "index", "out.tar", code=IO).err
    assert "out.tar.sidx" in err and MESSAGES["ENOSPC"] in err
    assert not Path("out.tar.sidx").exists()
    err = faulty("write:ENOSPC:path=s0001.jpg", "unpack", "out.tar", "-C", "back", code=IO).err
    assert "s0001.jpg" in err and MESSAGES["ENOSPC"] in err
    assert not list(Path("back").rglob("s0001.jpg")) and list(Path("back").rglob("s0000.jpg"))
    assert hidden() == []


def test_a_wids_index_on_a_full_disk_is_an_error_with_its_reason(tool):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    script = 'trap "" XFSZ; ulimit -f 0; exec "$0" index out.tar --missing --wids wids.json'
    result = subprocess.run(["sh", "-c", script, SHARDTOOL], capture_output=True)
    err = result.stderr.decode()
    assert result.returncode == IO and "wids.json" in err and "File too large" in err
    assert sorted(os.listdir(".")) == ["in", "out.shards.json", "out.tar", "out.tar.sidx"]


def test_a_file_system_that_is_really_full(tool):
    make_tree("in", samples=60, size=100000)
    script = ('mkdir full && mount -t tmpfs -o size=1m tmpfs full || exit 77; "$0" pack in "full/out-<0..9>.tar" '
              '-j1; echo $?; ls -A full; "$0" verify full/out-?.tar; echo $?')
    result = subprocess.run(["unshare", "-m", "sh", "-c", script, SHARDTOOL], capture_output=True, timeout=60)
    lines, err = result.stdout.decode().split(), result.stderr.decode()
    if result.returncode == 77 or err.startswith("unshare"):
        pytest.skip("no tmpfs can be mounted here (root is needed)")
    assert (lines[0], lines[-1]) == (str(IO), "0"), err
    assert re.search(r"full/out-\d.tar(.sidx)?: cannot write: No space left on device", err), err
    assert [name for name in lines if name.startswith(".")] == [JOURNAL]
    assert "out-0.tar" in lines and "out.shards.json" not in lines


# ---- other calls that fail


@pytest.mark.parametrize("target", ["out-1.tar", "out-1.tar.sidx", "out.shards.json"])
@pytest.mark.parametrize("call", ["rename", "fsync", "ftruncate", "open", "close"])
@pytest.mark.parametrize("code", ["EIO", "EDQUOT"])
def test_a_call_that_fails_on_the_way_to_a_name_is_an_error(tool, faulty, pack_once, call, target, code):
    make_tree("in", samples=30)
    args = ["in", "out-<0..2>.tar", "--sync"]
    reference = pack_once(*args)
    paths = {"rename": [target], "close": [f"/{target}", f".{target}.partial"]}.get(call, [f".{target}.partial"])
    rules = ";".join(f"{call}:{code}:path={path}$" for path in paths)
    err = faulty(rules, "pack", *args, "-j1", code=IO).err
    assert target in err and MESSAGES[code] in err
    check_debris(tool)
    check_resume(tool, reference, *args)


def test_a_close_that_fails_when_unpacking_tells_why(tool, faulty):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    err = faulty("close:EDQUOT:path=back/class1/s0001.txt", "unpack", "out.tar", "-C", "back", code=IO).err
    assert "s0001.txt" in err and MESSAGES["EDQUOT"] in err


def test_a_file_system_without_locks_is_not_taken_for_another_process(tool, faulty):
    make_tree("in", samples=3)
    result = faulty("flock:ENOSYS", "pack", "in", "out.tar", code=None)
    assert result.code == 0 or MESSAGES["ENOSYS"] in result.err


@pytest.mark.parametrize("rule", ["mmap:ENOMEM:path=.sidx", "fstat:EIO:path=.sidx", "open:EMFILE:path=.sidx"])
def test_an_index_that_cannot_be_opened_is_named(tool, faulty, rule):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    err = faulty(rule, "cat", "out.shards.json", "class0/s0000.txt", code=IO).err
    assert "out.tar.sidx" in err and MESSAGES[rule.split(":")[1]] in err


@pytest.mark.parametrize("verb", [["cat", "out.shards.json", "class0/s0000.txt"], ["ls", "out.shards.json"]])
def test_an_index_that_is_cut_while_it_is_open_is_no_crash(tool, faulty, verb):
    make_tree("in", samples=300)
    tool("pack", "in", "out.tar")
    assert "out.tar.sidx" in faulty("mmap:SHRINK:path=.sidx", *verb, code=None).err


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("rules", ["read:SHORT:max=1000;pread:SHORT:max=1000", "write:SHORT:max=1000",
                                   "read:EINTR:every=2;pread:EINTR:every=2", "write:EINTR:every=2"])
def test_short_and_interrupted_calls_change_nothing(tool, faulty, pack_once, rules, suffix):
    make_tree("in", samples=20, size=20000)
    write("in/class9/large.bin", random.Random(1).randbytes(9 << 20))
    reference = pack_once("in", f"out-<0..1>.{suffix}")
    rules = rules.replace("1000", "70000" if "write" in rules else "20000") if "SHORT" in rules else rules
    faulty(rules, "pack", "in", f"out-<0..1>.{suffix}")
    assert read_files(".") == reference
    Path(f"out-0.{suffix}.sidx").unlink()
    for verb in (["index", f"out-0.{suffix}"], ["verify", "out.shards.json"],
                 ["unpack", "out.shards.json", "-C", "back"]):
        faulty(rules, *verb)
    assert read_files(".") == reference
    assert Path("back/class9/large.bin").read_bytes() == Path("in/class9/large.bin").read_bytes()


# ---- input that cannot be read, or changes

SMALL, LARGE = "class2/s0002.jpg", "class1/s0001.bin"
CHANGES = {
    "EIO of a small file": ("read:EIO:path=" + SMALL, SMALL, IO, "cannot read: Input/output error"),
    "EIO of a large file": ("pread:EIO:nth=2:path=" + LARGE, LARGE, IO, "cannot read: Input/output error"),
    "a file that is gone": ("open:GONE:path=" + SMALL, SMALL, IO, "cannot open: No such file or directory"),
    "a large file that is gone": ("open:GONE:path=" + LARGE, LARGE, IO, "cannot open: No such file or directory"),
    "too many open files": ("open:EMFILE:path=" + SMALL, SMALL, IO, "cannot open: Too many open files"),
    "a file that shrinks": ("read:SHRINK:path=" + SMALL, SMALL, DATA, "shrank while it was read"),
    "a file that grows": ("read:GROW:path=" + SMALL, SMALL, DATA, "grew while it was read"),
    "a large file that shrinks": ("pread:SHRINK:nth=2:path=" + LARGE, LARGE, DATA, "shrank while it was read"),
    "a large file that grows": ("pread:GROW:nth=1:path=" + LARGE, LARGE, DATA, "grew while it was read"),
}


def make_changing_tree():
    make_tree("in", samples=6)
    write(f"in/{SMALL}", b"s" * 1000)
    write(f"in/{LARGE}", random.Random(3).randbytes(20 << 20))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", CHANGES)
def test_input_that_fails_is_named(tool, faulty, case, suffix):
    rule, name, code, why = CHANGES[case]
    make_changing_tree()
    err = faulty(rule, "pack", "in", f"out.{suffix}", code=code).err
    assert f"in/{name}: {why}" in err
    check_debris(tool)


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("case", CHANGES)
def test_input_that_fails_can_be_left_out_and_is_listed(tool, faulty, case, suffix):
    rule, name, _, why = CHANGES[case]
    make_changing_tree()
    out = faulty(rule, "pack", "in", f"out.{suffix}", "--on-error", "skip", "--json").json
    found = json.loads(Path("out.shards.json").read_text())
    assert (out["skipped"], out["samples"], found["samples"]) == (1, 5, 5)
    assert [s["name"] for s in found["skipped"]] == [name.partition(".")[0]]
    assert f"in/{name}: {why}" in found["skipped"][0]["reason"]
    tool("verify", "out.shards.json")
    assert hidden() == []


@pytest.mark.parametrize("verb, code", [("index", IO), ("ls", IO), ("unpack", IO), ("verify", DATA), ("pack", IO)])
def test_a_shard_that_cannot_be_read_is_named(tool, faulty, verb, code):
    make_tree("in", samples=100, size=20000)
    tool("pack", "in", "x.tar")
    os.remove("x.tar.sidx")
    args = {"unpack": ["x.tar", "-C", "back"], "pack": ["x.tar", "out.tar"]}.get(verb, ["x.tar"])
    err = faulty("pread:EIO:nth=2:path=x.tar", verb, *args, code=code).err
    assert "x.tar: cannot read: Input/output error" in err
    assert hidden() == [] and not Path("x.tar.sidx").exists() and not Path("out.tar").exists()


def test_cat_names_a_shard_that_cannot_be_read(tool, faulty):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    err = faulty("pread:EIO:path=out.tar", "cat", "out.shards.json", "class0/s0000.txt", code=IO).err
    assert "out.tar: cannot read: Input/output error" in err


@pytest.mark.parametrize("nth", [1, 2, 500])
def test_a_table_that_is_cut_while_it_is_read_is_no_crash(tool, faulty, nth):
    write("rows.jsonl", "".join(json.dumps({"key": f"k{i:05d}", "text": "x" * 100}) + "\n" for i in range(1000)))
    result = faulty(f"pread:SHRINK:path=rows.jsonl:nth={nth}", "pack", "--from", "rows.jsonl",
                    "out.tar", code=None)
    assert result.code in (DATA, IO) and "rows.jsonl" in result.err


# Root reads everything; without these two rights it is a user like others.
UNPRIVILEGED = ["setpriv", "--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all"]


def unprivileged(*args):
    prefix = UNPRIVILEGED if os.geteuid() == 0 else []
    result = subprocess.run([*prefix, SHARDTOOL, *args], capture_output=True)
    if result.stderr.startswith(b"setpriv"):
        pytest.skip("setpriv cannot take rights away here")
    return result.returncode, result.stderr.decode()


@pytest.mark.parametrize("name, skipped", [("class1/s0001.jpg", "class1/s0001"), ("class1", "in/class1")])
def test_a_file_or_folder_without_permission(tool, name, skipped):
    make_tree("in", samples=6)
    os.chmod(f"in/{name}", 0)
    code, err = unprivileged("pack", "in", "out.tar")
    assert code == IO and f"in/{name}: cannot open: Permission denied" in err
    check_debris(tool)
    code, err = unprivileged("pack", "in", "out.tar", "--on-error", "skip")
    os.chmod(f"in/{name}", 0o755)
    assert code == 0 and "left out 1" in err
    left_out = json.loads(Path("out.shards.json").read_text())["skipped"]
    assert [s["name"] for s in left_out] == [skipped]
    assert "cannot open: Permission denied" in left_out[0]["reason"]


def test_shards_and_folders_without_permission(tool):
    make_tree("in", samples=3)
    tool("pack", "in", "x.tar")
    os.mkdir("locked", 0o555)
    for args, name in ((["pack", "in", "locked/out.tar"], "locked/"), (["unpack", "x.tar", "-C", "locked"], "class0/")):
        code, err = unprivileged(*args)
        assert code == IO and name in err and "Permission denied" in err
    os.chmod("x.tar", 0)
    for verb in ("index", "unpack", "verify"):
        code, err = unprivileged(verb, "x.tar")
        assert code == (DATA if verb == "verify" else IO) and "x.tar: cannot open: Permission denied" in err


# ---- signals


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("out, limit", [("out-<0..3>.", []), ("out-%02d.", ["--max-size", "500KiB"])],
                         ids=["range", "counter"])
def test_a_signal_ends_pack_cleanly_and_resume_goes_on(tool, faulty, pack_once, name, out, limit, suffix):
    make_tree("in", samples=400, size=10000)
    args = ["in", out + suffix, *limit]
    reference = pack_once(*args)
    number = int(getattr(signal, name))
    result = faulty(f"read:{name}:path=/in/:nth=500", "pack", *args, "-j1", code=128 + number)
    assert "resume" in result.err
    check_debris(tool)
    assert 0 < len(shards()) < len([n for n in reference if re.search(r"(tar|zst|gz)$", n)])
    check_resume(tool, reference, *args)


@pytest.mark.parametrize("verb", ["index", "verify", "unpack", "ls", "pack"])
def test_a_signal_ends_other_work_cleanly(tool, faulty, verb):
    make_tree("in", samples=300, size=20000)
    tool("pack", "in", "x.tar.zst")
    os.remove("x.tar.zst.sidx")
    args = {"unpack": ["x.tar.zst", "-C", "back"], "pack": ["x.tar.zst", "out.tar"]}.get(verb, ["x.tar.zst"])
    faulty("pread:SIGINT:path=x.tar.zst:nth=3", verb, *args, code=128 + signal.SIGINT)
    assert hidden() == [] and not Path("x.tar.zst.sidx").exists() and not Path("out.tar").exists()
    for path in Path("back").rglob("*.*"):
        assert path.read_bytes() == Path("in").joinpath(path.relative_to("back")).read_bytes()


def wait_asleep(process):
    """Until a thread of the process sleeps in the kernel, waiting for bytes."""
    calls = ("0", "7", "257", "271", "2")  # read, poll, openat, ppoll, open (x86-64)
    while process.poll() is None:
        for task in Path(f"/proc/{process.pid}/task").glob("*"):
            state = (task / "stat").read_text().rsplit(")", 1)[1].split()[0]
            if state == "S" and (task / "syscall").read_text().split()[0] in calls:
                return
    raise AssertionError("it ended by itself")


@pytest.mark.parametrize("args", [["pack", "-", "out.tar"], ["index", "-", "-o", "x.sidx"], ["ls", "-"],
                                  ["pack", "--files-from", "-", "out.tar"], ["ls", "fifo"], ["index", "fifo"]])
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="numbers of system calls are those of x86-64")
def test_a_signal_ends_waiting_for_input(tool, args):
    os.mkfifo("fifo")
    process = subprocess.Popen([SHARDTOOL, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    wait_asleep(process)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=20)
    err = process.stderr.read().decode()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    assert code == 128 + signal.SIGINT, err
    assert read_files(".") == {}


def test_a_second_signal_ends_at_once(tool, faulty):
    make_tree("in", samples=50)
    faulty("read:SIGINT:path=/in/", "pack", "in", "out.tar", "-j1", code=128 + signal.SIGINT)


@pytest.mark.parametrize("command", ["ls out.tar", "ls --json out.tar", "ls --members out.tar", "pack in -",
                                     "cat -n out.tar 0", "index -o - out.tar", "man", "info --json out.tar"])
def test_a_reader_that_goes_away_ends_it_quietly(tool, command):
    make_tree("in", samples=3000, size=20)
    write("in/a/0.bin", bytes(1 << 20))
    write("in/a/0.txt", b"beside it")
    tool("pack", "in", "out.tar")
    before = sorted(os.listdir("."))
    script = f'{{ "$0" {command}; echo "$?" >&3; }} 3>code | head -c 100 | wc -c'
    result = subprocess.run(["bash", "-c", script, SHARDTOOL], capture_output=True)
    assert result.stderr == b"" and int(result.stdout) == 100
    assert Path("code").read_text().strip() in ("0", str(128 + signal.SIGPIPE))
    os.remove("code")
    assert sorted(os.listdir(".")) == before


@pytest.mark.parametrize("closed", ["<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"])
def test_closed_standard_files_are_not_written_or_read_as_others(tool, closed):
    make_tree("in", samples=400, size=20)
    tool("pack", "in", "out-%03d.tar", "--max-samples", "1")
    reference = read_files(".")
    for name in list(reference):
        if name.endswith(".sidx"):
            os.remove(name)
    write("bad.tar", b"x" * 1024)
    tool("index", "--dali", "out-000.tar")
    run = ["sh", "-c", f'"$0" "$@" {closed}', SHARDTOOL]
    subprocess.run([*run, "index", "-j2", "--json", *["bad.tar", "out-{000..399}.tar"] * 1], capture_output=True)
    subprocess.run([*run, "pack", "in", "again-%03d.tar", "--max-samples", "1", "--json"], capture_output=True)
    for name, content in reference.items():
        assert Path(name).read_bytes() == content
        if not name.endswith("json"):
            assert Path(name.replace("out-", "again-")).read_bytes() == content
    os.remove("out-000.tar.sidx")
    assert subprocess.run([*run, "index", "--from-dali", "out-000.tar"], capture_output=True).returncode == 0


# ---- memory

PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=open("peak", "w"))
sys.exit(os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(SANITIZED, reason="a sanitizer needs memory of its own")
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_packing_stays_within_the_memory_it_is_given(tool, suffix):
    """300 MB, of small files and of some larger than a frame: --memory, and 24 MiB for all else."""
    block = random.Random(4).randbytes(1 << 20)
    for i in range(1500):
        write(f"in/small/{i:04d}.bin", block[:100000])
    for i in range(3):
        write(f"in/medium/{i}.bin", block * 7)
    for i in range(3):
        write(f"in/large/{i}.bin", block * 40)
    subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, SHARDTOOL, "pack", "in", f"out-<0..9>.{suffix}",
                    "--memory", "32MiB", "-q", *(["--level", "1"] if suffix != "tar" else [])], check=True)
    assert int(Path("peak").read_text()) < (32 + 24) << 10
