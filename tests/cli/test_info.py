# SPDX-License-Identifier: Apache-2.0
"""info: counts, sizes, histogram and images are those that Python finds."""
import io
import json
import os
from collections import Counter
from pathlib import Path

import pytest
from conftest import make_tree, write
from PIL import Image


def tally(sizes):
    return {"count": len(sizes), "bytes": sum(sizes), "least": min(sizes), "most": max(sizes)}


def samples_of(files):
    """{key: {component: content}}"""
    samples = {}
    for name, content in files.items():
        folder, slash, base = name.rpartition("/")
        stem, _, component = base.partition(".")
        samples.setdefault(folder + slash + stem, {})[component] = content
    return samples


def picture(format, size=(8, 8), mode="RGB", **how):
    out = io.BytesIO()
    Image.new(mode, size, 77).save(out, format, **how)
    return out.getvalue()


def exif(size):
    found = Image.Exif()
    found[0x010E] = "x" * size  # ImageDescription
    return found


SETS = ["out.shards.json", "out-{0..3}"]


@pytest.mark.parametrize("suffix", ["tar", "tar.zst", "tar.gz"])
@pytest.mark.parametrize("names", SETS)
def test_counts_and_sizes_of_components_and_samples(tool, suffix, names):
    files = make_tree("in", samples=70, size=5000, components=("bin", "txt", "seg.x"))
    for name in [n for n in files if n.endswith("9.txt")]:
        os.remove(f"in/{name}")
        del files[name]
    write("in/class0/s0000.huge", b"x" * 100000)
    files["class0/s0000.huge"] = b"x" * 100000
    tool("pack", "in", f"out-<0..3>.{suffix}")
    info = tool("info", "--json", names if names.endswith("json") else f"{names}.{suffix}").json
    samples = samples_of(files)
    totals = [sum(map(len, s.values())) for s in samples.values()]
    assert info["shards"] == 4 and info["samples"] == 70 and info["without_index"] == 0
    assert info["bytes"] == sum(p.stat().st_size for p in Path(".").glob(f"out-*.{suffix}"))
    assert info["index_bytes"] == sum(p.stat().st_size for p in Path(".").glob("*.sidx"))
    assert info["codecs"] == {suffix: 4}
    assert info["components"] == {c: tally([len(s[c]) for s in samples.values() if c in s])
                                  for c in ("bin", "txt", "seg.x", "huge")}
    histogram = info["sample_sizes"].pop("below_power_of_2")
    assert info["sample_sizes"] == tally(totals)
    buckets = Counter(size.bit_length() for size in totals)
    assert {i: n for i, n in enumerate(histogram) if n} == dict(buckets)
    assert info["images"]["looked"] == 0


def test_components_are_told_by_count_then_name(tool):
    for i in range(5):
        write(f"in/{i}.b", "x")
        write(f"in/{i}.a", "x")
    write("in/0.aa", "x")
    tool("pack", "in", "out.tar")
    text = tool("info", "out.tar").out
    assert list(tool("info", "--json", "out.tar").json["components"]) == ["a", "b", "aa"]
    assert [line.split()[0] for line in text.splitlines() if line.startswith("  ") and line.split()[0] in
            ("a", "b", "aa", "(sample)")] == ["a", "b", "aa", "(sample)"]


def test_the_text_has_the_same_numbers(tool):
    for i in range(1200):
        write(f"in/{i:04d}.txt", b"x" * (100 if i else 2048))
    tool("pack", "in", "out-<0..1>.tar", "-q")
    lines = [" ".join(line.split()) for line in tool("info", "out.shards.json").out.splitlines()]
    index_bytes = sum(p.stat().st_size for p in Path(".").glob("*.sidx"))
    for line in ("manifest out.shards.json", "shards 2", "samples 1,200", "bytes 1.2 MiB", "tar 2 shards",
                 f"indexes {index_bytes / 1024:.1f} KiB, {index_bytes / 1200:.1f} bytes a sample",
                 "order keys ascend", "txt 1,200 119.1 KiB 100 B 101 B 2.0 KiB",
                 "(sample) 1,200 119.1 KiB 100 B 101 B 2.0 KiB", "< 4.0 KiB 1",
                 "< 128 B 1,199 " + "#" * 40):
        assert line in lines, (line, lines)


