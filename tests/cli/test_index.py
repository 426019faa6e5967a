# SPDX-License-Identifier: Apache-2.0
"""index: shards by any writer get the index that pack would have written, or an error."""
import gzip
import io
import json
import os
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
import zstandard
from conftest import make_tree, read_files, without_digest, write

CRC_TABLE = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    CRC_TABLE.append(byte)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def make_tar(path, files, format=tarfile.USTAR_FORMAT, extra=()):
    """A tar by Python: files {name: content}, then `extra` TarInfo objects."""
    with tarfile.open(path, "w", format=format) as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
        for member in extra:
            tar.addfile(member)
    return Path(path).read_bytes()


def samples_of(tar_bytes):
    """What `ls --json` should say, without numbers and shard: docs/format/naming.md over tarfile."""
    samples = []
    with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
        for m in tar:
            folder, slash, base = m.name.rpartition("/")
            stem, _, component = base.partition(".")
            reserved = re.fullmatch("__.*__", m.name.split("/")[0])
            if not m.isreg() or not stem or not component or reserved:
                continue
            if not samples or samples[-1]["key"] != folder + slash + stem:
                samples.append({"key": folder + slash + stem, "offset": m.offset, "components": {}})
            samples[-1]["components"][component.lower()] = {
                "offset": m.offset_data, "size": m.size, "crc32c": crc32c(tar.extractfile(m).read())}
    return samples


def listed(tool, shard, **how):
    lines = tool("ls", "--json", shard, **how).lines
    assert [line.pop("number") for line in lines] == list(range(len(lines)))
    assert {line.pop("shard") for line in lines} <= {str(shard)}
    return lines


def payloads(tar_bytes):
    with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
        return {m.name: tar.extractfile(m).read() for m in tar if m.isreg()}


FILES = {f"d{i % 3}/s{i:03d}.{c}": bytes([i]) * (i * 97 % 1500) for i in range(60) for c in ("bin", "cls")}


def zstd_cli(data, *options):
    return subprocess.run(["zstd", "-q", "-c", *options], input=data, capture_output=True, check=True).stdout


def frames(data, *sizes):
    """Zstandard frames of these sizes, the rest in a last one; one frame is empty."""
    out, at, one = b"", 0, zstandard.ZstdCompressor()
    for size in (*sizes, len(data)):
        out += one.compress(data[at:at + size])
        at += size
    return out + one.compress(b"")


CODECS = {
    "plain": ("tar", lambda data: data),
    "zstd one frame": ("tar.zst", lambda data: zstd_cli(data, "-T0", "-9")),
    "zstd through a pipe, no content size": ("tar.zst", lambda data: zstd_cli(data, "--no-check", "-")),
    "zstd frames anywhere": ("tar.zst", lambda data: frames(data, 1, 511, 5000, 1, 30000)),
    "zstd behind a skippable frame": ("tar.zst", lambda d: b"\x50\x2a\x4d\x18\3\0\0\0abc" + frames(d, 9)),
    "gzip": ("tar.gz", gzip.compress),
    "gzip members": ("tar.gz", lambda d: gzip.compress(d[:7777]) + gzip.compress(d[7777:]) + bytes(100)),
    "xz": ("tar.xz", lambda d: subprocess.run(["xz", "-c"], input=d, capture_output=True, check=True).stdout),
}


@pytest.mark.parametrize("codec", CODECS)
def test_a_shard_in_any_compression(tool, codec):
    suffix, compress = CODECS[codec]
    data = make_tar("x.tar", FILES)
    shard = Path(f"s.{suffix}")
    write(shard, compress(data))
    line = tool("index", "--json", shard).json
    assert (line["samples"], line["components"], line["bytes"]) == (60, 120, shard.stat().st_size)
    assert listed(tool, shard) == samples_of(data)
    tool("verify", shard)
    for name in ("d0/s000.bin", "d1/s031.bin", "d2/s059.cls"):
        assert tool("cat", shard, name).out_bytes == FILES[name]


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
def test_indexing_what_pack_wrote_changes_no_byte(tool, suffix):
    make_tree("in", samples=80, size=9000)
    tool("pack", "in", f"out.{suffix}")
    packed = Path(f"out.{suffix}.sidx").read_bytes()
    os.remove(f"out.{suffix}.sidx")
    tool("index", f"out.{suffix}")
    assert Path(f"out.{suffix}.sidx").read_bytes() == packed


