# SPDX-License-Identifier: Apache-2.0
"""stream: the loader from outside, as a benchmark and into pipes; where it stops and goes on."""
import base64
import io
import json
import os
import re
import signal
import subprocess
import tarfile
from pathlib import Path

import numpy as np
import pytest
from conftest import SHARDTOOL, make_tree, read_files, write
from PIL import Image

STATE = re.compile(r'{"order":"(stored|shards|lanes)-1","seed":\d+,"epoch":\d+,"position":\d+,'
                   r'"set":"[0-9a-f]{8}","opts":"[0-9a-f]{8}"}\n')
LAUNCHERS = ["RANK WORLD_SIZE", "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE", "PMI_RANK PMI_SIZE",
             "SLURM_PROCID SLURM_NTASKS"]


TSAN = b"libtsan.so" in Path(SHARDTOOL).read_bytes()


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    for names in LAUNCHERS:
        for name in names.split():
            monkeypatch.delenv(name, raising=False)


@pytest.fixture(params=["tar", "tar.zst"])
def packed(request, tool):
    """60 samples of .jpg (random bytes) and .txt in five shards."""
    make_tree("in", samples=60)
    tool("pack", "in", f"out-<0..4>.{request.param}", "-q")
    return tool


@pytest.fixture
def plain(tool):
    make_tree("in", samples=60)
    tool("pack", "in", "out-<0..4>.tar", "-q")
    return tool


def keys(tool, *args, **options):
    return tool("stream", "out.shards.json", "--keys", *args, **options).out.splitlines()


def order(tool, *args):
    return [line.split("\t")[2] for line in tool("order", "out.shards.json", *args).out.splitlines()]


def members(data):
    """[(path, content)] as Python's tarfile reads them."""
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar:
        return [(m.name, tar.extractfile(m).read()) for m in tar]


# ---- which samples come, and in which order


@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
def test_keys_are_in_the_order_that_order_tells(packed, shuffle):
    for seed, epoch, memory in (0, 0, 16384), (7, 3, 100), (2**63 - 1, 2**32 - 2, 9):
        args = ["--shuffle", shuffle, "--seed", seed, "--epoch", epoch, "--shuffle-samples", memory]
        assert keys(packed, *args, "--batch", 1) == order(packed, *args)
        assert sorted(keys(packed, *args, "--batch", 7)) == sorted(order(packed, *args))


def test_without_options_all_samples_come_as_stored(packed):
    assert keys(packed) == [line.split("\t")[0] for line in packed("ls", "out.shards.json").out.splitlines()]


@pytest.mark.parametrize("args", [["-j1"], ["-j2"], ["-j3"], ["-j8"], ["--memory", "8MiB"], ["--no-checksums"]])
def test_threads_memory_and_checks_change_nothing(packed, args):
    assert keys(packed, "--shuffle", "full", *args) == keys(packed, "--shuffle", "full", "-j1")


@pytest.mark.parametrize("world", [1, 2, 3, 7, 8, 64])
def test_ranks_together_have_every_sample_once(plain, world):
    got = [keys(plain, "--shuffle", "full", "--batch", 2, "--rank", rank, "--world-size", world)
           for rank in range(world)]
    assert sorted(sum(got, [])) == sorted(order(plain))


def test_epochs_follow_each_other(plain):
    expected = sum((order(plain, "--shuffle", "full", "--epoch", e) for e in (2, 3, 4)), [])
    assert keys(plain, "--shuffle", "full", "--epoch", 2, "--epochs", 3, "--batch", 1) == expected


def test_epochs_of_a_size_go_on_where_the_last_one_stopped(plain):
    expected = order(plain, "--shuffle", "shards") + order(plain, "--shuffle", "shards", "--epoch", 1)
    args = ["--shuffle", "shards", "--epoch-size", 25, "--batch", 4]
    assert keys(plain, *args, "--epochs", 4) == expected[:100]
    assert keys(plain, *args, "--epoch", 2) == expected[50:75]
    assert keys(plain, *args, "--epoch", 2, "--drop-last") == expected[50:74]


def test_an_endless_epoch_ends_where_it_is_stopped(plain):
    expected = sum((order(plain, "--shuffle", "shards", "--epoch", e) for e in range(3)), [])
    assert keys(plain, "--shuffle", "shards", "--endless", "--batch", 5, "--stop-after", 150) == expected[:150]


