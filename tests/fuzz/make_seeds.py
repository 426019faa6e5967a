#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write the seeds of all fuzz targets: make_seeds.py FOLDER makes FOLDER/TARGET/NAME.

The same seeds on every machine, by the standard library alone. Indexes and manifests are made by
the program that the environment's SHARDTOOL names; without it their seeds are left out.
"""
import base64
import bz2
import gzip
import io
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import zlib

OUT = pathlib.Path(sys.argv[1])
SHARDTOOL = os.environ.get("SHARDTOOL")


def save(target, name, data):
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


# ---- tar


def member(name, data=b"", **fields):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info, data


def tar(members, form=tarfile.USTAR_FORMAT, **options):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form, **options) as archive:
        archive.copybufsize = 512
        for info, data in members:
            archive.addfile(info, io.BytesIO(data))
    end = out.getvalue().rstrip(b"\0")  # tape blocking would make up most of a seed
    return end + bytes(-len(end) % 512 + 1024)


def header(name, kind, size):
    """A block that tarfile would not write."""
    block = bytearray(512)
    block[: len(name)] = name
    block[124 : 124 + len(size)] = size
    block[156:157] = kind
    block[257:265] = b"ustar\x0000"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def tars():
    samples = [
        member("dog/01.jpg", b"\xff\xd8" * 300),
        member("dog/01.cls", b"3"),
        member("dog/02.jpg", b""),
        member("dog/02.Seg.PNG", b"p" * 512),
    ]
    odd = [
        member("dir/", type=tarfile.DIRTYPE),
        member("a.txt", b"hello"),
        member("link", type=tarfile.SYMTYPE, linkname="a.txt"),
        member("hard", type=tarfile.LNKTYPE, linkname="a.txt"),
        member("device", type=tarfile.CHRTYPE),
        member("README", b"x"),
        member("__meta__/x.json", b"{}"),
    ]
    long = [member("d/" * 80 + "n" * 60 + ".jpg", b"x"), member("k" * 150 + ".cls", b"1")]
    long += [member("link", type=tarfile.SYMTYPE, linkname="t" * 150)]
    huge = [member("p/" * 2046 + "a.jpg", b"x")]
    too_long = [member("p/" * 2060 + "a.jpg", b"x")]
    times = [member("a.jpg", b"x", mtime=1.5), member("a.cls", b"1", mtime=2.5)]
    yield "samples", tar(samples)
    yield "odd", tar(odd)
    yield "empty", tar([])
    for form, name in ((tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "pax")):
        yield "long-" + name, tar(long, form)
        yield "huge-" + name, tar(huge, form)
        yield "too-long-" + name, tar(too_long, form)
    yield "times", tar(times, tarfile.PAX_FORMAT)
    yield "global", tar(times, tarfile.PAX_FORMAT, pax_headers={"comment": "hello"})
    yield "cut", tar(samples)[:-1500]
    yield "padded", tar(samples[1:2]) + bytes(8192)
    yield "joined", tar(samples[:1]) + tar(samples[1:2])
    yield "hole", tar(samples[:1])[:-512] + tar(samples[1:2])
    base256 = b"\x80" + bytes(8) + b"\0\0\5"
    yield "base256", header(b"a.bin", b"0", base256) + b"hello".ljust(512, b"\0") + bytes(1024)
    records = b"22 path=long/name.jpg\n13 size=0600\n"
    pax = header(b"x", b"x", b"%011o" % len(records)) + records.ljust(512, b"\0")
    payload = bytes(1024)
    yield "size", pax + header(b"short", b"0", b"7") + payload + bytes(1024)
    yield "sparse", header(b"sparse", b"S", b"0") + bytes(1024)
    yield "unknown", header(b"what", b"Q", b"3") + b"abc".ljust(512, b"\0") + bytes(1024)


def tar_seeds():
    pieces = bytes([1, 0, 6, 100, 0x90, 0xC1, 0x83, 0xF0])  # a byte of modes, then sizes
    for name, data in tars():
        save("tar", name, pieces + data)
        save("index_build", name, b"\1" + data)


# ---- zstd, by hand: frames of one raw or RLE block

SKIPPABLE, SEEKABLE = 0x184D2A5E, 0x8F92EAB1


def zstd_frame(data):
    size = struct.pack("<BI", 0xA0, len(data))  # the content size stands in the frame's head
    repeated = data == data[:1] * len(data)
    block = struct.pack("<I", 1 | repeated << 1 | len(data) << 3)[:3]
    return b"\x28\xb5\x2f\xfd" + size + block + (data[:1] if repeated else data)


def seek_table(entries, checksums=False):
    form = "<III" if checksums else "<II"
    body = b"".join(struct.pack(form, *entry) for entry in entries)
    body += struct.pack("<IBI", len(entries), 0x80 if checksums else 0, SEEKABLE)
    return struct.pack("<II", SKIPPABLE, len(body)) + body


def zstd(data, step):
    parts = [data[at : at + step] for at in range(0, len(data), step)]
    frames = [zstd_frame(part) for part in parts]
    entries = [(len(frame), len(part)) for frame, part in zip(frames, parts)]
    return b"".join(frames) + seek_table(entries)


def seek_table_seeds():
    def seed(name, entries, **options):
        before = sum(entry[0] for entry in entries)
        save("seek_table", name, struct.pack("<Q", before) + seek_table(entries, **options))

    seed("empty", [])
    seed("one", [(100, 131072)])
    seed("three", [(100, 131072), (90, 131072), (1 << 31, 5)])
    seed("checksums", [(100, 131072, 7), (90, 10, 8)], checksums=True)


def compressed_seeds():
    data = dict(tars())["samples"]
    save("index_build", "zstd", b"\0" + zstd(data, 512))
    save("index_build", "zstd-two", b"\2" + zstd(data, 2048))
    save("index_build", "gzip", b"\0" + gzip.compress(data, mtime=0))
    parts = gzip.compress(data[:1024], mtime=0) + gzip.compress(data[1024:], mtime=0)
    save("index_build", "gzip-two", b"\0" + parts + bytes(512))
    save("index_build", "xz", b"\0" + lzma.compress(data, preset=0))
    save("index_build", "bzip2", b"\0" + bz2.compress(data, 1))


# ---- indexes and manifests, by shardtool


def run(verb, *arguments):
    subprocess.run([SHARDTOOL, verb, "--quiet", *arguments], check=True)


def pack_tree(folder):
    """Folders of classes, and a sample that is not made as the others are."""
    tree = folder / "tree"
    for name, data in [
        ("dog/01.jpg", b"\xff\xd8" * 300),
        ("dog/01.json", b"{}"),
        ("dog/02.jpg", bytes(200000)),
        ("cat/01.jpg", b"j"),
        ("cat/02.jpg", bytes(150000)),
        ("cat/README", b"left out"),
    ]:
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_bytes(data)
    run("pack", tree, folder / "tree-<0..1>.tar.zst", "--label-from", "dir")
    run("pack", tree, folder / "part-<0..3>.tar.gz", "--shuffle", "1", "--part", "1/2")
    (tree / "dog/01.json").unlink()
    run("pack", tree, folder / "same-%06d.tar.zst", "--max-samples", "9")


def index_seeds(folder):
    shards = dict(tars())
    shards["zstd"] = zstd(shards["samples"], 512)
    shards["gzip"] = gzip.compress(shards["samples"], mtime=0)
    for name in ("samples", "long-gnu", "times", "empty", "zstd", "gzip"):
        (folder / (name + ".tar")).write_bytes(shards[name])
        run("index", folder / (name + ".tar"))
    pack_tree(folder)
    for index in folder.glob("*.sidx"):
        data, shard = index.read_bytes(), index.with_suffix("").read_bytes()
        save("sidx", index.name, data)
        save("sample", index.name, struct.pack("<H", len(data)) + data + shard)
    for manifest in folder.glob("*.json"):
        save("manifest", manifest.name, manifest.read_bytes())


def shardtool_seeds():
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        index_seeds(folder)
    finally:
        shutil.rmtree(folder)


# ---- indexes that lie; the target makes their checksums right


def index(sections, samples, shard, tar_size, codec):
    offset, table, body = 64 + 32 * len(sections), b"", b""
    for tag, form, *values in sections:
        data = struct.pack(f"<{len(values)}{form}", *values) if form else values[0]
        width = 16 if tag == b"FRAM" else struct.calcsize(form) if form else 1
        required = tag not in (b"CRCS", b"FRAM")
        table += tag + struct.pack("<IQQII", required, offset, len(data), width, 0)
        data += bytes(-len(data) % 8)
        offset += len(data)
        body += data
    rows = next(len(section) - 2 for section in sections if section[0] == b"SIZE")
    sizes = (samples, rows, len(shard), tar_size, codec)
    head = struct.pack("<HHIQ5Q", 1, 0, len(sections), offset, *sizes)
    return b"\x89SIDX\r\n\x1a" + head + table + body


def lying_seeds():
    def seed(name, shard, tar_size, codec, samples, sections):
        data = index(sections, samples, shard, tar_size, codec)
        save("sidx", name, data)
        save("sample", name, struct.pack("<H", len(data)) + data + shard)

    # The payload of the first row stands behind the bytes that are read, which end with the second.
    names = [(b"NAME", "", b"b\0a\0"), (b"LIST", "H", 0, 1)]
    keys = [(b"KEYO", "I", 1), (b"KEYS", "", b"k")]
    places = [(b"SAMP", "I", 0), (b"DATA", "I", 3, 1)]
    sizes = [(b"SIZE", "I", 1 << 20, 1024), (b"CRCS", "I", 0, 0)]
    shard = tar([member("k.a", b"x" * 100)])[:1024] + header(b"k.b", b"0", b"%o" % (1 << 20))
    seed("order", shard, 1 << 24, 0, 1, names + places + sizes + keys)

    # Frames that a binary search never looks at lead out of the stored bytes that are read.
    content = tar([member("k.a", bytes(512 * 61) + b"A" * 5), member("l.a", bytes(512 * 63))])
    frames = [zstd_frame(content[at : at + 512]) for at in range(0, len(content), 512)]
    ends = [sum(map(len, frames[:i])) for i in range(len(frames) + 1)]
    pairs = [[stored, i * 512] for i, stored in enumerate(ends)]
    pairs[34], pairs[35] = [ends[62], 62 * 512], [ends[63], 63 * 512]
    pairs[63][0] = ends[62] + 20
    names = [(b"NAME", "", b"a\0"), (b"LIST", "H", 0), (b"SAMP", "I", 0, 63)]
    keys = [(b"KEYO", "I", 1, 2), (b"KEYS", "", b"kl")]
    sizes = [(b"SIZE", "I", 512 * 61 + 5, 512 * 63)]
    frame_map = [(b"FRAM", "Q", *(number for pair in pairs for number in pair))]
    seed("frames", b"".join(frames), len(content), 1, 2, names + sizes + keys + frame_map)


def manifest_seeds():
    head = b'{"format": "shardset", "version": 1, "samples": 3, "bytes": 3072, "components": {}, '
    columns = b'"shards": 2, "shard_samples": [1, 2], "shard_bytes": [1024, 2048], '
    save("manifest", "pattern", head + columns + b'"names": "out-{00..01}.tar"}')
    rest = b'"names": ["a.tar", "b/c.tar"], "first_keys": ["a", "b\\u0007\\ud83d\\ude00"], '
    save("manifest", "names", head + columns + rest + b'"last_key": "c"}')
    rest = b'"names": ["a", "b"], "skipped": [{"name": "x", "reason": "hidden file"}], '
    save("manifest", "skipped", head + columns + rest + b'"classes": ["cat", "dog"]}')


# ---- texts


def naming_seeds():
    texts = [
        b"dog/01.seg.png", b"README", b"dir/.hidden", b"__meta__/x.json", b"a." + b"x" * 300,
        b"out-{000..099}.tar", b"{0..30..10}{a..e}{x,y,,z}", b"out-<-5..05>.tar", b"%06d-%d.tar",
        b"{z..a..3}{1..999999999}", b"{{1..2},b}", b"a-098.tar\na-099.tar\na-100.tar\n",
        b"a9b\na10b\n", b"a{x,y}1\na{x,y}2\n",
    ]  # fmt: skip
    for i, text in enumerate(texts):
        save("naming", str(i), struct.pack("<Q", 7) + text)


def dali_seeds():
    save("dali", "one", b"v1.2 1\njpg 512 100 dog/01.jpg cls 1536 1 dog/01.cls\n")
    save("dali", "two", b"v1.2 2\njpg 512 100 a.jpg\nseg.png 1536 0 b.seg.png\n")
    save("dali", "old", b"v1.1 1\njpg 512 100\n")
    save("dali", "cut", b"v1.2 3\njpg 512 100 a.jpg")


def json_seeds():
    texts = [
        b'{"key": "a", "n": -1.5e3, "list": [1, {"x": "}"}, []], "t": true}',
        b' { "a\\"b" : null ,\n"\\u00e9": "\\\\", "":{ } }\r\n',
        b"{}",
        b"[1, 2]",
    ]
    for i, text in enumerate(texts):
        save("json_text", str(i), text)


def csv_seeds():
    texts = [
        b'key,image,caption\na,a.jpg,"two\nlines, ""quoted"""\nb,b.jpg,\n',
        b"a,b\r\n1,2\r\n\r\n ,x \r3",
        b'"open',
        b'a"b,"c"d\n',
    ]
    for i, text in enumerate(texts):
        save("csv", str(i), text)


