# SPDX-License-Identifier: Apache-2.0
"""Sets packed in parts, by hand and by launchers, and merged into what one run writes."""
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from conftest import SHARDTOOL, make_tree, read_files, shardtool, write

GUIDES = Path(__file__).parents[2] / "docs/guides"
LAUNCHERS = re.compile(r"(SLURM|OMPI|PMI|PMIX)_|(JOB_COMPLETION_INDEX|RANK|WORLD_SIZE)$")


@pytest.fixture(autouse=True)
def no_launcher(monkeypatch):
    """The tests themselves may run in a job."""
    for name in filter(LAUNCHERS.match, list(os.environ)):
        monkeypatch.delenv(name)


def pack_parts(count, out, *options):
    """Pack src in parts, last one first; returns their manifests."""
    for part in range(count, 0, -1):
        shardtool("pack", "-q", *options, "--part", f"{part}/{count}", "src", out)
    manifests = sorted(Path(out).parent.glob("*.part-*.shards.json"))
    assert len(manifests) == count
    return manifests


def read_set(folder):
    """{name: bytes} of a set, without the manifests of parts."""
    return {k: v for k, v in read_files(folder).items() if ".part-" not in k}


def check_parts(count, out, *options):
    """Pack in parts below parts/ and at once below one/, and compare all bytes."""
    os.makedirs("parts")
    os.makedirs("one")
    manifests = pack_parts(count, f"parts/{out}", *options)
    shardtool("merge", "-q", "parts/out.shards.json", *reversed(manifests))
    shardtool("pack", "-q", *options, "src", f"one/{out}")
    one = read_set("one")
    assert "out.shards.json" in one and len(one) > 2
    assert read_set("parts") == one


def block(guide, language):
    """The first block of code in a guide."""
    return re.search(rf"^```{language}\n(.*?)^```$", (GUIDES / guide).read_text(), re.M | re.S)[1]


# ---- parts by number


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("out, options", [
    ("out-{0..6}.tar", ()),
    ("out-{0..6}.tar", ("--shuffle", 7)),
    ("out-{0..6}.tar", ("--label-from", "dir")),
    ("out-{0..6}.tar.zst", ("--label-from", "dir", "--shuffle", 7)),
    ("out-%06d.tar", ("--max-samples", 4)),
], ids=["plain", "shuffled", "labelled", "zst", "counter"])
def test_merged_parts_are_byte_for_byte_what_one_run_writes(tool, count, out, options):
    make_tree("src", samples=26)
    check_parts(count, out, *options)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_merged_parts_list_what_was_left_out_as_one_run_does(tool, count):
    make_tree("src", samples=12)
    for i in (0, 5, 9):
        write(f"src/class1/lone{i}.txt", "no image")
    check_parts(count, "out-{0..3}.tar", "--require", "jpg", "--missing", "skip")


@pytest.mark.parametrize("options", [(), ("--shuffle", 3, "--label-from", "dir")])
def test_with_more_parts_than_shards_some_are_empty(tool, options):
    make_tree("src")
    check_parts(5, "out-{0..1}.tar", *options)
    parts = [tool("info", "--json", f"parts/out.part-{i:05}-of-00005.shards.json").json
             for i in range(1, 6)]
    assert sorted(part["shards"] for part in parts) == [0, 0, 0, 1, 1]


def test_a_sample_can_be_shuffled_into_any_part(tool):
    make_tree("src", samples=60)
    first, second = pack_parts(2, "out-{0..1}.tar", "--shuffle", 1)
    for part in (first, second):
        assert {line["key"][:6] for line in tool("ls", "--json", part).lines} == \
            {"class0", "class1", "class2"}


def test_a_part_that_is_done_is_left_alone_by_resume(tool):
    make_tree("src")
    part = ("pack", "-q", "--part", "2/3", "src", "out-{0..5}.tar")
    tool(*part)
    before = {path: path.stat() for path in Path().iterdir()}
    tool(*part, "--resume")
    assert {path: path.stat() for path in Path().iterdir()} == before
    assert "--resume" in tool(*part, code=3).err


def test_parts_need_a_known_number_of_shards(tool):
    make_tree("src", samples=2)
    result = tool("pack", "--part", "1/2", "--max-size", "1MiB", "src", "out-%06d.tar", code=2)
    assert "--max-samples" in result.err
    assert os.listdir() == ["src"]