def test_a_last_batch_that_is_not_full_is_dropped_on_request(plain):
    assert keys(plain, "--batch", 9, "--drop-last") == order(plain)[:54]
    assert "60 samples" in plain("stream", "out.shards.json", "--batch", 61, "--drop-last", code=1).err


@pytest.mark.parametrize("args", [["out-{0..4}.tar"], [f"out-{i}.tar" for i in range(5)]])
def test_shards_and_patterns_are_sets_too(plain, args):
    os.remove("out.shards.json")
    assert plain("stream", *args, "--keys").out == "".join(
        line.split("\t")[0] + "\n" for line in plain("ls", *args).out.splitlines())


# ---- output


@pytest.mark.parametrize("shuffle", ["none", "full"])
def test_a_tar_of_what_was_delivered(packed, shuffle):
    files = {p.removeprefix("in/"): Path(p).read_bytes() for p in map(str, Path("in").rglob("*.*"))}
    args = ["--shuffle", shuffle, "--batch", 1]
    expected = [(f"{key}.{c}", files[f"{key}.{c}"]) for key in order(packed, *args[:2]) for c in ("jpg", "txt")]
    out = packed("stream", "out.shards.json", "--to", "tar", *args).out_bytes
    assert members(out) == expected
    assert out.endswith(bytes(1024)) and len(out) % 512 == 0


def test_a_tar_can_be_packed_again(packed):
    tar = packed("stream", "out.shards.json", "--to", "tar", "--shuffle", "full").out_bytes
    packed("pack", "-", "again.tar", "-q", stdin=tar)
    assert sorted(packed("ls", "again.tar").out.splitlines())[0].startswith("class0/")
    assert packed("info", "again.tar", "--json").json["samples"] == 60


def test_lines_of_json_hold_text_as_it_is_and_bytes_as_base64(tool):
    write("in/a.txt", "caf\u00e9\n\"x\"\t")
    write("in/a.bin", bytes(range(256)))
    write("in/a.empty", b"")
    write("in/b.txt", b"\xff\xfe")
    write("in/b.nul", b"a\0b")
    tool("pack", "in", "out.tar", "-q")
    a, b = tool("stream", "out.shards.json", "--to", "jsonl").lines
    assert (a["key"], a["id"], b["key"], b["id"]) == ("a", 0, "b", 1)
    assert list(a["components"]) == ["bin", "empty", "txt"]
    assert a["components"]["txt"] == "caf\u00e9\n\"x\"\t" and a["components"]["empty"] == ""
    assert base64.b64decode(a["components"]["bin"]["base64"], validate=True) == bytes(range(256))
    assert base64.b64decode(b["components"]["txt"]["base64"], validate=True) == b"\xff\xfe"
    nul = b["components"]["nul"]
    assert (nul if isinstance(nul, str) else base64.b64decode(nul["base64"]).decode()) == "a\0b"


def test_base64_of_every_length(tool):
    for n in range(1, 8):
        write(f"in/{n}.bin", b"\xff" * n)
    tool("pack", "in", "out.tar", "-q")
    for n, line in enumerate(tool("stream", "out.shards.json", "--to", "jsonl").lines, 1):
        assert line["components"]["bin"]["base64"] == base64.b64encode(b"\xff" * n).decode()


def test_ids_are_numbers_in_the_set(plain):
    lines = plain("stream", "out.shards.json", "--to", "jsonl", "--shuffle", "full").lines
    listed = order(plain)
    assert all(listed[line["id"]] == line["key"] for line in lines) and len(lines) == 60


def test_keys_of_odd_bytes_are_one_line(tool):
    with tarfile.open("out.tar", "w") as tar:
        tar.addfile(tarfile.TarInfo("a\nb.txt"))
    tool("index", "out.tar", "-q")
    assert tool("stream", "out.tar", "--keys").out == "a\\x0ab\n"


SUMMARY = {"samples": int, "batches": int, "bytes": int, "seconds": float, "samples_per_s": float, "bytes_per_s": float,
           "first_batch_s": float, "wait_s": float, "order_s": float, "read_s": float, "decode_s": float,
           "idle_s": float, "reads": int, "bad_samples": int, "threads": int, "rank": int, "world_size": int,
           "order": str, "buffer_bytes": int, "max_rss_bytes": int, "bottleneck": (str, type(None)), "state": str}


