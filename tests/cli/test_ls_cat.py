# SPDX-License-Identifier: Apache-2.0
"""ls and cat: samples by key and number, of a few shards or many, and how little is read for one."""
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
from conftest import SHARDTOOL, make_tree, write

SUFFIXES = ["tar", "tar.zst", "tar.gz"]


def pack_three(tool, suffix="tar", **tree):
    """Three shards; returns {name in the tar: content}."""
    files = make_tree("in", **{"samples": 30, **tree})
    tool("pack", "in", f"out-<0..2>.{suffix}")
    return files


def members(tar_bytes):
    with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}


def make_tar(path, files, **how):
    with tarfile.open(path, "w", **how) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))


# ---- ls


SETS = [["out.shards.json"], ["out-0.tar", "out-1.tar", "out-2.tar"], ["out-{0..2}.tar"],
        ["out-<0..2>.tar"], ["out-0.tar", "out-{1..2}.tar"]]


@pytest.mark.parametrize("names", SETS)
def test_a_set_by_manifest_list_or_pattern_lists_the_same(tool, names):
    files = pack_three(tool)
    assert tool("ls", *names).out.splitlines() == [f"{k}\tjpg txt" for k in sorted({n[:-4] for n in files})]
    lines = tool("ls", "--json", *names).lines
    assert [line["number"] for line in lines] == list(range(30))
    assert [line["shard"] for line in lines] == ["out-0.tar"] * 10 + ["out-1.tar"] * 10 + ["out-2.tar"] * 10
    assert {f"{s['key']}.{c}": v["size"] for s in lines for c, v in s["components"].items()} == {
        name: len(content) for name, content in files.items()}


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_offsets_are_those_of_the_tar(tool, suffix):
    files = pack_three(tool, suffix)
    for i in range(3):
        data = tool("pack", "-", "-", stdin=Path(f"out-{i}.{suffix}").read_bytes()).out_bytes
        for sample in tool("ls", "--json", f"out-{i}.{suffix}").lines:
            name = data[sample["offset"]:].split(b"\0")[0].decode()
            assert name.rpartition(".")[0] == sample["key"]
            for component, place in sample["components"].items():
                begin, end = place["offset"], place["offset"] + place["size"]
                assert data[begin:end] == files[f"{sample['key']}.{component}"]


@pytest.mark.parametrize("option", [[], ["--json"], ["-l"], ["-0"]])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_shard_without_an_index_lists_the_same(tool, option, suffix):
    pack_three(tool, suffix)
    indexed = tool("ls", *option, f"out-1.{suffix}").out
    os.remove(f"out-1.{suffix}.sidx")
    bare = tool("ls", *option, f"out-1.{suffix}").out
    assert bare == re.sub(r',"crc32c":\d+', "", indexed)
    if suffix == "tar":
        piped = tool("ls", *option, "-", stdin=Path("out-1.tar").read_bytes()).out
        assert piped.replace('"-"', '"out-1.tar"').replace("  -  ", "  out-1.tar  ") == bare


def test_long_lines_have_number_shard_offset_bytes_and_components(tool):
    files = pack_three(tool)
    lines = [line.split() for line in tool("ls", "-l", "out.shards.json").out.splitlines()]
    with tarfile.open("out-1.tar") as tar:
        offsets = {m.name: m.offset for m in tar}
    for number, shard, offset, size, key, *components in lines:
        sizes = {c: len(files[f"{key}.{c}"]) for c in ("jpg", "txt")}
        assert components == [f"{c}:{n}" for c, n in sizes.items()] and int(size) == sum(sizes.values())
        assert shard != "out-1.tar" or int(offset) == offsets[f"{key}.jpg"]
    assert [int(line[0]) for line in lines] == list(range(30))


def test_keys_alone_end_with_nul_bytes(tool):
    write("in/a b.txt", "1")
    write("in/c\u00e4.txt", "2")
    tool("pack", "in", "out.tar")
    assert tool("ls", "-0", "out.tar").out_bytes == "a b\0c\u00e4\0".encode()


