# SPDX-License-Identifier: Apache-2.0
"""verify: all is well with good data, and any byte that is not as it was is told with its file."""
import io
import json
import os
import re
import shutil
import struct
import tarfile
from pathlib import Path

import pytest
import zstandard
from conftest import make_tree, write

SUFFIXES = ["tar", "tar.zst", "tar.gz"]
SHARDS, SAMPLES = 3, 30


@pytest.fixture
def good(tool):
    """A function that packs a good set of 3 shards, out-0 to out-2, with manifest out.shards.json."""
    def pack(suffix="tar", size=3000):
        make_tree("in", samples=SAMPLES, size=size, components=("jpg", "txt"))
        tool("pack", "in", f"out-<0..2>.{suffix}", "-q")
    return pack


def flip(path, at, mask=0x10):
    data = bytearray(Path(path).read_bytes())
    data[at] ^= mask
    write(path, bytes(data))


def problem(tool, *args):
    """The messages of a verify that must find something."""
    failed = tool("verify", *args, code=1)
    assert "all is well" not in failed.err
    for line in failed.err.splitlines():
        assert re.match(r"shardtool verify: .+|\d+ problems?, in|\d+ shards? without an index", line), line
    return failed.err


# ---- all is well


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("jobs", ["1", "4"])
def test_what_pack_wrote_is_well(tool, good, suffix, jobs):
    good(suffix)
    size = sum(p.stat().st_size for p in Path(".").glob(f"out-*.{suffix}"))
    for names in (["out.shards.json"], [f"out-{{0..2}}.{suffix}"]):
        assert f"all is well: {SAMPLES} samples in 3 shards" in tool("verify", "-j", jobs, *names).err
        report = tool("verify", "--json", "-j", jobs, *names)
        assert report.err == "" and report.json.pop("seconds") >= 0
        assert {k: v for k, v in report.json.items() if k != "seconds"} == {
            "shards": 3, "samples": SAMPLES, "components": 2 * SAMPLES, "bytes": size, "problems": 0,
            "bad_shards": 0, "without_index": 0}
        quiet = tool("verify", "-q", *names)
        assert quiet.out == quiet.err == ""


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_tars_alone_are_checked_as_far_as_that_goes(tool, good, suffix):
    good(suffix)
    os.remove(f"out-1.{suffix}.sidx")
    result = tool("verify", f"out-{{0..2}}.{suffix}")
    assert "1 shard without an index" in result.err and "all is well" in result.err
    assert tool("verify", "--json", f"out-{{0..2}}.{suffix}").json["without_index"] == 1
    assert "all is well" in tool("verify", "-", stdin=Path(f"out-1.{suffix}").read_bytes()).err
    os.truncate(f"out-1.{suffix}", 3000)
    assert f"out-1.{suffix}: offset" in problem(tool, f"out-{{0..2}}.{suffix}")


def test_an_index_without_checksums_is_compared_too(tool, good):
    good()
    tool("index", "--no-checksums", "out-1.tar")
    tool("verify", "out-1.tar")
    tool("verify", "out.shards.json")
    flip("out-1.tar", 0)
    assert "out-1.tar: offset 0" in problem(tool, "out-1.tar")


# ---- shards


def first_payload():
    with tarfile.open("out-1.tar") as tar:
        return next(m for m in tar if m.size % 512)


