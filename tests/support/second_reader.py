# SPDX-License-Identifier: Apache-2.0
"""A second reader of shards, written from docs/format/*.md alone.

It shares no code with shardtool, so what both read alike is what the pages say. It is strict and
slow, and takes whole files as bytes.
"""
import itertools
import json
import re
import struct
from typing import Dict, List, NamedTuple, Optional, Tuple

BLOCK = 512
LIMIT = 2 ** 63
ZEROS = bytes(BLOCK)


class Refused(Exception):
    """The bytes break a rule of the format pages."""


class Member(NamedTuple):
    path: bytes
    kind: str  # file, dir, hardlink, symlink, special or other
    header_offset: int  # of its first block, pax headers and long names included
    payload_offset: int
    size: int
    payload: bytes


class Component(NamedTuple):
    name: bytes
    payload_offset: int
    size: int
    crc: Optional[int]


class Sample(NamedTuple):
    key: bytes
    first_offset: int
    end_offset: int
    components: List[Component]


class Index(NamedTuple):
    header: Dict[str, int]
    tags: List[str]
    samples: List[Sample]
    frames: Optional[List[Tuple[int, int]]]
    hash: Optional[bytes]


def must(condition, message):
    if not condition:
        raise Refused(message)


def padded(size):
    return -(-size // BLOCK) * BLOCK


# CRC-32C (RFC 3720)

def _crc_entry(byte):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
    return byte


CRC_TABLE = [_crc_entry(byte) for byte in range(256)]


def crc32c(data):
    table, crc = CRC_TABLE, 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


# Tar (tar.md)

KINDS = {b"0": "file", b"\0": "file", b"7": "file", b"5": "dir", b"1": "hardlink",
         b"2": "symlink", b"3": "special", b"4": "special", b"6": "special"}
MAX_PATH = 4096
MAX_PAX = 16 << 20
MAX_ZEROS = 64 << 20
PAX_RECORD = re.compile(rb"([0-9]{1,50}) ([^=\n]*)=")


def read_tar(data, missing_end=False):
    """Yield the members of a tar; refuse what tar.md, "Refused", lists."""
    at, extras = 0, {}
    while not _at_end(data, at, missing_end):
        try:
            member, at = _read_header(data, at, extras)
        except Refused as error:
            raise Refused(f"offset {at}: {error}") from None
        if member:
            yield member
            extras.clear()
    must(not extras, "a pax header or long name without its member")


def _at_end(data, at, missing_end):
    rest = len(data) - at
    if missing_end and (rest == 0 or data[at:] == ZEROS):
        return True
    must(rest >= BLOCK, f"offset {at}: ends without an end mark")
    if data[at:at + BLOCK] != ZEROS:
        return False
    must(data[at + BLOCK:at + 2 * BLOCK] == ZEROS, f"offset {at}: only one block of zeros")
    behind = data[at + 2 * BLOCK:]
    must(len(behind) <= MAX_ZEROS and not behind.strip(b"\0"), f"offset {at}: data behind the end")
    return True


def _read_header(data, at, extras):
    """(member, next offset); None for a header that says something of the next member."""
    header = data[at:at + BLOCK]
    _check_sum(header)
    letter, size, payload_at = header[156:157], _number(header[124:136]), at + BLOCK
    if letter not in b"gK":  # a sample does not begin with headers that are passed over
        extras.setdefault("begin", at)
    if letter in b"xXLKg":  # X: Solaris' x. tar.md names neither X nor K, a long link target
        _read_extra(letter, _payload(data, payload_at, size), extras)
        return None, payload_at + padded(size)
    pax = extras.get("pax", {})
    must("long" not in extras or b"path" not in pax, "both a pax path and a GNU long name")
    path = extras.get("long", pax.get(b"path", _header_path(header)))
    size = int(pax.get(b"size", size))
    kind = _kind(letter, path, size)
    payload = _payload(data, payload_at, size)
    member = Member(path, kind, extras["begin"], payload_at, size, payload)
    return member, payload_at + padded(size)


def _check_sum(header):
    taken = header[:148] + b" " * 8 + header[156:]
    signed = sum(taken) - 256 * sum(byte > 127 for byte in taken)
    must(_number(header[148:156]) in (sum(taken), signed), "checksum of the header")


def _number(field):
    if field[0] == 0x80:
        value = int.from_bytes(field[1:], "big")
    else:
        digits = field.strip(b" \0")
        must(re.fullmatch(b"[0-7]*", digits), f"{field!r} is no number")
        value = int(digits or b"0", 8)  # tar.md does not say that a blank field is 0
    must(value < LIMIT, "number too large")
    return value


def _payload(data, payload_at, size):
    must(payload_at + padded(size) <= len(data), "archive ends inside a member")
    return data[payload_at:payload_at + size]


def _header_path(header):
    name, prefix = header[:100].split(b"\0")[0], header[345:500].split(b"\0")[0]
    return prefix + b"/" + name if header[257:263] == b"ustar\0" and prefix else name


def _kind(letter, path, size):
    must(path, "member without a name")
    must(len(path) <= MAX_PATH, "path too long")
    must(letter != b"S", "sparse file")
    kind = KINDS.get(letter, "other")
    if kind == "file" and path.endswith(b"/"):
        kind = "dir"
    must(size == 0 or kind in ("file", "other"), f"{kind} with a size")
    return kind


def _read_extra(letter, payload, extras):
    if letter == b"K":
        return
    if letter == b"L":
        must("long" not in extras, "two GNU long names for one member")
        extras["long"] = payload.split(b"\0")[0]
        return
    records = _pax_records(payload)
    if letter == b"g":
        must(not {b"path", b"size"} & set(records), "path or size in a global pax header")
        return
    must("pax" not in extras, "two pax headers for one member")
    extras["pax"] = records


def _pax_records(payload):
    must(len(payload) <= MAX_PAX, "pax header too long")
    records, at = {}, 0
    while at < len(payload):
        match = PAX_RECORD.match(payload, at)
        must(match, "pax record without length or =")
        end = at + int(match[1])
        must(match.end() + 1 <= end <= len(payload), "length of a pax record")
        must(payload[end - 1:end] == b"\n", "pax record without line end")
        records[match[2]] = payload[match.end():end - 1]
        _check_record(match[2], records[match[2]])
        at = end
    return records


def _check_record(key, value):
    must(not key.startswith(b"GNU.sparse."), "sparse file")
    must(key != b"path" or value and b"\0" not in value, "NUL in a pax path, or none")
    if key == b"size":
        must(re.fullmatch(b"[0-9]{1,50}", value) and int(value) < LIMIT, "size in a pax header")


# Keys, components and samples (naming.md)

def split_name(path):
    """(key, component) of a path, or None where it is no component."""
    first = path.split(b"/")[0]
    if len(first) >= 4 and first.startswith(b"__") and first.endswith(b"__"):
        return None
    base = path.rfind(b"/") + 1
    dot = path.find(b".", base)
    component = path[dot + 1:].lower()
    if dot <= base or not 1 <= len(component) <= 255:
        return None
    return path[:dot], component


def samples_of_tar(data, checksums=True, missing_end=False):
    """The samples of a tar, in the form that read_index() gives."""
    samples = []
    for member in read_tar(data, missing_end):
        name = split_name(member.path) if member.kind == "file" else None
        if name is None:
            continue
        key, component = name
        if not samples or samples[-1].key != key:
            samples.append(Sample(key, member.header_offset, 0, []))
        sample = samples[-1]
        known = [other.name for other in sample.components]
        must(component not in known, f"{member.path!r}: twice in its sample")
        crc = crc32c(member.payload) if checksums else None
        sample.components.append(Component(component, member.payload_offset, member.size, crc))
        end = member.payload_offset + padded(member.size)
        samples[-1] = sample._replace(end_offset=end)
    return samples


# The index (sidx.md)

HEADER = struct.Struct("<8sHHIQQQQQBBHI")
FIELDS = ("magic major minor sections file_size samples rows shard_size tar_size codec flags "
          "reserved crc").split()
SECTION = struct.Struct("<4sIQQII")
WIDTHS = {"HASH": [16], "NAME": [1], "LIST": [2], "ROWS": [4], "COMP": [2], "SAMP": [4],
          "DATA": [4], "SIZE": [4, 8], "CRCS": [4], "KEYO": [4], "KEYS": [1], "FRAM": [16]}
CODES = {2: "H", 4: "I", 8: "Q"}


def read_index(data):
    """Read an index; refuse it where it breaks a "must" of sidx.md."""
    header = _index_header(data)
    sections = _index_sections(data, header)
    samples = _index_samples(header, sections)
    _check_order(header, samples)
    digest = sections.get("HASH", (16, None))[1]
    must(digest is None or len(digest) == 16, "HASH has one element")
    return Index(header, list(sections), samples, _index_frames(header, sections), digest)


def _index_header(data):
    must(len(data) >= HEADER.size, "shorter than a header")
    header = dict(zip(FIELDS, HEADER.unpack_from(data)))
    must(header["magic"] == b"\x89SIDX\r\n\x1a", "magic")
    must(header["major"] == 1, "major version")
    must(header["sections"] <= 64, "more than 64 sections")
    must(header["file_size"] == len(data), "file_size")
    table_end = HEADER.size + SECTION.size * header["sections"]
    must(table_end <= len(data), "section table")
    must(header["crc"] == crc32c(data[:60] + data[64:table_end]), "crc of the header")
    must(header["codec"] <= 3 and header["flags"] <= 1, "codec or flags")
    must(header["reserved"] == 0, "reserved")
    must(header["tar_size"] < 2 ** 41, "tar_size")
    must(header["rows"] <= header["tar_size"] // BLOCK, "rows")
    must(header["samples"] <= header["rows"], "samples")
    return header


def _index_sections(data, header):
    """{tag: (width, bytes)} of the sections that are known."""
    sections, seen = {}, set()
    end = HEADER.size + SECTION.size * header["sections"]
    for i in range(header["sections"]):
        entry = SECTION.unpack_from(data, HEADER.size + SECTION.size * i)
        raw_tag, flags, offset, size, width, crc = entry
        must(re.fullmatch(b"[A-Za-z]{4}", raw_tag), f"tag {raw_tag!r}")
        tag = raw_tag.decode()
        must(tag not in seen, f"{tag} stands twice")
        must(flags <= 1, f"flags of {tag}")
        must(offset % 8 == 0 and end <= offset <= offset + size <= len(data), f"place of {tag}")
        must(not data[end:offset].strip(b"\0"), f"bytes before {tag} are not 0")
        content = data[offset:offset + size]
        must(crc32c(content) == crc, f"crc of {tag}")
        must(tag in WIDTHS or flags == 0, f"{tag} is required, and not known")
        if tag in WIDTHS:
            must(width in WIDTHS[tag] and size % width == 0, f"width of {tag}")
            sections[tag] = width, content
        seen.add(tag)
        end = offset + size
    must(not data[end:].strip(b"\0"), "bytes behind the sections are not 0")
    return sections


def _column(sections, tag, count):
    """The numbers of a section of fixed length; None where there is none."""
    if tag not in sections:
        return None
    width, content = sections[tag]
    must(len(content) == width * count, f"{tag} has not {count} elements")
    return struct.unpack(f"<{count}{CODES[width]}", content)


def _index_samples(header, sections):
    n, r = header["samples"], header["rows"]
    for tag in ("NAME", "SAMP", "SIZE", "KEYO", "KEYS"):
        must(tag in sections, f"no section {tag}")
    ends, ids = _rows(sections, n, r)
    names, keys = _names(sections["NAME"][1]), _keys(sections, n)
    must(max(ids, default=-1) < len(names), "id of a component without a name")
    first, sizes = _column(sections, "SAMP", n), _column(sections, "SIZE", r)
    starts, crcs = _column(sections, "DATA", r), _column(sections, "CRCS", r)
    samples, row = [], 0
    for i in range(n):
        end = first[i] * BLOCK
        components = []
        for j in range(row, ends[i]):
            start = end + BLOCK if starts is None else starts[j] * BLOCK
            must(start >= end + BLOCK, f"row {j}: no room for a header")
            components.append(Component(names[ids[j]], start, sizes[j], crcs and crcs[j]))
            end = start + padded(sizes[j])
        samples.append(Sample(keys[i], first[i] * BLOCK, end, components))
        row = ends[i]
    return samples


def _rows(sections, n, r):
    """(rows up to the end of each sample, component id of each row)"""
    if "LIST" in sections:
        must("ROWS" not in sections and "COMP" not in sections, "LIST beside ROWS or COMP")
        k = len(sections["LIST"][1]) // 2
        must(n * k == r, "LIST does not give the number of rows")
        return [k * (i + 1) for i in range(n)], _column(sections, "LIST", k) * n
    must("ROWS" in sections and "COMP" in sections, "neither LIST nor ROWS and COMP")
    ends = _column(sections, "ROWS", n)
    must(_ascend((0,) + ends), "a sample without rows")
    must((ends[-1] if n else 0) == r, "the last of ROWS")
    return ends, _column(sections, "COMP", r)


def _ascend(values):
    return all(a < b for a, b in zip(values, values[1:]))


def _names(content):
    must(content == b"" or content.endswith(b"\0"), "NAME does not end with NUL")
    names = content.split(b"\0")[:-1]
    must(len(names) <= 65536, "too many component names")
    must(all(1 <= len(name) <= 255 for name in names), "length of a component name")
    must(content == content.lower(), "component name not in lower case")
    return names


def _keys(sections, n):
    ends, keys = _column(sections, "KEYO", n), sections["KEYS"][1]
    must((ends[-1] if n else 0) == len(keys), "the last of KEYO")
    begins = (0,) + ends[:-1]
    must(all(1 <= b - a <= 4094 for a, b in zip(begins, ends)), "length of a key")
    must(b"\0" not in keys, "NUL in a key")
    return [keys[a:b] for a, b in zip(begins, ends)]


def _check_order(header, samples):
    end = 0
    for sample in samples:
        must(sample.first_offset >= end, f"sample {sample.key!r} overlaps the one before")
        names = [component.name for component in sample.components]
        must(len(set(names)) == len(names), f"sample {sample.key!r}: a component twice")
        end = sample.end_offset
    must(end <= header["tar_size"], "a sample ends behind the tar")
    ascending = _ascend([sample.key for sample in samples])
    must(ascending or not header["flags"], "keys do not ascend")


def _index_frames(header, sections):
    if "FRAM" not in sections:
        return None
    content = sections["FRAM"][1]
    must(content, "FRAM is empty")
    pairs = list(struct.iter_unpack("<QQ", content))
    must(pairs[0] == (0, 0), "first pair of FRAM")
    must(_ascend([stored for stored, _ in pairs]), "FRAM does not ascend")
    must(_ascend([tar for _, tar in pairs]), "FRAM does not ascend")
    must(pairs[-1][1] == header["tar_size"], "last pair of FRAM")
    must(pairs[-1][0] <= header["shard_size"], "FRAM ends behind the shard")
    return pairs


# Seek tables (tar-zst.md)

def read_seek_table(data):
    """[(stored size, content size)] of the frames before the seek table."""
    must(len(data) >= 17, "no room for a seek table")
    count, descriptor, magic = struct.unpack("<IBI", data[-9:])
    must(magic == 0x8F92EAB1, "magic of the seek table")
    must(descriptor & 0x7F == 0, "descriptor of the seek table")
    width = 12 if descriptor else 8
    following = width * count + 9
    begin = len(data) - following - 8
    must(begin >= 0, "seek table larger than the file")
    must(struct.unpack_from("<II", data, begin) == (0x184D2A5E, following), "frame of the table")
    entries = struct.iter_unpack(f"<II{width - 8}x", data[begin + 8:-9])
    frames = [entry[:2] for entry in entries]
    must(sum(stored for stored, _ in frames) == begin, "stored sizes of the seek table")
    return frames


def frame_offsets(frames):
    """FRAM of these frames: where each with content begins, and where the last one ends."""
    stored = list(itertools.accumulate((size for size, _ in frames), initial=0))
    tar = list(itertools.accumulate((size for _, size in frames), initial=0))
    full = [i for i, (_, content) in enumerate(frames) if content]
    return [(stored[i], tar[i]) for i in full] + [(stored[full[-1] + 1], tar[-1])]


# The manifest (manifest.md)

COLUMNS = {"shard_samples": int, "shard_bytes": int, "shard_xxh3": str, "first_keys": str}
REQUIRED = "samples bytes components shards names shard_samples shard_bytes".split()


def read_manifest(text):
    """Read a manifest; `names` becomes the list of all names."""
    manifest = _parse(text)
    must(isinstance(manifest, dict) and manifest.get("format") == "shardset", "format")
    must(_is_number(manifest.get("version")) and manifest["version"] == 1, "version")
    for key in REQUIRED:
        must(key in manifest, f"no {key}")
    for key in ("samples", "bytes", "shards"):
        must(_is_number(manifest[key]), f"{key} is no number")
    manifest["names"] = _shard_names(manifest["names"], manifest["shards"])
    must(len(manifest["names"]) == manifest["shards"], "number of names")
    for key, kind in COLUMNS.items():
        must(_is_list(manifest.get(key, []), kind), f"type of {key}")
        must(len(manifest.get(key, manifest["names"])) == manifest["shards"], f"length of {key}")
    must(sum(manifest["shard_samples"]) == manifest["samples"], "sum of shard_samples")
    must(sum(manifest["shard_bytes"]) == manifest["bytes"], "sum of shard_bytes")
    for digits in manifest.get("shard_xxh3", []):
        must(re.fullmatch("[0-9a-f]{32}", digits), "shard_xxh3")
    _check_components(manifest["components"])
    _check_part(manifest)
    _check_optional(manifest)
    _check_keys(manifest)
    return manifest


def _parse(text):
    try:
        text = text.decode("utf-8") if isinstance(text, bytes) else text
        return json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant)
    except ValueError as error:
        raise Refused(f"no JSON: {error}") from error


def _object(pairs):
    must(len(dict(pairs)) == len(pairs), "a key stands twice")
    return dict(pairs)


def _no_constant(name):
    raise Refused(f"{name} is no JSON")


def _is_number(value):
    return type(value) is int and 0 <= value < LIMIT


def _is_list(value, kind):
    fits = _is_number if kind is int else (lambda item: isinstance(item, kind))
    return isinstance(value, list) and all(map(fits, value))


def _shard_names(names, count):
    if isinstance(names, str):
        match = re.fullmatch(r"([^{}]*)\{([0-9]+)\.\.([0-9]+)\}([^{}]*)", names)
        must(match, "names has not one range")
        head, first, last, tail = match.groups()
        must(len(first) == len(last), "width of the range of names")
        must(int(last) - int(first) + 1 == count, "range of names")
        names = [f"{head}{int(first) + i:0{len(first)}}{tail}" for i in range(count)]
    must(_is_list(names, str), "type of names")
    for name in names:
        must(not set(name.split("/")) & {"", ".."}, f"name {name!r}")
        must(not re.search(r"[\x00-\x1f\x7f]", name), f"name {name!r}")
    return names


def _check_components(components):
    must(isinstance(components, dict), "type of components")
    must(_ascend([name.encode() for name in components]), "components do not ascend")
    for name, sums in components.items():
        must(isinstance(sums, dict), f"component {name}")
        must(_is_number(sums.get("count")) and _is_number(sums.get("bytes")), f"component {name}")


def _check_part(manifest):
    if "part" not in manifest and "parts" not in manifest:
        return
    part, parts = manifest.get("part"), manifest.get("parts")
    must(_is_number(part) and _is_number(parts) and 1 <= part <= parts, "part and parts")


def _check_optional(manifest):
    must(_is_list(manifest.get("classes", []), str), "type of classes")
    must(_is_list(manifest.get("skipped", []), dict), "type of skipped")
    for entry in manifest.get("skipped", []):
        must(_is_list([entry.get("name"), entry.get("reason")], str), "skipped")


def _check_keys(manifest):
    if "first_keys" not in manifest:
        return
    pairs = list(zip(manifest["first_keys"], manifest["shard_samples"]))
    must(all(bool(key) == bool(count) for key, count in pairs), "first_keys")
    keys = [key.encode() for key, _ in pairs if key]
    last = manifest.get("last_key", keys[-1].decode() if keys else "")
    must(isinstance(last, str), "last_key")
    must(_ascend(keys) and (not keys or keys[-1] <= last.encode()), "keys do not ascend")
