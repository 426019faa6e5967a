# SPDX-License-Identifier: Apache-2.0
"""shardtool and a reader written from docs/format/ alone see the same, and refuse the same."""
import gzip
import io
import json
import os
import random
import struct
import tarfile
import zlib
from pathlib import Path

import pytest
import xxhash
import zstandard

import second_reader as second
from conftest import make_tree, write

BLOCK = second.BLOCK
END = bytes(1024)
SUFFIXES = [".tar", ".tar.zst", ".tar.gz"]
MIB = 1 << 20


# Trees: each writes files below "tree" and returns {path: content}.

def write_tree(files):
    for path, content in files.items():
        write(Path("tree", os.fsdecode(path)), content)
    return files


def uniform(samples=30):
    files = make_tree("tree", samples)
    return {path.encode(): content for path, content in files.items()}


def mixed(samples=30):
    files = uniform(samples)
    for path in list(files)[3::7]:
        os.remove(Path("tree", os.fsdecode(path)))
        del files[path]
    extra = {b"class0/s0000.seg.png": b"mask", b"class2/only.json": b"{}", b"class9/none.txt": b""}
    return {**files, **write_tree(extra)}


def long_paths():
    """Each way of writing a path (tar.md, "Written"), at its borders."""
    lengths = [(0, 100), (0, 101), (155, 100), (155, 101), (156, 99), (100, 5), (200, 200)]
    paths = [b"d" * folder + b"/" * (folder > 0) + b"n" * (name - 4) + b".jpg"
             for folder, name in lengths]
    paths += [b"a/" * 60 + b"deep.jpg", b"b" * 90 + b"/" + b"c" * 60 + b"/" + b"e" * 60 + b".jpg"]
    return write_tree({path: b"%d bytes" % len(path) for path in paths})


def non_ascii():
    paths = ["ä/ö.jpg", "ä/ö.txt", "日本/語.jpg", "日本/語.txt", 'q"uo\\te.jpg', 'q"uo\\te.txt']
    latin = {b"x/\xe4\xff.jpg": b"not UTF-8", b"x/\xe4\xff.txt": b"this neither"}
    return write_tree({**{path.encode(): path.encode() for path in paths}, **latin})


def large():
    rng = random.Random(5)
    sizes = {b"a/big.bin": 9 * MIB, b"a/big.txt": 3, b"a/some.bin": 200_000, b"b/some.bin": 70_000}
    return write_tree({path: rng.randbytes(size) for path, size in sizes.items()})


# What both see of one shard

def decompress(shard):
    stored = Path(shard).read_bytes()
    if shard.endswith(".zst"):
        reader = zstandard.ZstdDecompressor().stream_reader(stored, read_across_frames=True)
        return reader.read()
    return gzip.decompress(stored) if shard.endswith(".gz") else stored


def index_of(shard):
    return second.read_index(Path(shard + ".sidx").read_bytes())


def as_text(name):
    return name.decode("utf-8", "backslashreplace")


def as_listed(shard, number, sample):
    """A sample in the words of `ls --json`."""
    components = {}
    for name, offset, size, crc in sample.components:
        sums = {"offset": offset, "size": size, "crc32c": crc}
        components[as_text(name)] = {key: value for key, value in sums.items() if value is not None}
    return {"number": number, "key": as_text(sample.key), "shard": shard,
            "offset": sample.first_offset, "components": components}


def member_as_listed(member):
    return {"path": as_text(member.path), "kind": member.kind, "offset": member.header_offset,
            "payload_offset": member.payload_offset, "size": member.size}


def assert_header_fits(shard, index, tar):
    codec = {".tar": 0, ".zst": 1, ".gz": 2}[Path(shard).suffix]
    rows = sum(len(sample.components) for sample in index.samples)
    keys = [sample.key for sample in index.samples]
    expected = {"samples": len(keys), "rows": rows, "codec": codec, "tar_size": len(tar),
                "shard_size": os.path.getsize(shard), "flags": keys == sorted(set(keys))}
    assert {key: index.header[key] for key in expected} == expected


def assert_agree(tool, shard, missing_end=False):
    """Tar, index and `ls` say the same of a shard; returns its tar."""
    tar, index = decompress(shard), index_of(shard)
    assert index.samples == second.samples_of_tar(tar, missing_end=missing_end)
    assert index.hash == xxhash.xxh3_128_digest(Path(shard).read_bytes())
    assert_header_fits(shard, index, tar)
    listed = [as_listed(shard, number, sample) for number, sample in enumerate(index.samples)]
    assert tool("ls", "--json", shard).lines == listed
    return tar


def assert_members_agree(tool, shard, tar):
    members = [member_as_listed(member) for member in second.read_tar(tar)]
    assert tool("ls", "--members", "--json", shard).lines == members