# ---- other writers


LONG = {f"{'d' * 60}/{'n' * 80}.jpg": b"1", f"{'d' * 60}/{'n' * 80}.txt": b"22",
        f"{'d' * 120}/{'n' * 120}.jpg": b"333", "a.jpg": b""}
FOREIGN = {"caf\u00e9/\u732b.jpg": b"1", "caf\u00e9/\u732b.txt": b"2", "with space/a b.JPG": b"4"}


def special(name, kind, target=""):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("names", ["plain", "long", "foreign"])
def test_tars_by_python(tool, format, names):
    files = {"plain": FILES, "long": LONG, "foreign": FOREIGN}[names]
    if format == tarfile.USTAR_FORMAT and names == "long":
        files = {n: c for n, c in files.items() if len(n) < 200}
    extra = [special("dir", tarfile.DIRTYPE), special("sym.jpg", tarfile.SYMTYPE, "a.jpg"),
             special("hard.jpg", tarfile.LNKTYPE, list(files)[-1]), special("pipe.jpg", tarfile.FIFOTYPE)]
    data = make_tar("x.tar", files, format, extra)
    tool("index", "x.tar")
    assert listed(tool, "x.tar") == samples_of(data)
    tool("verify", "x.tar")
    last = samples_of(data)[-1]
    component = next(iter(last["components"]))
    assert tool("cat", "x.tar", last["key"], component).out_bytes == list(payloads(data).values())[-1]


def test_what_is_no_component_stands_between_and_is_passed_over(tool):
    files = {"a.jpg": b"1", "README": b"2", "a.txt": b"3", "__meta__/x.json": b"4", ".hidden": b"5",
             "b.x.Y": b"6", "c.jpg": b"7", "a.jpg2": b"8"}
    data = make_tar("x.tar", files)
    tool("index", "x.tar")
    assert [(s["key"], list(s["components"])) for s in listed(tool, "x.tar")] == [
        ("a", ["jpg", "txt"]), ("b", ["x.y"]), ("c", ["jpg"]), ("a", ["jpg2"])]
    assert listed(tool, "x.tar") == samples_of(data)
    tool("verify", "x.tar")
    with tarfile.open(fileobj=io.BytesIO(tool("cat", "-n", "x.tar", 0).out_bytes)) as small:
        assert small.getnames() == ["a.jpg", "a.txt"]


@pytest.mark.parametrize("format", ["v7", "oldgnu", "gnu", "ustar", "posix"])
def test_tars_by_gnu_tar(tool, format):
    files = make_tree("in", samples=12, size=3000)
    os.symlink("s0000.jpg", "in/class0/link.jpg")
    os.link("in/class0/s0000.jpg", "in/class0/zhard.jpg")
    if format not in ("v7", "ustar"):
        files |= {"x" * 150 + ".jpg": b"long"}
        write("in/" + "x" * 150 + ".jpg", b"long")
    subprocess.run(["tar", f"--format={format}", "--sort=name", "-cf", "x.tar", "-C", "in", "."], check=True)
    data = Path("x.tar").read_bytes()
    tool("index", "x.tar")
    assert listed(tool, "x.tar") == samples_of(data)
    tool("verify", "x.tar")
    content = {f"./{name}" for name in files}
    assert content <= {f"{s['key']}.{c}" for s in listed(tool, "x.tar") for c in s["components"]}


@pytest.mark.parametrize("compress", [False, True])
def test_shards_by_webdataset(tool, compress):
    webdataset = pytest.importorskip("webdataset")
    name = "w.tar.gz" if compress else "w.tar"
    with webdataset.TarWriter(name) as writer:
        for i in range(40):
            writer.write({"__key__": f"train/{i:05d}", "cls": i, "json": {"i": i}, "txt": f"caf\u00e9 {i}"})
    tool("index", name)
    lines = listed(tool, name)
    assert [s["key"] for s in lines] == [f"train/{i:05d}" for i in range(40)]
    assert tool("cat", name, "train/00039.txt").out == "caf\u00e9 39"
    assert tool("cat", name, "train/00007", "json").json == {"i": 7}
    tool("verify", name)


