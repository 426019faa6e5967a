# SPDX-License-Identifier: Apache-2.0
"""Trees to pack, and what the second reader sees of the shards, in the words of shardtool."""
import gzip
import os
import random
from pathlib import Path

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