# ---- images

JPEGS = {
    "baseline":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j"
        "q62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk"
        "pKSkpKSkpKT/wAARCAAJABEDASIAAhEBAxEB/8QAFwAAAwEAAAAAAAAAAAAAAAAAAAMEBf/EACUQAAIBAQUJAAAAAAAAAAAAAAEC"
        "AAMEERJxwSExM0NkgqLR4f/EABUBAQEAAAAAAAAAAAAAAAAAAAIB/8QAHBEAAgEFAQAAAAAAAAAAAAAAAAIRARNRYbGB/9oADAMB"
        "AAIRAxEAPwBKU7LTosBTd9gAIXffnGOKa0VWnZ2bETfiIHuOHATMayk8vu0gVwO8U86RYOk8/kJqwiu6JK46f//Z",
    "progressive":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j"
        "q62rZ4C8ybqmx5moq6T/2wBDARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSk"
        "pKSkpKSkpKT/wgARCAAJABEDASIAAhEBAxEB/8QAFwAAAwEAAAAAAAAAAAAAAAAAAAIDBP/EABYBAQEBAAAAAAAAAAAAAAAAAAIA"
        "Af/aAAwDAQACEAMQAAABRnoTE1G3/8QAGhAAAgIDAAAAAAAAAAAAAAAAAREAAhAhQf/aAAgBAQABBQJVA0pzH//EABYRAQEBAAAA"
        "AAAAAAAAAAAAAAABIf/aAAgBAwEBPwG1j//EABYRAQEBAAAAAAAAAAAAAAAAAAABEv/aAAgBAgEBPwGVp//EABoQAAICAwAAAAAA"
        "AAAAAAAAAAAQAQIhMTL/2gAIAQEABj8C0YqcqF//xAAdEAEAAgAHAAAAAAAAAAAAAAABABEQIUFRgdHw/9oACAEBAAE/IRXM8RoR"
        "G95XrNM7Yf/aAAwDAQACAAMAAAAQHO//xAAZEQACAwEAAAAAAAAAAAAAAAAAEQFRsYH/2gAIAQMBAT8QXHNHTT//xAAVEQEBAAAA"
        "AAAAAAAAAAAAAAAAcf/aAAgBAgEBPxAy/8QAIBABAAIABQUAAAAAAAAAAAAAAQARECExcfCBocHR8f/aAAgBAQABPxAgMmAmq94b"
        "ABuwe5z+Yd88x4dMP//Z",
    "grey":
        "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6j"
        "q62rZ4C8ybqmx5moq6T/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EAB4QAQABAgcAAAAAAAAAAAAAAAECBBEA"
        "AwUTIYHR/9oACAEBAAA/ADp4xptIzpILOO2C2uy49esf/9k=",
    "restarts":
        "/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBDARwe"
        "HigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAYACgDASIAAhEB"
        "AxEB/8QAGAABAQEBAQAAAAAAAAAAAAAAAwAEAgX/xAAbEAADAAMBAQAAAAAAAAAAAAAAAgMBIWERUf/EABkBAAMAAwAAAAAAAAAAAAAA"
        "AAIDBAEFBv/EABkRAQEBAQEBAAAAAAAAAAAAAAEAAgMRIf/dAAQAAv/aAAwDAQACEQMRAD8A8HEtiLPY6y8ExPZgYMdIFnwRZmhZCLIM"
        "arHS/9DCs+EbcT4Qz22B1+QrMRZERKNz2NN//9HpZ5+CLIiAGTjTKsyIgyoF8v/Z",
    "cmyk":
        "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAbEhQXFBEbFxYXHhwbIChCKyglJShROj0wQmBVZWRfVV1baniZgWpxkHNbXYW1hpCeo6ut"
        "q2eAvMm6pseZqKuk/8AAFAgACAAJBEMRAE0RAFkRAEsRAP/EABkAAAIDAQAAAAAAAAAAAAAAAAMEAAIFBv/EACoQAAECAgUNAAAA"
        "AAAAAAAAAAEAAgMEBREVYtESExQhNEJUYXOBkZKz/9oADgRDAE0AWQBLAAA/ALzDnTNLwWgkBjs4SBXUG68B3RzFpB7A50aDDJ3X"
        "PNY8AhNx9od1onzWjaV5N6VzQsuf4qW93YLnFLSvL//Z",
}