SHARD_DAMAGE = {
    "content": lambda: flip("out-1.tar", first_payload().offset_data),
    "name in a header": lambda: flip("out-1.tar", 1),
    "size in a header": lambda: flip("out-1.tar", 130),
    "unused bytes of a header": lambda: flip("out-1.tar", 505),
    "time in a header": lambda: flip("out-1.tar", 140),
    "padding": lambda: flip("out-1.tar", first_payload().offset_data + first_payload().size),
    "end mark": lambda: flip("out-1.tar", -1),
    "first block of the end mark": lambda: flip("out-1.tar", -1024),
    "one byte less": lambda: os.truncate("out-1.tar", Path("out-1.tar").stat().st_size - 1),
    "no end mark": lambda: os.truncate("out-1.tar", Path("out-1.tar").stat().st_size - 1024),
    "half of it": lambda: os.truncate("out-1.tar", Path("out-1.tar").stat().st_size // 2),
    "empty": lambda: os.truncate("out-1.tar", 0),
    "zeros behind": lambda: write("out-1.tar", Path("out-1.tar").read_bytes() + bytes(512)),
    "another shard": lambda: shutil.copy("out-0.tar", "out-1.tar"),
    "other bytes": lambda: write("out-1.tar", os.urandom(Path("out-1.tar").stat().st_size)),
    "a folder": lambda: (os.remove("out-1.tar"), os.mkdir("out-1.tar")),
}


@pytest.mark.parametrize("damage", SHARD_DAMAGE)
@pytest.mark.parametrize("names", ["out.shards.json", "out-{0..2}.tar"])
def test_damage_in_a_plain_shard_is_told(tool, good, damage, names):
    good()
    SHARD_DAMAGE[damage]()
    told = problem(tool, names)
    assert "out-1.tar" in told and "out-0.tar" not in told and "out-2.tar" not in told


@pytest.mark.parametrize("names", ["out.shards.json", "out-1.tar"])
def test_damaged_content_is_told_with_name_and_place(tool, good, names):
    good()
    member = first_payload()
    flip("out-1.tar", member.offset_data + member.size - 1)
    told = problem(tool, names)
    assert f'out-1.tar: offset {member.offset_data}: crc32c of "{member.name}"' in told
    assert "SHARD_ECHECKSUM" in told and "in 1 of" in told


@pytest.mark.parametrize("suffix", ["tar.zst", "tar.gz"])
@pytest.mark.parametrize("names", ["out.shards.json", "out-1"])
def test_a_flipped_byte_anywhere_in_a_compressed_shard_is_told(tool, good, suffix, names):
    good(suffix)
    names = names if names.endswith("json") else f"{names}.{suffix}"
    whole = Path(f"out-1.{suffix}").read_bytes()
    end = len(whole) - 40
    for at in [*range(20), *range(20, end, end // 20), *range(end, len(whole), 2)]:
        write(f"out-1.{suffix}", whole)
        flip(f"out-1.{suffix}", at)
        assert f"out-1.{suffix}" in problem(tool, names), at
    for size in (0, 1, 10, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        write(f"out-1.{suffix}", whole[:size])
        assert f"out-1.{suffix}" in problem(tool, names), size


def verify_variants(tool, shard, changed, variants):
    """Verify copies of a shard and its index, one of them with other bytes: {number of the copy: messages}.

    All in one run, each copy in a folder of its own.
    """
    for number, data in variants.items():
        os.mkdir(f"{number}")
        for name in (shard, f"{shard}.sidx"):
            if name != changed:
                os.link(name, f"{number}/{name}")
        write(f"{number}/{changed}", data)
    failed = tool("verify", "--json", *(f"{number}/{shard}" for number in variants), code=1)
    told = {}
    for line in failed.err.splitlines():
        number, _, name = json.loads(line)["url"].partition("/")
        told.setdefault(int(number), []).append(name)
    assert failed.json["bad_shards"] == len(told)
    return told


def flips(data, step=1):
    """{offset: data with a bit flipped there}"""
    return {at: data[:at] + bytes([data[at] ^ 1 << at % 8]) + data[at + 1:] for at in range(0, len(data), step)}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_flip_anywhere_in_a_tiny_shard_is_told(tool, suffix):
    write("in/a.txt", "some text")
    write("in/a.cls", "1")
    shard = f"out.{suffix}"
    tool("pack", "in", shard, "-q")
    damaged = flips(Path(shard).read_bytes(), 3 if suffix == "tar" else 1)
    told = verify_variants(tool, shard, shard, damaged)
    assert [at for at in damaged if shard not in told.get(at, [])] == []


def test_a_shard_compressed_anew_is_told_though_its_tar_is_the_same(tool, good):
    good("tar.zst")
    tar = zstandard.ZstdDecompressor().stream_reader(
        Path("out-1.tar.zst").read_bytes(), read_across_frames=True).read()
    write("out-1.tar.zst", zstandard.ZstdCompressor(level=1).compress(tar))
    told = problem(tool, "out.shards.json")
    assert "out-1.tar.zst" in told
    tool("index", "out-1.tar.zst")
    assert "manifest" in problem(tool, "out.shards.json")


# ---- sets


def names_swapped(suffix, indexes):
    os.rename(f"out-1.{suffix}", "x")
    os.rename(f"out-2.{suffix}", f"out-1.{suffix}")
    os.rename("x", f"out-2.{suffix}")
    if indexes:
        names_swapped(f"{suffix}.sidx", False)


SET_DAMAGE = {
    "shard missing": lambda s: os.remove(f"out-1.{s}"),
    "index missing": lambda s: os.remove(f"out-1.{s}.sidx"),
    "index empty": lambda s: os.truncate(f"out-1.{s}.sidx", 0),
    "index cut off": lambda s: os.truncate(f"out-1.{s}.sidx", 300),
    "index of another shard": lambda s: shutil.copy(f"out-0.{s}.sidx", f"out-1.{s}.sidx"),
    "shards swapped": lambda s: names_swapped(s, False),
    "shards and indexes swapped": lambda s: names_swapped(s, True),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("damage", SET_DAMAGE)
def test_what_does_not_belong_together_is_told(tool, good, suffix, damage):
    good(suffix)
    SET_DAMAGE[damage](suffix)
    told = problem(tool, "out.shards.json")
    assert f"out-1.{suffix}" in told and f"out-0.{suffix}:" not in told
    if "index" not in damage.split()[0]:
        assert f"out-1.{suffix}" in tool("verify", "out.shards.json", "-q", code=1).err


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_index_of_another_shard_of_the_same_size_is_told(tool, suffix):
    by_size = {}
    for i in range(10):  # their checksums may compress to more or less
        write(f"{i}/a.txt", str(i))
        tool("pack", str(i), f"out-{i}.{suffix}", "-q")
        by_size.setdefault(Path(f"out-{i}.{suffix}").stat().st_size, []).append(f"out-{i}.{suffix}")
    one, other = max(by_size.values(), key=len)[:2]
    shutil.copy(f"{one}.sidx", f"{other}.sidx")
    told = problem(tool, other)
    assert "crc32c" in told and "xxh3" in told


def edited(change, path="out.shards.json"):
    manifest = json.loads(Path(path).read_text())
    change(manifest)
    write(path, json.dumps(manifest))


MANIFEST_DAMAGE = {
    "samples of two shards": lambda m: m.update(shard_samples=[11, 9, 10]),
    "samples": lambda m: m.update(samples=29, shard_samples=[10, 9, 10]),
    "sum of samples": lambda m: m.update(samples=29),
    "bytes of two shards": lambda m: m.update(shard_bytes=[b + d for b, d in zip(m["shard_bytes"], (9, -9, 0))]),
    "sum of bytes": lambda m: m.update(bytes=m["bytes"] + 1),
    "a hash": lambda m: m["shard_xxh3"].__setitem__(1, m["shard_xxh3"][0]),
    "hash digits": lambda m: m["shard_xxh3"].__setitem__(1, "0" * 31),
    "a name": lambda m: m.update(names=["out-0.tar", "out-9.tar", "out-2.tar"]),
    "names swapped": lambda m: m.update(names=["out-0.tar", "out-2.tar", "out-1.tar"]),
    "a name twice": lambda m: m.update(names=["out-0.tar", "out-0.tar", "out-2.tar"]),
    "a shard less": lambda m: m.update(names=["out-0.tar", "out-1.tar"]),
    "number of shards": lambda m: m.update(shards=4),
    "count of a component": lambda m: m["components"]["jpg"].update(count=29),
    "bytes of a component": lambda m: m["components"]["jpg"].update(bytes=1),
    "a component's name": lambda m: m["components"].update(png=m["components"].pop("txt")),
    "a component too many": lambda m: m["components"].update(png={"count": 0, "bytes": 0}),
    "a component too few": lambda m: m["components"].pop("txt"),
    "a first key": lambda m: m["first_keys"].__setitem__(1, "class1/s0000"),
    "the last key": lambda m: m.update(last_key=m["last_key"] + "x"),
    "order of keys": lambda m: m.update(first_keys=m["first_keys"][::-1]),
    "version": lambda m: m.update(version=2),
}


@pytest.mark.parametrize("damage", MANIFEST_DAMAGE)
def test_a_manifest_that_is_not_true_is_told(tool, good, damage):
    good()
    edited(MANIFEST_DAMAGE[damage])
    assert re.search(r"out\.shards\.json|out-[0-9]\.tar", problem(tool, "out.shards.json"))


def test_a_manifest_that_is_not_true_is_told_though_an_index_is_missing(tool, good):
    """Counts of components need all indexes: when one is not there, that cannot pass for well."""
    good()
    os.remove("out-1.tar.sidx")
    edited(MANIFEST_DAMAGE["count of a component"])
    problem(tool, "out.shards.json")


@pytest.mark.parametrize("key", ["first_keys", "last_key", "shard_xxh3"])
def test_a_manifest_without_what_it_need_not_have_is_well(tool, good, key):
    good()
    edited(lambda m: [m.pop(k, None) for k in ([key, "last_key"] if key == "first_keys" else [key])])
    tool("verify", "out.shards.json")


def test_keys_that_do_not_ascend_though_the_manifest_says_so_are_told(tool):
    make_tree("in", samples=20)
    tool("pack", "in", "out-<0..1>.tar", "--shuffle", "1", "-q")
    edited(lambda m: m.update(first_keys=["a", "b"], last_key="c"))
    assert "out.shards.json" in problem(tool, "out.shards.json")


def test_what_is_not_there_at_all_is_an_error(tool):
    assert "nowhere.shards.json" in tool("verify", "nowhere.shards.json", code=3).err
    assert "nowhere.tar" in tool("verify", "nowhere.tar", code=3).err
    assert "SET" in tool("verify", code=2).err


# ---- how it is told


def test_problems_as_json_name_file_and_offset(tool, good):
    good()
    flip("out-1.tar", first_payload().offset_data)
    os.remove("out-2.tar")
    failed = tool("verify", "--json", "out.shards.json", code=1)
    errors = [json.loads(line) for line in failed.err.splitlines()]
    assert {(e["url"], e["code"]) for e in errors} == {("out-1.tar", "SHARD_ECHECKSUM"),
                                                       ("out-2.tar", "SHARD_ENOTFOUND")}
    assert first_payload().offset_data in [e.get("offset") for e in errors]
    assert failed.json["problems"] == len(errors) and failed.json["bad_shards"] == 2


@pytest.mark.parametrize("told, args", [(10, []), (3, ["--problems", "3"]), (100, ["--problems", "100"])])
def test_of_many_problems_some_are_told_and_all_counted(tool, told, args):
    files = {f"{i:03d}.txt": b"x" for i in range(40)}
    for i, contents in enumerate((b"x", b"y")):
        for name in files:
            write(f"{i}/{name}", contents)
        tool("pack", str(i), f"{i}.tar", "-q")
    shutil.copy("1.tar", "0.tar")
    failed = tool("verify", "0.tar", *args, code=1)
    assert len(failed.err.splitlines()) - 1 == min(told, 41)
    assert "41 problems, in 1 of 1 shard" in failed.err


# ---- every byte


SECTIONS = "HASH NAME LIST ROWS COMP SAMP DATA SIZE CRCS KEYO KEYS FRAM".split()


def sections(index):
    """{tag: (offset, size)} of a .sidx: docs/format/sidx.md."""
    count, = struct.unpack_from("<I", index, 12)
    found = {}
    for i in range(count):
        tag, _, offset, size, _, _ = struct.unpack_from("<4sIQQII", index, 64 + 32 * i)
        found[tag.decode()] = (offset, size)
    return found


def make_uneven(name):
    """A tar with long names and samples of unlike components: its index has ROWS, COMP and DATA."""
    with tarfile.open(name, "w", format=tarfile.GNU_FORMAT) as tar:
        for path in ("a.txt", "a.cls", "b.txt", "n" * 120 + ".cls", "n" * 120 + ".x"):
            member = tarfile.TarInfo(path)
            member.size = len(path)
            tar.addfile(member, io.BytesIO(path.encode()))


def make_tiny(tool, kind):
    if kind == "uneven":
        make_uneven("out.tar")
        tool("index", "out.tar")
        return "out.tar"
    for name in ("a.txt", "a.cls", "b.txt", "b.cls"):
        write(f"in/{name}", f"content of {name}")
    tool("pack", "in", f"out.{kind}", "-q")
    return f"out.{kind}"


@pytest.mark.parametrize("tag", SECTIONS)
def test_a_flip_in_each_section_of_an_index_is_told(tool, good, tag):
    good("tar.zst")
    make_uneven("uneven.tar")
    tool("index", "uneven.tar")
    shard = "uneven.tar" if tag in ("ROWS", "COMP", "DATA") else "out-1.tar.zst"
    offset, size = sections(Path(f"{shard}.sidx").read_bytes())[tag]
    for at in {offset, offset + size // 2, offset + size - 1}:
        flip(f"{shard}.sidx", at)
        told = problem(tool, shard)
        assert f"{shard}.sidx: offset" in told
        flip(f"{shard}.sidx", at)
    tool("verify", shard)


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "tar.gz", "uneven"])
def test_a_flip_anywhere_in_an_index_is_told(tool, kind):
    """Bytes between sections too: docs/format/sidx.md says that they are 0."""
    shard = make_tiny(tool, kind)
    index = Path(f"{shard}.sidx").read_bytes()
    damaged = flips(index)
    told = verify_variants(tool, shard, f"{shard}.sidx", damaged)
    unnoticed = [at for at in damaged if f"{shard}.sidx" not in told.get(at, [])]
    covered = [range(0, 64 + 32 * len(sections(index)))]
    covered += [range(begin, begin + size) for begin, size in sections(index).values()]
    assert not [at for at in unnoticed if any(at in c for c in covered)]
    assert unnoticed == [], "bytes between sections"


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "uneven"])
def test_an_index_cut_off_anywhere_is_told(tool, kind):
    shard = make_tiny(tool, kind)
    whole = Path(f"{shard}.sidx").read_bytes()
    damaged = {size: whole[:size] for size in range(len(whole))} | {len(whole) + 8: whole + bytes(8)}
    told = verify_variants(tool, shard, f"{shard}.sidx", damaged)
    assert [size for size in damaged if f"{shard}.sidx" not in told.get(size, [])] == []


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "uneven"])
def test_other_verbs_survive_a_flip_anywhere_in_an_index(tool, kind):
    """What they write is right, or they say that the index is not: never a crash, never other data."""
    shard = make_tiny(tool, kind)
    content = tool("cat", shard, "b.txt").out_bytes
    wrong = []
    for at, damaged in flips(Path(f"{shard}.sidx").read_bytes()).items():
        write(f"{shard}.sidx", damaged)
        result = tool("cat", shard, "b.txt", code=None)
        assert result.code in (0, 1, 3), (at, result.err)
        if result.code == 0 and result.out_bytes != content:
            wrong.append(at)
        if at % 9 == 0:
            for args in (["info", "--json", shard], ["ls", "-l", shard], ["cat", "-n", shard, "1"]):
                assert tool(*args, code=None).code in (0, 1, 3), (at, args)
    assert wrong == []


def test_a_flip_in_a_manifest_is_told_unless_a_key_that_need_not_be_there_is_gone(tool):
    for name in ("cat/a.txt", "dog/b.txt"):
        write(f"in/{name}", name)
    tool("pack", "in", "out-<0..1>.tar", "--label-from", "dir", "-q")
    whole = Path("out.shards.json").read_bytes()
    manifest = json.loads(whole)
    optional = {"shard_xxh3", "first_keys", "last_key", "classes", "skipped", "pack_digest"}
    wrong = []
    for at in range(len(whole)):
        write("out.shards.json", whole)
        flip("out.shards.json", at, 1 << at % 7)
        result = tool("verify", "-q", "out.shards.json", code=None)
        assert result.code in (0, 1), (at, result.err)
        if result.code == 1:
            assert re.search(r"out\.shards\.json: |: cannot open: |out-[01]\.tar", result.err), (at, result.err)
            continue
        now = json.loads(Path("out.shards.json").read_bytes())
        known = {k: v for k, v in now.items() if k in manifest and k not in ("classes", "pack_digest")}
        wrong += [k for k in known if known[k] != manifest[k]]
        assert manifest.keys() - now.keys() <= optional
    assert set(wrong) == set()
