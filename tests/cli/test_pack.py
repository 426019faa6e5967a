# SPDX-License-Identifier: Apache-2.0
"""pack: from trees to shards, indexes and a manifest."""
import json
import os
import struct
import tarfile
from pathlib import Path

import pytest
import xxhash
import zstandard
from conftest import make_tree, read_files, write


def members(shard):
    """{name: content} in the order of the tar."""
    with tarfile.open(shard) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}


def all_members(pattern):
    found = {}
    for shard in sorted(Path(".").glob(pattern)):
        found.update(members(shard))
    return found


def manifest(path="out.shards.json"):
    return json.loads(Path(path).read_text())


def keys(tool, shardset="out.shards.json"):
    return [line["key"] for line in tool("ls", "--json", shardset).lines]


# ---- what goes where


def test_files_of_a_tree_are_in_the_shards(tool):
    files = make_tree("in", samples=50)
    tool("pack", "in", "out-<00..06>.tar")
    assert all_members("out-*.tar") == files
    assert list(members("out-00.tar"))[:2] == ["class0/s0000.jpg", "class0/s0000.txt"]
    tool("verify", "out.shards.json")


def test_samples_are_spread_evenly_over_just_that_many_shards(tool):
    make_tree("in", samples=50)
    tool("pack", "in", "out-{00..06}.tar")
    assert manifest()["shard_samples"] == [7, 7, 7, 7, 7, 7, 8]
    assert manifest()["names"] == "out-{00..06}.tar"


def test_more_shards_than_samples_leaves_some_empty(tool):
    make_tree("in", samples=2)
    tool("pack", "in", "out-<0..4>.tar")
    assert sorted(manifest()["shard_samples"]) == [0, 0, 0, 1, 1]
    assert tarfile.open("out-0.tar").getnames() == []
    tool("verify", "out.shards.json")


def test_names_expanded_by_the_shell_are_one_pattern(tool):
    make_tree("in")
    tool("pack", "in", "a-<0..3>.tar")
    tool("pack", "in", "b-0.tar", "b-1.tar", "b-2.tar", "b-3.tar")
    assert [p.read_bytes() for p in sorted(Path(".").glob("a-*"))] == [
        p.read_bytes() for p in sorted(Path(".").glob("b-*"))]
    assert Path("b.shards.json").read_text() == Path("a.shards.json").read_text().replace("a-", "b-")


def test_a_single_shard(tool):
    files = make_tree("in")
    tool("pack", "in", "out.tar")
    assert members("out.tar") == files
    assert manifest()["names"] == ["out.tar"]


def test_max_samples_makes_as_many_shards_as_needed(tool):
    make_tree("in", samples=25)
    tool("pack", "in", "out-%06d.tar", "--max-samples", "10")
    assert manifest()["shard_samples"] == [10, 10, 5]
    assert manifest()["names"] == "out-{000000..000002}.tar"


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
def test_max_size_bounds_the_tar_of_a_shard(tool, suffix):
    files = make_tree("in", samples=300, size=20000)
    tool("pack", "in", f"out-%03d.{suffix}", "--max-size", "500KiB")
    sizes = []
    found = 0
    for shard in sorted(Path(".").glob(f"out-*.{suffix}")):
        tool("unpack", shard, "-C", "back")
        tar = tool("pack", "-", "-", stdin=shard.read_bytes()).out_bytes
        sizes.append(len(tar))
    assert max(sizes) <= 500 << 10
    assert min(sizes[:-1]) > 300 << 10
    back = {str(p.relative_to("back")): p.read_bytes() for p in Path("back").rglob("*.*")}
    assert back == files
    tool("verify", "out.shards.json")


def test_a_sample_larger_than_the_limit_has_a_shard_of_its_own(tool):
    for name, size in [("a", 100), ("b", 50000), ("c", 100)]:
        write(f"in/{name}.bin", b"x" * size)
    tool("pack", "in", "out-%d.tar", "--max-size", "10KiB")
    assert manifest()["shard_samples"] == [1, 1, 1]


