# SPDX-License-Identifier: Apache-2.0
"""Shards that we wrote, read by the tools of others: the same files, and not a word on standard error."""
import gzip
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tarfile
import warnings
from pathlib import Path

import pytest
import zstandard
from conftest import make_tree, shardtool, write

SUFFIXES = ["tar", "tar.zst", "tar.gz"]
# webdataset leaves files for the garbage collector to close: that is no word about our shards.
UTF8 = {**os.environ, "LC_ALL": "C.UTF-8", "PYTHONWARNINGS": "error,ignore::ResourceWarning"}

# A program for the webdataset of the tests' Python: what it reads from a pattern, as JSON lines.
READER = """
import hashlib, json, sys
import webdataset as wds
digest = lambda value: hashlib.sha256(value).hexdigest() if isinstance(value, bytes) else value
dataset = wds.WebDataset(sys.argv[1], shardshuffle=False)
if sys.argv[2:]:
    dataset = dataset.to_tuple("__key__", *sys.argv[2:])
for sample in dataset:
    if isinstance(sample, dict):
        sample = {name: value for name, value in sample.items() if name not in ("__url__", "__local_path__")}
        print(json.dumps({name: digest(value) for name, value in sample.items()}))
    else:
        print(json.dumps([digest(value) for value in sample]))
"""


def digest(content):
    return hashlib.sha256(content).hexdigest()


def by_key(files):
    """{key: {component: content}} of a tree whose folders have no dots in their names."""
    samples = {}
    for name, content in files.items():
        key, component = name.split(".", 1)
        samples.setdefault(key, {})[component] = content
    return samples


@pytest.fixture(scope="module")
def packed(tmp_path_factory):
    """A folder of sets in every form, and what is in them: all of `in`, and `few` with empty shards."""
    folder = tmp_path_factory.mktemp("peers")
    files = make_tree(folder / "in", samples=24)
    big = random.Random(2).randbytes(1 << 20)
    for key, content in {f"{'d' * 60}/{'n' * 80}": b"a prefix", f"{'d' * 120}/{'n' * 120}": b"a long name",
                         "caf\u00e9/\u732b": "\u732b".encode(), "empty/nothing": b"",
                         "big/nine": big * 9 + b"."}.items():
        files[f"{key}.txt"] = content
        files[f"{key}.jpg"] = b"beside it"
        write(folder / f"in/{key}.txt", content)
        write(folder / f"in/{key}.jpg", b"beside it")
    few = make_tree(folder / "few", samples=2)
    for suffix in SUFFIXES:
        shardtool("pack", "in", f"out-<00..03>.{suffix}", "--manifest", f"{suffix}.json", cwd=folder)
        shardtool("pack", "few", f"few-<0..4>.{suffix}", "--manifest", f"few-{suffix}.json", cwd=folder)
    return folder, files, few


def quiet(*command, **options):
    """Run a tool that must succeed and say nothing on standard error; what it printed."""
    result = subprocess.run([str(word) for word in command], capture_output=True, env=UTF8, timeout=120,
                            stdin=subprocess.DEVNULL, **options)
    assert (result.returncode, result.stderr) == (0, b""), (command, result.stderr)
    return result.stdout


def tree(folder):
    return {str(p.relative_to(folder)): p.read_bytes() for p in Path(folder).rglob("*") if p.is_file()}


def tar_bytes(shard):
    """The tar in a shard, by the Python libraries of others."""
    stored = Path(shard).read_bytes()
    if shard.name.endswith("zst"):
        return zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True).read()
    return gzip.decompress(stored) if shard.name.endswith("gz") else stored


