# SPDX-License-Identifier: Apache-2.0
"""Damaged indexes and manifests: shardtool and the second reader refuse the same."""
import json
import struct
from pathlib import Path

import pytest

import second_reader as second
from conftest import write
from second_view import (
    as_listed, assert_agree, BLOCK, mixed, pack, uniform)


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
