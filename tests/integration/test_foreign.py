# SPDX-License-Identifier: Apache-2.0
"""Shards that others wrote: read as libarchive and Python's tarfile read them, or refused with a reason."""
import io
import json
import os
import random
import re
import shutil
import struct
import subprocess
import tarfile
import warnings
from pathlib import Path

import pytest
from conftest import write

BLOCK = 512
END = bytes(2 * BLOCK)
UTF8 = {**os.environ, "LC_ALL": "C.UTF-8"}

SHORT = {"a/s1.jpg": b"one", "a/s1.txt": b"", "a/s2.JPG": b"x" * 3000, "a/s2.seg.PNG": b"y" * 512,
         "README": b"no component", "b/.hidden.txt": b"h", "__meta__/x.json": b"{}", "z.d/e.f.g": b"dots"}
SPLIT = {f"{'d' * 60}/{'n' * 80}.txt": b"a prefix"}
LONG = {f"{'d' * 120}/{'n' * 120}.txt": b"long", f"{'e' * 150}.txt": b"long too"}
FOREIGN = {"caf\u00e9/\u732b.txt": b"cat", "with space/a b.txt": b"space"}


# ---- writers


def gnu_tar(form, *options):
    def make(tree, path):
        subprocess.run(["tar", f"--format={form}", "--sort=name", *options, "-cf", path, "-C", tree, "."],
                       check=True, env=UTF8)
    return make


def bsdtar(form, *options):
    def make(tree, path):
        names = sorted((str(p.relative_to(tree)) for p in Path(tree).rglob("*")), key=os.fsencode)
        subprocess.run(["bsdtar", f"--format={form}", "-n", *options, "-cf", path, "-C", tree, "-T", "-"],
                       check=True, env=UTF8, input="\n".join(names).encode())
    return make


def python_tar(form, **options):
    def make(tree, path):
        with tarfile.open(path, "w", format=form, **options) as tar:
            for p in sorted(Path(tree).rglob("*"), key=os.fsencode):
                tar.add(p, str(p.relative_to(tree)), recursive=False)
    return make


def webdataset_tar(tree, path):
    import webdataset
    samples = {}
    for p in sorted(Path(tree).rglob("*.txt"), key=os.fsencode):
        name = str(p.relative_to(tree))
        if not p.is_symlink() and not p.name.startswith("."):
            samples.setdefault(name[:-4], {})["txt"] = p.read_text()
    with webdataset.TarWriter(str(path)) as sink:
        for i, (key, components) in enumerate(samples.items()):
            sink.write({"__key__": key, **components, "cls": i, "json": {"i": i}})


WRITERS = {
    "gnu-gnu": (gnu_tar("gnu"), [SHORT, SPLIT, LONG, FOREIGN]),
    "gnu-oldgnu": (gnu_tar("oldgnu"), [SHORT, SPLIT, LONG, FOREIGN]),
    "gnu-v7": (gnu_tar("v7"), [SHORT, FOREIGN]),
    "gnu-ustar": (gnu_tar("ustar"), [SHORT, SPLIT, FOREIGN]),
    "gnu-posix": (gnu_tar("posix"), [SHORT, SPLIT, LONG, FOREIGN]),
    "gnu-posix-xattrs": (gnu_tar("posix", "--xattrs", "--acls"), [SHORT, LONG]),
    "gnu-label": (gnu_tar("gnu", "--label=a volume"), [SHORT]),
    "gnu-blocks": (gnu_tar("gnu", "-b1"), [SHORT]),
    "gnu-large-ids": (gnu_tar("gnu", "--owner=x:4000000000", "--group=y:4000000000", "--mtime=@-5"), [SHORT]),
    "bsdtar-ustar": (bsdtar("ustar"), [SHORT, SPLIT, FOREIGN]),
    "bsdtar-pax": (bsdtar("pax"), [SHORT, SPLIT, LONG, FOREIGN]),
    "bsdtar-gnutar": (bsdtar("gnutar"), [SHORT, SPLIT, LONG, FOREIGN]),
    "bsdtar-v7tar": (bsdtar("v7tar"), [SHORT, FOREIGN]),
    "bsdtar-xattrs": (bsdtar("pax", "--xattrs", "--acls"), [SHORT, LONG]),
    "python-ustar": (python_tar(tarfile.USTAR_FORMAT), [SHORT, SPLIT, FOREIGN]),
    "python-gnu": (python_tar(tarfile.GNU_FORMAT), [SHORT, SPLIT, LONG, FOREIGN]),
    "python-pax": (python_tar(tarfile.PAX_FORMAT), [SHORT, SPLIT, LONG, FOREIGN]),
    "python-pax-global": (python_tar(tarfile.PAX_FORMAT, pax_headers={"comment": "0123abcd", "x.y": "\u732b"}),
                          [SHORT, LONG]),
    "webdataset": (webdataset_tar, [SHORT, SPLIT, LONG, FOREIGN]),
}