# ---- tars


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("command", [["tar", "--warning=all"], ["bsdtar"]], ids=["gnu", "bsdtar"])
def test_tars_list_and_unpack_every_shard(packed, tmp_path, command, suffix):
    folder, files, few = packed
    for name, expected, shards in (("out", files, 4), ("few", few, 5)):
        found = sorted(folder.glob(f"{name}-*.{suffix}"))
        assert len(found) == shards
        target = tmp_path / name
        target.mkdir()
        listed = 0
        for shard in found:
            listed += len(quiet(*command, "-tvf", shard).splitlines())
            quiet(*command, "-xf", shard, cwd=target)
        assert listed == len(expected)
        assert tree(target) == expected


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_gnu_tar_finds_no_difference_to_the_tree(packed, suffix):
    folder, files, _ = packed
    for shard in sorted(folder.glob(f"out-*.{suffix}")):
        differences = subprocess.run(["tar", "-df", shard, "-C", "in", "--warning=all"], cwd=folder, env=UTF8,
                                     capture_output=True).stdout.decode().splitlines()
        # Owner, mode and time of a member are always the same; contents and sizes are those of the file.
        assert [d for d in differences if not d.endswith(("Mod time differs", "Mode differs"))] == []


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("mode", ["r:", "r|"], ids=["seeking", "streaming"])
def test_python_reads_every_shard(packed, tmp_path, suffix, mode):
    folder, files, few = packed
    for name, expected in (("out", files), ("few", few)):
        found = {}
        for shard in sorted(folder.glob(f"{name}-*.{suffix}")):
            plain = tmp_path / "plain.tar"
            plain.write_bytes(tar_bytes(shard))
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                with tarfile.open(plain, mode) as tar:
                    for member in tar:
                        assert member.isreg() and (member.mode, member.uid, member.mtime) == (0o644, 0, 0)
                        found[member.name] = tar.extractfile(member).read()
        assert found == expected


# ---- compression


@pytest.mark.parametrize("name", ["out", "few"])
def test_zstd_and_gzip_test_and_give_the_tar_that_plain_shards_are(packed, name):
    folder = packed[0]
    for plain in sorted(folder.glob(f"{name}-*.tar")):
        for suffix, command in ((".zst", ["zstd", "-q"]), (".gz", ["gzip"])):
            shard = Path(f"{plain}{suffix}")
            quiet(*command, "-t", shard)
            assert quiet(*command, "-dc", shard) == plain.read_bytes() == tar_bytes(shard)


def test_zstd_knows_sizes_and_checksums_of_all_frames(packed):
    folder = packed[0]
    for shard in sorted(folder.glob("out-*.tar.zst")):
        table = quiet("zstd", "-q", "-l", shard).decode().splitlines()[1].split()
        frames, skippable = int(table[0]), int(table[1])
        assert frames > 2 and skippable == 1 and "XXH64" in table
        stored, found, size = shard.read_bytes(), 0, 0
        while stored[:4] == b"\x28\xb5\x2f\xfd":
            parameters = zstandard.get_frame_parameters(stored)
            assert parameters.has_checksum and parameters.dict_id == 0
            assert parameters.window_size <= 8 << 20
            decompressor = zstandard.ZstdDecompressor().decompressobj()
            assert len(decompressor.decompress(stored)) == parameters.content_size > 0
            stored, found, size = decompressor.unused_data, found + 1, size + parameters.content_size
        assert (found + skippable, size) == (frames, len(tar_bytes(shard)))


# ---- webdataset


def webdataset(pattern, *components, cwd):
    out = quiet(sys.executable, "-c", READER, pattern, *components, cwd=cwd)
    return [json.loads(line) for line in out.splitlines()]


PATTERNS = {"tar": "{}.tar", "tar.gz": "{}.tar.gz", "tar.zst": "pipe:zstd -dcq {}.tar.zst"}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_webdataset_reads_the_samples_of_the_source(packed, suffix):
    folder, files, few = packed
    for pattern, expected in (("out-{00..03}", by_key(files)), ("few-{0..4}", by_key(few))):
        samples = webdataset(PATTERNS[suffix].format(pattern), cwd=folder)
        assert len(samples) == len(expected)
        assert {s.pop("__key__"): s for s in samples} == {
            key: {name: digest(content) for name, content in components.items()}
            for key, components in expected.items()}


def test_webdataset_makes_tuples_in_the_order_of_the_shards(packed):
    folder, files, _ = packed
    samples = by_key(files)
    tuples = webdataset("out-{00..03}.tar", "jpg", "txt", cwd=folder)
    listed = shardtool("ls", "--json", "out-{00..03}.tar", cwd=folder).lines
    assert [t[0] for t in tuples] == [line["key"] for line in listed] == sorted(samples, key=os.fsencode)
    assert tuples == [[key, digest(samples[key]["jpg"]), digest(samples[key]["txt"])]
                      for key in (t[0] for t in tuples)]