def test_a_summary_as_json(packed):
    summary = packed("stream", "out.shards.json", "--json", "--batch", 8, "-j2", "--shuffle", "full").json
    assert list(summary) == list(SUMMARY)
    for key, kind in SUMMARY.items():
        assert isinstance(summary[key], (float, int) if kind is float else kind), key
    assert (summary["samples"], summary["batches"], summary["threads"]) == (60, 8, 2)
    assert (summary["rank"], summary["world_size"], summary["order"]) == (0, 1, "lanes-1")
    assert summary["bytes"] >= 60 * 1024 and summary["reads"] > 0 and summary["bad_samples"] == 0
    assert summary["bottleneck"] in ("storage", "decode", "consumer", None)
    assert STATE.fullmatch(summary["state"] + "\n") and '"epoch":1,"position":0' in summary["state"]


def test_a_summary_as_text(plain):
    result = plain("stream", "out.shards.json")
    assert result.out == "" and "60 samples in 1 batch" in result.err and "first batch after" in result.err
    assert plain("stream", "out.shards.json", "-q").err == ""


@pytest.mark.parametrize("args", [["--keys"], ["--to", "tar"], ["--to", "jsonl"]])
def test_with_output_nothing_else_is_said(plain, args):
    assert plain("stream", "out.shards.json", *args).err == ""


# ---- states


@pytest.mark.parametrize("shuffle", ["none", "shards", "full"])
@pytest.mark.parametrize("first, second", [([], []), (["-j1"], ["-j3"])])
def test_stopping_and_going_on_gives_the_whole(packed, shuffle, first, second):
    args = ["--shuffle", shuffle, "--batch", 4, "--seed", 3, "--epoch", 1]
    whole = keys(packed, *args)
    for stop in 0, 1, 4, 17, 40, 56:
        got = keys(packed, *args, *first, "--stop-after", stop, "--save-state", "s.json")
        assert len(got) == (stop + 3) // 4 * 4
        assert STATE.fullmatch(Path("s.json").read_text())
        assert got + keys(packed, *args[:4], *second, "--resume", "s.json") == whole
    assert not Path("s.json.tmp").exists()


@pytest.mark.parametrize("stop", [0, 10, 30, 55])
@pytest.mark.parametrize("batch, world", [(1, 1), (5, 3), (64, 2)])
def test_going_on_in_other_batches_and_ranks_gives_the_same_samples(plain, batch, world, stop):
    got = keys(plain, "--shuffle", "full", "--batch", 5, "--stop-after", stop, "--save-state", "s.json")
    for rank in range(world):
        got += keys(plain, "--shuffle", "full", "--batch", batch, "--resume", "s.json", "--rank", rank,
                    "--world-size", world)
    assert sorted(got) == sorted(order(plain))


def test_the_state_at_the_end_is_the_next_epoch(plain):
    args = ["--shuffle", "full", "--batch", 1]
    keys(plain, *args, "--save-state", "s.json")
    assert keys(plain, *args, "--resume", "s.json") == order(plain, "--shuffle", "full", "--epoch", 1)


def test_a_summary_tells_the_state_that_is_saved(plain):
    summary = plain("stream", "out.shards.json", "--json", "--batch", 10, "--stop-after", 20, "--save-state",
                    "s.json").json
    assert summary["state"] + "\n" == Path("s.json").read_text()
    assert json.loads(summary["state"])["position"] == 20 and summary["samples"] == 20


def test_states_that_do_not_fit_are_refused(plain):
    plain("stream", "out.shards.json", "--stop-after", 10, "--batch", 5, "--shuffle", "full", "--save-state", "s.json")
    for args, named in ((["--shuffle", "shards"], '"order"'), (["--shuffle", "full", "--seed", 5], '"seed"'),
                        (["--shuffle", "full", "--shuffle-samples", 20], '"opts"'),
                        (["--shuffle", "full", "--epoch-size", 9], '"opts"')):
        err = plain("stream", "out.shards.json", "--resume", "s.json", *args, code=1).err
        assert named in err and "SHARD_ESTALE" in err
    err = plain("stream", "out-{0..3}.tar", "--resume", "s.json", "--shuffle", "full", code=1).err
    assert '"set"' in err and "SHARD_ESTALE" in err


@pytest.mark.parametrize("content", ["", "{}", "[1]", "x" * 5000, '{"order":"stored-1"}'])
def test_a_state_that_is_none_is_refused(plain, content):
    write("s.json", content)
    err = plain("stream", "out.shards.json", "--resume", "s.json", code=1).err
    assert len(err.splitlines()) == 1 and "SHARD_EFORMAT" in err