def component_sums(indexes):
    sums = {}
    for component in (c for index in indexes for s in index.samples for c in s.components):
        count, size = sums.get(component.name, (0, 0))
        sums[component.name] = count + 1, size + component.size
    return {as_text(name): {"count": count, "bytes": size}
            for name, (count, size) in sorted(sums.items())}


def assert_manifest_fits(manifest):
    names, indexes = manifest["names"], [index_of(name) for name in manifest["names"]]
    assert manifest["shard_samples"] == [len(index.samples) for index in indexes]
    assert manifest["shard_bytes"] == [os.path.getsize(name) for name in names]
    assert manifest["shard_xxh3"] == [index.hash.hex() for index in indexes]
    assert manifest["components"] == component_sums(indexes)
    if "first_keys" in manifest:
        assert manifest["first_keys"] == [as_text(index.samples[0].key) for index in indexes]
        assert manifest["last_key"] == as_text(indexes[-1].samples[-1].key)


def pack(tool, suffix, *options):
    tool("pack", "tree", "out-{0..2}" + suffix, *options)
    return second.read_manifest(Path("out.shards.json").read_bytes())


def payloads(tar):
    return {member.path: member.payload for member in second.read_tar(tar)}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("tree", [uniform, mixed, long_paths, non_ascii, large])
def test_packed_shards_are_read_alike(tool, tree, suffix):
    files = tree()
    manifest = pack(tool, suffix)
    assert_manifest_fits(manifest)
    found = {}
    for shard in manifest["names"]:
        tar = assert_agree(tool, shard)
        found.update(payloads(tar))
    assert found == files


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("options", [("--shuffle", 7), ("--label-from", "dir")])
def test_shuffled_and_labelled_shards_are_read_alike(tool, suffix, options):
    uniform()
    manifest = pack(tool, suffix, *options)
    assert_manifest_fits(manifest)
    assert ("first_keys" in manifest) == (options[0] != "--shuffle")
    assert ("cls" in manifest["components"]) == (options[0] == "--label-from")
    for shard in manifest["names"]:
        assert_members_agree(tool, shard, assert_agree(tool, shard))


def test_a_manifest_lists_classes_and_skipped_files(tool):
    uniform()
    write("tree/class0/lonely.jpg", "no text")
    manifest = pack(tool, ".tar", "--label-from", "dir", "--require", "txt", "--missing", "skip")
    assert manifest["classes"] == ["class0", "class1", "class2"]
    assert [entry["name"] for entry in manifest["skipped"]] == ["class0/lonely"]


def test_manifests_of_parts_merge_into_that_of_the_whole(tool):
    uniform()
    for part in (1, 2):
        tool("pack", "tree", "out-{0..2}.tar", "--part", f"{part}/2")
    parts = sorted(Path().glob("out*.shards.json"))
    read = [second.read_manifest(path.read_bytes()) for path in parts]
    assert [(manifest["part"], manifest["parts"]) for manifest in read] == [(1, 2), (2, 2)]
    tool("merge", "whole.shards.json", *parts)
    assert_manifest_fits(second.read_manifest(Path("whole.shards.json").read_bytes()))


# Bytes as tar.md, "Written", gives them

def padded(payload):
    return payload + bytes(-len(payload) % BLOCK)


def header(path, size, letter=b"0", magic=b"ustar\x0000", prefix=b"", fields=(), signed=False):
    """A header block; `fields` are (offset, bytes) to put in before the checksum is made."""
    number = b"%011o\0" % size if isinstance(size, int) else size
    plain = [(0, path), (100, b"0000644\0" + b"0000000\0" * 2), (124, number),
             (136, b"00000000000\0"), (148, b" " * 8), (156, letter), (257, magic), (345, prefix)]
    devices = [(329, b"0000000\0" * 2)] if magic.startswith(b"ustar\0") else []
    block = bytearray(BLOCK)
    for offset, content in plain + devices + list(fields):
        block[offset:offset + len(content)] = content
    total = sum(block) - (256 * sum(byte > 127 for byte in block) if signed else 0)
    block[148:156] = b"%06o\0 " % total
    return bytes(block)


def member(path=b"a/1.jpg", payload=b"abc", letter=b"0", **more):
    return header(path, len(payload), letter, **more) + padded(payload)


GNU = b"ustar  \0"


def long_name(path, letter=b"L"):
    return member(b"././@LongLink", path + b"\0", letter, magic=GNU)


def written_member(path, payload):
    if len(path) <= 100:
        return member(path, payload)
    for cut in (i for i, byte in enumerate(path) if byte == ord("/")):
        if cut <= 155 and 1 <= len(path) - cut - 1 <= 100:
            return member(path[cut + 1:], payload, prefix=path[:cut])
    return long_name(path) + member(path[:100], payload, magic=GNU)