WEBPS = {
    "lossy": "UklGRjYAAABXRUJQVlA4ICoAAADQAQCdASoMAAkAAsBMJZQCw7D0ew1fgAD+4UDSY7ab4M5Xhb5pMv0AAAA=",
    "lossless":
        "UklGRq4AAABXRUJQVlA4TKEAAAAvBQABEO+gKJKkhsv3wr8rxOSMDUWRJDWXzwAv/CvCSs4wjCQpEe6QAPlnRCbOy57iSJISHF6a"
        "f1iEcoZHSm0En2oftmACiKEBCFDQ+2DnXfthUdhEB+BZf6kj/5p+eYB9KYPSAz959xwouEZw/L+LFPvH8iW/a8W+XfmNS6Udaj4f"
        "CwojSTJjd2/biOh/9LKv5DUf+0lLQVE2ojMC1/T6AQA=",
    "alpha":
        "UklGRrQAAABXRUJQVlA4WAoAAAAQAAAACwAACAAAQUxQSGgAAAABuSpE9D/AKJIkRQtDS0f+32eQYW7HRsQExNpjGRiQjj0mJls8"
        "mk48PMFA0hXIVEkRiReriswhSIAbQ6OfKl6GIEU8pCYOQA34IKDUxwj0QRdjqg0hGfucqg+4Me/hOTcCRBCQmzFIAVZQOCAmAAAA"
        "0AEAnQEqDAAJAAQAaCWUAuwBDvmqKOAA/sgpUr5P4jWBMHZgAAA=",
}