def test_a_state_that_cannot_be_read_or_written_is_an_error(plain):
    assert "none.json" in plain("stream", "out.shards.json", "--resume", "none.json", code=3).err
    os.mkdir("folder")
    assert "folder" in plain("stream", "out.shards.json", "--resume", "folder", code=3).err
    for path in "no/s.json", "folder":
        assert path in plain("stream", "out.shards.json", "--save-state", path, code=3).err
    assert sorted(os.listdir("folder")) == [] and not list(Path(".").glob("*.tmp"))


# ---- signals and pipes


def start(*args, **options):
    return subprocess.Popen([SHARDTOOL, "stream", "out.shards.json", *map(str, args)], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **options)


def wait_for_a_full_pipe(process):
    """Until the program sleeps in write(2), as nobody reads what it says."""
    while process.poll() is None:
        if Path(f"/proc/{process.pid}/syscall").read_text().split()[0] == "1":
            state = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
            if state == "S":
                return
    raise AssertionError("it ended by itself")


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of write(2) is that of x86-64")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("lines", [1, 10, 100])
def test_after_a_signal_the_rest_is_what_was_not_delivered(tool, lines, name):
    make_tree("in", samples=400, size=8000)
    tool("pack", "in", "out-<0..4>.tar", "-q")
    number = getattr(signal, name)
    args = ["--to", "jsonl", "--shuffle", "full", "--batch", 4]
    whole = tool("stream", "out.shards.json", *args).lines
    with start(*args, "--save-state", "s.json") as process:
        got = [process.stdout.readline() for _ in range(lines)]
        wait_for_a_full_pipe(process)
        process.send_signal(number)
        got += process.stdout.read().splitlines()
        assert (process.wait(60), process.stderr.read()) == (128 + number, b"")
    got = [json.loads(line) for line in got]
    assert STATE.fullmatch(Path("s.json").read_text()) and lines <= len(got) < 400
    rest = tool("stream", "out.shards.json", *args, "--resume", "s.json").lines
    assert got + rest == whole


@pytest.mark.skipif(TSAN, reason="ThreadSanitizer holds signals back until a thread calls it")
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the number of write(2) is that of x86-64")
def test_a_second_signal_ends_it_though_nobody_reads(plain):
    with start("--endless", "--to", "tar") as process:
        wait_for_a_full_pipe(process)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (128 + signal.SIGINT, 128 + signal.SIGTERM)


def test_a_signal_ends_an_endless_epoch(plain):
    with start("--endless", "--keys") as process:
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.read()
        assert (process.wait(60), process.stderr.read()) == (130, b"")


@pytest.mark.parametrize("args", ["--keys", "--to tar", "--to jsonl"])
def test_a_reader_that_goes_away_ends_it_quietly(plain, args):
    script = f'{{ "$0" stream out.shards.json --endless {args}; echo "$?" >&3; }} 3>code | head -c 100 | wc -c'
    result = subprocess.run(["bash", "-c", script, SHARDTOOL], capture_output=True, timeout=60)
    assert result.stderr == b"" and int(result.stdout) == 100
    assert Path("code").read_text().strip() in ("0", str(128 + signal.SIGPIPE))


@pytest.mark.parametrize("args", ["--keys", "--to tar", "--to jsonl", "--json"])
def test_output_that_is_full_is_an_error_and_saves_no_state(plain, args):
    for target in (">/dev/full", ">&-"):
        script = f'"$0" stream out.shards.json {args} --save-state s.json {target}'
        result = subprocess.run(["sh", "-c", script, SHARDTOOL], capture_output=True, timeout=60)
        assert result.returncode == 3 and b"output" in result.stderr.replace(b"stdout", b"output"), target
        if args != "--json":
            assert not Path("s.json").exists(), target


# ---- ranks of launchers


@pytest.mark.parametrize("names", LAUNCHERS)
def test_rank_and_world_size_are_those_of_the_launcher(plain, names):
    rank, world = names.split()
    parts = []
    for r in range(3):
        env = {rank: str(r), world: "3"}
        result = plain("stream", "out.shards.json", "--keys", "--shuffle", "full", "--batch", 5, env=env)
        assert f"rank {r} of 3" in result.err and rank in result.err
        assert plain("stream", "out.shards.json", "--keys", "-q", env=env).err == ""
        parts += result.out.splitlines()
    assert sorted(parts) == sorted(order(plain))
    env = {rank: "2", world: "3"}
    told = plain("stream", "out.shards.json", "--json", "--rank", 0, "--world-size", 2, env=env).json
    assert (told["rank"], told["world_size"]) == (0, 2)