# ---- the same bytes


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
@pytest.mark.parametrize("limit", [[], ["--max-size", "200KiB"]])
def test_the_number_of_threads_does_not_change_a_byte(tool, suffix, limit):
    make_tree("in", samples=400, size=6000)
    out = "out-%03d." if limit else "out-<0..2>."
    outputs = []
    for jobs in ("1", "2", "7"):
        os.mkdir(jobs)
        tool("pack", "in", f"{jobs}/{out}{suffix}", "-j", jobs, "--shuffle", "5", *limit)
        outputs.append(read_files(jobs))
    assert outputs[0] == outputs[1] == outputs[2]


def test_indexing_anew_gives_the_index_that_pack_wrote(tool):
    make_tree("in", samples=60, components=("jpg", "txt", "json"))
    write("in/class0/s0000.extra", "not every sample has this")
    for suffix in ("tar", "tar.zst", "tar.gz"):
        tool("pack", "in", f"out.{suffix}", "--force")
        packed = Path(f"out.{suffix}.sidx").read_bytes()
        tool("index", f"out.{suffix}")
        assert Path(f"out.{suffix}.sidx").read_bytes() == packed


def test_times_are_those_of_source_date_epoch(tool):
    make_tree("in", samples=1)
    tool("pack", "in", "a.tar")
    tool("pack", "in", "b.tar", env={"SOURCE_DATE_EPOCH": "1700000000"})
    assert {m.mtime for m in tarfile.open("a.tar")} == {0}
    assert {m.mtime for m in tarfile.open("b.tar")} == {1700000000}
    assert "SOURCE_DATE_EPOCH" in tool("pack", "in", "c.tar", code=2,
                                       env={"SOURCE_DATE_EPOCH": "soon"}).err


# ---- samples


def test_labels_are_the_numbers_of_sorted_folders(tool):
    for folder in ("dog", "cat", "cat-big", "Ant"):
        write(f"in/{folder}/deep/1.jpg", folder)
    tool("pack", "in", "out.tar", "--label-from", "dir")
    assert manifest()["classes"] == ["Ant", "cat", "cat-big", "dog"]
    found = members("out.tar")
    assert found["dog/deep/1.cls"] == b"3"
    assert found["cat/deep/1.cls"] == b"1"
    assert found["cat-big/deep/1.cls"] == b"2"


def test_a_file_without_a_class_folder_has_no_label(tool):
    write("in/1.jpg", "x")
    assert "in/1.jpg" in tool("pack", "in", "out.tar", "--label-from", "dir", code=1).err


def test_a_label_beside_a_cls_file_is_an_error(tool):
    write("in/dog/1.jpg", "x")
    write("in/dog/1.cls", "7")
    assert '"cls"' in tool("pack", "in", "out.tar", "--label-from", "dir", code=1).err


def test_samples_without_a_required_component(tool):
    files = make_tree("in", samples=10)
    os.remove("in/class1/s0004.txt")
    failed = tool("pack", "in", "out.tar", "--require", "jpg,txt", code=1)
    assert "in/class1/s0004.jpg" in failed.err and '"txt"' in failed.err
    result = tool("pack", "in", "out.tar", "--require", "jpg,txt", "--missing", "skip")
    assert "left out 1" in result.err
    assert manifest()["samples"] == 9
    assert manifest()["skipped"] == [{"name": "class1/s0004", "reason": 'no component "txt"'}]
    assert len(members("out.tar")) == len(files) - 2


def test_shuffle_is_a_permutation_that_the_seed_decides(tool):
    make_tree("in", samples=100)
    tool("pack", "in", "out.tar")
    tool("pack", "in", "one.tar", "--shuffle", "1")
    tool("pack", "in", "again.tar", "--shuffle", "1")
    tool("pack", "in", "two.tar", "--shuffle", "2")
    ordered, one, two = (keys(tool, f"{n}.shards.json") for n in ("out", "one", "two"))
    assert ordered == sorted(ordered) and sorted(one) == sorted(two) == ordered
    assert len({tuple(ordered), tuple(one), tuple(two)}) == 3
    assert Path("one.tar").read_bytes() == Path("again.tar").read_bytes()


def fisher_yates(items, seed):
    """The shuffle as docs/cli.md describes it."""
    for i in range(len(items), 1, -1):
        j = xxhash.xxh3_64_intdigest(struct.pack("<QQ", seed, i)) * i >> 64
        items[i - 1], items[j] = items[j], items[i - 1]
    return items