def make_source(groups, links=True):
    """A tree with folders, links of both kinds and extended attributes, as far as there are any."""
    for files in groups:
        for name, content in files.items():
            write(f"tree/{name}", content)
    os.makedirs("tree/nothing/in.it")
    if links:
        os.link("tree/a/s1.jpg", "tree/a/s1.link")
        os.symlink("s1.jpg", "tree/a/s1.symbolic")
        os.symlink("t" * (90 if LONG not in groups else 180), "tree/a/s2.dangling")
    try:
        os.setxattr("tree/a/s1.jpg", "user.comment", bytes(range(256)))
    except OSError:
        pass  # not on every file system


# ---- what others see

KINDS = {tarfile.DIRTYPE: "dir", tarfile.LNKTYPE: "hardlink", tarfile.SYMTYPE: "symlink",
         tarfile.FIFOTYPE: "special", tarfile.CHRTYPE: "special", tarfile.BLKTYPE: "special",
         tarfile.REGTYPE: "file", tarfile.AREGTYPE: "file", tarfile.CONTTYPE: "file"}


def python_view(tar_bytes):
    """[(path, kind, offset of the payload, size)] and {path: content} of files."""
    members, contents = [], {}
    with tarfile.open(fileobj=io.BytesIO(tar_bytes)) as tar:
        for m in tar:
            members.append((m.name, KINDS.get(m.type, "other"), m.offset_data, 0 if m.islnk() else m.size))
            if m.isreg():
                contents[m.name] = tar.extractfile(m).read()
    return members, contents


def our_view(tool, shard):
    return [(m["path"].rstrip("/"), m["kind"], m["payload_offset"], m["size"])
            for m in tool("ls", "--members", "--json", shard).lines]


def libarchive_view(path):
    """[(letter of the kind, path)] and all contents, one after the other."""
    def run(*options):
        return subprocess.run(["bsdtar", *options, path], check=True, env=UTF8, capture_output=True).stdout
    letters = [line[:1].decode() for line in run("-tvf").splitlines()]
    names = [line.decode().rstrip("/") for line in run("-tf").splitlines()]
    return list(zip(letters, names)), run("-xOf")


LETTERS = {"dir": "d", "file": "-", "symlink": "l", "hardlink": "h"}


def webdataset_samples(members, contents):
    """[(key, {component: content})] by webdataset 1.0.2, and the page on naming where that differs."""
    from webdataset.tariterators import base_plus_ext
    samples = []
    for name, kind, *_ in members:
        key, component = base_plus_ext(name) if kind == "file" else (None, None)
        if not key or not component or key.endswith("/") or re.match(r"__[^/]*__($|/)", name):
            continue
        if not samples or samples[-1][0] != key:
            samples.append((key, {}))
        samples[-1][1][component.lower()] = contents[name]
    return samples


def check_reading(tool, shard, tar_bytes):
    """Index, ls, cat, verify and unpack of a shard against Python's view of the tar in it."""
    members, contents = python_view(tar_bytes)
    samples = webdataset_samples(members, contents)
    assert our_view(tool, shard) == members
    streamed = tool("ls", "--json", shard).lines
    tool("index", shard)
    listed = tool("ls", "--json", shard).lines
    assert [(line["key"], list(line["components"])) for line in listed] == [
        (key, list(components)) for key, components in samples]
    assert [line["offset"] for line in streamed] == [line["offset"] for line in listed]
    for i, (key, components) in enumerate(samples):
        for name, content in components.items():
            assert tool("cat", "-n", shard, i, name).out_bytes == content
            at = listed[i]["components"][name]
            assert tar_bytes[at["offset"]:at["offset"] + at["size"]] == content
    tool("verify", shard)
    tool("unpack", shard, "-C", "back")
    unpacked = {str(p.relative_to("back")): p.read_bytes() for p in Path("back").rglob("*") if p.is_file()}
    assert unpacked == {os.path.normpath(name): content for name, content in contents.items()}
    assert not [p for p in Path("back").rglob("*") if p.is_symlink()]
    return members