def test_a_component_that_stands_twice_is_an_error(tool):
    make_tar("x.tar", {"a.jpg": b"1", "a.txt": b"2", "a.JPG": b"3"})
    failed = tool("index", "x.tar", code=1)
    assert "x.tar" in failed.err and '"jpg"' in failed.err and '"a"' in failed.err
    assert not Path("x.tar.sidx").exists()


@pytest.mark.parametrize("zeros", [1024, 10240])
def test_a_shard_without_samples(tool, zeros):
    write("x.tar", bytes(zeros))
    assert tool("index", "x.tar", "--json").json["samples"] == 0
    assert tool("ls", "x.tar").out == ""
    tool("verify", "x.tar")


# ---- several at once, again, elsewhere


def test_many_shards_at_once_get_the_same_indexes(tool):
    names = [f"s-{i:02d}.tar" for i in range(24)]
    for i, name in enumerate(names):
        make_tar(name, {f"{i}/{n}": c for n, c in list(FILES.items())[:i + 2]})
    tool("index", "s-{00..23}.tar", "-j", "1")
    alone = read_files(".", "*.sidx")
    for name in alone:
        os.remove(name)
    lines = tool("index", "--json", *names, "-j", "8").lines
    assert sorted(line["shard"] for line in lines) == names
    assert read_files(".", "*.sidx") == alone and len(alone) == 24


def test_one_bad_shard_does_not_keep_the_others_from_their_indexes(tool):
    for i in range(4):
        make_tar(f"s-{i}.tar", FILES)
    os.truncate("s-2.tar", 5000)
    failed = tool("index", "s-<0..3>.tar", "--manifest", "s.shards.json", code=1)
    assert "s-2.tar" in failed.err and "s-1.tar" not in failed.err
    assert sorted(p.name for p in Path(".").glob("*.sidx")) == ["s-0.tar.sidx", "s-1.tar.sidx", "s-3.tar.sidx"]
    assert not Path("s.shards.json").exists()


def test_missing_makes_only_the_indexes_that_are_missing_or_unfit(tool):
    for i in range(5):
        make_tar(f"s-{i}.tar", FILES)
    tool("index", "s-<0..4>.tar")
    fresh = read_files(".", "*.sidx")
    os.remove("s-1.tar.sidx")
    os.truncate("s-2.tar.sidx", 200)
    write("s-3.tar", Path("s-3.tar").read_bytes() + bytes(512))
    before = {i: os.stat(f"s-{i}.tar.sidx").st_ino for i in (0, 4)}
    result = tool("index", "s-<0..4>.tar", "--missing", "--json", "-j", "1").lines
    assert [line["kept"] for line in result] == [True, False, False, False, True]
    assert {i: os.stat(f"s-{i}.tar.sidx").st_ino for i in (0, 4)} == before
    tool("verify", "s-<0..4>.tar")
    fresh.pop("s-3.tar.sidx")
    now = read_files(".", "*.sidx")
    assert {name: now[name] for name in fresh} == fresh


def test_indexing_again_replaces_a_stale_index(tool):
    make_tar("x.tar", FILES)
    tool("index", "x.tar")
    data = make_tar("x.tar", {"other.txt": b"x"})
    tool("index", "x.tar")
    assert listed(tool, "x.tar") == samples_of(data)


def test_an_index_to_a_file_or_standard_output(tool):
    data = make_tar("x.tar", FILES)
    tool("index", "x.tar")
    index = Path("x.tar.sidx").read_bytes()
    tool("index", "x.tar", "-o", "elsewhere")
    assert Path("elsewhere").read_bytes() == index
    assert tool("index", "x.tar", "-o", "-").out_bytes == index
    assert tool("index", "-", "-o", "-", stdin=data).out_bytes == index
    assert "--output" in tool("index", "-", stdin=data, code=2).err
    assert "--output" in tool("index", "x.tar", "x.tar", "-o", "f", code=2).err