def test_the_order_of_a_shuffle_is_frozen(tool):
    names = [f"{i:02d}" for i in range(12)]
    for name in names:
        write(f"in/{name}.txt", "x")
    tool("pack", "in", "out.tar", "--shuffle", "42")
    assert keys(tool) == ["08", "09", "03", "02", "00", "07", "04", "06", "01", "05", "10", "11"]
    tool("pack", "in", "out.tar", "--shuffle", "18446744073709551615", "-f")
    assert keys(tool) == fisher_yates(names, 2**64 - 1)


def test_clustered_labels_are_told_and_mixed_ones_are_not(tool):
    for i in range(200):
        write(f"in/class{i // 50}/{i}.jpg", "x")
    assert "--shuffle SEED" in tool("pack", "in", "a-<0..3>.tar", "--label-from", "dir").err
    assert "--shuffle" not in tool("pack", "in", "b-<0..3>.tar", "--label-from", "dir",
                                   "--shuffle", "1").err
    assert tool("pack", "in", "c.tar", "--json").json["labels_clustered"]


def test_images_and_labels_may_stand_in_two_trees(tool):
    write("images/a/1.jpg", "picture")
    write("texts/a/1.txt", "caption")
    tool("pack", "images", "texts", "out.tar")
    assert members("out.tar") == {"a/1.jpg": b"picture", "a/1.txt": b"caption"}
    assert manifest()["samples"] == 1


# ---- names


def test_dots_in_keys_become_underscores(tool):
    write("in/v1.2/a.jpg", "x")
    write("in/v1.2/a.seg.png", "y")
    result = tool("pack", "in", "out.tar")
    assert "in 1 key," in result.err
    assert list(members("out.tar")) == ["v1_2/a.jpg", "v1_2/a.seg.png"]


def test_keys_that_become_one_are_an_error_that_names_both(tool):
    write("in/v1.2/a.jpg", "x")
    write("in/v1_2/a.jpg", "y")
    err = tool("pack", "in", "out.tar", code=1).err
    assert "in/v1.2/a.jpg" in err and "in/v1_2/a.jpg" in err


def test_components_are_lower_case_and_may_be_renamed(tool):
    write("in/a.JPEG", "x")
    write("in/b.jpg", "y")
    tool("pack", "in", "out.tar", "--map", "jpeg=jpg")
    assert list(members("out.tar")) == ["a.jpg", "b.jpg"]


def test_one_component_twice_is_an_error(tool):
    write("in/a.jpg", "x")
    write("in/a.JPG", "y")
    assert '"jpg"' in tool("pack", "in", "out.tar", code=1).err


def test_keys_can_end_at_the_last_dot(tool):
    write("in/IMG_1.2.jpg", "x")
    write("in/IMG_1.2.txt", "y")
    tool("pack", "in", "out.tar", "--split", "last")
    assert list(members("out.tar")) == ["IMG_1_2.jpg", "IMG_1_2.txt"]


def test_what_is_no_sample_is_counted_not_packed(tool):
    make_tree("in", samples=3)
    for name in ("README", ".DS_Store", "__pycache__/x.pyc", "class0/.hidden.txt"):
        write(f"in/{name}", "x")
    os.mkfifo("in/pipe.jpg")
    ignored = tool("pack", "in", "out.tar", "--json").json["ignored"]
    assert ignored == {"no_extension": 1, "hidden": 2, "reserved": 1, "special": 1}


def test_long_and_foreign_names_are_kept(tool):
    files = {f"{'d' * 60}/{'n' * 80}.jpg": b"1", f"{'d' * 120}/{'n' * 120}.jpg": b"2",
             "caf\u00e9/\u732b.jpg": b"3", "with space/a b.jpg": b"4"}
    for name, content in files.items():
        write(f"in/{name}", content)
    tool("pack", "in", "out.tar")
    assert members("out.tar") == files
    tool("verify", "out.shards.json")


def test_a_name_of_any_bytes_is_kept(tool):
    os.mkdir(b"in")
    Path(os.fsdecode(b"in/caf\xe9.jpg")).write_bytes(b"x")
    tool("pack", "in", "out.tar")
    assert tarfile.open("out.tar", errors="surrogateescape").getnames() == [os.fsdecode(b"caf\xe9.jpg")]
    tool("verify", "out.shards.json")