@pytest.mark.parametrize("tree", [uniform, mixed, long_paths, non_ascii])
def test_a_packed_tar_has_exactly_the_bytes_of_tar_md(tool, tree):
    files = tree()
    tool("pack", "tree", "one-{0..0}.tar")
    paths = sorted(files, key=second.split_name)
    expected = b"".join(written_member(path, files[path]) for path in paths) + END
    assert Path("one-0.tar").read_bytes() == expected


# Compression (tar-zst.md)

def frames_of(shard):
    """[(parameters, content)] of each frame that the seek table lists."""
    stored, at, frames = Path(shard).read_bytes(), 0, []
    for size, content_size in second.read_seek_table(stored):
        frame = stored[at:at + size]
        frames.append((zstandard.get_frame_parameters(frame),
                       zstandard.ZstdDecompressor().decompress(frame)))
        assert len(frames[-1][1]) == content_size
        at += size
    return frames


@pytest.mark.parametrize("tree", [uniform, large])
def test_the_seek_table_is_the_frame_map_of_the_index(tool, tree):
    tree()
    for shard in pack(tool, ".tar.zst")["names"]:
        frames = second.read_seek_table(Path(shard).read_bytes())
        assert index_of(shard).frames == second.frame_offsets(frames)


@pytest.mark.parametrize("tree", [uniform, large])
def test_zstd_frames_are_as_the_page_says(tool, tree):
    tree()
    for shard in pack(tool, ".tar.zst")["names"]:
        frames = frames_of(shard)
        for parameters, content in frames:
            assert parameters.content_size == len(content) <= 8 * MIB
            assert parameters.has_checksum and parameters.dict_id == 0
            assert parameters.window_size <= 8 * MIB
        assert frames[-1][1].endswith(END)


def test_frames_begin_where_samples_do_unless_one_is_large(tool):
    large()
    begins, samples = set(), set()
    for shard in pack(tool, ".tar.zst")["names"]:
        begins |= {(shard, tar) for _, tar in index_of(shard).frames[:-2]}
        samples |= {(shard, sample.first_offset) for sample in index_of(shard).samples}
    assert {offset for _, offset in begins - samples} == {8 * MIB}


def test_a_gzip_shard_is_one_member_without_name_and_time(tool):
    uniform()
    for shard in pack(tool, ".tar.gz")["names"]:
        stored = Path(shard).read_bytes()
        assert stored[:8] == b"\x1f\x8b\x08" + bytes(5)
        inflate = zlib.decompressobj(wbits=31)
        inflate.decompress(stored)
        assert inflate.eof and not inflate.unused_data


def test_shards_of_other_zstd_writers_get_a_frame_map(tool):
    tar = member(b"a/1.jpg") + member(b"a/2.jpg") + END
    compressor = zstandard.ZstdCompressor()
    parts = [compressor.compress(part) for part in (tar[:700], b"", tar[700:])]
    write("other.tar.zst", b"".join(parts))
    tool("index", "other.tar.zst")
    assert_agree(tool, "other.tar.zst")
    ends = index_of("other.tar.zst").frames
    assert (ends[0], ends[-1]) == ((0, 0), (sum(map(len, parts)), len(tar)))


# Shards by other writers

def foreign_members(long_names):
    """(name, type, content) of whatever other writers put into tars."""
    yield from [("dir/", tarfile.DIRTYPE, b""), ("dir/01.JPG", tarfile.REGTYPE, b"x" * 700),
                ("dir/link.jpg", tarfile.SYMTYPE, b""), ("dir/hard.jpg", tarfile.LNKTYPE, b""),
                ("dir/01.seg.PNG", tarfile.AREGTYPE, b""), ("README", tarfile.REGTYPE, b"read"),
                ("dir/.hidden.jpg", tarfile.REGTYPE, b"h"), ("dir/01.cls", tarfile.CONTTYPE, b"3"),
                ("__meta__/x.json", tarfile.REGTYPE, b"{}"), ("pipe.x", tarfile.FIFOTYPE, b""),
                ("null.x", tarfile.CHRTYPE, b""), ("dir/02.jpg", tarfile.REGTYPE, b"y" * 512),
                ("dir/01.cls", tarfile.REGTYPE, b"4"), ("ä/ö.txt", tarfile.REGTYPE, b"z"),
                ("./a.b/c.d", tarfile.REGTYPE, b"dots"), ("a.", tarfile.REGTYPE, b"nothing")]
    if long_names:
        yield from [("p" * 120 + "/" + "n" * 90 + ".jpg", tarfile.REGTYPE, b"prefix"),
                    ("p" * 120 + "/" + "n" * 90 + ".txt", tarfile.REGTYPE, b"prefix too")]
    if long_names == "any":
        yield from [("l" * 200 + "/" + "m" * 300 + ".jpg", tarfile.REGTYPE, b"long"),
                    ("l" * 200 + "/link", tarfile.SYMTYPE, b""), ("s.x", tarfile.REGTYPE, b"s")]