@pytest.mark.parametrize("writer", WRITERS)
def test_a_shard_of_another_writer_reads_as_its_peers_read_it(tool, writer):
    make, groups = WRITERS[writer]
    make_source(groups)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # webdataset's own
        make("tree", "x.tar")
    tar_bytes = Path("x.tar").read_bytes()
    members = check_reading(tool, "x.tar", tar_bytes)
    seen, content = libarchive_view("x.tar")
    visible = [m for m in members if m[1] != "other"]  # bsdtar does not show a volume's label
    assert [name for _, name in seen] == [name for name, *_ in visible]
    assert [letter for letter, _ in seen] == [LETTERS[kind] for _, kind, *_ in visible]
    assert content == b"".join(tar_bytes[at:at + size] for _, kind, at, size in visible if kind == "file")


def test_shards_of_shardwriter_make_a_set(tool):
    import webdataset
    with webdataset.ShardWriter("out-%02d.tar", maxcount=7, verbose=0) as sink:
        for i in range(30):
            sink.write({"__key__": f"k/{i:03d}", "txt": f"text {i}", "cls": i % 3, "bin": bytes([i]) * i})
    tool("index", "out-{00..04}.tar", "--manifest", "out.shards.json")
    tool("verify", "out.shards.json")
    assert json.loads(Path("out.shards.json").read_text())["shard_samples"] == [7, 7, 7, 7, 2]
    assert tool("cat", "out.shards.json", "k/029", "txt").out == "text 29"
    assert tool("cat", "-n", "out.shards.json", 21, "bin").out_bytes == bytes([21]) * 21


COMPRESSORS = {"gz": ["gzip"], "gz-9": ["gzip", "-9"], "zst": ["zstd"], "zst-19": ["zstd", "-19"],
               "zst-plain": ["zstd", "--no-check"], "xz": ["xz"], "bz2": ["bzip2"], "lz4": ["lz4"]}


@pytest.mark.parametrize("kind", COMPRESSORS)
def test_a_shard_that_another_tool_compressed(tool, kind):
    command = COMPRESSORS[kind]
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]} here")
    make_source([SHORT, LONG])
    write("tree/a/s3.bin", random.Random(1).randbytes(400000))
    gnu_tar("posix")("tree", "x.tar")
    tar_bytes = Path("x.tar").read_bytes()
    shard = f"x.tar.{kind.split('-')[0]}"
    with open(shard, "wb") as out:  # from a pipe: no content size in zstd's frame
        subprocess.run([*command, "-c"], input=tar_bytes, stdout=out, check=True)
    check_reading(tool, shard, tar_bytes)


@pytest.mark.parametrize("command", ["gzip", "zstd"])
def test_compressed_pieces_one_after_the_other_are_one_tar(tool, command):
    make_source([SHORT])
    gnu_tar("gnu")("tree", "x.tar")
    tar_bytes = Path("x.tar").read_bytes()
    stored = b"".join(subprocess.run([command, "-c"], input=tar_bytes[i:i + 1000], capture_output=True).stdout
                      for i in range(0, len(tar_bytes), 1000))
    skippable = struct.pack("<II", 0x184D2A50, 5) + b"hello" if command == "zstd" else b""
    write("x.tar.any", skippable + stored + skippable)
    check_reading(tool, "x.tar.any", tar_bytes)


def test_a_window_of_more_than_8_mib_is_refused_with_a_hint(tool):
    write("tree/a.bin", random.Random(1).randbytes(12 << 20))
    gnu_tar("gnu")("tree", "x.tar")
    subprocess.run(["zstd", "-q", "--long=27", "x.tar"], check=True)
    err = tool("index", "x.tar.zst", code=1).err
    assert "x.tar.zst" in err and "--long" in err and "8 MiB" in err
    assert not Path("x.tar.zst.sidx").exists()


# ---- headers made by hand