# ---- links


def test_links_are_followed_skipped_or_refused(tool):
    write("elsewhere/1.jpg", "x")
    os.mkdir("in")
    os.symlink("../elsewhere/1.jpg", "in/file.jpg")
    os.symlink("../elsewhere", "in/folder")
    write("in/own.jpg", "y")
    tool("pack", "in", "a.tar")
    assert list(members("a.tar")) == ["file.jpg", "folder/1.jpg", "own.jpg"]
    tool("pack", "in", "b.tar", "--links", "skip")
    assert list(members("b.tar")) == ["own.jpg"]
    assert "in/f" in tool("pack", "in", "c.tar", "--links", "error", code=3).err


def test_a_link_to_a_folder_above_is_an_error_not_a_loop(tool):
    write("in/a/1.jpg", "x")
    os.symlink("..", "in/a/up")
    assert "in/a/up" in tool("pack", "in", "out.tar", code=3).err


def test_a_dangling_link_is_an_error_or_left_out(tool):
    make_tree("in", samples=2)
    os.symlink("nowhere", "in/class0/broken.jpg")
    assert "in/class0/broken.jpg" in tool("pack", "in", "out.tar", code=3).err
    tool("pack", "in", "out.tar", "--on-error", "skip")
    assert [s["name"] for s in manifest()["skipped"]] == ["in/class0/broken.jpg"]
    assert manifest()["samples"] == 2


# ---- archives as streams


def make_archive(samples, size=3000):
    files = make_tree("in", samples=samples, size=size)
    with tarfile.open("in.tar", "w") as tar:
        for name in sorted(files):
            tar.add(f"in/{name}", name)
    return files


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
def test_an_archive_is_spread_as_its_tree_would_be(tool, suffix):
    make_archive(300, size=1000)
    for jobs in ("1", "4"):
        tool("pack", "in.tar", f"{jobs}-<0..4>.{suffix}", "-j", jobs)
    tool("pack", "in", f"tree-<0..4>.{suffix}")
    shards = [[p.read_bytes() for p in sorted(Path(".").glob(f"{n}-*"))] for n in ("1", "4")]
    assert shards[0] == shards[1] and len(shards[0]) == 10
    for name in ("1", "tree"):
        assert manifest(f"{name}.shards.json")["shard_samples"] == [60] * 5
        assert len(keys(tool, f"{name}.shards.json")) == 300
    assert keys(tool, "1.shards.json") == keys(tool, "tree.shards.json")
    tool("verify", "4.shards.json")


def test_an_archive_of_few_samples_leaves_some_shards_empty(tool):
    make_archive(2)
    tool("pack", "in.tar", "out-<0..4>.tar")
    assert sorted(manifest()["shard_samples"]) == [0, 0, 0, 1, 1]
    assert len(all_members("out-*.tar")) == 4
    assert json.loads(tool("pack", "in.tar", "x-<0..4>.tar", "-n", "--json").out.splitlines()[2]) == {
        "shard": "x-2.tar", "samples": 1}


@pytest.mark.parametrize("suffix", ["tar", "tar.zst"])
def test_an_archive_in_shards_of_so_many_samples(tool, suffix):
    make_archive(45, size=300)
    tool("pack", "in.tar", f"out-%d.{suffix}", "--max-samples", "10")
    assert manifest()["shard_samples"] == [10, 10, 10, 10, 5]


def test_small_limits_hold_for_compressed_shards_too(tool):
    make_tree("in", samples=100, components=("txt",), size=2000)
    tool("pack", "in", "out-%03d.tar.zst", "--max-size", "20KiB")
    for shard in Path(".").glob("out-*.tar.zst"):
        assert len(zstandard.ZstdDecompressor().stream_reader(open(shard, "rb")).read()) <= 20 << 10
    tool("pack", "in", "few-%03d.tar.zst", "--max-size", "1MiB", "--max-samples", "7")
    assert max(manifest("few.shards.json")["shard_samples"]) == 7