def foreign_tar(tar_format, long_names):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tar_format,
                      pax_headers={"comment": "global"}) as tar:
        for name, kind, content in foreign_members(long_names):
            info = tarfile.TarInfo(name)
            info.type, info.size, info.mtime = kind, len(content), 1234567890.5
            if kind in (tarfile.SYMTYPE, tarfile.LNKTYPE):
                info.linkname = "t" * (150 if long_names == "any" else 50)
            tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def as_v7(tar):
    """The same tar with headers that end before the magic."""
    blocks = bytearray(tar)
    for found in second.read_tar(tar):
        block = bytearray(blocks[found.header_offset:found.payload_offset])
        block[257:] = bytes(BLOCK - 257)
        block[148:156] = b" " * 8
        block[148:156] = b"%06o\0 " % sum(block)
        blocks[found.header_offset:found.payload_offset] = block
    return bytes(blocks)


FOREIGN = {"v7": lambda: as_v7(foreign_tar(tarfile.USTAR_FORMAT, None)),
           "ustar": lambda: foreign_tar(tarfile.USTAR_FORMAT, "prefix"),
           "gnu": lambda: foreign_tar(tarfile.GNU_FORMAT, "any"),
           "pax": lambda: foreign_tar(tarfile.PAX_FORMAT, "any")}


@pytest.mark.parametrize("writer", FOREIGN)
def test_shards_of_other_writers_are_read_alike(tool, writer):
    write("x.tar", FOREIGN[writer]())
    tool("index", "x.tar", "--manifest", "x.shards.json")
    assert_members_agree(tool, "x.tar", assert_agree(tool, "x.tar"))
    assert_manifest_fits(second.read_manifest(Path("x.shards.json").read_bytes()))


def test_an_index_without_checksums_says_the_rest(tool):
    write("x.tar", FOREIGN["gnu"]())
    tool("index", "--no-checksums", "x.tar")
    expected = second.samples_of_tar(FOREIGN["gnu"](), checksums=False)
    assert index_of("x.tar").samples == expected


def record(key, value):
    """A pax record; its length counts its own digits."""
    rest = b" " + key + b"=" + value + b"\n"
    length = len(rest) + 1
    while len(b"%d" % length) + len(rest) > length:
        length += 1
    return b"%d" % length + rest


def pax(*records, letter=b"x"):
    return member(b"PaxHeaders/x", b"".join(records), letter)


def sized(size, letter=b"0", path=b"a/1.jpg"):
    """A member whose header says `size`, whatever it takes to say so."""
    return header(path, size, letter) + padded(b"abc")


def paths_in(*paths):
    return b"".join(pax(record(b"path", path)) + member(b"?") for path in paths)


FILE = member()
PATH, SIZE = record(b"path", b"p/1.jpg"), record(b"size", b"3")
COMMENT = record(b"comment", b"none")
MAX = second.MAX_PATH

