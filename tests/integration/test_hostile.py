# SPDX-License-Identifier: Apache-2.0
"""Hostile files: an error that names them, never a crash, a byte outside, or memory without end."""
import gzip
import itertools
import json
import os
import pty
import random
import re
import shutil
import struct
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import second_reader
import zstandard
from conftest import SHARDTOOL, read_files, shardtool, write

DATA, IO = 1, 3
SUFFIXES = ["tar", "tar.zst", "tar.gz"]
FILES = {"a.txt": b"hello", "a.cls": b"1", "b.txt": b"", "b.cls": b"22"}
MEMORY_KIB, GIGABYTES = 200 << 10, 1280 << 20
END = bytes(1024)


def is_sanitized():
    cache = Path(os.environ.get("SHARD_BUILD", "")) / "CMakeCache.txt"
    return cache.is_file() and re.search("^SHARD_SANITIZE:.*=.", cache.read_text(), re.M)


bounded = pytest.mark.skipif(is_sanitized(), reason="a sanitizer needs memory of its own")


def run(*args, codes=(DATA,), **options):
    """shardtool on hostile input: it ends with one of `codes`, and says why in plain text."""
    result = shardtool(*args, code=None, **options)
    assert result.code in codes, (args, result.code, result.err)
    assert "Sanitizer" not in result.err and "runtime error" not in result.err, result.err
    assert not any(ord(c) < 32 and c != "\n" or c == "\x7f" for c in result.err), result.err
    return result


def told(verb, files):
    """{file: its errors} of a verb over many files in one run."""
    result, errors = run(verb, "--json", *files, codes=(0, DATA)), {}
    for error in map(json.loads, result.err.splitlines()):
        assert error["code"] not in ("SHARD_EINVAL", "SHARD_EIO", "SHARD_ENOMEM"), error
        errors.setdefault(error["url"], []).append(error)
    assert (result.code == 0) == (not errors)
    return errors


@pytest.fixture
def shard(tool):
    """A function that packs a tiny shard: its name."""
    def make(suffix="tar", files=FILES):
        for name, content in files.items():
            write(f"in/{name}", content)
        tool("pack", "in", f"out.{suffix}", "-q")
        shutil.rmtree("in")
        return f"out.{suffix}"
    return make


def variants(contents, suffix):
    """Write {key: bytes} to files: {file: key}."""
    names = {f"v/{i}.{suffix}": key for i, key in enumerate(contents)}
    for name, key in names.items():
        write(name, contents[key])
    return names