@pytest.mark.parametrize("option", [["--manifest", "m.shards.json"], ["--wids", "w.json"], ["--dali"], ["--json"]])
def test_what_goes_beside_the_index_is_not_forgotten_with_output(tool, option):
    make_tar("x.tar", FILES)
    result = tool("index", "x.tar", "-o", "elsewhere.sidx", *option, code=None)
    made = {"m.shards.json", "w.json", "x.idx"} & set(os.listdir("."))
    assert result.code == 2 or made or result.out, "option was ignored without a word"


def test_without_checksums_all_else_is_the_same(tool):
    data = make_tar("x.tar", FILES)
    tool("index", "x.tar", "--no-checksums")
    expected = samples_of(data)
    for sample in expected:
        for component in sample["components"].values():
            del component["crc32c"]
    assert listed(tool, "x.tar") == expected
    assert tool("cat", "x.tar", "d0/s003.bin").out_bytes == FILES["d0/s003.bin"]
    tool("verify", "x.tar")


def test_a_manifest_of_indexed_shards_is_that_of_pack(tool):
    make_tree("in", samples=30)
    tool("pack", "in", "out-<00..03>.tar")
    packed = without_digest(Path("out.shards.json").read_bytes())
    tool("index", "out-{00..03}.tar", "--manifest", "again.shards.json")
    assert Path("again.shards.json").read_bytes() == packed


def test_a_manifest_needs_checksums_and_shards_below_its_folder(tool):
    os.mkdir("sub")
    make_tar("x.tar", FILES)
    make_tar("sub/y.tar", FILES)
    assert "x.tar" in tool("index", "x.tar", "--no-checksums", "--manifest", "m.shards.json", code=1).err
    assert "x.tar" in tool("index", "x.tar", "--manifest", "sub/m.shards.json", code=2).err
    assert not Path("m.shards.json").exists()
    tool("index", "x.tar", "sub/y.tar", "--manifest", "m.shards.json")
    assert json.loads(Path("m.shards.json").read_text())["names"] == ["x.tar", "sub/y.tar"]


# ---- wids


def test_a_wids_index_has_names_counts_and_sizes(tool):
    make_tree("in", samples=30)
    tool("pack", "in", "out-<0..2>.tar")
    tool("index", "out-<0..2>.tar", "--wids", "w.json")
    shards = json.loads(Path("w.json").read_text())
    assert shards["__kind__"] == "wids-shard-index-v1" and shards["wids_version"] == 1
    assert [s["url"] for s in shards["shardlist"]] == ["out-0.tar", "out-1.tar", "out-2.tar"]
    assert [s["nsamples"] for s in shards["shardlist"]] == [10, 10, 10]
    assert [s["filesize"] for s in shards["shardlist"]] == [
        os.path.getsize(s["url"]) for s in shards["shardlist"]]


def test_urls_of_a_wids_index_are_relative_to_its_folder(tool):
    """wids joins them to the folder of the .json (ShardListDataset.base), wherever it is read from."""
    make_tree("in", samples=9)
    os.mkdir("sub")
    tool("pack", "in", "sub/out-<0..2>.tar")
    tool("index", "sub/out-<0..2>.tar", "--wids", "sub/w.json")
    urls = [s["url"] for s in json.loads(Path("sub/w.json").read_text())["shardlist"]]
    assert [os.path.normpath(f"sub/{url}") for url in urls] == [f"sub/out-{i}.tar" for i in range(3)]


def test_a_wids_index_that_cannot_be_written_is_an_error(tool):
    make_tar("x.tar", FILES)
    assert "nowhere/w.json" in tool("index", "x.tar", "--wids", "nowhere/w.json", code=3).err


# ---- DALI


def wds2idx(tar_bytes):
    """What tools/wds2idx.py of NVIDIA DALI writes (v1.2), from its rules."""
    bundles, last = [], None
    with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
        for m in tar:
            if m.type != tarfile.REGTYPE:
                continue
            dot = m.name.find(".", m.name.rfind("/") + 1)
            base, extension = m.name[:dot], m.name[dot + 1:]
            if not base or base.endswith("/"):
                continue
            if base != last:
                bundles.append([])
            bundles[-1].append(f"{extension} {m.offset_data} {m.size} {m.name}")
            last = base
    return f"v1.2 {len(bundles)}\n" + "".join(" ".join(b) + "\n" for b in bundles)