def png_chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colour, bits, interlaced, *chunks):
    """10 x 7 pixels of any kind; `colour` as in IHDR."""
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = b""
    for left, top, across, down in passes if interlaced else [(0, 0, 1, 1)]:
        size = (len(range(left, 10, across)) * channels * bits + 7) // 8
        for y in range(top, 7, down):
            rows += bytes([y % 5]) + bytes((y * 37 + i * 11) % 251 for i in range(size))
    head = struct.pack(">IIBBBBB", 10, 7, bits, colour, 0, 0, interlaced)
    return (b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", head) + b"".join(chunks) + png_chunk(b"IDAT", zlib.compress(rows)) +
            png_chunk(b"IEND", b""))


def pngs():
    palette, clear = png_chunk(b"PLTE", bytes(range(48))), png_chunk(b"tRNS", bytes([0, 128, 255]))
    for interlaced in (0, 1):
        for colour, bits in [(0, 1), (0, 8), (0, 16), (2, 8), (2, 16), (4, 8), (6, 16)]:
            yield f"{colour}-{bits}-{interlaced}", png(colour, bits, interlaced)
        yield f"palette-{interlaced}", png(3, 4, interlaced, palette, clear)


def pixel_seeds():
    images = [*((name + ".jpg", data) for name, data in jpegs()), *((name + ".png", data) for name, data in pngs()),
              *((name + ".webp", base64.b64decode(text)) for name, text in WEBPS.items())]
    for i, (name, data) in enumerate(images):
        save("image", name, bytes([i * 37 % 256, i * 5 % 256, 7, 5, i]) + data)
    for i, name in enumerate(["cmyk", "grey", "progressive"]):
        save("image", name + "-2.jpg", bytes([1 + i, 0, 30, 40, i]) + base64.b64decode(JPEGS[name]))