# ---- cut off


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_each_length_of_a_shard_is_refused(shard, suffix):
    """Where frames of zstd end, only the seek table is lost, and that need not be there."""
    whole = Path(shard(suffix)).read_bytes()
    names = variants({size: whole[:size] for size in range(len(whole))}, suffix)
    frames = second_reader.read_seek_table(whole) if suffix == "tar.zst" else []
    fine = {sum(stored for stored, _ in frames)} if frames else set()
    for verb in ("verify", "index"):
        errors = told(verb, names)
        assert {names[name] for name in names.keys() - errors.keys()} == fine
        for name, found in errors.items():
            assert len(found) == 1 and found[0]["offset"] <= max(names[name], 5120)
    assert {names[name] for name in names if os.path.exists(f"{name}.sidx")} == fine


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_other_verbs_refuse_what_is_cut_off(shard, suffix):
    name = f"cut.{suffix}"
    whole = Path(shard(suffix)).read_bytes()
    for size in range(0, len(whole) - 40, max(1, len(whole) // 40)):
        write(name, whole[:size])
        for args in (["ls", name], ["ls", "--members", name], ["unpack", "-f", "-C", "dest", name],
                     ["index", "-o", "x.sidx", name], ["pack", name, "x.tar", "-q"]):
            assert name in run(*args).err, args
        assert not os.path.exists("dest") or read_files("dest").items() <= FILES.items()
        assert not Path("x.tar").exists() and not Path("x.sidx").exists()


# ---- headers


def header(name=b"a.txt", size=b"00000000005\0", kind=b"0", prefix=b"", magic=b"ustar\00000"):
    block = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + size + b"00000000000\0"
    block += bytes(8) + kind + bytes(100) + magic + bytes(80) + prefix.ljust(167, b"\0")
    return summed(block)


def summed(block):
    block = block[:148] + b" " * 8 + block[156:]
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def member(content=b"hello", **fields):
    fields.setdefault("size", b"%011o\0" % len(content))
    return header(**fields) + content + bytes(-len(content) % 512)


def pax(records, kind=b"x"):
    return member(records, name=b"PaxHeaders/x", kind=kind)


def record(key, value):
    text = b" %s=%s\n" % (key, value)
    size = len(text) + 1
    while len(b"%d" % size) + len(text) != size:
        size += 1
    return b"%d" % size + text


def test_a_flip_in_each_byte_of_a_header_is_refused(shard):
    whole = Path(shard()).read_bytes()
    for mask in (1, 0x80):
        flips = {at: whole[:at] + bytes([whole[at] ^ mask]) + whole[at + 1:] for at in range(512)}
        errors = told("verify", variants(flips, "tar"))
        assert len(errors) == 512 and all(e[0]["offset"] == 0 for e in errors.values())


def check_against_second_reader(data):
    """The members that both read alike; None where both refuse, with file and offset."""
    write("x.tar", data)
    result = run("ls", "--members", "--json", "x.tar", codes=(0, DATA))
    try:
        expected = list(second_reader.read_tar(data))
    except second_reader.Refused as why:
        assert result.code == DATA, why
        error = json.loads(result.err)
        assert error["url"] == "x.tar" and error["offset"] <= len(data)
        return None
    assert result.code == 0 and [
        (m["kind"], m["offset"], m["payload_offset"], m["size"]) for m in result.lines] == [
        (m.kind, m.header_offset, m.payload_offset, m.size) for m in expected], result.err
    return result.lines


def test_a_flip_with_a_mended_checksum_is_refused_or_read_as_others_do(tool):
    """By Python's tarfile, and by the reader that was written from the format pages."""
    data = member() + member(b"x" * 600, name=b"a.bin") + END
    refused = 0
    for at in [*range(148), *range(156, 512)]:
        block = data[:at] + bytes([data[at] ^ 1 << at % 7]) + data[at + 1:512]
        ours = check_against_second_reader(summed(block) + data[512:])
        refused += ours is None
        try:
            with tarfile.open("x.tar") as tar:
                files = [(m.name, m.offset_data, m.size) for m in tar if m.isreg()]
        except tarfile.ReadError:  # here a mode, an owner or a time that is no number
            assert ours is None or 100 <= at < 156 or 329 <= at < 345
            continue
        assert ours is None or at == 156 or set(files) <= {
            (m["path"], m["payload_offset"], m["size"]) for m in ours}, at
    assert 5 < refused < 400


def base256(value, first=0x80):
    return bytes([first]) + value.to_bytes(11, "big")


SIZES = [base256(n) for n in (5, 2**62, 2**63 - 512, 2**63 - 1, 2**63, 2**64 + 5, 2**88 - 1)] + [
    base256(5, 0xC0), b"\xff" * 12, b"\xff" * 10 + b"\xfe\0", b"777777777777", b"00000000009\0",
    b"-0000000005\0", b"0x000000005\0", b"00000 00005\0", b"          5 ", bytes(12), b"x" * 12]
PAX_SIZES = [b"5", b"0", b"600", b"-5", b"5 ", b" 5", b"+5", b"", b"5.0", b"0x5", b"1e1", b"9" * 18,
             b"9223372036854775807", b"9223372036854775808", b"18446744073709551621", b"9" * 49,
             b"0000005", b"4294967301", b"5\0", b"99999999999999999999999999"]


@pytest.mark.parametrize("size", SIZES, ids=range(len(SIZES)))
@pytest.mark.parametrize("kind", [b"0", b"5", b"2", b"x", b"L", b"K", b"g", b"S", b"Z"])
def test_sizes_that_are_none_or_overflow_are_refused(tool, size, kind):
    head = header(size=size, kind=kind)
    check_against_second_reader(head + b"hello".ljust(512, b"\0") + member(name=b"b.txt") + END)


@pytest.mark.parametrize("size", PAX_SIZES)
def test_sizes_in_pax_headers_rule_or_are_refused(tool, size):
    for stored in (b"", b"hello", b"x" * 600):
        data = pax(record(b"size", size)) + member(stored) + member(name=b"b.txt") + END
        check_against_second_reader(data)
    assert not check_against_second_reader(pax(record(b"size", size), b"g") + member() + END)


@pytest.mark.parametrize("records", [
    b"5 a=\n", b"5 a=b\n", b"7 a=b\n", b"0 a=b\n", b"-6 a=b\n", b"99 a=b\n",
    b"999999999999999999999 a=b\n", b"6 a=bX", b"6a=b\n", b"a=b\n", b"6 ab\n", b"3 =\n",
    b"\n", b" ", b"6 a=b\n\0\0",
    b"6 a=b\n" * 1000, b"18446744073709551622 a=b\n", b"4294967302 a=b\n", b"6  a=b\n",
    record(b"path", b"c.txt"), record(b"path", b""), record(b"path", b"x" * 5000),
    record(b"path", b"c\0.txt"), record(b"GNU.sparse.major", b"1"),
    record(b"path", b"c.txt") + record(b"size", b"5") * 2, record(b"linkpath", b"x" * 9000),
])
def test_pax_records_are_read_exactly_or_refused(tool, records):
    check_against_second_reader(pax(records) + member() + END)


@bounded
@pytest.mark.parametrize("kind", [b"x", b"g", b"L", b"K"], ids=bytes.decode)
def test_a_header_that_claims_gigabytes_takes_no_memory(tool, kind):
    write("x.tar", header(size=base256(2**60), kind=kind) + bytes(1 << 20))
    for verb in ("index", "ls", "verify"):
        assert "x.tar: offset" in small(verb, "x.tar")


# ---- memory

PEAK = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss, file=open("peak", "w"))
sys.exit(os.waitstatus_to_exitcode(status) & 255)
"""


def small(*args, code=DATA):
    """The messages of a run that takes little memory and ends with `code`."""
    result = subprocess.run([sys.executable, "-S", "-E", "-c", PEAK, SHARDTOOL, *args],
                            capture_output=True)
    err = result.stderr.decode()
    assert result.returncode == code, (args, result.returncode, err)
    assert int(Path("peak").read_text()) < MEMORY_KIB, args
    return err


def zstd_block(kind, size, content, last=0):
    return struct.pack("<I", size << 3 | kind << 1 | last)[:3] + content


def zstd_bomb(size, behind=b""):
    """A member of zeros, 4 bytes for each 128 KiB, in one frame with what is behind it."""
    head = header(name=b"a.bin", size=base256(size))
    return b"".join([b"\x28\xb5\x2f\xfd\x00\x58", zstd_block(0, len(head), head),
                     zstd_block(1, 1 << 17, b"\0") * (size >> 17),
                     zstd_block(0, len(behind + END), behind + END, 1)])


def gzip_bomb(size):
    piece = gzip.compress(bytes(64 << 20), 9)
    head = header(name=b"a.bin", size=base256(size))
    return gzip.compress(head) + piece * (size // (64 << 20)) + gzip.compress(END)


@bounded
@pytest.mark.parametrize("suffix, make", [("tar.zst", zstd_bomb), ("tar.gz", gzip_bomb)])
def test_what_expands_to_gigabytes_takes_little_memory(tool, suffix, make):
    write(f"x.{suffix}", make(GIGABYTES))
    for args in (["verify"], ["index", "--no-checksums"], ["ls"]):
        small(*args, f"x.{suffix}", code=0)
    assert "SHARD_ELIMIT" in small("cat", f"x.{suffix}", "a.bin")  # a sample in memory has one


@bounded
def test_a_frame_above_the_limit_of_a_sample_takes_no_memory(tool):
    """Smaller frames are decoded whole, so a sample costs what its frames hold (shard/set.h)."""
    write("x.tar.zst", zstd_bomb(GIGABYTES, member(name=b"b.txt")))
    small("index", "--no-checksums", "x.tar.zst", code=0)
    assert "SHARD_ELIMIT" in small("cat", "x.tar.zst", "b.txt", code=DATA)


WINDOWS = {"2 GiB": b"\0\xa8", "most": b"\0\xff", "16 MiB": b"\0\x70",
           "2 GiB of content": b"\xa0\0\0\0\x80", "content of 2^64 - 1": b"\xe0" + b"\xff" * 8}


@bounded
@pytest.mark.parametrize("window", WINDOWS)
def test_a_window_larger_than_8_mib_is_refused_clearly(tool, window):
    write("x.tar.zst", b"\x28\xb5\x2f\xfd" + WINDOWS[window] + b"\x03\x00\x10" + bytes(5))
    for verb in ("verify", "index", "ls", "unpack"):
        err = small(verb, "x.tar.zst")
        assert "x.tar.zst: offset 0: zstd" in err and "8 MiB" in err and "SHARD_ELIMIT" in err
    assert "x.tar.zst" in small("pack", "x.tar.zst", "out.tar")
    assert sorted(read_files(".")) == ["peak", "x.tar.zst"]


# ---- unpack


def snapshot():
    return {str(p): p.read_bytes() if p.is_file() and not p.is_symlink() else p.lstat().st_mode
            for p in Path(".").rglob("*") if p.parts[0] != "dest"}


NAMES = {
    "in a prefix": member(prefix=b"..", name=b"evil.txt"),
    "parted by prefix and name": member(prefix=b"a/..", name=b"../evil.txt"),
    "root in a prefix": member(prefix=b"/tmp", name=b"shardtool-evil.txt"),
    "in a pax path": pax(record(b"path", b"a/../../evil.txt")) + member(),
    "in a GNU name": member(b"../evil.txt\0", name=b"././@LongLink", kind=b"L",
                            magic=b"ustar  \0") + member(magic=b"ustar  \0"),
    "dots and blanks": member(name=b"./.././evil.txt"),
    "behind folders": member(name=b"d//..//..//evil.txt"),
    "a contiguous file": member(name=b"../evil.txt", kind=b"7"),
    "an old file": member(name=b"../evil.txt", kind=b"\0", magic=bytes(8)),
}


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", NAMES)
def test_names_that_lead_out_by_any_header_are_refused(tool, name, force, suffix):
    compress = {"tar": bytes, "tar.zst": zstandard.ZstdCompressor().compress,
                "tar.gz": gzip.compress}[suffix]
    write(f"x.{suffix}", compress(NAMES[name] + END))
    os.makedirs("dest/d")
    before = snapshot()
    assert "refused" in run("unpack", f"x.{suffix}", "-C", "dest", *force).err
    assert snapshot() == before and not [p for p in Path("dest").rglob("*") if p.is_file()]


# ---- terminals


def on_terminal(*args):
    """What shardtool writes to a terminal, ends of lines aside."""
    master, slave = pty.openpty()
    process = subprocess.Popen([SHARDTOOL, *args], stdin=slave, stdout=slave, stderr=slave,
                               env={**os.environ, "NO_COLOR": "1", "TERM": "xterm"})
    os.close(slave)
    out = b""
    try:
        while True:  # until nobody has the terminal open
            out += os.read(master, 65536)
    except OSError:
        os.close(master)
    assert process.wait() in (0, DATA, IO)
    return out.replace(b"\r\n", b"")


def evil_set(evil):
    """A shard with such a name, damaged, and a manifest with such strings."""
    text = evil.decode("utf-8", "ignore")
    data = member(name=evil + b".txt") + member(name=f"b.x{text}".encode()) + END
    write("x.tar", data)
    shardtool("index", "-q", "x.tar", "--manifest", "x.shards.json")
    manifest = json.loads(Path("x.shards.json").read_text())
    manifest["classes"], manifest["skipped"] = [text], [{"name": text, "reason": text}]
    write("x.shards.json", json.dumps(manifest))
    write("bad.tar", data[:512] + b"HELLO" + data[517:])
    shutil.copy("x.tar.sidx", "bad.tar.sidx")


VIEWS = [["ls", "x.shards.json"], ["ls", "-l", "x.tar"], ["ls", "--members", "x.tar"],
         ["verify", "-q", "bad.tar"], ["cat", "x.tar", "nothing"],
         *[["unpack", "-q", "x.tar", "-C", "dest"]] * 2, ["info", "x.shards.json"]]
EVIL = {"C1": "\u009b31m\u0085".encode(), "escape": b"\x1b[2J\x1b]0;evil\x07",
        "line": b"x\nshardtool: all is well", "return": b"a\rb", "no text": b"\x9b31m\xff\xfe",
        "backspace": b"a\x08\x7f"}


@pytest.mark.parametrize("evil", EVIL)
def test_terminals_get_no_control_characters_of_names(tool, evil):
    evil_set(EVIL[evil])
    for args in VIEWS:
        out = on_terminal(*args)
        assert not set(out) & {*range(9), *range(10, 32), 127}, (args, out)
        assert not set(out.decode()) & set(map(chr, range(128, 160))), (args, out)


# ---- indexes


def mend(index):
    """The index with checksums of its header and sections as they should be."""
    data = bytearray(index)
    count = min(struct.unpack_from("<I", data, 12)[0], 64, (len(data) - 64) // 32)
    for at in range(64, 64 + 32 * count, 32):
        offset, size = struct.unpack_from("<QQ", data, at + 8)
        crc = second_reader.crc32c(data[offset:offset + size])
        struct.pack_into("<I", data, at + 28, crc)
    crc = second_reader.crc32c(data[:60] + data[64:64 + 32 * count])
    struct.pack_into("<I", data, 60, crc)
    return bytes(data)


HEADER_FIELDS = [(8, "H"), (12, "I"), (16, "Q"), (24, "Q"), (32, "Q"), (40, "Q"), (48, "Q"),
                 (56, "B"), (57, "B"), (58, "H")]
ENTRY_FIELDS = [(4, "I"), (8, "Q"), (16, "Q"), (24, "I")]
NUMBERS = [0, 1, 8, 2**16, 2**31, 2**32 - 1, 2**32, 2**61, 2**63, 2**64 - 512, 2**64 - 1]


def poked(data, at, code, value):
    data = bytearray(data)
    struct.pack_into(f"<{code}", data, at, value % 256 ** struct.calcsize(code))
    return bytes(data)


def wrong_indexes(index):
    """{what is wrong: bytes}: flips, numbers in all fields, entries swapped; checksums mended."""
    count, = struct.unpack_from("<I", index, 12)
    entries = range(64, 64 + 32 * count, 32)
    wrong = {("flip", at): index[:at] + bytes([index[at] ^ 1 << at % 8]) + index[at + 1:]
             for at in range(len(index))}
    fields = HEADER_FIELDS + [(at + add, code) for at in entries for add, code in ENTRY_FIELDS]
    fields += [(at, "I") for at in range(entries[-1] + 32, len(index) - 3, 4)]
    wrong |= {(at, code, n): poked(index, at, code, n) for at, code in fields for n in NUMBERS}
    for a, b in itertools.combinations(entries, 2):
        for n in (4, 32):  # tags, whole entries
            wrong["swapped", a, b, n] = (index[:a] + index[b:b + n] + index[a + n:b]
                                         + index[a:a + n] + index[b + n:])
    return {key: mend(data) for key, data in wrong.items() if mend(data) != index}


def says_the_same(index, truth):
    try:
        read = second_reader.read_index(index)
    except second_reader.Refused:
        return False
    return read[2:] == truth[2:] and all(
        read.header[key] == truth.header[key] for key in ("shard_size", "tar_size", "codec"))


def make_indexed(shard, kind):
    name = shard("tar" if kind == "uneven" else kind)
    if kind == "uneven":
        write(name, member(name=b"a.txt") + member(name=b"a.cls") + member(name=b"b.txt")
              + pax(record(b"path", b"b.x")) + member() + END)
        shardtool("index", "-q", name)
    return name, Path(f"{name}.sidx").read_bytes()


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "uneven"])
def test_verify_tells_what_is_wrong_in_an_index_though_its_checksums_fit(shard, kind):
    name, index = make_indexed(shard, kind)
    truth = second_reader.read_index(index)
    wrong = wrong_indexes(index)
    folders = {f"v{i}": key for i, key in enumerate(wrong)}
    for folder, key in folders.items():
        write(f"{folder}/{name}.sidx", wrong[key])
        os.link(name, f"{folder}/{name}")
    found = told("verify", [f"{folder}/{name}" for folder in folders])
    said = {folders[url.partition("/")[0]] for url in found}
    optional = {at + i for at in range(64, 512, 32) for i in range(4)
                if index[at:at + 4] in (b"HASH", b"CRCS", b"FRAM")}  # other tags are passed over
    missed = [key for key in wrong if key not in said and not says_the_same(wrong[key], truth)
              and not (key[0] == "flip" and key[1] in optional)]
    assert len(wrong) > 900 and missed == []


@pytest.mark.parametrize("kind", ["tar", "tar.zst", "uneven"])
def test_cat_gives_the_right_bytes_or_an_error_whatever_the_index_says(shard, kind):
    name, index = make_indexed(shard, kind)
    content = shardtool("cat", name, "b.txt").out_bytes
    wrong = wrong_indexes(index)
    for i, key in enumerate(random.Random(5).sample([*wrong], 400)):
        write(f"{name}.sidx", wrong[key])
        result = run("cat", name, "b.txt", codes=(0, DATA, IO))
        assert result.code or result.out_bytes == content, key
        if i % 8 == 0:
            for args in (["ls", "-l", name], ["info", name], ["cat", "-n", name, "1"]):
                run(*args, codes=(0, DATA, IO))


@pytest.mark.parametrize("verb", [["cat", "out.tar", "b.cls"], ["verify", "out.tar"]])
@pytest.mark.parametrize("change", [
    lambda data: data + bytes(512), lambda data: data[:-512], lambda data: b"",
    lambda data: data.replace(b"22", b"33"), lambda data: data.replace(b"b.cls", b"c.cls"),
    lambda data: data[2048:3584] + data[:2048] + data[3584:], lambda data: bytes(len(data)),
], ids=["longer", "shorter", "empty", "content", "name", "order", "zeros"])
def test_a_shard_that_changed_behind_its_index_is_told(shard, verb, change):
    write("out.tar", change(Path(shard()).read_bytes()))
    assert "out.tar" in run(*verb).err


# ---- manifests

VALUES = [None, True, -1, 1.5, 2**62, 2**63, 2**64, "", "x", "a\0b", [], {}, [None], [-1], [""],
          {"x": None}, {"a": {"count": -1, "bytes": 0}}, [2**63 - 1] * 2, ["../x.tar", "/x.tar"],
          "{0..1}.tar", "../{0..1}.tar", "/{0..1}.tar", "out-{0..99999999}.tar",
          ["a//b", "a"], ["\x1b.tar", "b.tar"], ["a/../../b", "c"]]


def pack_two(tool):
    for i in range(4):
        write(f"in/cat/{i}.txt", str(i))
    tool("pack", "in", "out-{0..1}.tar", "--label-from", "dir", "-q")
    shutil.rmtree("in")
    return json.loads(Path("out.shards.json").read_text())


def check_manifest(text, why):
    """Refused where the format page says so; never a crash."""
    write("out.shards.json", text)
    for args in (["ls", "--shards"], ["info"], ["verify", "-q"]):
        result = run(*args, "out.shards.json", codes=(0, DATA, IO))
        try:
            second_reader.read_manifest(text)
        except second_reader.Refused:
            assert result.code == DATA and "out.shards.json" in result.err, (args, why)


@pytest.mark.parametrize("key", (
    "format version part parts pack_digest samples bytes components classes skipped shards names "
    "shard_samples shard_bytes shard_xxh3 first_keys last_key").split())
def test_a_manifest_with_a_wrong_value_is_refused(tool, key):
    manifest = pack_two(tool)
    for value in VALUES:
        check_manifest(json.dumps({**manifest, key: value}), (key, value))
    if key not in ("first_keys", "last_key"):  # without one of them, the other says nothing
        check_manifest(json.dumps({k: manifest[k] for k in manifest if k != key}), (key, "none"))
    check_manifest(json.dumps(manifest)[:-1] + f', "{key}": 1, "{key}": 1}}', (key, "twice"))


@pytest.mark.parametrize("names", ["out-{1..0}.tar", "out-{0..2..2}.tar"])
def test_a_range_of_names_that_does_not_count_up_by_one_is_refused(tool, names):
    check_manifest(json.dumps({**pack_two(tool), "names": names}), names)


def test_a_name_in_a_manifest_that_is_too_long_is_bad_data(tool):
    manifest = pack_two(tool)
    check_manifest(json.dumps({**manifest, "names": ["x" * 5000] * 2}), "too long")
    assert "out.shards.json" in run("ls", "out.shards.json").err


def test_what_is_no_manifest_is_refused(tool):
    for text in ("", "{", "[]", "1", "null", "[" * 100000, '{"a":' * 100000, "\0", "\ufeff{}",
                 '{"format": "shardset"}', "x" * 100000):
        write("out.shards.json", text)
        for args in (["ls"], ["info"], ["verify"], ["unpack"], ["merge", "all.shards.json"]):
            assert "out.shards.json" in run(*args, "out.shards.json").err, (args, text[:10])


# ---- seek tables and DALI's indexes


def test_a_wrong_seek_table_is_told_and_does_not_change_what_is_read(shard):
    block = random.Random(7).randbytes(400000)
    name = shard("tar.zst", {f"{i}.bin": block[:70000 * (i + 2)] for i in range(4)})
    whole = Path(name).read_bytes()
    begin = sum(stored for stored, _ in second_reader.read_seek_table(whole))
    content = shardtool("cat", name, "3.bin").out_bytes
    wrong = {(at, n): poked(whole, at, "I", n) for at in range(begin, len(whole) - 3)
             for n in (0, 1, 255, 2**27, 2**31, 2**32 - 1)}
    a, b, c = begin + 8, begin + 16, begin + 24
    wrong["swapped"] = whole[:a] + whole[b:c] + whole[a:b] + whole[c:]
    wrong = {key: data for key, data in wrong.items() if data != whole}
    names = variants(dict(random.Random(6).sample([*wrong.items()], 150)), "tar.zst")
    errors = told("verify", names)
    magic = {key for key in wrong if key != "swapped" and key[0] > len(whole) - 8}
    assert {names[n] for n in names.keys() - errors.keys()} <= magic  # then it is no table
    for key in list(wrong)[::8] + ["swapped"]:
        write(name, wrong[key])
        result = run("cat", name, "3.bin", codes=(0, DATA))
        assert result.code or result.out_bytes == content


DALI = ["", "v1.2", "v1.2 -1\n", "v1.2 x\n", "v1.1 1\ntxt 512 5\n", "v9 1\ntxt 512 5 a.txt\n",
        "v1.2 2\ntxt 512 5 a.txt\n", "v1.2 99999999999999999999\n", "v1.2 1\ntxt 512 5\n",
        "v1.2 1\ntxt 0 5 a.txt\n", "v1.2 1\ntxt 513 5 a.txt\n", "v1.2 1\ntxt 512 6 a.txt\n",
        "v1.2 1\ntxt 512 5 b.txt\n", "v1.2 1\ntxt 512 -5 a.txt\n", "v1.2 1\ntxt 4096 5 a.txt\n",
        "v1.2 1\ntxt 9223372036854775296 5 a.txt\n", "v1.2 1\ntxt 18446744073709552128 5 a.txt\n",
        "v1.2 2\ntxt 512 5 a.txt\ntxt 512 5 a.txt\n", "v1.2 1\ntxt 512 5 a.txt cls 512 5 a.txt\n",
        "v1.2 1\ntxt 512 5 " + "x" * 100000 + ".txt\n", "\0" * 1000, "v1.2 1\ntxt 512 5 a\0.txt\n",
        "v1.2 1\ntxt 512 5 ../a.txt\n", "v1.2 9223372036854775807\ntxt 512 5 a.txt\n"]


@pytest.mark.parametrize("text", DALI, ids=range(len(DALI)))
def test_a_wrong_index_of_dali_is_refused(tool, text):
    write("x.tar", member() + member(name=b"b.txt") + END)
    write("x.idx", text)
    assert "x.idx" in run("index", "--from-dali", "x.tar").err
    assert sorted(read_files(".")) == ["x.idx", "x.tar"]