def test_what_the_manifest_knows_besides(tool):
    make_tree("in", samples=9)
    os.remove("in/class1/s0001.txt")
    tool("pack", "in", "out-<0..1>.tar", "--label-from", "dir", "--shuffle", "3", "--require", "txt",
         "--missing", "skip")
    info = tool("info", "--json", "out.shards.json").json
    assert info["manifest"] == "out.shards.json" and info["sorted"] is False
    assert info["classes"] == ["class0", "class1", "class2"] and info["skipped"] == 1
    text = tool("info", "out.shards.json").out
    assert "keys do not ascend" in text and "left out     1" in text and "classes      3" in text
    listed = tool("info", "--json", "out-{0..1}.tar").json
    assert listed["manifest"] is None and listed["classes"] == [] and listed["samples"] == 8


def test_shards_without_an_index_are_counted_as_such(tool):
    make_tree("in", samples=9)
    tool("pack", "in", "out-<0..2>.tar")
    os.remove("out-1.tar.sidx")
    for names in ("out.shards.json", "out-{0..2}.tar"):
        info = tool("info", "--json", names).json
        assert info["without_index"] == 1 and info["codecs"] == {"tar": 2}
        assert info["sample_sizes"]["count"] == 6
        assert "no index     1 shard " in tool("info", names).out
    assert tool("info", "--json", "out-{0..2}.tar").json["samples"] is None
    assert tool("info", "--json", "out.shards.json").json["samples"] == 9


def test_components_of_a_manifest_are_all_told_though_an_index_is_missing(tool):
    """The manifest has their counts and bytes; a total that leaves some out misleads."""
    files = make_tree("in", samples=9)
    tool("pack", "in", "out-<0..2>.tar")
    os.remove("out-1.tar.sidx")
    components = tool("info", "--json", "out.shards.json").json["components"]
    assert components["jpg"]["count"] == 9
    assert components["jpg"]["bytes"] == sum(len(c) for n, c in files.items() if n.endswith("jpg"))


def test_a_set_without_samples_or_of_mixed_codecs(tool):
    write("empty.tar", bytes(1024))
    tool("index", "empty.tar")
    info = tool("info", "--json", "empty.tar").json
    assert info["samples"] == 0 and info["components"] == {} and info["sample_sizes"]["count"] == 0
    assert "samples      0" in tool("info", "empty.tar").out
    make_tree("in", samples=3)
    for suffix in ("tar", "tar.zst", "tar.gz"):
        tool("pack", "in", f"x.{suffix}", "-f")
    info = tool("info", "--json", "x.tar", "x.tar.zst", "x.tar.gz", "empty.tar").json
    assert info["codecs"] == {"tar": 2, "tar.zst": 1, "tar.gz": 1} and info["samples"] == 9


def test_a_part_says_so(tool):
    make_tree("in", samples=9)
    tool("pack", "in", "out-<0..2>.tar", "--part", "1/3")
    part = next(Path(".").glob("*.shards.json"))
    assert "(a part)" in tool("info", part).out
    assert tool("info", "--json", part).json["samples"] == 3


# ---- images


PICTURES = {
    "jpeg": ("jpg", picture("JPEG", (61, 33))),
    "jpeg with long EXIF": ("jpeg", picture("JPEG", (20, 70), exif=exif(60000))),
    "grey jpeg": ("jpg", picture("JPEG", (1, 1), "L")),
    "cmyk jpeg": ("jpg", picture("JPEG", (300, 2), "CMYK")),
    "png": ("png", picture("PNG", (1000, 3))),
    "gif": ("gif", picture("GIF", (257, 258), "P")),
    "webp": ("webp", picture("WEBP", (127, 129))),
    "lossless webp": ("webp", picture("WEBP", (511, 3), lossless=True)),
    "webp with alpha": ("webp", picture("WEBP", (90, 91), "RGBA")),
    "webp with EXIF": ("webp", picture("WEBP", (92, 93), exif=exif(20))),
    "bmp": ("bmp", picture("BMP", (12, 34))),
    "second component": ("left.rgb.png", picture("PNG", (5, 6))),
}