def test_an_archive_is_not_packed_in_parts(tool):
    make_archive(3)
    assert "unpack it" in tool("pack", "in.tar", "out-<0..1>.tar", "--part", "1/2", code=2).err
    assert "unpack it" in tool("pack", "in.tar", "out.tar", "--shuffle", "1", code=2).err


# ---- going on


def test_resuming_what_is_complete_does_nothing(tool):
    make_tree("in", samples=10)
    tool("pack", "in", "out-<0..1>.tar", "--resume")
    before = {n: os.stat(n).st_ino for n in os.listdir(".")}
    summary = tool("pack", "in", "out-<0..1>.tar", "--resume", "--json").json
    assert summary["resumed_shards"] == summary["shards"] == 2 and summary["samples"] == 10
    assert {n: os.stat(n).st_ino for n in os.listdir(".")} == before


@pytest.mark.parametrize("other", [
    ["in", "out-<0..1>.tar", "--shuffle", "1"],
    ["in", "out-<0..2>.tar"],
    ["in/class0", "out-<0..1>.tar"],
    ["in", "x-<0..1>.tar", "--manifest", "out.shards.json"],
])
def test_resuming_another_set_is_refused(tool, other):
    make_tree("in", samples=10)
    tool("pack", "in", "out-<0..1>.tar")
    before = read_files(".")
    manifest_of_it = ["--manifest", "out.shards.json"] if "--manifest" not in other else []
    assert "cannot resume" in tool("pack", *other, *manifest_of_it, "--resume", code=3).err
    assert read_files(".") == before


def test_resuming_nothing_does_not_replace_the_shards_of_others(tool):
    make_tree("in", samples=10)
    write("out-1.tar", "precious")
    assert "out-1.tar: exists" in tool("pack", "in", "out-<0..1>.tar", "--resume", code=3).err
    assert read_files(".", "*.tar") == {"out-1.tar": b"precious"}


# ---- lists of files


def test_lists_of_files_in_every_form(tool):
    files = make_tree("in", samples=6)
    names = "\n".join(files)
    write("list", names + "\n")
    write("crlf", names.replace("\n", "\r\n"))
    write("list0", names.replace("\n", "\0") + "\0")
    write("dots", "\n".join(f"./{n}" for n in files))
    for i, args in enumerate([["--files-from", "list"], ["--files-from", "crlf"],
                              ["-0", "--files-from", "list0"], ["--files-from", "dots"]]):
        tool("pack", "-C", "in", *args, f"{i}.tar")
        assert members(f"{i}.tar") == files
    tool("pack", "-C", "in", "--files-from", "-", "stdin.tar", stdin=names.encode())
    assert members("stdin.tar") == files


def test_files_can_be_named_one_by_one(tool):
    write("d/a.jpg", "x")
    write("d/a.txt", "y")
    tool("pack", "./d/a.jpg", "d/a.txt", "out.tar")
    assert list(members("out.tar")) == ["d/a.jpg", "d/a.txt"]


def test_a_listed_path_must_stay_below_its_folder(tool):
    write("list", "../secret.txt\n")
    assert '".."' in tool("pack", "--files-from", "list", "out.tar", code=1).err


def test_a_listed_file_that_is_not_there_is_named(tool):
    write("list", "a.txt\n")
    assert "a.txt" in tool("pack", "--files-from", "list", "out.tar", code=3).err
    assert read_files(".") == {"list": b"a.txt\n"}


# ---- outputs


def test_standard_output_gets_a_tar(tool):
    files = make_tree("in")
    write("x.tar", tool("pack", "in", "-").out_bytes)
    assert members("x.tar") == files
    zst = tool("pack", "in", "-", "--compress", "zst").out_bytes
    write("x.tar.zst", zst)
    tool("verify", "x.tar.zst")
    assert not list(Path(".").glob("*.json")) and not list(Path(".").glob(".*"))


def test_outputs_that_exist_are_not_replaced(tool):
    make_tree("in")
    write("out-1.tar", "precious")
    assert "out-1.tar" in tool("pack", "in", "out-<0..2>.tar", code=3).err
    assert read_files(".", "out*") == {"out-1.tar": b"precious"}
    tool("pack", "in", "out-<0..2>.tar", "--force")
    assert "out.shards.json" in tool("pack", "in", "out-<0..2>.tar", code=3).err