def segment(marker, payload):
    return struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload


def exif(order, orientation):
    entry = struct.pack(order + "HHIHH", 0x112, 3, 1, orientation, 0)
    head = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "IH", 8, 1)
    return segment(0xE1, b"Exif\0\0" + head + entry + bytes(4))


def jpegs():
    for name, text in JPEGS.items():
        yield name, base64.b64decode(text)
    image = base64.b64decode(JPEGS["baseline"])
    extra = segment(0xFE, b"comment") + segment(0xE2, b"ICC_PROFILE\0\1\1" + bytes(20))
    for order, name in ((">", "big"), ("<", "little")):
        yield "exif-" + name, image[:2] + exif(order, 6) + extra + image[2:] + b"behind the end"
    yield "cut", image[:-30]
    yield "fill", image[:2] + b"\xff\xff" + image[2:]


def huffman_seeds():
    """The first two tables of an image, then its scan as if all of it were of one component."""
    for name, image in jpegs():
        at, tables = 2, []
        while image[at + 1] not in (0xC2, 0xDA):
            size = struct.unpack(">H", image[at + 2 : at + 4])[0] if image[at + 1] != 0xFF else -1
            if image[at + 1] == 0xC4:
                tables.append(image[at + 5 : at + 2 + size])  # without its class and number
            at += 2 + size
        if image[at + 1] == 0xDA:
            scan = image[at + 2 + struct.unpack(">H", image[at + 2 : at + 4])[0] :]
            save("huffman", name, b"\0" + b"".join(tables[:2]) + scan)