@pytest.mark.parametrize("files", [FILES, LONG, {"caf\u00e9.jpg": b"1"}], ids=["plain", "long names", "not ASCII"])
def test_an_index_for_dali_is_that_of_its_own_tool(tool, files):
    data = make_tar("s-0.x.tar", files, tarfile.GNU_FORMAT)
    tool("index", "--dali", "s-0.x.tar")
    assert Path("s-0.idx").read_text() == wds2idx(data)


def test_components_in_an_index_for_dali_are_in_lower_case(tool):
    """Readers ask for "jpg"; webdataset and we find a.JPG by that name, and so shall DALI."""
    make_tar("x.tar", {"a.JPG": b"1", "a.x.Y": b"2"})
    tool("index", "--dali", "x.tar")
    assert Path("x.idx").read_text() == "v1.2 1\njpg 512 1 a.jpg x.y 1536 1 a.x.y\n"


def test_dali_indexes_beside_shards_in_other_folders(tool):
    for folder in ("a.b", "c"):
        os.mkdir(folder)
        make_tar(f"{folder}/x.tar", FILES)
    tool("index", "--dali", "a.b/x.tar", "c/x.tar")
    assert Path("a.b/x.idx").read_text() == Path("c/x.idx").read_text() == wds2idx(Path("c/x.tar").read_bytes())


@pytest.mark.parametrize("make, status", [
    (lambda: write("x.tar.gz", gzip.compress(make_tar("x.tar", FILES))), "SHARD_EUNSUPPORTED"),
    (lambda: make_tar("x.tar.gz", {"a b.jpg": b""}), "SHARD_EDATA"),
    (lambda: make_tar("x.tar.gz", {}), "SHARD_EDATA"),
], ids=["compressed", "space in a name", "no samples"])
def test_what_dali_cannot_read_gets_no_index_for_it(tool, make, status):
    make()
    failed = tool("index", "--dali", "x.tar.gz", code=1)
    assert "x.idx" in failed.err and status in failed.err
    assert not Path("x.idx").exists()


def test_shards_whose_dali_indexes_would_share_a_name_are_refused(tool):
    make_tar("x.a.tar", {"a.txt": b"1"})
    make_tar("x.b.tar", {"b.txt": b"2"})
    failed = tool("index", "--dali", "x.a.tar", "x.b.tar", code=None)
    assert failed.code != 0 and "x.idx" in failed.err


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("files", [FILES, LONG, {"a.JPG": b"1", "a.txt": b"2"}, FOREIGN],
                         ids=["plain", "long names", "upper case", "foreign names"])
def test_an_index_from_dali_is_that_of_reading_the_headers_or_refused(tool, files, format):
    """Names in headers before a member's own (pax, GNU) cannot be seen from DALI's offsets."""
    if format == tarfile.USTAR_FORMAT:
        files = {n: c for n, c in files.items() if len(n) < 200}
    files = {n.replace(" ", "_"): c for n, c in files.items()}
    data = make_tar("x.tar", files, format)
    write("x.idx", wds2idx(data))
    tool("index", "x.tar", "--no-checksums", "-o", "headers.sidx")
    result = tool("index", "--from-dali", "x.tar", code=None)
    if format != tarfile.USTAR_FORMAT and files.keys() & (LONG | FOREIGN).keys() and result.code == 1:
        assert "x.tar" in result.err or "x.idx" in result.err
        return
    assert result.code == 0, result.err
    assert Path("x.tar.sidx").read_bytes() == Path("headers.sidx").read_bytes()
    tool("verify", "x.tar")