@pytest.mark.parametrize("part", ["0/2", "3/2", "2", "1/", "/2", "-1/2", "1/2x", "1/0", "any/2"])
def test_what_is_no_part_is_refused(tool, part):
    make_tree("src", samples=2)
    assert f"--part {part}" in tool("pack", f"--part={part}", "src", "out-{0..1}.tar", code=2).err
    assert os.listdir() == ["src"]


# ---- parts by launcher


def array(task, count, first=0, step=1):
    """The variables of a task of a Slurm job array, and those that its batch script has."""
    return {"SLURM_ARRAY_TASK_ID": task, "SLURM_ARRAY_TASK_COUNT": count,
            "SLURM_ARRAY_TASK_MIN": first, "SLURM_ARRAY_TASK_MAX": first + (count - 1) * step,
            "SLURM_ARRAY_TASK_STEP": step, "SLURM_PROCID": 0, "SLURM_NTASKS": 1}


def index(task):
    return {"JOB_COMPLETION_INDEX": task}


def open_mpi(rank, size):
    return {"OMPI_COMM_WORLD_RANK": rank, "OMPI_COMM_WORLD_SIZE": size}


def mpich(rank, size):
    return {"PMI_RANK": rank, "PMI_SIZE": size}


def torchrun(rank, size):
    return {"RANK": rank, "WORLD_SIZE": size}


def srun(rank, size):
    return {"SLURM_PROCID": rank, "SLURM_NTASKS": size}


def plan(part, env=None, code=0):
    env = {name: str(value) for name, value in (env or {}).items()}
    return shardtool("pack", "--dry-run", "--part", part, "src", "out-{00..11}.tar", env=env,
                     code=code)


@pytest.mark.parametrize("env, part", [
    (array(0, 4), "1/4"),
    (array(3, 4), "4/4"),
    (array(1, 3, first=1), "1/3"),
    (array(3, 3, first=1), "3/3"),
    (array(8, 4, step=4), "3/4"),
    (array(9, 3, first=1, step=4), "3/3"),
    (open_mpi(0, 2), "1/2"),
    (open_mpi(2, 3), "3/3"),
    (mpich(0, 3), "1/3"),
    (mpich(1, 3), "2/3"),
    (torchrun(2, 6), "3/6"),
    (srun(1, 4), "2/4"),
    ({**open_mpi(2, 3), **srun(0, 1)}, "3/3"),
    ({**mpich(1, 3), **srun(1, 3)}, "2/3"),
])
def test_auto_is_the_part_that_the_launcher_says(tool, env, part):
    make_tree("src", samples=24)
    assert plan("auto", env).out == plan(part).out


@pytest.mark.parametrize("env, part", [
    (index(0), "1/4"),
    (index(3), "4/4"),
    (array(2, 3, first=1), "2/3"),
    (mpich(1, 2), "2/6"),
    ({"RANK": 2}, "3/4"),
])
def test_auto_with_a_count_takes_only_the_index_from_the_launcher(tool, env, part):
    make_tree("src", samples=24)
    assert plan("auto/" + part.split("/")[1], env).out == plan(part).out


@pytest.mark.parametrize("part, env, message", [
    ("auto", {}, "no task number"),
    ("auto/4", {}, "no task number"),
    ("auto", index(0), "auto/N"),
    ("auto", {"RANK": 0}, "auto/N"),
    ("auto", {"SLURM_PROCID": 0}, "auto/N"),
    ("auto/4", index(4), "not below"),
    ("auto", open_mpi(3, 3), "not below"),
    ("auto", array(7, 3, first=1), "not below"),
    ("auto", array(0, 3, first=1), "not below"),
    ("auto", array(5, 3, first=0, step=4), "not one"),
    ("auto", array(5, 1, first=5), "--part I/N"),
    ("auto/8", array(5, 1, first=5), "--part I/N"),
    ("auto/0", open_mpi(0, 3), "not a part"),
    ("auto", torchrun("one", 3), "not one"),
    ("auto", torchrun(-1, 3), "not one"),
    ("auto/4x", index(0), "not a part"),
])
def test_auto_without_a_part_is_an_error(tool, part, env, message):
    make_tree("src", samples=2)
    assert message in plan(part, env, code=2).err


