# SPDX-License-Identifier: Apache-2.0
"""What all verbs have in common, as docs/cli.md writes it down."""
import fcntl
import io
import json
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import tarfile
import termios
import time
from pathlib import Path

import pytest
from conftest import SHARDTOOL, make_tree, read_files, write

DOCS = (Path(__file__).parents[2] / "docs/cli.md").read_text()
VERBS = ["pack", "merge", "index", "ls", "cat", "info", "order", "stream", "verify", "unpack", "completion", "man"]
RED = "\033[1;31m"


def options_of(tool, verb):
    """Long names, as --help lists them."""
    text = tool(verb, "--help").out.split("\nOptions:\n")[1]
    return set(re.findall(r"^ {2}(?:-\w, | {4})--([a-z-]+)", text, re.MULTILINE))


def tar_bytes(samples, size=100, key="{:05d}"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for i in range(samples):
            member = tarfile.TarInfo(key.format(i) + ".txt")
            member.size = size
            tar.addfile(member, io.BytesIO(bytes([i % 251]) * size))
    return out.getvalue()


@pytest.fixture
def packed(tool):
    """A tree "in" and the set "out" that was made of it."""
    make_tree("in", samples=10)
    tool("pack", "in", "out-<0..1>.tar", "-q")
    return tool


# ---- help


def test_help_and_version_of_the_program(tool):
    text = tool("--help").out
    assert re.findall(r"^  (\w+) {2,}\w", text, re.MULTILINE) == VERBS
    version = tool("--version").out
    assert re.fullmatch(r"shardtool \d+\.\d+\.\d+ \(.*libzstd \d.*\)\n", version)
    for word, said in ("--help", text), ("-h", text), ("help", text), ("--version", version):
        assert tool(word).out == said and tool(word).err == ""


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb(tool, verb):
    result = tool(verb, "--help")
    assert result.out.startswith(f"Usage: shardtool {verb} ") and result.err == ""
    assert {"help", "quiet", "json", "color"} <= options_of(tool, verb)
    for args in ["help", verb], [verb, "-h"], [verb, "nowhere", "--help", "nothing"]:
        assert tool(*args).out == result.out


def test_options_that_the_documentation_names_exist(tool):
    named = set(re.findall(r"--([a-z][a-z-]*)", DOCS)) - {"name", "help"}
    known = {"version"}.union(*(options_of(tool, verb) for verb in VERBS))
    assert len(named) > 10 and named <= known


# ---- wrong command lines


@pytest.mark.parametrize("args, said", [
    ([], "verb"),
    (["pakc"], "(is pack meant?)"),
    (["help", "verfiy"], "(is verify meant?)"),
    (["ls", "--jsno", "x"], "--jsno (is --json meant?)"),
    (["pack", "--resize-shoter=9"], "(is --resize-shorter meant?)"),
    (["ls", "--frobnicate"], "--frobnicate"),
    (["ls", "-x", "x"], "-x"),
    (["pack", "--s", "in", "o.tar"], "--s"),
    (["ls", "--null=1", "x"], "--null"),
    (["pack", "in", "o.tar", "--jobs"], "--jobs"),
    *[(["pack", "in", "o.tar", "-j", number], "number") for number in ("many", "-1", "0x10", "1K")],
    *[(["pack", "in", "o-%d.tar", f"--max-size={size}"], "size")
      for size in ("", "K", "1 K", "1Q", "1.5M", "-1", "99999999999G")],
    (["ls", "--color", "pink", "x"], "auto|always|never"),
    *[([verb], "") for verb in VERBS if verb != "man"],
    (["pack", "in"], "SRC"),
    (["ls", "--long", "-xq", "x"], "option -x"),
])
def test_a_wrong_command_line(tool, args, said):
    result = tool(*args, code=2)
    name = f"shardtool {args[0]}" if args and args[0] in VERBS else "shardtool"
    first, last = result.err.splitlines()
    assert first.startswith(f"{name}: ") and said in first
    assert ("meant" in first) == ("meant" in said)
    assert last == f"Try '{name} --help'."
    assert result.out == "" and os.listdir(".") == []


def test_options_stand_anywhere_and_names_may_be_short(packed):
    expected = packed("ls", "--long", "out-0.tar").out
    shutil.copy("out-0.tar", "--json")
    for args in ["out-0.tar", "-l"], ["--lon", "out-0.tar"], ["--color=never", "-ql", "out-0.tar"]:
        assert packed("ls", *args).out == expected
    assert packed("ls", "-l", "--", "--json").out == expected.replace("out-0.tar", "--json")


@pytest.mark.parametrize("size, shards", [
    ("1048576", 1), ("1024K", 1), ("1024KiB", 1), ("1M", 1), ("1MiB", 1), ("1G", 1), ("1GiB", 1),
    ("1000000", 2), ("1MB", 2), ("1GB", 1),
    ("1000KB", 2),
])
def test_units_of_sizes(tool, size, shards):
    for name in "ab":
        write(f"in/{name}.bin", bytes(510_000))  # as a tar, more than 1 MB and less than 1 MiB
    result = tool("pack", "in", "out-%d.tar", "--max-size", size, "--json")
    assert result.json["shards"] == shards


def test_a_hyphen_is_standard_input_or_output(packed):
    data = Path("out-0.tar").read_bytes()
    assert packed("ls", "-", stdin=data).out == packed("ls", "out-0.tar").out
    assert packed("verify", "-", "--json", stdin=data).json["samples"] == 5
    packed("unpack", "-", "-C", "back", stdin=data)
    assert len(list(Path("back").rglob("*.jpg"))) == 5
    packed("pack", "-", "again.tar", stdin=data)
    assert packed("ls", "again.tar").out == packed("ls", "out-0.tar").out
    packed("pack", "--files-from", "-", "-C", "in", "list.tar", stdin=b"class0/s0000.jpg\n")
    assert packed("ls", "list.tar").out == "class0/s0000\tjpg\n"
    index = packed("index", "-", "--output", "-", stdin=data)
    assert index.out_bytes == Path("out-0.tar.sidx").read_bytes() and index.err == ""
    with tarfile.open(fileobj=io.BytesIO(packed("pack", "in", "-").out_bytes)) as tar:
        assert len(tar.getnames()) == 20


# ---- output


def test_what_is_said_goes_to_standard_error_and_quiet_says_nothing(packed):
    commands = [["pack", "in", "x.tar", "-f"], ["index", "out-<0..1>.tar"],
                ["verify", "out.shards.json"], ["unpack", "out-0.tar", "-f", "-C", "back"]]
    for command in commands:
        loud, quiet = packed(*command), packed(*command, "--quiet")
        assert loud.err and (loud.out, quiet.out, quiet.err) == ("", "", "")
    failed = packed("ls", "nowhere.tar", "-q", code=3)
    assert failed.out == "" and "nowhere.tar" in failed.err


@pytest.mark.parametrize("args", [["ls", "out.shards.json"], ["info", "out.shards.json"], ["man"],
                                  ["order", "out.shards.json"], ["order", "out.shards.json", "--stats"],
                                  ["stream", "out.shards.json", "--keys"],
                                  ["cat", "out.shards.json", "class0/s0000.txt"],
                                  ["completion", "bash"], ["pack", "in", "x.tar", "-n"]])
def test_data_go_to_standard_output_alone(packed, args):
    result = packed(*args)
    assert result.out_bytes and result.err == ""
    assert packed(*args, "-q").out_bytes == result.out_bytes


@pytest.mark.parametrize("args, code, name", [
    (["verify", "bad.tar", "-q"], 1, "SHARD_ECHECKSUM"),
    (["index", "cut.tar"], 1, "SHARD_ETRUNCATED"),
    (["ls", "cut.tar"], 1, "SHARD_ETRUNCATED"),
    (["pack", "empty", "x.tar"], 1, "SHARD_EDATA"),
    (["cat", "-n", "out.shards.json", "first"], 2, "SHARD_EINVAL"),
    (["ls", "line\nbreak\x1b.tar"], 3, "SHARD_ENOTFOUND"),
    (["cat", "out.shards.json", "nobody"], 3, "SHARD_ENOTFOUND"),
    (["cat", "out.shards.json", "class0/s0000", "nothing"], 3, "SHARD_ENOTFOUND"),
    (["pack", "nowhere", "x.tar"], 3, "SHARD_ENOTFOUND"),
    (["pack", "in", "out-<0..1>.tar"], 3, "SHARD_EEXIST"),
    (["pack", "in", "empty/nowhere/x.tar"], 3, "SHARD_ENOTFOUND"),
    (["merge", "out.shards.json", "a", "b"], 3, "SHARD_EEXIST"),
    (["unpack", "out.shards.json", "-C", "in"], 3, "SHARD_EEXIST"),
    (["index", "out-0.tar", "--wids", "nowhere/x"], 3, "SHARD_ENOTFOUND"),
])
def test_an_error_is_one_line_with_a_code_and_has_its_exit_status(packed, args, code, name):
    data = Path("out-0.tar").read_bytes()
    write("cut.tar", data[:700])
    write("bad.tar", bytes([data[0] ^ 1]) + data[1:])
    os.mkdir("empty")
    before = set(os.listdir("."))
    (line,) = packed(*args, code=code).err.splitlines()
    assert re.fullmatch(rf"shardtool {args[0]}: \S.* \[{name}\]", line) and "\x1b" not in line
    assert args[1] != "bad.tar" or "bad.tar: offset 0: " in line
    assert set(os.listdir(".")) == before


@pytest.mark.parametrize("args", [
    ["info", "x.tar"],
    ["e\x1b"],
    ["ls", "--e\x1b"],
    ["pack", "in", "p\x1b.tar", "-n"],
])
def test_control_characters_are_escaped(tool, args):
    write("in/a.txt", "x")
    with tarfile.open("x.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("a.t\x1b"))
    tool("index", "x.tar", "-q")
    result = tool(*args, code=None)
    assert "\x1b" not in result.out + result.err


# ---- terminals


def on_terminal(*args, stream="stderr", **env):
    """(exit code, what the terminal got, what the other stream got)."""
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    environment.update({"TERM": "xterm", **env})
    terminal, program_end = pty.openpty()
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, stream: program_end}
    process = subprocess.run([SHARDTOOL, *args], stdin=subprocess.DEVNULL, env=environment,
                             timeout=60, **streams)
    os.close(program_end)
    shown = b""
    try:
        while more := os.read(terminal, 65536):
            shown += more
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(terminal)
    return process.returncode, shown.decode(), (process.stdout or b"") + (process.stderr or b"")


@pytest.mark.parametrize("command, things", [
    (["pack", "in", "x.tar", "-f"], "samples"),
    (["verify", "out.shards.json"], "shards"),
    (["unpack", "out.shards.json", "-f", "-C", "back"], "files"),
])
def test_progress_is_for_terminals_and_is_wiped_away(packed, command, things):
    code, shown, other = on_terminal(*command)
    assert code == 0 and other == b""
    assert re.search(rf"\r\033\[K[^\r]*\d {things}  [^\r]*B/s", shown)
    assert re.fullmatch(r"(\w[^\r\033]+\r\n)+", shown.split("\033[K")[-1])
    assert "\r" not in packed(*command).err
    assert on_terminal(*command, "--quiet") == (0, "", b"")
    assert on_terminal(*command, "--json")[:2] == (0, "")
    assert on_terminal(*command, stream="stdout")[:2] == (0, "")


def test_errors_are_coloured_on_a_terminal_or_if_asked_for(tool):
    wrong = ["ls", "nowhere.tar"]
    assert RED in on_terminal(*wrong)[1]
    assert RED in tool(*wrong, "--color", "always", code=3, env={"NO_COLOR": "1"}).err
    for shown in (on_terminal(*wrong, NO_COLOR="1")[1], on_terminal(*wrong, TERM="dumb")[1],
                  on_terminal(*wrong, "--color", "never")[1], on_terminal(*wrong, "--json")[1],
                  tool(*wrong, code=3).err, tool(*wrong, "--color=always", "--json", code=3).err):
        assert "nowhere.tar" in shown and "\033" not in shown


def test_the_colour_is_around_some_text(tool):
    assert re.search(r"\033\[1;31m[^\033]+\033\[0m", on_terminal("ls", "nowhere.tar")[1])


@pytest.mark.parametrize("args", [
    ["cat", "out.shards.json", "class0/s0000", "jpg"],
    ["cat", "out.shards.json", "class0/s0000"],
    ["pack", "in", "-"],
    ["index", "out-0.tar", "-o", "-"],
])
def test_bytes_that_are_no_text_are_kept_from_a_terminal(packed, args):
    code, shown, said = on_terminal(*args, stream="stdout")
    assert (code, shown) == (2, "") and b"terminal" in said
    assert b"terminal" not in packed(*args).err.encode()


def test_text_goes_to_a_terminal_and_bytes_do_with_force(tool):
    write("in/a.bin", b"\0\1\2")
    write("in/a.txt", "caf\u00e9\n")
    tool("pack", "in", "out.tar", "-q")
    assert on_terminal("cat", "out.tar", "a", "txt", stream="stdout") == (0, "caf\u00e9\r\n", b"")
    assert on_terminal("cat", "out.tar", "a", "bin", "-f", stream="stdout") == (0, "\0\1\2", b"")
    assert "\0\1\2" in on_terminal("cat", "out.tar", "a", "-f", stream="stdout")[1]


@pytest.mark.parametrize("args", [["ls", "out.shards.json"], ["pack", "in", "-"], ["--help"],
                                  ["cat", "out.shards.json", "class0/s0000"]])
def test_a_full_disk_behind_standard_output_is_an_error(packed, args):
    with open("/dev/full", "wb") as full:
        process = subprocess.run([SHARDTOOL, *args], stdout=full, stderr=subprocess.PIPE)
    assert process.returncode == 3 and b"cannot write" in process.stderr


def test_an_output_that_another_process_writes_may_be_free_later(tool):
    with subprocess.Popen([SHARDTOOL, "pack", "-", "x.tar", "-q"], stdin=subprocess.PIPE) as first:
        wait_until(has_begun)
        failed = tool("pack", "-", "x.tar", "--json", code=4)
        assert json.loads(failed.err)["code"] == "SHARD_EBUSY"
        first.communicate(tar_bytes(3))
    assert first.returncode == 0
    tool("verify", "x.shards.json")


# ---- signals


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def start(*args):
    return subprocess.Popen([SHARDTOOL, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE)


def packing():
    """A pack in the middle of its work: it has a shard, and a partial one, and waits for more."""
    process = start("pack", "-", "out-%d.tar", "--max-samples", "20")
    process.stdin.write(tar_bytes(100)[:60_000])
    process.stdin.flush()
    wait_until(lambda: {"out-0.tar", ".out-1.tar.partial"} <= set(os.listdir(".")))
    return process


def end(process):
    """Its exit code and errors, while standard input stays open."""
    with process:
        said = process.stderr.read().decode()
        return process.wait(60), said


def has_begun():
    """Pack's journal is locked before it is written."""
    return any(os.path.getsize(name) for name in os.listdir("."))


@pytest.mark.parametrize("number, code", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_pack_and_resume_goes_on(tool, number, code):
    process = packing()
    process.send_signal(number)
    ended, said = end(process)
    assert ended == code and "--resume" in said and "rror" not in said
    assert sorted(os.listdir(".")) == [".out.shards.json.journal", "out-0.tar", "out-0.tar.sidx"]
    tool("verify", "out-0.tar")
    tool("pack", "-", "out-%d.tar", "--max-samples", "20", "--resume", stdin=tar_bytes(100))
    os.mkdir("straight")
    tool("pack", "-", "straight/out-%d.tar", "--max-samples", "20", stdin=tar_bytes(100))
    assert read_files(".") == read_files("straight")


def test_a_signal_before_the_first_shard_is_done_leaves_nothing(tool):
    process = start("pack", "-", "out.tar")
    process.stdin.write(tar_bytes(100)[:5000])
    process.stdin.flush()
    wait_until(has_begun)
    process.send_signal(signal.SIGINT)
    assert end(process) == (130, "")
    assert os.listdir(".") == []


def stuck(process):
    """The pipe from it is full, and it sleeps; no signal waits to be taken."""
    room = fcntl.fcntl(process.stdout, fcntl.F_GETPIPE_SZ)
    (waiting,) = struct.unpack("i", fcntl.ioctl(process.stdout, termios.FIONREAD, bytes(4)))
    status = Path(f"/proc/{process.pid}/status").read_text()
    signals = re.findall(r"^(?:SigPnd|ShdPnd):\t(\w+)$", status, re.MULTILINE)
    return waiting > room - 4096 and "State:\tS" in status and {int(s, 16) for s in signals} == {0}


@pytest.fixture
def listing(tool):
    """An ls that has more to say than anybody reads."""
    write("long.tar", tar_bytes(2000, size=0, key="k" * 80 + "{:05d}"))
    process = start("ls", "--members", "long.tar")
    wait_until(lambda: stuck(process))
    return process


def test_a_signal_ends_a_program_that_waits_for_its_reader(listing):
    listing.send_signal(signal.SIGINT)
    wait_until(lambda: listing.poll() is not None or stuck(listing))
    listing.stdout.read()
    assert end(listing) == (130, "")


def test_a_reader_that_goes_away_ends_the_program_silently(listing):
    listing.stdout.close()
    assert end(listing) == (-signal.SIGPIPE, "")


# ---- --json

KEYS = {
    "pack": "samples shards bytes_in bytes_out seconds skipped resumed_shards renamed classes "
            "ignored images labels_clustered manifest dry_run",
    "pack ignored": "no_extension hidden reserved special",
    "pack images": "baselined resized stripped kept",
    "merge": "manifest parts",
    "index": "shard samples components bytes index_bytes kept",
    "ls": "number key shard offset components",
    "ls component": "offset size crc32c",
    "ls --members": "path kind offset payload_offset size",
    "ls --shards": "shard samples bytes",
    "info": "manifest shards samples bytes index_bytes without_index skipped sorted codecs "
            "components sample_sizes classes images",
    "info component": "count bytes least most",
    "info sample_sizes": "count bytes least most below_power_of_2",
    "info images": "looked not_images progressive formats sizes",
    "order": "position id key shard",
    "order --stats": "order seed epoch samples block lanes delay tail memory_samples memory_bytes batch "
                     "world_size class_samples batches looked variance_inflation shards_a_batch "
                     "shards_a_batch_random same_shard same_shard_random read_amplification",
    "order variance_inflation": "head body tail",
    "stream": "samples batches bytes seconds samples_per_s bytes_per_s first_batch_s wait_s order_s read_s "
              "decode_s idle_s reads bad_samples threads rank world_size order buffer_bytes max_rss_bytes "
              "bottleneck state",
    "stream --to jsonl": "key id components",
    "verify": "shards samples components bytes problems bad_shards without_index seconds",
    "unpack": "files bytes links_left_out seconds",
    "error": "level verb code url message",
}


def has_keys(value, what):
    return set(value) == set(KEYS[what].split())


def test_the_documentation_names_the_keys():
    named = set(re.findall(r"`(\w+)`", DOCS.split("## `--json`")[1].split("## Env")[0]))
    assert {key for keys in KEYS.values() for key in keys.split()} <= named


def test_json_of_pack_and_merge(packed):
    result = packed("pack", "in", "x.tar", "--json", "--label-from", "dir")
    assert result.err == "" and result.out.count("\n") == 1
    assert has_keys(result.json, "pack") and result.json["classes"] == 3
    assert has_keys(result.json["ignored"], "pack ignored")
    assert has_keys(result.json["images"], "pack images")
    to_stdout = packed("pack", "in", "-", "--json")
    assert to_stdout.out_bytes == packed("pack", "in", "-").out_bytes
    assert has_keys(json.loads(to_stdout.err), "pack"), "the tar stands on standard output"
    for part in "12":
        packed("pack", "in", "p-<0..1>.tar", "--part", f"{part}/2", "-q")
    parts = sorted(map(str, Path(".").glob("p.part-*")))
    joined = packed("merge", "p.shards.json", *parts, "--json")
    assert joined.json == {"manifest": "p.shards.json", "parts": 2} and joined.err == ""


@pytest.mark.parametrize("args, plan", [
    (["x-<0..1>.tar"], [{"shard": "x-0.tar", "samples": 5}, {"shard": "x-1.tar", "samples": 5}]),
    (["x-%d.tar", "--max-size", "1M"], [{"shard": "x-0.tar", "samples": None}]),
    (["-"], [{"shard": "-", "samples": 10}]),
])
def test_json_of_a_dry_run(packed, args, plan):
    lines = packed("pack", "in", *args, "--dry-run", "--json").lines
    assert lines[:-1] == plan and has_keys(lines[-1], "pack") and lines[-1]["dry_run"] is True


@pytest.mark.parametrize("args, what, lines", [
    (["index", "out-<0..1>.tar"], "index", 2),
    (["ls", "out.shards.json"], "ls", 10),
    (["ls", "--members", "out.shards.json"], "ls --members", 20),
    (["ls", "--shards", "out.shards.json"], "ls --shards", 2),
    (["info", "out.shards.json"], "info", 1),
    (["order", "out.shards.json"], "order", 10),
    (["order", "--stats", "out.shards.json"], "order --stats", 1),
    (["stream", "out.shards.json"], "stream", 1),
    (["verify", "out.shards.json"], "verify", 1),
    (["unpack", "out.shards.json", "-C", "back"], "unpack", 1),
    (["index", "out-0.tar", "--output", "x.sidx"], "index", 1),
])
def test_json_of_other_verbs(packed, args, what, lines):
    result = packed(*args, "--json")
    assert result.err == "" and len(result.lines) == lines
    for line in result.lines:
        assert has_keys(line, what)
        for component in line["components"].values() if what in ("ls", "info") else []:
            assert has_keys(component, f"{what} component")
    if what == "info":
        assert has_keys(result.json["sample_sizes"], "info sample_sizes")
        assert has_keys(result.json["images"], "info images")
    if what == "order --stats":
        assert has_keys(result.json["variance_inflation"], "order variance_inflation")


def test_json_of_errors(packed):
    Path("bad.tar").write_bytes(b"x" + Path("out-0.tar").read_bytes()[1:])
    for args, name in ((["ls", "nowhere.tar"], "SHARD_ENOTFOUND"),
                       (["pack", "in", "x.txt"], "SHARD_EINVAL"),
                       (["verify", "bad.tar"], "SHARD_ECHECKSUM")):
        failed = packed(*args, "--json", code=None)
        (error,) = map(json.loads, failed.err.splitlines())
        assert error.pop("offset", None) == (0 if "bad.tar" in args else None)
        assert has_keys(error, "error") and error["level"] == "error"
        assert (error["verb"], error["code"]) == (args[0], name) and error["url"] in ("", args[-1])
        assert failed.out == "" or has_keys(failed.json, "verify") and failed.json["problems"] == 1


@pytest.mark.parametrize("args", [["pack", "in"], ["ls", "--frobnicate"],
                                  ["index", "out-0.tar", "--wids", "nowhere/x"]])
def test_all_errors_are_json(packed, args):
    assert has_keys(json.loads(packed(*args, "--json", code=None).err), "error")


def test_a_name_that_no_manifest_can_hold_is_refused_before_anything_is_packed(tool):
    write("in/a.txt", "x")
    failed = tool("pack", "in", "x\x1b.tar", code=2)
    assert "manifest" in failed.err and os.listdir(".") == ["in"]


# ---- completions and man pages


def shell(tool, name):
    """Of a shell that is installed: the completions, in a file that it takes."""
    program = shutil.which(name) or pytest.skip(f"{name} is not installed")
    write(f"completion.{name}", tool("completion", name).out)
    subprocess.run([program, "-n", f"completion.{name}"], check=True, timeout=60)
    return program


def run_lines(*command):
    process = subprocess.run(command, capture_output=True, timeout=60, check=True)
    assert process.stderr == b""
    return process.stdout.decode().splitlines()


BASH = """source completion.bash
function=$(complete -p shardtool | sed 's/.* -F \\([^ ]*\\) .*/\\1/')
COMP_WORDS=(shardtool "$@"); COMP_CWORD=$#; $function; printf '%s\\n' "${COMPREPLY[@]}"
"""


def test_bash_completes(tool):
    bash = shell(tool, "bash")
    os.mkdir("folder")

    def complete(*words):
        return run_lines(bash, "-c", BASH, "bash", *words)
    assert set(VERBS) <= set(complete(""))
    assert complete("ve") == ["verify"]
    assert complete("pack", "--res") == ["--resize-shorter", "--resume"]
    assert complete("pack", "in", "--missing", "") == ["error", "skip"]
    assert complete("unpack", "--folder", "") == ["folder"]
    assert complete("ls", "comp") == ["completion.bash"]
    for verb in VERBS:
        assert {"--" + o for o in options_of(tool, verb)} == set(complete(verb, "--"))


def test_bash_completes_a_name_with_a_space(tool):
    bash = shell(tool, "bash")
    write("my shard.tar", "")
    assert run_lines(bash, "-c", BASH, "bash", "ls", "my") == ["my shard.tar"]


ZSH = """_arguments() { print -rl -- "$@" }
_describe() { print -rl -- $verbs }
words=(shardtool "$@"); CURRENT=$(( $# + 1 )); source ./completion.zsh
"""


def test_zsh_gets_all_verbs_and_options(tool):
    zsh = shell(tool, "zsh")
    assert [line.split(":")[0] for line in run_lines(zsh, "-fc", ZSH, "zsh", "")] == VERBS
    for verb in VERBS:
        specs = run_lines(zsh, "-fc", ZSH, "zsh", verb, "--")
        found = {m[1] for m in map(re.compile(r"\*?--([a-z-]+)=?\[.+\]").match, specs) if m}
        assert found == options_of(tool, verb) and len(specs) == len(found) + 1


def test_fish_completes(tool):
    fish = shell(tool, "fish")

    def complete(line):
        script = f"source completion.fish; complete -C '{line}'"
        return {entry.split("\t")[0] for entry in run_lines(fish, "--no-config", "-c", script)}
    assert set(VERBS) <= complete("shardtool ")
    assert complete("shardtool pack --missing ") == {"error", "skip"}
    for verb in VERBS:
        assert complete(f"shardtool {verb} --") == {"--" + o for o in options_of(tool, verb)}


@pytest.mark.parametrize("verb", VERBS)
def test_man_pages_have_all_options(tool, verb):
    page = tool("man", verb).out.replace("\\-", "-")
    assert set(re.findall(r"\\fB--([a-z-]+)\\fR", page)) == options_of(tool, verb)
    assert f"shardtool-{verb}" in tool("man").out.replace("\\-", "-")


def test_man_pages_are_right(tool):
    mandoc = shutil.which("mandoc") or pytest.skip("mandoc is not installed")
    for verb in [], *([v] for v in VERBS):
        write("page.1", tool("man", *verb).out)
        lint = subprocess.run([mandoc, "-Tlint", "-Wwarning", "page.1"], capture_output=True)
        found = (lint.stdout + lint.stderr).decode().splitlines()
        assert [line for line in found if "missing date" not in line] == []