@pytest.mark.parametrize("below", ["", "sub/"], ids=["here", "in a folder"])
def test_a_wids_index_leads_to_shards_and_samples(packed, tool, below):
    folder, files, _ = packed
    Path(below).mkdir(exist_ok=True)
    for shard in folder.glob("out-*.tar"):
        shutil.copy(shard, below or ".")
    tool("index", below + "out-{00..03}.tar", "--wids", below + "wids.json")
    descriptor = json.loads(Path(below + "wids.json").read_text())
    assert descriptor["wids_version"] == 1
    keys = []
    for entry in descriptor["shardlist"]:
        shard = Path(below) / entry["url"]  # as wids does it: relative to where the descriptor stands
        with tarfile.open(shard) as tar:
            members = [m.name.split(".", 1)[0] for m in tar]
        keys += sorted(set(members))
        assert entry["nsamples"] == len(set(members))
        assert entry["filesize"] == shard.stat().st_size
    assert sorted(keys) == sorted(by_key(files))


def test_wids_itself_reads_the_descriptor(packed, tool):
    wids = pytest.importorskip("wids", reason="this webdataset comes without wids")
    folder, files, _ = packed
    for shard in folder.glob("out-*.tar"):
        shutil.copy(shard, ".")
    tool("index", "out-{00..03}.tar", "--wids", "wids.json")
    dataset = wids.ShardListDataset("wids.json", transformations=lambda sample: sample)
    found = {dataset[i]["__key__"]: dataset[i][".txt"].read() for i in range(len(dataset))}
    assert found == {key: components["txt"] for key, components in by_key(files).items()}


# ---- DALI


def wds2idx(shard):
    """The index that DALI's tools/wds2idx.py makes of a tar."""
    samples, last = [], None
    with tarfile.open(shard) as tar:
        for m in tar:
            dot = m.name.find(".", m.name.rfind("/") + 1)
            key, extension = m.name[:dot], m.name[dot + 1:]
            if not m.isreg() or not key or key.endswith("/"):
                continue
            if key != last:
                samples.append([])
            last = key
            samples[-1].append(f"{extension} {m.offset_data} {m.size} {m.name}")
    return f"v1.2 {len(samples)}\n" + "".join(" ".join(s) + "\n" for s in samples)


def dali_load(index, shard):
    """What DALI's webdataset_loader.cc takes from an index and a tar: [[(extension, name, bytes)]]."""
    lines = Path(index).read_text().splitlines()
    version, count = lines[0].split()
    assert version in ("v1.1", "v1.2") and int(count) > 0
    content, samples = Path(shard).read_bytes(), []
    for line in lines[1:int(count) + 1]:
        words = iter(line.split())
        samples.append([])
        for extension, offset, size, name in zip(words, words, words, words, strict=True):
            assert int(offset) % 512 == 0 and int(offset) < len(content)
            samples[-1].append((extension, name, content[int(offset):int(offset) + int(size)]))
        assert samples[-1]
    return samples


def test_a_dali_index_is_the_one_that_dali_makes(packed, tool):
    folder, files, _ = packed
    for shard in sorted(folder.glob("out-*.tar")):
        shutil.copy(shard, ".")
    tool("index", "--dali", "out-{00..03}.tar")
    found = {}
    for i in range(4):
        index, shard = Path(f"out-0{i}.idx"), f"out-0{i}.tar"
        assert index.read_text() == wds2idx(shard)
        for sample in dali_load(index, shard):
            found.update((name, content) for _, name, content in sample)
    assert found == files


def test_a_dali_index_is_read_back(packed, tool):
    folder = packed[0]
    shutil.copy(folder / "out-00.tar", "a.tar")
    Path("a.idx").write_text(wds2idx("a.tar"))
    tool("index", "--no-checksums", "a.tar")
    ours = tool("ls", "--json", "a.tar").out
    os.remove("a.tar.sidx")
    tool("index", "--from-dali", "a.tar")
    assert tool("ls", "--json", "a.tar").out == ours


@pytest.mark.parametrize("name, why", [
    ("space", "white space"), ("empty", "without samples"), ("gz", "plain tar only")])
def test_what_dali_cannot_read_is_no_dali_index(packed, tool, name, why):
    folder = packed[0]
    write("in/a b.txt", "x")
    tool("pack", "in", "space.tar")
    shutil.copy(folder / "few-0.tar", "empty.tar")
    shutil.copy(folder / "out-00.tar.gz", "gz.tar.gz")
    shard = "gz.tar.gz" if name == "gz" else f"{name}.tar"
    err = tool("index", "--dali", shard, code=1).err
    assert why in err and f"{name}.idx" in err
    assert not Path(f"{name}.idx").exists()