def image_seeds():
    heads = [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x02",
        b"GIF89a" + struct.pack("<HH", 640, 480),
        b"BM" + struct.pack("<IIIIii", 1000, 0, 54, 40, 640, -480),
    ]
    for tag, chunk in [
        (b"VP8X", struct.pack("<II", 16, 639) + b"\xdf\1\0"),
        (b"VP8L", b"\x2f" + struct.pack("<I", 639 | 479 << 14) + bytes(6)),
        (b"VP8 ", b"\x30\1\0\x9d\1\x2a" + struct.pack("<HH", 640, 480)),
    ]:
        heads.append(b"RIFF\x40\0\0\0WEBP" + tag + struct.pack("<I", 64) + chunk)
    for i, head in enumerate(heads):
        save("image_head", str(i), b"\x18\0" + head)
    for name, data in jpegs():
        save("image_head", name + ".jpg", b"\x40\0" + data)
        save("jpeg_markers", name + ".jpg", data)
        save("jpeg_transform", name + ".jpg", b"\1\x0f\x07" + data)
    save("jpeg_markers", "segment", b"\xe1" + exif(">", 8)[4:])


def npy(version, header, data=b""):
    form = "<H" if version == 1 else "<I"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack(form, len(header)) + header + data


def state_seeds():
    common = '"seed":7,"epoch":3,"position":81920,"set":"5f0c21aa","opts":"90b1de07"'
    save("state", "lanes", b'{"order":"lanes-1",' + common.encode() + b"}")
    save("state", "stored", b' {"order":"stored-1",' + common.encode() + b"}\n")
    save("state", "stream", b'{"order":"stream-1",' + common.encode()
         + b',"round":4,"departures":700,"shard":5,"first":650}')
    save("state", "large", b'{"order":"shards-1","seed":9223372036854775807,"epoch":4294967295,'
         b'"position":1099511627775,"set":"ffffffff","opts":"00000000"}')
    save("state", "lacking", b'{"order":"lanes-1","seed":-1}')


def npy_seeds():
    text = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }\n"
    for i, (version, kind, order, shape, size) in enumerate([
            (1, "<f4", False, "(2, 3)", 24), (2, "|b1", False, "(3,)", 3), (3, "<i8", False, "()", 8),
            (1, "<u2", False, "(0, 5)", 0), (1, "<f2", True, "(4,)", 8), (1, "<f8", True, "(2, 2)", 32),
            (1, ">f4", False, "(1,)", 4), (1, "|O", False, "(1,)", 4), (1, "<U3", False, "(1,)", 12),
            (1, "<f4", False, "(9223372036854775807, 4)", 4), (1, "|u1", False, "(" + "1, " * 32 + ")", 1)]):
        save("npy", str(i), npy(version, (text % (kind, order, shape)).encode(), bytes(size)))
    save("npy", "fields", npy(1, b"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", bytes(4)))
    save("npy", "quotes", npy(1, b'{"shape":(1,),"descr":"|i1","fortran_order":False}', b"x"))


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    tar_seeds()
    seek_table_seeds()
    compressed_seeds()
    if SHARDTOOL:
        shardtool_seeds()
    lying_seeds()
    manifest_seeds()
    naming_seeds()
    dali_seeds()
    json_seeds()
    csv_seeds()
    npy_seeds()
    state_seeds()
    image_seeds()
    pixel_seeds()
    huffman_seeds()


main()