def test_members_are_all_that_stands_in_the_tars(tool):
    with tarfile.open("x.tar", "w", format=tarfile.GNU_FORMAT) as tar:
        for name, kind in (("d", tarfile.DIRTYPE), ("d/a.txt", tarfile.REGTYPE), ("README", tarfile.REGTYPE),
                           ("s", tarfile.SYMTYPE), ("h", tarfile.LNKTYPE), ("f", tarfile.FIFOTYPE)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, "README"
            tar.addfile(member)
    kinds = ["dir", "file", "file", "symlink", "hardlink", "special"]
    with tarfile.open("x.tar") as tar:
        expected = [(m.offset, m.offset_data, m.name.rstrip("/")) for m in tar]
    lines = tool("ls", "--members", "--json", "x.tar").lines
    assert [(m["offset"], m["payload_offset"], m["path"].rstrip("/")) for m in lines] == expected
    assert [m["kind"] for m in lines] == kinds
    assert tool("ls", "--members", "x.tar").out.split() == ["d/", "d/a.txt", "README", "s", "h", "f"]
    assert [line.split()[0] for line in tool("ls", "--members", "-l", "x.tar").out.splitlines()] == kinds


def test_shards_with_their_counts_and_sizes(tool):
    pack_three(tool)
    sizes = [Path(f"out-{i}.tar").stat().st_size for i in range(3)]
    for names in (["out.shards.json"], ["out-{0..2}.tar"]):
        assert tool("ls", "--shards", "--json", *names).lines == [
            {"shard": f"out-{i}.tar", "samples": 10, "bytes": sizes[i]} for i in range(3)]
    os.remove("out-1.tar.sidx")
    assert [s["samples"] for s in tool("ls", "--shards", "--json", "out-{0..2}.tar").lines] == [10, None, 10]
    assert "out-1.tar\t? samples" in tool("ls", "--shards", "out-{0..2}.tar").out


def test_a_manifest_in_another_folder_names_its_shards_there(tool):
    make_tree("in", samples=4)
    os.mkdir("sub")
    tool("pack", "in", "sub/out-<0..1>.tar")
    assert tool("ls", "--json", "sub/out.shards.json").lines[-1]["shard"] == "sub/out-1.tar"
    assert "no sample" not in tool("cat", "sub/out.shards.json", "class0/s0000", "txt").err
    os.rename("sub", "moved")
    assert len(tool("ls", "moved/out.shards.json").out.splitlines()) == 4


@pytest.mark.parametrize("option", [[], ["-l"], ["--members"], ["--members", "-l"], ["--shards"]])
def test_names_with_control_characters_do_not_reach_the_terminal(tool, option):
    make_tar("x\x1b[1m.tar", {"k\x1b[31m\n.t\x1b[32m\nx": b"1"}, format=tarfile.USTAR_FORMAT)
    out = tool("ls", *option, "x\x1b[1m.tar").out
    assert "\x1b" not in out and len(out.splitlines()) == 1


@pytest.mark.parametrize("option", [["ls"], ["ls", "--json"], ["ls", "--members", "--json"], ["info"],
                                    ["info", "--json"], ["verify", "--json"]])
@pytest.mark.parametrize("indexed", [True, False])
def test_names_that_are_not_utf8_are_listed(tool, option, indexed):
    make_tar("x.tar", {"caf\u00e9.j\u00e9g": b"1"}, format=tarfile.USTAR_FORMAT, encoding="latin-1")
    if indexed:
        tool("index", "x.tar")
    result = tool(*option, "x.tar")
    assert "--json" not in option or result.lines
    assert option != ["ls", "--json"] or result.json["key"] == "caf\\xe9"


def test_a_reader_that_goes_away_ends_ls_without_a_word(tool):
    make_tree("in", samples=3000, size=1)
    tool("pack", "in", "out.tar", "-q")
    process = subprocess.run(f"{SHARDTOOL} ls -l out.tar | head -n 2", shell=True, capture_output=True)
    assert len(process.stdout.splitlines()) == 2 and process.stderr == b""


# ---- cat


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("names", ["out.shards.json", "out-{0..2}"])
def test_every_component_of_every_sample_comes_out_as_it_went_in(tool, suffix, names):
    files = pack_three(tool, suffix, samples=12, components=("jpg", "txt", "seg.png"))
    where = names if names.endswith("json") else f"{names}.{suffix}"
    for number, key in enumerate(sorted({n.split(".")[0] for n in files})):
        sample = {n: c for n, c in files.items() if n.startswith(f"{key}.")}
        assert members(tool("cat", where, key).out_bytes) == sample
        assert tool("cat", "-n", where, number).out_bytes == tool("cat", where, key).out_bytes
        for name, content in sample.items():
            assert tool("cat", where, name).out_bytes == content
            assert tool("cat", "-n", where, number, name.partition(".")[2]).out_bytes == content


def test_a_sample_is_a_small_tar_like_those_of_pack(tool):
    pack_three(tool)
    for key, i in (("class0/s0000", 0), ("class1/s0013", 1)):
        small = tool("cat", "out.shards.json", key).out_bytes
        sample = next(s for s in tool("ls", "--json", f"out-{i}.tar").lines if s["key"] == key)
        begin = sample["offset"]
        assert small == Path(f"out-{i}.tar").read_bytes()[begin:begin + len(small) - 1024] + bytes(1024)


def test_a_whole_sample_is_a_tar_even_with_one_component(tool):
    """Else `cat -n SET N | tar x` depends on what N happens to hold."""
    write("in/a.txt", "text")
    write("in/b.txt", "text")
    write("in/b.cls", "1")
    tool("pack", "in", "out.tar")
    assert members(tool("cat", "out.tar", "b").out_bytes) == {"b.txt": b"text", "b.cls": b"1"}
    assert members(tool("cat", "out.tar", "a").out_bytes) == {"a.txt": b"text"}


def test_bytes_of_any_kind_are_written_as_they_are(tool):
    content = bytes(range(256)) * 5000 + b"\r\n\0"
    write("in/a.bin", content)
    write("in/a.empty", b"")
    tool("pack", "in", "out.tar")
    assert tool("cat", "out.tar", "a", "bin").out_bytes == content
    assert tool("cat", "out.tar", "a", "empty").out_bytes == b""


@pytest.mark.parametrize("name, component", [("a", "jpg"), ("a.JPG", None), ("a.jpg", None), ("a", "JPG")])
def test_a_component_by_the_name_in_the_tar_or_in_lower_case(tool, name, component):
    make_tar("x.tar", {"a.JPG": b"picture", "a.txt": b"text"})
    tool("index", "x.tar")
    assert tool("cat", "x.tar", name, *([component] if component else [])).out == "picture"


def test_a_key_with_dots_in_folders_and_long_names(tool):
    key = f"v1.2/{'d' * 100}/{'n' * 90}"
    files = {f"{key}.jpg": b"1", f"{key}.x.y": b"2", "caf\u00e9.a": b"3"}
    for format in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        make_tar("x.tar", files, format=format)
        tool("index", "x.tar")
        for name, content in files.items():
            assert tool("cat", "x.tar", name).out_bytes == content
        assert members(tool("cat", "-n", "x.tar", 0).out_bytes) == dict(list(files.items())[:2])


@pytest.mark.parametrize("args, code, named", [
    (["out.shards.json", "nobody"], 3, 'out.shards.json: no sample "nobody"'),
    (["out.shards.json", ""], 3, "no sample"),
    (["out.shards.json", "class0/s0000.png"], 3, '"png"'),
    (["out.shards.json", "class0/s0000", "png"], 3, 'sample "class0/s0000" has no component "png"'),
    (["out-{0..2}.tar", "class0/s000"], 3, '"class0/s000"'),
    (["out-{0..3}.tar", "class0/s0000"], 3, "out-3.tar"),
    (["nothing.shards.json", "x"], 3, "nothing.shards.json"),
    (["-n", "out.shards.json", "30"], 3, "no sample 30 of 30"),
    (["-n", "out-{0..2}.tar", "30"], 3, "no sample 30 of 30"),
    (["-n", "out.shards.json", "18446744073709551615"], 3, "18446744073709551615"),
    (["-n", "out.shards.json", "18446744073709551616"], None, "18446744073709551616"),
    (["-n", "out.shards.json", "99999999999999999999999"], None, "99999999999999999999999"),
    (["-n", "out.shards.json", "1x"], 2, '"1x"'),
    (["-n", "out.shards.json", "+1"], 2, '"+1"'),
    (["-n", "out.shards.json", ""], 2, '""'),
    (["-n", "out.shards.json", "class0/s0000"], 2, '"class0/s0000"'),
    (["-n", "out.shards.json", "--", "-1"], 2, '"-1"'),
    (["out.shards.json"], 2, "SAMPLE"),
    (["out.shards.json", "a", "b", "c"], 2, "SAMPLE"),
])
def test_what_is_not_there_is_told_with_its_name(tool, args, code, named):
    pack_three(tool)
    failed = tool("cat", *args, code=code)
    assert failed.code in (2, 3) and failed.out == ""
    assert named in failed.err


def test_the_first_and_the_last_number(tool):
    pack_three(tool)
    keys = [line["key"] for line in tool("ls", "--json", "out.shards.json").lines]
    for where in ("out.shards.json", "out-{0..2}.tar"):
        for number in (0, 9, 10, 19, 20, 29):
            assert {n[:-4] for n in members(tool("cat", "-n", where, number).out_bytes)} == {keys[number]}


def test_empty_shards_have_no_numbers(tool):
    make_tree("in", samples=2)
    tool("pack", "in", "out-<0..6>.tar")
    for where in ("out.shards.json", "out-{0..6}.tar"):
        got = [set(members(tool("cat", "-n", where, i).out_bytes)) for i in (0, 1)]
        assert got == [{"class0/s0000.jpg", "class0/s0000.txt"}, {"class1/s0001.jpg", "class1/s0001.txt"}]
        assert set(members(tool("cat", where, "class1/s0001").out_bytes)) == got[1]
        tool("cat", "-n", where, "2", code=3)


def test_a_shuffled_set_is_searched_through(tool):
    files = make_tree("in", samples=40)
    tool("pack", "in", "out-<0..4>.tar", "--shuffle", "7")
    for name in list(files)[::9]:
        assert tool("cat", "out.shards.json", name).out_bytes == files[name]


# ---- what does not fit


@pytest.mark.parametrize("where", ["out.shards.json", "out-1.tar", "out-{0..2}.tar"])
def test_cat_of_a_shard_without_an_index_says_which_and_what_to_do(tool, where):
    pack_three(tool)
    os.remove("out-1.tar.sidx")
    key = tool("ls", "-0", "out-1.tar").out.split("\0")[0]
    for args in ([where, key], ["-n", where, "0" if where == "out-1.tar" else "10"]):
        failed = tool("cat", *args, code=3)
        assert "out-1.tar" in failed.err and "index" in failed.err


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("where", ["out.shards.json", "out-{0..2}"])
def test_a_shard_of_another_size_than_its_index_says_is_stale(tool, suffix, where):
    pack_three(tool, suffix)
    where = where if where.endswith("json") else f"{where}.{suffix}"
    key = tool("ls", "-0", f"out-1.{suffix}").out.split("\0")[0]
    write(f"out-1.{suffix}", Path(f"out-1.{suffix}").read_bytes() + bytes(512))
    for args in (["cat", where, key], ["cat", "-n", where, "10"], ["ls", f"out-1.{suffix}"],
                 ["info", f"out-1.{suffix}"]):
        failed = tool(*args, code=1)
        assert "SHARD_ESTALE" in failed.err and f"out-1.{suffix}" in failed.err and "index" in failed.err


@pytest.mark.parametrize("damage, status", [
    (lambda d: d[2048:4096] + d[:2048] + d[4096:], "SHARD_ESTALE"),
    (lambda d: b"X" + d[1:], "SHARD_ECHECKSUM"),
    (lambda d: d[:512] + bytes([d[512] ^ 1]) + d[513:], "SHARD_ECHECKSUM"),
    (lambda d: bytes(len(d)), "SHARD_ESTALE"),
], ids=["samples moved", "header", "payload", "zeros"])
def test_other_bytes_of_the_same_size_are_an_error_not_data(tool, damage, status):
    for key in "ab":
        write(f"in/{key}.bin", key * 300)
        write(f"in/{key}.txt", key * 300)
    tool("pack", "in", "out.tar")
    write("out.tar", damage(Path("out.tar").read_bytes()))
    for args in (["out.tar", "a"], ["out.tar", "a", "bin"], ["out.shards.json", "a.bin"]):
        failed = tool("cat", *args, code=1)
        assert re.search(rf"out\.tar: offset \d+: .*\[{status}\]", failed.err) and failed.out == ""


@pytest.mark.parametrize("order", ["dcba", "bacd"])
def test_components_that_changed_places_are_not_taken_for_each_other(tool, order):
    """Names are compared with the index, not their lengths only: there may be no checksums."""
    contents = {"a": ("x.cls", b"1"), "b": ("x.txt", b"2"), "c": ("x.bin", b"3"), "d": ("x.abc", b"4")}
    make_tar("x.tar", dict(contents[c] for c in "abcd"))
    tool("index", "x.tar", "--no-checksums")
    make_tar("x.tar", dict(contents[c] for c in order))
    for name, content in contents.values():
        result = tool("cat", "x.tar", name, code=None)
        assert result.code == 1 and "SHARD_ESTALE" in result.err or result.out_bytes == content
    assert "SHARD_ESTALE" in tool("cat", "-n", "x.tar", "0", code=1).err


@pytest.mark.parametrize("suffix", ["tar.zst", "tar.gz"])
def test_damage_in_a_compressed_sample_is_an_error_not_data(tool, suffix):
    files = make_tree("in", samples=40, size=20000)
    tool("pack", "in", f"out.{suffix}")
    data = bytearray(Path(f"out.{suffix}").read_bytes())
    data[len(data) // 2] ^= 1
    write(f"out.{suffix}", bytes(data))
    results = [(tool("cat", f"out.{suffix}", name, code=None), content) for name, content in files.items()]
    assert any(r.code == 1 for r, _ in results)
    assert all(r.out_bytes == (content if r.code == 0 else b"") for r, content in results)
    assert all(f"out.{suffix}: offset" in r.err for r, _ in results if r.code)


def test_a_damaged_index_is_told_by_name(tool):
    pack_three(tool)
    os.truncate("out-1.tar.sidx", 100)
    key = tool("ls", "-0", "out-2.tar").out.split("\0")[0]
    assert "out-1.tar.sidx" in tool("cat", "out-{0..2}.tar", key, code=1).err
    tool("cat", "out.shards.json", key)  # does not need that index
    assert "out-1.tar.sidx" in tool("cat", "-n", "out.shards.json", 10, code=1).err


@pytest.mark.parametrize("change, named", [
    (lambda m: m.update(version=2), "version"),
    (lambda m: m.update(format="other"), "format"),
    (lambda m: m.update(samples=31), "shard_samples"),
    (lambda m: m.update(names="../out-{0..2}.tar"), "names"),
    (lambda m: m.update(names=["/etc/passwd", "b", "c"]), "names"),
    (lambda m: m.update(names="out-{0..3}.tar"), "names"),
    (lambda m: m.pop("shard_bytes"), "shard_bytes"),
    (lambda m: m.update(shard_samples=[10, 10, 10.0]), "shard_samples"),
    (lambda m: m.update(shards=2**60), "shard"),
])
def test_a_bad_manifest_is_told_with_the_key(tool, change, named):
    pack_three(tool)
    manifest = json.loads(Path("out.shards.json").read_text())
    change(manifest)
    write("out.shards.json", json.dumps(manifest))
    for verb in (["ls"], ["cat", "-n"], ["info"], ["verify"], ["unpack"]):
        failed = tool(*verb, "out.shards.json", *(["0"] if verb[0] == "cat" else []), code=1)
        assert "out.shards.json" in failed.err and named in failed.err


def test_manifests_stand_alone(tool):
    pack_three(tool)
    assert "alone" in tool("ls", "out.shards.json", "out-0.tar", code=2).err


# ---- how little is read


def reads_of(args, files):
    """What `shardtool ARGS` takes from files: [(file, "read" or "map", bytes)], in order."""
    if not shutil.which("strace"):
        pytest.skip("strace is not here: reads cannot be counted")
    trace = subprocess.run(["strace", "-f", "-y", "-e", "trace=pread64,read,mmap,openat", "-o", "trace",
                            SHARDTOOL, *args], capture_output=True)
    if trace.returncode != 0:
        pytest.skip(f"strace cannot trace here: {trace.stderr.decode()[:200]}")
    found = []
    for line in Path("trace").read_text(errors="replace").splitlines():
        call = re.search(r"(pread64|read|mmap)\((?:NULL, (\d+), [^<]*)?\d+<([^>]*)>.* = (\w+)$", line)
        if not call or os.path.basename(call[3]) not in files:
            continue
        size = int(call[2]) if call[1] == "mmap" else int(call[4])
        if size > 0:  # a read at the end of a file that gives nothing is none
            found.append((os.path.basename(call[3]), "map" if call[1] == "mmap" else "read", size))
    return found


@pytest.mark.parametrize("suffix", ["tar", "tar.zst"])
@pytest.mark.parametrize("args", [["-n", "out.shards.json", "700", "jpg"],
                                  ["out.shards.json", "class1/s0001", "jpg"]], ids=["number", "key"])
def test_one_component_takes_three_reads_of_a_large_set(tool, suffix, args):
    """One of the manifest, one of one index (a map, of which pages are touched), one of one shard.

    Counted are read, pread64 and mmap of manifest, indexes and shards that gave bytes. An index may
    be mapped twice (once to find the sample, once to read it): the second map reads nothing new.
    """
    make_tree("in", samples=1500, size=3000)
    tool("pack", "in", f"out-<0..9>.{suffix}", "-q")
    calls = reads_of(["cat", *args], os.listdir("."))
    reads = [c for c in calls if c[1] == "read"]
    maps = {c for c in calls if c[1] == "map"}
    assert [c[0] for c in reads][0] == "out.shards.json" and len(reads) == 2
    assert re.fullmatch(rf"out-\d\.{suffix}", reads[1][0])
    assert [c[0] for c in maps] == [f"{reads[1][0]}.sidx"]
    frame = 200 << 10  # stored bytes of a frame: a sample of zstd is read with its neighbours
    assert reads[0][2] < 2048 and reads[1][2] < (4096 if suffix == "tar" else frame)


def test_a_whole_sample_is_one_read_of_its_size(tool):
    make_tree("in", samples=300, size=3000)
    tool("pack", "in", "out.tar", "-q")
    calls = reads_of(["cat", "-n", "out.tar", "150"], ["out.tar"])
    assert len(calls) == 1 and calls[0][2] % 512 == 0 and calls[0][2] < 9000


def test_ls_and_dry_looks_do_not_open_shards(tool):
    make_tree("in", samples=300)
    tool("pack", "in", "out-<0..2>.tar", "-q")
    assert reads_of(["ls", "out.shards.json"], [f"out-{i}.tar" for i in range(3)]) == []
    assert reads_of(["info", "--images", "0", "out-{0..2}.tar"], [f"out-{i}.tar" for i in range(3)]) == []