def header(name, size=0, kind=b"0", magic=b"ustar\x0000", **fields):
    """A header block; fields replace bytes: size_field, mode_field, ... checksum is made to fit."""
    block = bytearray(BLOCK)

    def put(at, text, width):
        block[at:at + width] = text[:width].ljust(width, b"\0")
    put(0, name if isinstance(name, bytes) else name.encode(), 100)
    put(100, b"0000644", 8)
    put(108, fields.get("uid_field", b"0000000"), 8)
    put(116, b"0000000", 8)
    put(124, fields.get("size_field", b"%011o" % size), 12)
    put(136, fields.get("mtime_field", b"00000000000"), 12)
    put(148, b" " * 8, 8)
    put(156, kind, 1)
    put(257, magic, 8)
    put(345, fields.get("prefix", b""), 155)
    total = sum(block) if not fields.get("signed") else sum(b - 256 if b > 127 else b for b in block)
    put(148, b"%06o\0 " % (total & 0o777777), 8)
    return bytes(block)


def member(name, content=b"", kind=b"0", **fields):
    return header(name, len(content), kind, **fields) + content + bytes(-len(content) % BLOCK)


def record(keyword, value):
    body = b" " + keyword.encode() + b"=" + value + b"\n"
    size = len(body) + 1
    while len(str(size)) + len(body) != size:
        size = len(str(size)) + len(body)
    return str(size).encode() + body


def pax(*records, kind=b"x"):
    return member("PaxHeaders/x", b"".join(record(k, v) for k, v in records), kind)


def long_name(name):
    return member("././@LongLink", name.encode() + b"\0", b"L", magic=b"ustar  \0")


FIRST = member("a.txt", b"first")
LAST = member("z.txt", b"last")
NEGATIVE = b"\xff" * 8

ACCEPTED = {
    "size as a base-256 number": header("b.txt", size_field=b"\x80" + (5).to_bytes(11, "big")) + b"hello".ljust(BLOCK, b"\0"),
    "size that fills its field": header("b.txt", size_field=b"000000000005") + b"hello".ljust(BLOCK, b"\0"),
    "size with spaces": header("b.txt", size_field=b"         5  ") + b"hello".ljust(BLOCK, b"\0"),
    "negative owner and time": member("b.txt", b"x", uid_field=NEGATIVE, mtime_field=b"\xff" * 12),
    "checksum of signed bytes": member("caf\u00e9.txt", b"x", signed=True),
    "size in a pax record alone": pax(("size", b"5")) + header("b.txt") + b"hello".ljust(BLOCK, b"\0"),
    "pax size against the header's": pax(("size", b"5")) + header("b.txt", 4000) + b"hello".ljust(BLOCK, b"\0"),
    "last of several pax records": pax(("path", b"c.txt"), ("size", b"9"), ("path", b"b.txt"), ("size", b"1"))
                                   + member("d.txt", b"x"),
    "global header, then a member's": pax(("comment", b"global"), kind=b"g") + pax(("path", b"b.txt"))
                                      + member("d.txt", b"x"),
    "global header at the end": pax(("comment", b"global"), kind=b"g"),
    "hard link, fifo and devices": member("b.lnk", kind=b"1") + member("b.fifo", kind=b"6")
                                   + member("b.chr", kind=b"3") + member("b.blk", kind=b"4"),
    "contiguous file": member("b.txt", b"x", b"7"),
    "v7 file": member("b.txt", b"x", b"\0", magic=b""),
    "v7 folder": member("b/", b"", b"\0", magic=b""),
    "prefix": member("b.txt", b"x", prefix=b"some/folder"),
    "GNU long link": member("././@LongLink", b"t" * 300 + b"\0", b"K", magic=b"ustar  \0")
                     + member("b.lnk", kind=b"2", magic=b"ustar  \0"),
}


@pytest.mark.parametrize("case", ACCEPTED)
def test_unusual_but_clear_headers_are_read_as_peers_read_them(tool, case):
    tar_bytes = FIRST + ACCEPTED[case] + LAST + END
    write("x.tar", tar_bytes)
    members = check_reading(tool, "x.tar", tar_bytes)
    assert (members[0][0], members[-1][0]) == ("a.txt", "z.txt")
    assert [name for _, name in libarchive_view("x.tar")[0]] == [name for name, *_ in members]


def test_a_v7_header_has_no_prefix_as_libarchive_says_and_python_does_not(tool):
    write("x.tar", member("b.txt", b"x", prefix=b"some/folder", magic=b"") + END)
    assert our_view(tool, "x.tar")[0][0] == libarchive_view("x.tar")[0][0][1] == "b.txt"