@pytest.mark.parametrize("rank, world", [("3", "3"), ("x", "3"), ("-1", "3"), ("", "3"), ("0", "0"), ("1", "")])
def test_an_environment_without_sense_is_told_of(plain, rank, world):
    err = plain("stream", "out.shards.json", "--keys", env={"RANK": rank, "WORLD_SIZE": world}, code=2).err
    assert "RANK" in err and "--rank" in err


# ---- what does not fit


@pytest.mark.parametrize("args, named", [
    (["--rank", 0], "--world-size"), (["--world-size", 2], "--rank"), (["--rank", 2, "--world-size", 2], "--rank"),
    (["--keys", "--to", "tar"], "--keys"), (["--keys", "--json"], "--json"), (["--to", "jsonl", "--json"], "--json"),
    (["--to", "tar", "--image", "center:8"], "--image"), (["--flip"], "--image"), (["--fast"], "--image"),
    (["--grey", "--image", "none"], "--image"), (["--layout", "f32"], "--image"),
    (["--image", "rrc"], "rrc:SIZE"), (["--image", "rrc:0"], "rrc:SIZE"), (["--image", "center:99999"], "16384"),
    (["--image", "resize:10x"], "SIZE"), (["--image", "center:8,center:4"], "SIZE"),
    (["--image", "resize:8,center:9"], "larger"), (["--image", "resize:8x9,center:8"], "SIZE"),
    (["--endless", "--epochs", 2], "--endless"), (["--endless", "--drop-last"], "--endless"),
    (["--endless", "--epoch-size", 5], "--endless"), (["--resume", "s.json", "--epoch", 1], "--epoch"),
    (["--batch", 2**32], "--batch"), (["--threads", 2**32], "--threads"), (["--batch", "many"], "many"),
    (["--shuffle", "all"], "none|shards|full"), (["--on-bad", "skip"], "error|substitute|mask"),
    (["--to", "zip"], "none|tar|jsonl"), (["--layout", "f64"], "u8|f32|f16"), (["--memory", "lots"], "lots"),
    (["--epoch", 2**32], "epoch"), (["--seed", 2**63], "seed"), (["--threads", 1025], "threads"),
    (["--batch", 2**20 + 1], "batch"), (["--epochs", 0], "--epochs"),
])
def test_wrong_arguments_are_told_in_a_line(plain, args, named):
    failed = plain("stream", "out.shards.json", *args, code=2)
    first, *rest = failed.err.splitlines()
    assert failed.out == "" and named in first and rest in ([], ["Try 'shardtool stream --help'."])


def test_a_set_is_wanted(tool):
    assert "SET" in tool("stream", code=2).err
    assert "none.tar" in tool("stream", "none.tar", code=3).err


def test_too_little_memory_is_told_with_what_to_change(plain):
    err = plain("stream", "out.shards.json", "--image", "center:500", "--memory", "20MiB", code=None)
    assert err.code == 3 and "allow more memory, fewer threads, or smaller batches" in err.err


# ---- images


def photo(width, height, mode="RGB", seed=1):
    y, x = np.mgrid[0:height, 0:width]
    waves = 128 + 60 * np.sin(x / 7 + y / 11 + seed)
    return Image.merge(mode, [Image.fromarray(waves.astype(np.uint8))] * len(mode))


@pytest.fixture
def images(tool):
    """24 images, every third a PNG, with labels."""
    os.makedirs("in")
    for i in range(24):
        photo(40 + i, 50 - i, seed=i).save(f"in/{i:02}.{'png' if i % 3 == 0 else 'jpg'}")
        write(f"in/{i:02}.cls", str(i))
    tool("pack", "in", "out-<0..1>.tar", "-q")
    return tool


@pytest.mark.parametrize("how", ["rrc:16", "center:16x20", "resize:24", "resize:24,center:16"])
@pytest.mark.parametrize("args", [[], ["--layout", "f32"], ["--layout", "f16", "--grey"], ["--flip", "--fast"]])
def test_images_are_decoded(images, how, args):
    summary = images("stream", "out.shards.json", "--image", how, *args, "--batch", 5, "--json").json
    assert (summary["samples"], summary["batches"], summary["bad_samples"]) == (24, 5, 0)
    assert summary["decode_s"] > 0


def test_images_are_left_as_stored_on_request(images):
    out = images("stream", "out.shards.json", "--image", "none", "--to", "tar").out_bytes
    assert dict(members(out)) == read_files("in")