@pytest.mark.parametrize("old, new, named", [
    ("v1.2 60", "v1.1 60", "v1.1"),
    ("v1.2 60", "v1.2 61", "lines"),
    ("v1.2 60", "hello", "not a DALI index"),
    ("v1.2 60", "v1.2 -1", "number of samples"),
    ("bin 512 0 d0/s000.bin", "bin 1024 0 d0/s000.bin", "offset"),
    ("bin 512 0 d0/s000.bin", "bin 513 0 d0/s000.bin", "offset"),
    ("bin 512 0 d0/s000.bin", "bin 0 0 d0/s000.bin", "offset"),
    ("bin 512 0 d0/s000.bin", "bin 512 1 d0/s000.bin", "size"),
    ("bin 512 0 d0/s000.bin", "bin 512 0 d0/s001.bin", "name"),
    ("bin 512 0 d0/s000.bin", "bin 512 0 d0/s000", "d0/s000"),
    ("bin 512 0 d0/s000.bin", "bin 512 0", "x.idx"),
    ("bin 512 0 d0/s000.bin", "bin 51200000 0 d0/s000.bin", "offset"),
    ("bin 512 0 d0/s000.bin", f"bin {2**63} 0 d0/s000.bin", "x.idx"),
    ("d0/s000.cls", "d0/s000.cls bin 512 0 d0/s000.bin", "name"),
])
def test_a_wrong_dali_index_is_an_error_that_says_what(tool, old, new, named):
    text = wds2idx(make_tar("x.tar", FILES))
    assert old in text
    write("x.idx", text.replace(old, new, 1))
    failed = tool("index", "--from-dali", "x.tar", code=1)
    assert re.search(r"x\.(idx|tar)", failed.err) and named in failed.err
    assert not Path("x.tar.sidx").exists()


def test_a_dali_index_that_is_not_there_or_of_a_compressed_shard(tool):
    data = make_tar("x.tar", FILES)
    assert "x.idx" in tool("index", "--from-dali", "x.tar", code=3).err
    write("y.tar.zst", zstd_cli(data))
    write("y.idx", wds2idx(data))
    assert "y.tar.zst" in tool("index", "--from-dali", "y.tar.zst", code=1).err


# ---- what is cut off or damaged


def cut_points():
    """(name, bytes kept) of a GNU tar with a long name, of 3 members and 1024 zeros."""
    long = "n" * 120 + ".txt"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name, size in (("a.bin", 1000), ("b.bin", 700), (long, 3)):
            member = tarfile.TarInfo(name)
            member.size = size
            tar.addfile(member, io.BytesIO(b"x" * size))
    data = buffer.getvalue()
    end = len(data.rstrip(b"\0")) + 511 & ~511
    return data[:end] + bytes(1024), {
        "one byte": 1, "inside the first header": 300, "behind the first header": 512,
        "inside a payload": 1000, "inside the padding": 1530, "between members": 1536,
        "inside the second header": 2000, "behind the second member": 3072,
        "inside a long name's header": 3300, "inside a long name": 3600, "behind a long name": 4096,
        "inside the last header": 4200, "before the end mark": end, "inside the end mark's first half": end + 100,
        "inside the end mark": end + 512, "one byte before the end": end + 1023}


CUTS = cut_points()[1]


@pytest.mark.parametrize("where", CUTS)
def test_a_tar_that_is_cut_off_anywhere_has_no_index(tool, where):
    data, cuts = cut_points()
    for checksums in ([], ["--no-checksums"]):
        write("x.tar", data[:cuts[where]])
        failed = tool("index", "x.tar", *checksums, code=1)
        assert re.search(r"x\.tar: offset \d+: .*\[SHARD_ETRUNCATED\]", failed.err), failed.err
        assert int(re.search(r"offset (\d+)", failed.err)[1]) <= cuts[where]
        assert os.listdir(".") == ["x.tar"]


def test_the_end_mark_may_be_missing_only_where_a_member_ends(tool):
    data, cuts = cut_points()
    for where, size in cuts.items():
        write("x.tar", data[:size])
        at_edge = where in ("between members", "behind the second member", "before the end mark")
        result = tool("index", "x.tar", "--missing-end", code=None)
        assert result.code == (0 if at_edge or where == "inside the end mark" else 1), (where, result.err)