def test_tasks_of_a_kubernetes_job_pack_a_set(tool):
    make_tree("src")
    for task in range(3):
        tool("pack", "-q", "--part", "auto/3", "src", "out-{0..5}.tar",
             env={"JOB_COMPLETION_INDEX": str(task)})
    tool("merge", "-q", "out.shards.json", *Path().glob("out.part-*.shards.json"))
    os.mkdir("one")
    tool("pack", "-q", "src", "one/out-{0..5}.tar")
    assert read_set(".") == read_set("one")


def has_open_mpi():
    if not shutil.which("mpirun"):
        return False
    return b"Open MPI" in subprocess.run(["mpirun", "--version"], capture_output=True).stdout


@pytest.mark.skipif(not has_open_mpi(), reason="no mpirun of Open MPI (Debian: openmpi-bin)")
def test_the_commands_of_the_mpi_guide_work(tool, tmp_path, monkeypatch):
    make_tree("images")
    os.makedirs("bin")
    os.symlink(os.path.abspath(SHARDTOOL), "bin/shardtool")
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    commands = block("mpi.md", "sh")
    assert "mpirun -n 4 shardtool pack --part auto" in commands
    commands = commands.replace("mpirun", "mpirun --allow-run-as-root --oversubscribe")
    subprocess.run(["bash", "-ec", commands], check=True, timeout=60)
    assert len(read_files("shards", "*.part-*-of-00004.shards.json")) == 4

    os.mkdir("one")
    tool("pack", "-q", "--label-from", "dir", "--shuffle", 1, "images", "one/train-{000..127}.tar")
    assert read_set("shards") == read_set("one")


def test_the_program_of_the_ray_guide_compiles():
    compile(block("ray.md", "python"), "ray.md", "exec")


# ---- merge


def check_refused(culprit, *parts):
    """`merge` exits with 1, names the culprit, and leaves the folder as it was."""
    before = read_files(".")
    result = shardtool("merge", "out.shards.json", *parts, code=1)
    assert str(culprit) in result.err
    assert read_files(".") == before


def test_merge_refuses_when_a_part_is_missing(tool):
    make_tree("src")
    first, _, third = pack_parts(3, "out-{0..5}.tar")
    check_refused(first, first, third)


def test_merge_refuses_a_part_given_twice(tool):
    make_tree("src")
    first, _, third = pack_parts(3, "out-{0..5}.tar")
    check_refused(third, first, third, third)


def test_merge_refuses_parts_of_a_set_with_other_classes(tool):
    make_tree("src")
    first, _ = pack_parts(2, "out-{0..5}.tar", "--label-from", "dir")
    make_tree("other/class9")
    tool("pack", "-q", "--label-from", "dir", "--part", "2/2", "other", "else-{0..5}.tar")
    second = "else.part-00002-of-00002.shards.json"
    check_refused(second, first, second)


def test_merge_refuses_what_is_no_part(tool):
    make_tree("src")
    tool("pack", "-q", "src", "whole-{0..5}.tar")
    check_refused("whole.shards.json", "whole.shards.json")


def test_merge_refuses_parts_that_were_packed_otherwise(tool):
    make_tree("src")
    first, _ = pack_parts(2, "out-{0..5}.tar", "--shuffle", 1)
    tool("pack", "-q", "--shuffle", 2, "--part", "2/2", "src", "else-{0..5}.tar")
    second = "else.part-00002-of-00002.shards.json"
    check_refused(second, first, second)


def test_merge_refuses_parts_that_stand_in_another_folder(tool):
    make_tree("src")
    os.makedirs("deep")
    parts = pack_parts(2, "deep/out-{0..5}.tar")
    assert str(parts[0]) in tool("merge", "out.shards.json", *parts, code=2).err
    assert set(os.listdir()) == {"src", "deep"}
    tool("merge", "-q", "./deep/out.shards.json", *(p.resolve() for p in parts))
    tool("verify", "deep/out.shards.json")


def test_merge_replaces_a_manifest_only_when_forced(tool):
    make_tree("src")
    parts = pack_parts(2, "out-{0..5}.tar")
    write("out.shards.json", "{}")
    assert "out.shards.json" in tool("merge", "out.shards.json", *parts, code=3).err
    assert Path("out.shards.json").read_text() == "{}"
    tool("merge", "-q", "--force", "out.shards.json", *parts)
    assert tool("info", "--json", "out.shards.json").json["samples"] == 20