def test_a_member_of_an_unknown_kind_is_passed_over_with_its_payload(tool):
    odd = member("b.txt", b"x" * 700, b"Q")
    write("x.tar", FIRST + odd + LAST + END)
    assert [(name, kind) for name, kind, *_ in our_view(tool, "x.tar")] == [
        ("a.txt", "file"), ("b.txt", "other"), ("z.txt", "file")]
    assert [line["key"] for line in tool("ls", "--json", "x.tar").lines] == ["a", "z"]


def test_names_of_any_bytes_survive_index_and_listing(tool):
    write("x.tar", member(b"caf\xe9.txt", b"1") + member(b"b.te\xe9t", b"2") + END)
    streamed = tool("ls", "--json", "x.tar").lines
    tool("index", "x.tar")
    assert [line["key"] for line in tool("ls", "--json", "x.tar").lines] == [line["key"] for line in streamed]
    assert [list(line["components"]) for line in streamed] == [["txt"], [r"te\xe9t"]]
    tool("verify", "x.tar")
    tool("info", "--json", "x.tar")
    sample = tarfile.open(fileobj=io.BytesIO(tool("cat", "-n", "x.tar", 1).out_bytes), errors="surrogateescape")
    assert sample.getnames() == ["b.te\udce9t"]


def test_a_manifest_does_not_name_components_that_are_not_utf8(tool):
    write("x.tar", member(b"b.te\xe9t", b"2") + END)
    assert "not UTF-8" in tool("index", "x.tar", "--manifest", "x.shards.json", code=1).err


def test_control_characters_in_names_do_not_reach_the_terminal(tool):
    write("x.tar", member(b"k\x1b[31m.t\x1b[2J", b"1") + END)
    tool("index", "x.tar")
    for verb in (["ls"], ["ls", "-l"], ["ls", "--members"], ["info"]):
        out = tool(*verb, "x.tar").out_bytes
        assert b"\x1b" not in out and b"\\x1b" in out, verb


# ---- refused on purpose

LONGEST = "p" * 4096
REFUSED = {
    "two pax headers": (pax(("path", b"b.txt")) + pax(("path", b"c.txt")) + FIRST, "two pax headers"),
    "two long names": (long_name("b.txt") + long_name("c.txt") + FIRST, "two GNU long names"),
    "pax path and long name": (pax(("path", b"b.txt")) + long_name("c.txt") + FIRST, "both a pax path and"),
    "long name and pax path": (long_name("c.txt") + pax(("path", b"b.txt")) + FIRST, "both a pax path and"),
    "global path": (pax(("path", b"b.txt"), kind=b"g") + FIRST, "global pax header sets path"),
    "global size": (pax(("size", b"5"), kind=b"g") + FIRST, "global pax header sets size"),
    "folder with a size": (header("b", 512, b"5") + bytes(512), "with a size"),
    "hard link with a size": (header("b", 512, b"1") + bytes(512), "with a size"),
    "symbolic link with a size": (header("b", 512, b"2") + bytes(512), "with a size"),
    "device with a size": (header("b", 512, b"3") + bytes(512), "with a size"),
    "file named as a folder": (member("b/", b"content"), "with a size"),
    "sparse": (member("b.txt", b"x", b"S", magic=b"ustar  \0"), "sparse"),
    "sparse in pax": (pax(("GNU.sparse.major", b"1")) + FIRST, "sparse"),
    "path of 4097 bytes in pax": (pax(("path", (LONGEST + "p").encode())) + FIRST, "path is too long"),
    "path of 4097 bytes in GNU": (long_name(LONGEST + "p") + FIRST, "path is too long"),
    "pax header without a member": (pax(("path", b"b.txt")), "without its member"),
    "long name without a member": (long_name("b.txt"), "without its member"),
    "no name": (member("", b"x"), "no name"),
}
ENDS = {
    "no end mark": (b"", "no end mark"),
    "half an end mark": (bytes(BLOCK), "no end mark"),
    "a block of zeros inside": (bytes(BLOCK) + LAST + END, "stray block of zeros"),
    "joined archives": (END + LAST + END, "joined"),
    "text behind the end": (END + b"hello", "joined"),
    "half a header": (LAST[:300], "inside a header"),
    "half a payload": (header("b.txt", 600) + bytes(512), "inside a member"),
}