@pytest.mark.parametrize("kind", PICTURES)
@pytest.mark.parametrize("suffix", ["tar", "tar.zst"])
def test_sizes_of_images_are_those_that_pillow_finds(tool, kind, suffix):
    component, content = PICTURES[kind]
    write(f"in/a.{component}", content)
    write("in/a.txt", "caption")
    tool("pack", "in", f"out.{suffix}")
    images = tool("info", "--json", f"out.{suffix}").json["images"]
    image = Image.open(io.BytesIO(content))
    assert images == {"looked": 1, "not_images": 0, "progressive": 0, "formats": {image.format.lower(): 1},
                      "sizes": {f"{image.width}x{image.height}": 1}}


def test_progressive_wrong_and_broken_images_are_counted(tool):
    write("in/a.jpg", picture("JPEG", progressive=True))
    write("in/b.jpg", picture("JPEG"))
    write("in/c.jpg", picture("PNG"))  # not what its name says, but an image
    write("in/d.jpg", "no image")
    write("in/e.jpg", b"")
    write("in/f.jpg", picture("JPEG")[:100])
    tool("pack", "in", "out.tar")
    images = tool("info", "--json", "out.tar").json["images"]
    assert images["looked"] == 6 and images["not_images"] == 3 and images["progressive"] == 1
    assert images["formats"] == {"jpeg": 2, "png": 1}
    text = tool("info", "out.tar").out
    assert "progressive JPEG: 1" in text and "not what their names say: 3" in text


def test_images_looked_into_are_spread_over_the_set(tool):
    for i in range(100):
        write(f"in/{i:03d}.png", picture("PNG", (i + 1, 7)))
    tool("pack", "in", "out-<0..3>.tar")
    for wanted, widths in ((10, range(1, 100, 10)), (1, [1]), (100, range(1, 101)), (5000, range(1, 101))):
        images = tool("info", "--json", "--images", wanted, "out.shards.json").json["images"]
        assert images["looked"] == len(widths)
        assert images["sizes"] == {f"{w}x7": 1 for w in widths}
    assert tool("info", "--json", "--images", "0", "out.shards.json").json["images"]["looked"] == 0
    assert "images (" not in tool("info", "--images", "0", "out.shards.json").out


def test_no_more_images_are_looked_into_than_asked_for(tool):
    for i in range(30):
        write(f"in/{i:03d}.left.png", picture("PNG"))
        write(f"in/{i:03d}.right.png", picture("PNG"))
    tool("pack", "in", "out.tar")
    assert tool("info", "--json", "--images", "10", "out.tar").json["images"]["looked"] == 10


def test_mean_width_and_height(tool):
    for i, size in enumerate([(10, 20), (30, 40), (50, 60), (50, 60)]):
        write(f"in/{i}.png", picture("PNG", size))
    tool("pack", "in", "out.tar")
    text = tool("info", "out.tar").out
    assert "width 10 to 50, mean 35; height 20 to 60, mean 45" in text
    assert [line.split() for line in text.splitlines()][-3:] == [["50x60", "2"], ["10x20", "1"], ["30x40", "1"]]


# ---- errors


def test_a_set_that_is_not_there_or_not_given(tool):
    assert "nowhere.tar" in tool("info", "nowhere.tar", code=3).err
    assert "SET" in tool("info", code=2).err
    assert "--images" in tool("info", "--images", "many", "x.tar", code=2).err


def test_info_of_a_shard_on_standard_input_is_refused_or_right(tool):
    make_tree("in", samples=3)
    tool("pack", "in", "out.tar")
    result = tool("info", "--json", "-", stdin=Path("out.tar").read_bytes(), code=None)
    assert result.code == 2 or result.json["without_index"] == 1


def test_the_names_of_classes_are_json(tool):
    write('in/"quoted"\u00e9/1.txt', "x")
    tool("pack", "in", "out.tar", "--label-from", "dir")
    assert json.loads(tool("info", "--json", "out.shards.json").out)["classes"] == ['"quoted"\u00e9']
