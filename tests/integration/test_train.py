# SPDX-License-Identifier: Apache-2.0
"""examples/train.c: it learns, and killed at any moment and resumed it ends with the same weights."""
import os
import re
import signal
import struct
import subprocess
from pathlib import Path

import pytest
from conftest import shardtool, write

EXAMPLES = Path(os.environ.get("SHARD_BUILD", "build/dev")) / "examples"
SHIM_SOURCE = Path(__file__).parent.parent / "support/fault_shim.c"
BAD, USAGE = 1, 2
SAMPLES, BATCH, EVERY, EPOCHS = 250, 16, 3, 4
STEPS = EPOCHS * -(-SAMPLES // BATCH)  # the last batch of an epoch is not full
OPTIONS = ["--epochs", EPOCHS, "--batch", BATCH, "--every", EVERY]
LINE = re.compile(r"epoch (\d+) step (\d+) loss (\d+\.\d+)")


def make_set(folder, count, *options):
    subprocess.run([EXAMPLES / "make_images", folder / "images", str(count)], check=True)
    shardtool("pack", "-q", folder / "images", folder / "out-<0..2>.tar", "--shuffle", "1", *options)
    return folder / "out.shards.json"


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return make_set(tmp_path_factory.mktemp("set"), SAMPLES, "--label-from", "dir")


@pytest.fixture(autouse=True)
def work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def command(*args):
    return [EXAMPLES / "train", *map(str, args)]


def train(*args, code=0, env=None):
    result = subprocess.run(command(*args), capture_output=True, text=True, env={**os.environ, **(env or {})})
    assert result.returncode == code, result.stderr
    return result


def refused(*args, code=BAD):
    """The one line that it says."""
    result = train(*args, code=code)
    assert result.stdout == "" and result.stderr.count("\n") == 1, result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def undisturbed(data, tmp_path_factory):
    """What a run prints that nobody disturbs."""
    return train(data, tmp_path_factory.mktemp("whole") / "net", "--threads", 1, *OPTIONS).stdout


def told(output):
    """[(epoch, step, loss), ...]"""
    return [(int(e), int(s), float(loss)) for e, s, loss in LINE.findall(output)]


def weights(output):
    return re.search(r"^(\d+) steps, weights ([0-9a-f]{16})$", output, flags=re.M).groups()


def saved_step():
    """As examples/train.c lays out its checkpoint."""
    return struct.unpack("<8sIIQ", Path("net").read_bytes()[:24])[3] if Path("net").exists() else 0


# ---- learning


def test_the_loss_falls(undisturbed):
    losses = [loss for _, _, loss in told(undisturbed)]
    assert losses[-1] < losses[0] / 2
    assert [step for _, step, _ in told(undisturbed)] == list(range(EVERY, STEPS + 1, EVERY))
    assert weights(undisturbed)[0] == str(STEPS)


def test_threads_change_nothing(data, undisturbed):
    assert train(data, "net", "--threads", 3, *OPTIONS).stdout == undisturbed


def test_another_seed_gives_other_weights(data, undisturbed):
    assert weights(train(data, "net", "--seed", 1, *OPTIONS).stdout) != weights(undisturbed)


def test_a_damaged_image_is_left_out_and_told(tmp_path):
    broken = tmp_path / "images/cat/000006.jpg"
    make_set(tmp_path, 30)
    write(broken, broken.read_bytes()[:3000])
    shardtool("pack", "-q", "-f", "images", "out-<0..2>.tar", "--label-from", "dir")
    result = train("out.shards.json", "net", "--epochs", 1, "--batch", 8)
    lines = result.stderr.splitlines()  # it is met again by threads that load the next epoch, which nobody reads
    assert sum(line.startswith("29 samples;") for line in lines) == 1
    assert len(lines) > 1 and sum('"cat/000006"' in line for line in lines) == len(lines) - 1


# ---- going on


def run_killed(data, lines, threads):
    """Run, and kill after so many lines of output: the last step told, None where there were no more."""
    with subprocess.Popen(command(data, "net", *OPTIONS, "--threads", threads), stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, text=True) as process:
        read = [process.stdout.readline() for _ in range(lines)]
        process.kill()
        process.stdout.read()
    assert process.returncode in (0, -signal.SIGKILL)
    steps = [step for _, step, _ in told("".join(read))]
    return steps[-1] if process.returncode != 0 and len(steps) == lines else None


@pytest.mark.parametrize("lines", [1, 2, 3, 5, 8])
def test_killed_again_and_again_it_ends_with_the_same_weights(data, undisturbed, lines):
    kills = 0
    while (step := run_killed(data, lines, threads=1 + kills % 3)) is not None:
        assert step <= saved_step() <= STEPS  # what was told is not lost
        kills += 1
    assert kills > 0
    assert weights(train(data, "net", *OPTIONS).stdout) == weights(undisturbed)


@pytest.fixture(scope="module")
def shim(tmp_path_factory):
    library = tmp_path_factory.mktemp("shim") / "fault_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, SHIM_SOURCE, "-ldl"], check=True)
    return library


# Before this call, the N-th time; the step of the checkpoint that is then there.
MOMENTS = [("fsync", 1, 0), ("fsync", 2, 3), ("fsync", 6, 15), ("fsync", 22, 63),
           ("rename", 1, 0), ("rename", 8, 21), ("rename", 21, 60), ("rename", 22, 63)]


@pytest.mark.parametrize("call, nth, step", MOMENTS)
def test_killed_in_a_checkpoint_the_one_before_is_whole(data, undisturbed, shim, call, nth, step):
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    path = "net" if call == "rename" else "net.tmp$"
    rules = f"{call}:SIGKILL:path={path}:nth={nth}"
    killed = train(data, "net", *OPTIONS, "--threads", 2, code=-signal.SIGKILL,
                   env={"LD_PRELOAD": str(shim), "SHIM_FAIL": rules, "ASAN_OPTIONS": asan})
    assert saved_step() == step and undisturbed.startswith(killed.stdout)
    resumed = train(data, "net", *OPTIONS, "--threads", 1)
    assert killed.stdout + resumed.stdout == undisturbed


def test_a_full_disk_leaves_the_checkpoint_before(data, undisturbed, shim):
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    failed = train(data, "net", *OPTIONS, code=BAD,
                   env={"LD_PRELOAD": str(shim), "ASAN_OPTIONS": asan,
                        "SHIM_FAIL": "fsync:ENOSPC:path=net.tmp$:nth=4"})
    assert failed.stderr == "train: net.tmp: No space left on device\n"
    assert saved_step() == 3 * EVERY and not Path("net.tmp").exists()
    assert failed.stdout + train(data, "net", *OPTIONS).stdout == undisturbed


def test_what_is_done_is_not_done_again(data, undisturbed):
    train(data, "net", *OPTIONS)
    again = train(data, "net", *OPTIONS).stdout
    assert told(again) == [] and weights(again) == weights(undisturbed)


def test_more_epochs_go_on(data, undisturbed):
    train(data, "net", *OPTIONS, "--epochs", 2)
    assert weights(train(data, "net", *OPTIONS).stdout) == weights(undisturbed)


# ---- what is refused


@pytest.fixture
def begun(data):
    train(data, "net", "--epochs", 1, "--seed", 7)
    return data


def test_a_checkpoint_of_another_set_is_refused(begun, tmp_path):
    other = make_set(tmp_path, 60, "--label-from", "dir")
    assert re.match(r'train: net: "set" differs: .* another set', refused(other, "net"))


def test_a_checkpoint_of_another_seed_is_refused(begun):
    assert refused(begun, "net", "--seed", 8).startswith('train: net: "seed" differs')


def test_a_checkpoint_of_another_net_is_refused(begun):
    assert refused(begun, "net", "--hidden", 5) == \
        "train: net: of a net 16 wide for 6 classes, not 5 wide for 6\n"


@pytest.mark.parametrize("change", [lambda b: b[:-1], lambda b: b + b"\0", lambda b: b[:20], lambda b: b"",
                                    lambda b: b"X" + b[1:]])
def test_a_damaged_checkpoint_is_refused(begun, change):
    write("net", change(Path("net").read_bytes()))
    assert refused(begun, "net").startswith("train: net: ")


def test_a_checkpoint_that_cannot_be_written_is_told(data):
    assert refused(data, "no/such/net", "--every", 1) == \
        "train: no/such/net.tmp: No such file or directory\n"


def test_a_missing_set_is_told():
    assert "none.shards.json" in refused("none.shards.json", "net")


def test_a_set_without_classes_is_told(tmp_path):
    assert "--label-from dir" in refused(make_set(tmp_path, 12), "net")


@pytest.mark.parametrize("args", [[], ["set"], ["set", "net", "--batch"], ["set", "net", "--batch", "0"],
                                  ["set", "net", "--epochs", "2x"], ["set", "net", "--no-such", "1"],
                                  ["set", "net", "--batch", "99999999999"]])
def test_wrong_arguments_are_told(args):
    assert refused(*args, code=USAGE).startswith("usage: train SET CHECKPOINT")