def check_refused(tool, tar_bytes, why, shard="x.tar"):
    write(shard, tar_bytes)
    for verb in (["index"], ["ls"], ["unpack", "-C", "back"], ["verify"]):
        err = tool(*verb, shard, code=1).err
        assert re.search(rf"{shard}: offset \d+: .*{why}", err), err
    assert not Path(f"{shard}.sidx").exists()


@pytest.mark.parametrize("case", REFUSED)
def test_what_readers_disagree_about_is_refused(tool, case):
    content, why = REFUSED[case]
    check_refused(tool, FIRST + content + END, why)


@pytest.mark.parametrize("case", ENDS)
def test_a_tar_that_does_not_end_well_is_refused(tool, case):
    rest, why = ENDS[case]
    check_refused(tool, FIRST + rest, why)


@pytest.mark.parametrize("rest", [b"", bytes(BLOCK)], ids=["none", "half"])
def test_a_missing_end_mark_is_accepted_when_asked(tool, rest):
    write("x.tar", FIRST + rest)
    tool("index", "--missing-end", "x.tar")
    assert tool("cat", "x.tar", "a.txt").out == "first"
    write("y.tar", FIRST + LAST[:700])
    assert "inside a member" in tool("index", "--missing-end", "y.tar", code=1).err


def test_zeros_may_follow_the_end_mark_but_not_without_end(tool):
    write("x.tar", FIRST + END)
    os.truncate("x.tar", 60 << 20)
    tool("index", "x.tar")
    os.truncate("x.tar", 80 << 20)
    os.remove("x.tar.sidx")
    assert "too many zeros" in tool("index", "x.tar", code=1).err


@pytest.mark.parametrize("form, version", [("gnu", None), ("oldgnu", None), ("posix", "0.0"), ("posix", "0.1"),
                                           ("posix", "1.0")])
def test_sparse_files_of_gnu_tar_are_refused(tool, form, version):
    write("tree/a.txt", "first")
    write("tree/b.bin", b"data" * 5000)
    os.truncate("tree/b.bin", 10 << 20)
    options = ["--sparse", *([f"--sparse-version={version}"] if version else [])]
    gnu_tar(form, *options)("tree", "x.tar")
    if Path("x.tar").stat().st_size > 5 << 20:
        pytest.skip("this file system has no holes")
    check_refused(tool, Path("x.tar").read_bytes(), "sparse")


def test_a_component_that_stands_twice_in_a_sample_is_refused(tool):
    write("x.tar", FIRST + member("a.TXT", b"again") + END)
    err = tool("index", "x.tar", code=1).err
    assert "x.tar" in err and '"txt" stands twice in sample "a"' in err


def test_the_same_key_further_on_is_another_sample(tool):
    write("x.tar", FIRST + LAST + member("a.txt", b"again") + END)
    tool("index", "x.tar")
    assert [line["key"] for line in tool("ls", "--json", "x.tar").lines] == ["a", "z", "a"]
    assert tool("cat", "x.tar", "a.txt").out == "first"
    assert tool("cat", "-n", "x.tar", 2, "txt").out == "again"


@pytest.mark.parametrize("name", ["../up.txt", "/root.txt", "a/../../up.txt", "dir/.."])
def test_names_that_lead_out_are_listed_but_not_unpacked(tool, name):
    write("x.tar", member(name, b"x") + LAST + END)
    assert our_view(tool, "x.tar")[0][0] == name
    os.mkdir("deep")
    err = tool("unpack", "x.tar", "-C", "deep/back", code=1).err
    assert "refused" in err and name in err
    assert sorted(p.name for p in Path(".").rglob("*") if p.is_file()) == ["x.tar"]


def test_symbolic_links_are_not_followed_when_unpacking(tool):
    os.makedirs("back")
    os.makedirs("elsewhere")
    os.symlink("../elsewhere", "back/link")
    write("x.tar", member("link/a.txt", b"x") + END)
    assert "link/a.txt" in tool("unpack", "x.tar", "-C", "back", code=None).err
    assert os.listdir("elsewhere") == []
    write("y.tar", member("own", kind=b"2") + member("own/a.txt", b"x") + END)
    tool("unpack", "y.tar", "-C", "back")
    assert Path("back/own/a.txt").read_bytes() == b"x" and not Path("back/own").is_symlink()