def test_an_existing_shard_behind_a_counter_is_not_replaced(tool):
    make_tree("in", samples=30)
    write("out-2.tar", "precious")
    assert "out-2.tar" in tool("pack", "in", "out-%d.tar", "--max-size", "10KiB", code=3).err
    assert Path("out-2.tar").read_bytes() == b"precious"


def test_a_dry_run_touches_nothing(tool):
    make_tree("in", samples=10)
    before = set(os.listdir("."))
    result = tool("pack", "in", "out-<0..3>.tar", "--dry-run")
    assert result.out.splitlines() == ["out-0.tar  2 samples", "out-1.tar  3 samples",
                                       "out-2.tar  2 samples", "out-3.tar  3 samples"]
    lines = tool("pack", "in", "out-<0..3>.tar", "-n", "--json").lines
    assert lines[0] == {"shard": "out-0.tar", "samples": 2}
    assert lines[-1]["samples"] == 10 and lines[-1]["dry_run"]
    assert set(os.listdir(".")) == before


def test_the_summary_as_json(tool):
    files = make_tree("in", samples=10)
    result = tool("pack", "in", "out-<0..1>.tar", "--json")
    summary = result.json
    assert result.err == ""
    assert summary["samples"] == 10 and summary["shards"] == 2 and summary["skipped"] == 0
    assert summary["bytes_in"] == sum(map(len, files.values()))
    assert summary["bytes_out"] == sum(p.stat().st_size for p in Path(".").glob("out-*.tar"))
    assert summary["seconds"] > 0 and summary["manifest"] == "out.shards.json"


def test_quiet_says_nothing(tool):
    make_tree("in")
    result = tool("pack", "in", "out.tar", "-q")
    assert result.out == "" and result.err == ""


@pytest.mark.parametrize("args, why", [
    (["in"], "SRC"),
    ([], "missing"),
    (["in", "out.txt"], ".tar"),
    (["in", "out-%06d.tar"], "--max-size"),
    (["in", "out-<0..1>.tar", "--max-size", "1M"], "counter"),
    (["in", "out.tar", "--quality", "80"], "--resize-shorter"),
    (["in", "out.tar", "--level", "30"], "level"),
    (["in", "out.tar.gz", "--level", "12"], "gzip"),
    (["in", "out.tar", "--part", "3/2"], "part"),
    (["in", "out.tar", "--max-size", "12parsecs"], "size"),
    (["in", "out.tar", "--shuffle", "x"], "whole number"),
    (["in", "out.tar", "--missing", "ignore"], "error|skip"),
    (["in", "out.tar", "--map", "jpeg"], "FROM=TO"),
    (["in", "a/out-0.tar", "b/x.tar"], "archives"),
    (["in", "out.tar", "--resume", "--force"], "not both"),
    (["in", "--files-from", "list", "out.tar"], "SRC"),
])
def test_wrong_command_lines(tool, args, why):
    write("in/a.txt", "x")
    write("list", "in/a.txt")
    before = set(os.listdir("."))
    result = tool("pack", *args, code=None)
    assert result.code in (2, 3), result.err
    assert result.code == 2 or "a/out-0.tar" in result.err
    assert why in result.err or result.code == 3
    assert set(os.listdir(".")) == before


def test_nothing_to_pack_is_an_error(tool):
    os.mkdir("in")
    write("in/README", "x")
    assert "no samples" in tool("pack", "in", "out.tar", code=1).err
    assert "nowhere" in tool("pack", "nowhere", "out.tar", code=3).err


def test_large_samples_are_streamed(tool):
    rng_bytes = os.urandom(1 << 20)
    write("in/a.bin", rng_bytes * 20)
    write("in/a.txt", "beside it")
    write("in/b.bin", rng_bytes[:1000])
    for suffix in ("tar", "tar.zst", "tar.gz"):
        tool("pack", "in", f"out.{suffix}", "-f")
        tool("verify", f"out.{suffix}")
        got = tool("cat", "out.shards.json", "a", "bin").out_bytes
        assert got == rng_bytes * 20
        packed = Path(f"out.{suffix}.sidx").read_bytes()
        tool("index", f"out.{suffix}")
        assert Path(f"out.{suffix}.sidx").read_bytes() == packed
