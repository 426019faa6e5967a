# SPDX-License-Identifier: Apache-2.0
"""shardtool and a reader written from docs/format/ alone see the same, and refuse the same."""
import io
import tarfile
import zlib
from pathlib import Path

import pytest
import zstandard

import second_reader as second
from conftest import write
from second_view import (
    assert_agree, assert_manifest_fits, assert_members_agree, BLOCK, END, index_of, large,
    long_paths, MIB, mixed, non_ascii, pack, payloads, SUFFIXES, uniform)


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