def test_the_size_of_images_is_that_of_the_buffers(images):
    def buffers(*args):
        return images("stream", "out.shards.json", "--batch", 8, "-j1", "--json", "--image", *args).json["buffer_bytes"]
    side = [buffers("center:256", "--layout", layout) for layout in ("u8", "f16", "f32")]
    pixels = 256 * 256 * 3 * 8
    assert side[0] // pixels == side[1] // (2 * pixels) == side[2] // (4 * pixels) >= 2
    assert abs(buffers("center:256", "--grey") * 3 - side[0]) < pixels


@pytest.fixture
def with_bad(images):
    """As `images`, but one JPEG is cut in half and one sample has no image."""
    half = Path("in/07.jpg").read_bytes()
    write("in/07.jpg", half[:len(half) // 2])
    os.remove("in/10.jpg")
    images("pack", "in", "out-<0..1>.tar", "-q", "--force")
    return images


def test_a_bad_image_ends_it_and_is_named(with_bad):
    err = with_bad("stream", "out.shards.json", "--image", "resize:16", "--batch", 4, code=1).err
    assert len(err.splitlines()) == 1 and '"07"' in err and "out-0.tar" in err and re.search(r"\d{4}", err)


@pytest.mark.parametrize("policy, samples", [("substitute", 24), ("mask", 22)])
def test_bad_images_are_replaced_or_left_out_and_counted(with_bad, policy, samples):
    args = ["stream", "out.shards.json", "--image", "resize:16", "--batch", 4, "--on-bad", policy]
    result = with_bad(*args, "--json")
    assert (result.json["samples"], result.json["batches"]) == (samples, 6)
    assert result.json["bad_samples"] == 2
    told = [json.loads(line) for line in result.err.splitlines()]
    assert [(t["code"], t["url"]) for t in told] == [("SHARD_EDATA", "out-0.tar")] * 2
    assert '"07"' in told[0]["message"] and '"10"' in told[1]["message"]
    assert len(with_bad(*args).err.splitlines()) >= 2
    assert with_bad(*args, "-q").err == ""


def test_keys_tell_which_sample_stands_in_for_a_bad_one(with_bad):
    def found(*args):
        return with_bad("stream", "out.shards.json", "--image", "resize:16", "--batch", 4, "--keys", "-q", *args
                        ).out.splitlines()
    replaced = found("--on-bad", "substitute", "-j3")
    assert replaced == found("--on-bad", "substitute", "-j1")
    assert len(replaced) == 24 and "07" not in replaced and "10" not in replaced
    assert [k for i, k in enumerate(replaced) if i not in (7, 10)] == found("--on-bad", "mask")


# ---- data that changed


def test_a_shard_of_another_size_is_stale(plain):
    with open("out-3.tar", "ab") as shard:
        shard.write(bytes(512))
    err = plain("stream", "out.shards.json", code=1).err
    assert "out-3.tar" in err and "SHARD_ESTALE" in err


def test_a_shard_that_is_cut_is_stale(plain):
    os.truncate("out-3.tar", 2048)
    err = plain("stream", "out.shards.json", code=1).err
    assert "out-3.tar" in err and "SHARD_ESTALE" in err


def test_a_shard_of_the_same_size_and_other_samples_is_an_error(plain):
    size = os.path.getsize("out-3.tar")
    Path("out-3.tar").write_bytes(Path("out-2.tar").read_bytes()[:size].ljust(size, b"\0"))
    err = plain("stream", "out.shards.json", code=1).err
    assert "out-3.tar" in err and ("SHARD_ESTALE" in err or "SHARD_ECHECKSUM" in err)


def test_a_shard_that_is_gone_is_named(plain):
    os.remove("out-3.tar")
    assert "out-3.tar" in plain("stream", "out.shards.json", code=3).err


def test_a_byte_that_changed_is_seen_unless_checks_are_off(plain):
    data = bytearray(Path("out-2.tar").read_bytes())
    data[512] ^= 1
    Path("out-2.tar").write_bytes(data)
    err = plain("stream", "out.shards.json", code=1).err
    assert "out-2.tar" in err and "offset 512" in err.replace(": 512", " 512") and "SHARD_ECHECKSUM" in err
    assert plain("stream", "out.shards.json", "--json", "--on-bad", "mask", "-q").json["samples"] == 59
    plain("stream", "out.shards.json", "--no-checksums")