@pytest.mark.parametrize("suffix", ["tar.zst", "tar.gz", "tar.xz"])
def test_a_compressed_shard_that_is_cut_off_anywhere_has_no_index(tool, suffix):
    make_tree("in", samples=40)
    if suffix == "tar.xz":
        write("x.tar.xz", CODECS["xz"][1](make_tar("x.tar", FILES)))
    else:
        tool("pack", "in", f"x.{suffix}")
        os.remove(f"x.{suffix}.sidx")
    whole = Path(f"x.{suffix}").read_bytes()
    size = len(whole)
    for kept in (0, 1, 5, 11, 100, size // 3, size // 2, size - 200, size - 40, size - 17, size - 9, size - 1):
        write(f"x.{suffix}", whole[:kept])
        failed = tool("index", f"x.{suffix}", code=1)
        assert f"x.{suffix}: " in failed.err, (kept, failed.err)
        assert suffix == "tar.xz" or ": offset " in failed.err, (kept, failed.err)
        assert not Path(f"x.{suffix}.sidx").exists()


def checksummed(block):
    block = bytearray(block)
    block[148:156] = b"        "
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def with_type(kind, payload):
    member = special("a.txt", kind)
    member.size = len(payload)
    return checksummed(member.tobuf(tarfile.GNU_FORMAT)) + payload + bytes(-len(payload) % 512)


@pytest.mark.parametrize("damage, offset, why", [
    (lambda d: d[:1024] + bytes(512) + d[1024:], 1024, "zeros"),
    (lambda d: d[:1024] + b"X" + d[1025:], 1024, "checksum"),
    (lambda d: d + d, None, "end mark"),
    (lambda d: d + b"x", None, "end mark"),
    (lambda d: with_type(b"5", b"x") + d, 0, "size"),
    (lambda d: with_type(b"S", b"x") + d, 0, "sparse"),
    (lambda d: with_type(b"g", b"15 path=a.jpgx\n") + d, None, "global"),
    (lambda d: with_type(b"x", b"15 path=a.jpgx\n") * 2 + d, 0, "two pax"),
    (lambda d: with_type(b"L", b"a.jpg\0") * 2 + d, 0, "two GNU"),
    (lambda d: with_type(b"x", b"99 path=a.jpgx\n") + d, None, "pax"),
    (lambda d: b"\x28\xb5\x2f\xfd" + d, None, "zstd"),
    (lambda d: b"hello " * 100, 0, "tar header"),
], ids=["a block of zeros", "header", "joined", "data behind", "directory with a size", "sparse",
        "global path", "two pax headers", "two long names", "pax length", "no zstd", "no tar"])
def test_what_readers_take_in_different_ways_is_refused(tool, damage, offset, why):
    write("x.tar", damage(make_tar("y.tar", FILES)))
    failed = tool("index", "x.tar", code=1)
    assert "x.tar" in failed.err and why in failed.err and "offset" in failed.err
    assert offset is None or f"offset {offset}:" in failed.err
    assert not Path("x.tar.sidx").exists()


def test_shards_that_are_not_there_or_no_files(tool):
    os.mkdir("folder.tar")
    assert "nowhere.tar" in tool("index", "nowhere.tar", code=3).err
    assert "folder.tar" in tool("index", "folder.tar", code=None).err
    assert "SHARD" in tool("index", code=2).err
    write("empty.tar", b"")
    assert "empty" in tool("index", "empty.tar", code=1).err
    assert sorted(os.listdir(".")) == ["empty.tar", "folder.tar"]


def test_an_index_beside_a_read_only_shard_cannot_be_written(tool):
    make_tar("x.tar", FILES)
    os.mkdir("x.tar.sidx")
    failed = tool("index", "x.tar", code=3)
    assert "x.tar.sidx" in failed.err
    assert sorted(os.listdir(".")) == ["x.tar", "x.tar.sidx"]


def test_errors_as_json_have_a_code_and_an_offset(tool):
    write("x.tar", make_tar("y.tar", FILES)[:5000])
    error = json.loads(tool("index", "x.tar", "--json", code=1).err)
    assert error["level"] == "error" and error["verb"] == "index" and error["url"] == "x.tar"
    assert error["code"] == "SHARD_ETRUNCATED" and 0 < error["offset"] <= 5000


def test_the_hash_in_the_manifest_is_that_of_the_stored_shard(tool):
    xxhash = pytest.importorskip("xxhash")
    write("x.tar.zst", zstd_cli(make_tar("y.tar", FILES)))
    tool("index", "x.tar.zst", "--manifest", "m.shards.json")
    manifest = json.loads(Path("m.shards.json").read_text())
    assert manifest["shard_xxh3"] == [xxhash.xxh3_128_hexdigest(Path("x.tar.zst").read_bytes())]
    assert manifest["samples"] == 60 and manifest["bytes"] == Path("x.tar.zst").stat().st_size