ACCEPTED = {
    "no members": END,
    "zeros behind the end mark": FILE + END + bytes(20_000),
    "zeros that fill no block": FILE + END + bytes(76),
    "signed checksum": header(b"\xff\xfe.jpg", 3, signed=True) + padded(b"abc") + END,
    "size between spaces": sized(b"          3 ") + END,
    "size that fills its field": sized(b"000000000003") + END,
    "size in base-256": sized(b"\x80" + (3).to_bytes(11, "big")) + END,
    "mtime and owner that are no numbers":
        member(fields=[(108, b"somebody"), (136, b"\xff" * 12)]) + END,
    "prefix under GNU magic": member(magic=GNU, fields=[(345, b"times")]) + END,
    "letters that nobody knows": member(b"v.x", b"volume", b"V") + FILE + END,
    "directory in disguise": member(b"d.x/", b"") + FILE + END,
    "pax path": pax(PATH) + FILE + END,
    "last of several pax paths": pax(record(b"path", b"no"), PATH) + FILE + END,
    "pax size": pax(SIZE) + sized(0) + END,
    "pax size of none": pax(record(b"size", b"0")) + header(b"a.b", 3) + END,
    "pax path with = and newline": paths_in(b"a=b.jpg", b"a\nb.jpg") + END,
    "global pax header before a pax header": pax(COMMENT, letter=b"g") + pax(PATH) + FILE + END,
    "long name with a pax size": pax(SIZE) + long_name(b"l.jpg") + sized(0) + END,
    "long name and long link": long_name(b"l.jpg") + long_name(b"to", b"K") + FILE + END,
    "longest paths": long_name(b"l" * (MAX - 2) + b".x") + FILE
                     + paths_in(b"p" * (MAX - 2) + b".x") + END,
    "names": paths_in(b"a..b", b"__/a.b", b"___/a.b", b"____/a.b", b"__x__.json", b"__a.b__",
                      b"y/__x__/a.b", b"/a.b", b"../a.b", b".a.b", b"d/.a.b", b"a.b c", b"\n.x",
                      b"e." + b"x" * 255, b"f." + b"x" * 256, b"\xc3\x84.J\xc3\x84") + END,
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_tar_md_reads_is_read_alike(tool, name):
    write("x.tar", ACCEPTED[name])
    tool("index", "x.tar")
    assert_members_agree(tool, "x.tar", assert_agree(tool, "x.tar"))


@pytest.mark.parametrize("tail", [b"", bytes(BLOCK)])
def test_a_missing_end_mark_is_accepted_on_request(tool, tail):
    write("x.tar", FILE + tail)
    tool("index", "--missing-end", "x.tar")
    assert_agree(tool, "x.tar", missing_end=True)


REFUSED = {
    "empty": b"",
    "cut in a header": FILE + FILE[:100],
    "cut in a payload": header(b"a.b", 600) + bytes(550),
    "cut in padding": FILE[:-1],
    "no end mark": FILE,
    "half an end mark": FILE + bytes(BLOCK),
    "wrong checksum": b"b" + FILE[1:] + END,
    "checksum that is no number": FILE[:148] + b"number: " + FILE[156:] + END,
    "stray block of zeros": FILE + bytes(BLOCK) + FILE + END,
    "joined archives": FILE + END + FILE + END,
    "bytes behind the end mark": FILE + END + b"x",
    **{f"type {letter:c} with a size": sized(3, bytes([letter])) + END for letter in b"123456"},
    "path ending with / and a size": sized(3, path=b"d/") + END,
    "pax path ending with / and a size": pax(record(b"path", b"d/")) + FILE + END,
    "pax size of a directory": pax(SIZE) + sized(0, b"5") + END,
    "two pax headers": pax(COMMENT) + pax(COMMENT) + FILE + END,
    "two long names": long_name(b"a.b") + long_name(b"a.b") + FILE + END,
    "pax path and long name": pax(PATH) + long_name(b"a.b") + FILE + END,
    "long name and pax path": long_name(b"a.b") + pax(PATH) + FILE + END,
    "path in a global pax header": pax(PATH, letter=b"g") + FILE + END,
    "size in a global pax header": pax(SIZE, letter=b"g") + FILE + END,
    "sparse file of GNU": sized(3, b"S") + END,
    "sparse file of pax": pax(record(b"GNU.sparse.major", b"1")) + FILE + END,
    "pax record longer than its header": pax(b"9 a=b\n") + FILE + END,
    "pax record that ends too early": pax(b"5 a=b\n") + FILE + END,
    "pax record of no length": pax(b"0 a=b\n") + FILE + END,
    "pax record that begins with no number": pax(b"six a=b\n") + FILE + END,
    "pax record without =": pax(b"6 abc\n") + FILE + END,
    "pax path without value": pax(record(b"path", b"")) + FILE + END,
    "pax record without line end": pax(b"6 a=bc") + FILE + END,
    "NUL in a pax path": pax(record(b"path", b"a\0.b")) + FILE + END,
    "pax size that is no number": pax(record(b"size", b"-3")) + FILE + END,
    "size that is no number": sized(b"three\0\0\0\0\0\0\0") + END,
    "size below 0": sized(b"\xff" * 12) + END,
    "size of 2^63": sized(b"\x80" + (2 ** 63).to_bytes(11, "big")) + END,
    "pax size of 2^63": pax(record(b"size", b"%d" % 2 ** 63)) + FILE + END,
    "end past 2^63": sized(b"\x80" + (2 ** 63 - 1).to_bytes(11, "big")) + END,
    "pax path too long": paths_in(b"p" * (MAX - 1) + b".x") + END,
    "long name too long": long_name(b"l" * (MAX - 1) + b".x") + FILE + END,
    "pax header too long": pax(record(b"comment", bytes(16 * MIB))) + FILE + END,
    "pax header of nothing": FILE + pax(PATH) + END,
    "long name of nothing": FILE + long_name(b"a.b") + END,
    "member without a name": member(b"") + END,
    "component twice": member(b"a.jpg") + member(b"README") + member(b"a.JPG") + END,
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_tar_md_refuses_is_refused_by_both(tool, name):
    write("x.tar", REFUSED[name])
    with pytest.raises(second.Refused):
        second.samples_of_tar(REFUSED[name])
    tool("index", "x.tar", code=1)
    assert not Path("x.tar.sidx").exists()


def test_a_global_pax_header_leaves_the_pax_header_before_it_in_force(tool):
    write("x.tar", pax(PATH) + pax(COMMENT, letter=b"g") + FILE + END)
    tool("index", "x.tar")
    assert_agree(tool, "x.tar")


def test_component_names_that_are_no_utf8_are_listed(tool):
    write("x.tar", member(b"a.\xff") + END)
    tool("index", "x.tar")
    assert_agree(tool, "x.tar")


def test_shards_without_index_are_listed_with_the_same_numbers(tool):
    write("x.tar", FOREIGN["gnu"]())
    listed = tool("ls", "--json", "x.tar").lines
    assert [sample["number"] for sample in listed] == list(range(len(listed)))


def test_names_are_split_as_the_table_of_naming_md_says():
    table = {b"dog/01.jpg": (b"dog/01", b"jpg"), b"dog/01.seg.PNG": (b"dog/01", b"seg.png"),
             b"d.x/a.b": (b"d.x/a", b"b"), b"__meta__.json": (b"__meta__", b"json")}
    for path in (b"README", b"d.x/a", b".hidden", b"dir/.x.txt", b"a.", b"__x__/a.b"):
        table[path] = None
    assert {path: second.split_name(path) for path in table} == table


def test_the_checksum_is_that_of_rfc_3720():
    assert second.crc32c(bytes(32)) == 0x8A9136AA
    assert second.crc32c(bytes(range(32))) == 0x46DD794E


# Damaged indexes

def take_apart(index):
    """(header fields, [[tag, flags, width, content]]) of an index."""
    fields = dict(zip(second.FIELDS, second.HEADER.unpack_from(index)))
    sections = []
    for i in range(fields["sections"]):
        entry = second.SECTION.unpack_from(index, 64 + 32 * i)
        tag, flags, offset, size, width, _ = entry
        sections.append([tag.decode(), flags, width, index[offset:offset + size]])
    return fields, sections


def put_together(fields, contents, **changed):
    """An index whose checksums are right, whatever else is wrong."""
    table, body, at = b"", b"", 64 + 32 * len(contents)
    for tag, flags, width, content in contents:
        gap = -at % 8
        at += gap
        table += second.SECTION.pack(tag.encode(), flags, at, len(content), width,
                                     second.crc32c(content))
        body += bytes(gap) + content
        at += len(content)
    fields = {**fields, "sections": len(contents), "file_size": at, **changed}
    start = second.HEADER.pack(*fields.values())[:60]
    return start + struct.pack("<I", second.crc32c(start + table)) + table + body


def repaired(index):
    """The same bytes with checksums made anew."""
    index, (count,) = bytearray(index), struct.unpack_from("<I", index, 12)
    if 64 + 32 * count > len(index):
        return bytes(index)
    for entry in range(64, 64 + 32 * count, 32):
        offset, size = struct.unpack_from("<QQ", index, entry + 8)
        struct.pack_into("<I", index, entry + 28, second.crc32c(index[offset:offset + size]))
    table = index[64:64 + 32 * count]
    struct.pack_into("<I", index, 60, second.crc32c(index[:60] + table))
    return bytes(index)


def reading(index):
    try:
        return second.read_index(index)
    except second.Refused:
        return None


def small_shard(tool, tree, suffix):
    tree(samples=4)
    tool("pack", "tree", "one-{0..0}" + suffix)
    shard = "one-0" + suffix
    return shard, Path(shard + ".sidx").read_bytes()


def used_positions(index):
    """Those outside tags and padding, of which sidx.md does not say that a reader must look."""
    _, sections = take_apart(index)
    positions = set(range(64))
    for entry in range(64, 64 + 32 * len(sections), 32):
        offset, size = struct.unpack_from("<QQ", index, entry + 8)
        positions |= set(range(entry + 4, entry + 32)) | set(range(offset, offset + size))
    return sorted(positions)


def flipped(index, position, bits):
    damaged = bytearray(index)
    damaged[position] ^= bits
    return bytes(damaged)


@pytest.mark.parametrize("tree, suffix", [(uniform, ".tar"), (mixed, ".tar.zst")])
def test_a_flipped_byte_of_an_index_is_noticed_by_both(tool, tree, suffix):
    shard, good = small_shard(tool, tree, suffix)
    for position in used_positions(good):
        damaged = flipped(good, position, 0x10)
        assert reading(damaged) is None, position
        write(shard + ".sidx", damaged)
        assert tool("verify", shard, code=None).code == 1, position


def told_by(index):
    return index and (index.samples, index.hash, index.header["tar_size"], index.header["codec"])


def assert_listed(tool, shard, index):
    listed = tool("ls", "--json", shard, code=None)
    if listed.code == 0:
        expected = [as_listed(shard, n, sample) for n, sample in enumerate(index.samples)]
        assert listed.lines == expected


@pytest.mark.parametrize("tree, suffix", [(uniform, ".tar"), (mixed, ".tar.gz")])
def test_with_checksums_made_anew_a_flipped_byte_is_noticed_or_changes_nothing(tool, tree, suffix):
    shard, good = small_shard(tool, tree, suffix)
    for position in used_positions(good):
        damaged = repaired(flipped(good, position, 1))
        write(shard + ".sidx", damaged)
        index = reading(damaged)
        if index:
            assert_listed(tool, shard, index)
        if told_by(index) != told_by(reading(good)):
            assert tool("verify", shard, code=None).code == 1, position


def numbers(content, change):
    """The 32-bit numbers of a section after `change` of their list."""
    values = list(struct.unpack(f"<{len(content) // 4}I", content))
    change(values)
    return struct.pack(f"<{len(values)}I", *values)


def swap(values):
    values[0], values[1] = values[1], values[0]


def repeat(values):
    values[1] = values[0]


def raise_last(values):
    values[-1] += 4096


WRONG_HEADERS = [("major", 2), ("codec", 4), ("flags", 2), ("reserved", 1), ("samples", 5),
                 ("rows", 5), ("tar_size", 2 ** 41), ("tar_size", 1024), ("sections", 65),
                 ("file_size", 64)]
WRONG_SECTIONS = {
    "two hashes": ("HASH", lambda content: content * 2),
    "name without end": ("NAME", lambda content: content[:-1]),
    "name in capitals": ("NAME", lambda content: content.upper()),
    "empty name": ("NAME", lambda content: b"\0" + content),
    "component twice by name": ("NAME", lambda content: content[:4] * 2),
    "component twice by id": ("LIST", lambda content: content[:2] * 2),
    "id without name": ("LIST", lambda content: b"\7" + content[1:]),
    "more components than rows": ("LIST", lambda content: content * 2),
    "samples out of order": ("SAMP", lambda content: numbers(content, swap)),
    "overlapping samples": ("SAMP", lambda content: numbers(content, repeat)),
    "sample behind the tar": ("SAMP", lambda content: numbers(content, raise_last)),
    "payload behind the tar": ("SIZE", lambda content: numbers(content, raise_last)),
    "too few checksums": ("CRCS", lambda content: content[:-4]),
    "key ends that descend": ("KEYO", lambda content: numbers(content, swap)),
    "empty key": ("KEYO", lambda content: numbers(content, repeat)),
    "key that ends behind the keys": ("KEYO", lambda content: numbers(content, raise_last)),
    "NUL in a key": ("KEYS", lambda content: b"\0" + content[1:]),
    "keys that do not ascend": ("KEYS", lambda content: content[::-1]),
    "keys too long": ("KEYS", lambda content: content + b"x"),
    "keys too short": ("KEYS", lambda content: content[:-1])}
EXTRA_SECTIONS = [["XTRA", 1, 1, b"required"], ["XTRA", 2, 1, b"flags"], ["HASH", 0, 16, b"h" * 16],
                  ["ROWS", 1, 4, b""], ["COMP", 1, 2, b""], ["DATA", 1, 4, b"few."]]


def assert_both_refuse(tool, shard, index):
    assert reading(index) is None
    write(shard + ".sidx", index)
    tool("verify", shard, code=1)


@pytest.mark.parametrize("field, value", WRONG_HEADERS)
def test_a_wrong_header_is_refused_by_both(tool, field, value):
    shard, good = small_shard(tool, uniform, ".tar")
    assert_both_refuse(tool, shard, put_together(*take_apart(good), **{field: value}))


@pytest.mark.parametrize("name", WRONG_SECTIONS)
def test_wrong_contents_of_a_section_are_refused_by_both(tool, name):
    tag, change = WRONG_SECTIONS[name]
    shard, good = small_shard(tool, uniform, ".tar")
    fields, sections = take_apart(good)
    for section in sections:
        if section[0] == tag:
            section[3] = change(section[3])
    assert_both_refuse(tool, shard, put_together(fields, sections))


@pytest.mark.parametrize("tag", ["NAME", "LIST", "SAMP", "SIZE", "KEYO", "KEYS"])
def test_a_missing_section_is_refused_by_both(tool, tag):
    shard, good = small_shard(tool, uniform, ".tar")
    fields, sections = take_apart(good)
    sections = [section for section in sections if section[0] != tag]
    assert_both_refuse(tool, shard, put_together(fields, sections))


@pytest.mark.parametrize("section", EXTRA_SECTIONS)
def test_a_section_that_may_not_be_there_is_refused_by_both(tool, section):
    shard, good = small_shard(tool, uniform, ".tar")
    fields, sections = take_apart(good)
    assert_both_refuse(tool, shard, put_together(fields, sections + [section]))


def test_unknown_sections_and_minor_versions_are_passed_over(tool):
    shard, good = small_shard(tool, uniform, ".tar")
    fields, sections = take_apart(good)
    newer = put_together(fields, [["XTRA", 0, 7, b"unknown"]] + sections, minor=3)
    write(shard + ".sidx", newer)
    assert second.read_index(newer).samples == second.read_index(good).samples
    tool("verify", shard)
    assert_agree(tool, shard)


def test_rows_and_offsets_may_be_spelled_out(tool):
    shard, good = small_shard(tool, uniform, ".tar")
    fields, sections = take_apart(good)
    samples, parts = second.read_index(good).samples, {section[0]: section for section in sections}
    ends = [2 * (i + 1) for i in range(len(samples))]
    starts = [c.payload_offset // BLOCK for sample in samples for c in sample.components]
    parts.update(ROWS=["ROWS", 1, 4, struct.pack(f"<{len(ends)}I", *ends)],
                 COMP=["COMP", 1, 2, parts.pop("LIST")[3] * len(samples)],
                 DATA=["DATA", 1, 4, struct.pack(f"<{len(starts)}I", *starts)])
    spelled = put_together(fields, parts.values())
    assert second.read_index(spelled).samples == samples
    write(shard + ".sidx", spelled)
    tool("verify", shard)
    assert_agree(tool, shard)


def with_frames(tool, change):
    shard, good = small_shard(tool, uniform, ".tar.zst")
    fields, sections = take_apart(good)
    values = list(struct.unpack(f"<{len(sections[-1][3]) // 8}Q", sections[-1][3]))
    change(values)
    sections[-1][3] = struct.pack(f"<{len(values)}Q", *values)
    return shard, put_together(fields, sections)


def stand_still(values):
    values[2] = 0


def begin_late(values):
    values[0] = 1


def end_late(values):
    values[-1] += 512


def end_behind_the_shard(values):
    values[-2] += 1 << 20


@pytest.mark.parametrize("change", [
    stand_still, end_late, end_behind_the_shard, begin_late])
def test_a_wrong_frame_map_is_refused_by_both(tool, change):
    shard, damaged = with_frames(tool, change)
    assert_both_refuse(tool, shard, damaged)


def test_verify_finds_frames_elsewhere_than_the_index_says(tool):
    def shift(values):
        values[2] += 1
    shard, damaged = with_frames(tool, shift)
    write(shard + ".sidx", damaged)
    tool("verify", shard, code=1)


# Damaged manifests

WRONG_MANIFESTS = {
    "no format": {"format": None}, "another format": {"format": "other"},
    "higher version": {"version": 2}, "version as text": {"version": "1"},
    "wrong sum of samples": {"samples": 1}, "wrong sum of bytes": {"bytes": 1},
    "negative number": {"samples": -1}, "fraction": {"samples": 30.0}, "2^63": {"bytes": 2 ** 63},
    "wrong number of shards": {"shards": 2}, "short column": {"shard_samples": [30]},
    "no names": {"names": None}, "names of too many": {"names": "out-{0..3}.tar"},
    "absolute name": {"names": ["/out-0.tar", "out-1.tar", "out-2.tar"]},
    "name that leaves": {"names": ["out-0.tar", "../x/out-1.tar", "out-2.tar"]},
    "empty part": {"names": ["out-0.tar", "x//out-1.tar", "out-2.tar"]},
    "control character": {"names": ["out-0.tar", "out\n1.tar", "out-2.tar"]},
    "hash in capitals": {"shard_xxh3": ["A" * 32] * 3}, "short hash": {"shard_xxh3": ["a"] * 3},
    "keys that do not ascend": {"first_keys": ["b", "b", "c"], "last_key": "d"},
    "last key before others": {"last_key": "a"}, "part of too few": {"part": 3, "parts": 2},
    "part 0": {"part": 0, "parts": 2}, "classes that are no names": {"classes": [1]},
    "skipped without reason": {"skipped": [{"name": "x"}]}, "no components": {"components": None},
}


def changed_manifest(manifest, change):
    changed = {**manifest, **change}
    return json.dumps({key: value for key, value in changed.items() if value is not None})


def assert_both_refuse_manifest(tool, text):
    with pytest.raises(second.Refused):
        second.read_manifest(text)
    write("out.shards.json", text)
    tool("info", "--images", 0, "out.shards.json", code=1)


@pytest.mark.parametrize("name", WRONG_MANIFESTS)
def test_a_wrong_manifest_is_refused_by_both(tool, name):
    uniform()
    pack(tool, ".tar")
    manifest = json.loads(Path("out.shards.json").read_text())
    assert_both_refuse_manifest(tool, changed_manifest(manifest, WRONG_MANIFESTS[name]))


@pytest.mark.parametrize("old, new", [
    ("\n}", ""), ("\n}", "}\nmore"), ("\n}", ",}"), ('"version": 1', '"version": 1, "version": 1'),
    ('"jpg": {', '"jpg": {"count": 1, "count": 1, '), ('"format"', "'format'")])
def test_what_is_no_json_or_has_a_key_twice_is_refused_by_both(tool, old, new):
    uniform()
    pack(tool, ".tar")
    text = Path("out.shards.json").read_text()
    assert old in text
    assert_both_refuse_manifest(tool, text.replace(old, new, 1))


def test_unknown_keys_of_a_manifest_are_passed_over(tool):
    uniform()
    manifest = pack(tool, ".tar")
    text = changed_manifest(manifest, {"more": {"of": [1.5, None, {}]}, "part": 1, "parts": 2})
    write("out.shards.json", text)
    assert second.read_manifest(text)["names"] == manifest["names"]
    tool("verify", "out.shards.json")
