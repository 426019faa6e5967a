# SPDX-License-Identifier: Apache-2.0
"""pack's options for JPEG, held against Pillow and libjpeg's own tools."""
import io
import json
import shutil
import struct
import subprocess
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from conftest import read_files, write
from PIL import Image, ImageCms, ImageOps

SOF0, SOF2, SOS, EOI, APP0, APP1, APP14, COM = 0xC0, 0xC2, 0xDA, 0xD9, 0xE0, 0xE1, 0xEE, 0xFE
ICC = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()


def photo(width, height, mode="RGB", seed=1):
    """Waves and noise, another phase in each band."""
    y, x = np.mgrid[0:height, 0:width]
    rng = np.random.default_rng(seed)
    bands = []
    for c in range(len(Image.new(mode, (1, 1)).getbands())):
        band = 128 + 60 * np.sin(x / (7 + c) + y / 11) + 40 * np.cos(y / (5 + c))
        band += rng.normal(0, 8, band.shape)
        bands.append(Image.fromarray(np.clip(band, 0, 255).astype(np.uint8)))
    return Image.merge(mode, bands)


def jpeg(image, **options):
    out = io.BytesIO()
    image.save(out, "JPEG", **options)
    return out.getvalue()


def as_ycck(cmyk):
    """The same numbers, said to be YCCK: Pillow writes no others."""
    adobe = cmyk.index(b"Adobe")
    return cmyk[:adobe + 11] + b"\2" + cmyk[adobe + 12:]


def image(data):
    return Image.open(io.BytesIO(data))


def pixels(data):
    return np.asarray(image(data))


def difference(a, b):
    """Of two images, the mean by pixel and band."""
    return np.abs(np.asarray(a, float) - np.asarray(b, float)).mean()


def segments(data):
    """[(marker, payload)] to the end of the image."""
    found, at = [], 2
    while data[at + 1] != EOI:
        marker, size = struct.unpack(">xBH", data[at:at + 4])
        found.append((marker, data[at + 4:at + 2 + size]))
        at += 2 + size
        while marker == SOS and (data[at] != 0xFF or data[at + 1] in (0, *range(0xD0, 0xD8))):
            at += 1
    return found


def markers(data):
    return [marker for marker, _ in segments(data)]


def sampling(data):
    """Of each component, as the frame header says."""
    frame = next(p for m, p in segments(data) if m in (SOF0, SOF2))
    return [frame[7 + 3 * i] for i in range(frame[5])]


def metadata(data):
    return sorted(p for m, p in segments(data) if APP1 <= m < APP14 or m == COM)


def coded(data):
    """What decides the pixels: all but application segments and comments."""
    scans = data[data.index(b"\xff\xda"):data.rindex(b"\xff\xd9")]
    return [s for s in segments(data) if s[0] < APP0], scans


def put(data, marker, payload):
    """A segment more, behind the JFIF header or at the front."""
    at = 4 + struct.unpack(">H", data[4:6])[0] if data[3] == APP0 else 2
    return data[:at] + struct.pack(">BBH", 0xFF, marker, len(payload) + 2) + payload + data[at:]


def exif(orientation, order="<", rest=b""):
    """EXIF with two tags, orientation the second."""
    entries = [(0x010F, 2, 4, b"me\0\0"), (0x0112, 3, 1, struct.pack(order + "Hxx", orientation))]
    tiff = struct.pack(order + "2sHIH", b"II" if order == "<" else b"MM", 42, 8, len(entries))
    for tag, kind, count, value in entries:
        tiff += struct.pack(order + "HHI", tag, kind, count) + value
    return b"Exif\0\0" + tiff + bytes(4) + rest


def orientation_of(data):
    return image(data).getexif().get(0x0112, 1)


def pack(tool, files, *options):
    """{name: bytes} of what is in the shard when these files are packed."""
    shutil.rmtree("in", ignore_errors=True)
    for name, content in files.items():
        write(f"in/{name}", content)
    tool("pack", "in", "out.tar", "--force", *options)
    tool("verify", "out.tar")
    with tarfile.open("out.tar") as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}


def pack_one(tool, data, *options):
    return pack(tool, {"a.jpg": data}, *options)["a.jpg"]


def counts(tool, files, *options):
    shutil.rmtree("in", ignore_errors=True)
    for name, content in files.items():
        write(f"in/{name}", content)
    return tool("pack", "in", "out.tar", "--force", "--json", *options).json["images"]


def peer(name):
    return shutil.which(name) or pytest.skip(f"{name} is not installed (libjpeg-turbo-progs)")


def through(program, data, *options):
    return subprocess.run([program, *options], input=data, capture_output=True, check=True).stdout


KINDS = {
    "4:2:0": jpeg(photo(97, 61), progressive=True, subsampling=2),
    "4:2:2": jpeg(photo(97, 61), progressive=True, subsampling=1),
    "4:4:4": jpeg(photo(97, 61), progressive=True, subsampling=0),
    "grey": jpeg(photo(97, 61, "L"), progressive=True),
    "CMYK": jpeg(photo(97, 61, "CMYK"), progressive=True),
    "YCCK": as_ycck(jpeg(photo(97, 61, "CMYK"), progressive=True)),
    "RGB": jpeg(photo(97, 61), progressive=True, keep_rgb=True),
    "restart markers": jpeg(photo(97, 61), progressive=True, restart_marker_blocks=3),
    "one pixel": jpeg(photo(1, 1), progressive=True),
    "coarse": jpeg(photo(97, 61), progressive=True, quality=5),
}
SMALL = jpeg(photo(90, 60), quality=95)
PROGRESSIVE = jpeg(photo(90, 60), progressive=True)


# ---- to baseline


@pytest.mark.parametrize("kind", KINDS)
def test_progressive_becomes_baseline_and_keeps_every_pixel(tool, kind):
    before = KINDS[kind]
    after = pack_one(tool, before, "--jpeg-baseline")
    assert SOF2 in markers(before)
    assert SOF0 in markers(after) and SOF2 not in markers(after) and markers(after).count(SOS) == 1
    assert image(after).mode == image(before).mode and sampling(after) == sampling(before)
    assert np.array_equal(pixels(after), pixels(before))


@pytest.mark.parametrize("kind", KINDS)
def test_the_transcode_is_that_of_jpegtran(tool, kind):
    expected = through(peer("jpegtran"), KINDS[kind], "-copy", "all", "-optimize")
    assert pack_one(tool, KINDS[kind], "--jpeg-baseline") == expected


@pytest.mark.parametrize("kind", KINDS)
def test_djpeg_sees_the_same_pixels(tool, kind):
    djpeg = peer("djpeg")
    after = pack_one(tool, KINDS[kind], "--jpeg-baseline")
    assert through(djpeg, after) == through(djpeg, KINDS[kind])


def test_arithmetic_coding_becomes_baseline(tool):
    before = through(peer("jpegtran"), SMALL, "-arithmetic")
    after = pack_one(tool, before, "--jpeg-baseline")
    assert SOF0 not in markers(before) and SOF0 in markers(after)
    assert np.array_equal(pixels(after), pixels(SMALL))


def test_baseline_images_are_not_touched(tool):
    trailing = SMALL + b"what a camera put behind"
    assert pack(tool, {"a.jpg": SMALL, "b.jpg": trailing}, "--jpeg-baseline") == {
        "a.jpg": SMALL, "b.jpg": trailing}


def test_metadata_stay_when_only_the_coding_changes(tool):
    before = jpeg(photo(90, 60), progressive=True, exif=exif(6), icc_profile=ICC, comment=b"hello")
    before = put(before, APP1, b"http://ns.adobe.com/xap/1.0/\0<x/>")
    assert len(metadata(before)) == 4
    assert metadata(pack_one(tool, before, "--jpeg-baseline")) == metadata(before)


# ---- strip

XMP = b"http://ns.adobe.com/xap/1.0/\0secret"
METADATA = {
    "comment": (COM, b"secret"),
    "XMP": (APP1, XMP),
    "Photoshop": (0xED, b"Photoshop 3.0\0secret"),
    "JFIF thumbnail segment": (APP0, b"JFXX\0\x10secret"),
    "MPF": (0xE2, b"MPF\0secret"),
    "EXIF with GPS and thumbnail": (APP1, exif(1, rest=b"secret")),
    "EXIF that turns, with thumbnail": (APP1, exif(6, rest=b"secret")),
    "unknown": (0xEB, b"secret"),
}


@pytest.mark.parametrize("before", [SMALL, PROGRESSIVE], ids=["baseline", "progressive"])
@pytest.mark.parametrize("kind", METADATA)
def test_strip_drops(tool, kind, before):
    after = pack_one(tool, put(before, *METADATA[kind]), "--strip")
    assert b"secret" not in after
    assert coded(after) == coded(before)


def test_strip_drops_what_stands_behind_the_end(tool):
    assert pack_one(tool, SMALL + b"secret", "--strip") == SMALL


def test_strip_keeps_the_colour_profile(tool):
    large = np.random.default_rng(1).bytes(150_000)  # in three segments
    for profile in (ICC, large):
        after = pack_one(tool, put(jpeg(photo(90, 60), icc_profile=profile), APP1, XMP), "--strip")
        assert image(after).info["icc_profile"] == profile and b"secret" not in after


@pytest.mark.parametrize("options", [["--strip"], ["--strip", "--resize-shorter", "30"],
                                     ["--strip", "--jpeg-baseline"]], ids=" ".join)
@pytest.mark.parametrize("order", "<>")
def test_strip_keeps_the_orientation_and_nothing_else_of_exif(tool, options, order):
    before = {f"{n}.jpg": put(PROGRESSIVE, APP1, exif(n, order, b"secret")) for n in range(1, 9)}
    after = pack(tool, before, *options)
    for n in range(1, 9):
        data = after[f"{n}.jpg"]
        assert orientation_of(data) == n and b"secret" not in data
        assert set(image(data).getexif()) == (set() if n == 1 else {0x0112})


@pytest.mark.parametrize("payload", [
    b"Exif\0\0", b"Exif\0\0II*\0", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0XX*\0\x08\0\0\0\1\0",
    exif(6)[:30], exif(9), exif(0), exif(65535)])
def test_strip_takes_broken_exif_for_none(tool, payload):
    assert pack_one(tool, put(SMALL, APP1, payload), "--strip") == SMALL


@pytest.mark.parametrize("kind", KINDS)
def test_strip_keeps_every_pixel(tool, kind):
    after = pack_one(tool, put(KINDS[kind], COM, b"secret"), "--strip")
    assert after == KINDS[kind]


def test_strip_drops_the_thumbnail_of_the_jfif_header(tool):
    header = b"JFIF\0\1\1\0\0\1\0\1\2\1secret"
    before = SMALL[:2] + struct.pack(">BBH", 0xFF, APP0, len(header) + 2) + header + SMALL[20:]
    assert image(before).size == (90, 60)
    assert b"secret" not in pack_one(tool, before, "--strip")


@pytest.mark.parametrize("options", [
    ["--strip"], ["--strip", "--jpeg-baseline"], ["--strip", "--resize-shorter", "30"]])
def test_strip_leaves_one_orientation(tool, options):
    after = pack_one(tool, put(put(PROGRESSIVE, APP1, exif(8)), APP1, exif(6)), *options)
    assert markers(after).count(APP1) == 1 and orientation_of(after) == 6


# ---- resize


@pytest.mark.parametrize("size, shorter, expected", [
    ((300, 200), 100, (150, 100)),
    ((200, 300), 100, (100, 150)),
    ((300, 200), 199, (299, 199)),
    ((500, 499), 100, (100, 100)),
    ((1001, 667), 333, (500, 333)),
    ((37, 1013), 36, (36, 986)),
    ((1000, 3), 2, (667, 2)),
    ((640, 480), 1, (1, 1)),
])
def test_the_shorter_side_is_what_was_asked_for(tool, size, shorter, expected):
    after = image(pack_one(tool, jpeg(photo(*size)), "--resize-shorter", shorter)).size
    assert min(after) == shorter and after == expected
    assert abs(max(after) - max(size) * shorter / min(size)) <= 1


@pytest.mark.parametrize("shorter", [60, 61, 90, 4000])
def test_nothing_is_scaled_up(tool, shorter):
    files = {"a.jpg": SMALL, "b.jpg": PROGRESSIVE, "c.jpg": jpeg(photo(60, 90), comment=b"hello")}
    assert pack(tool, files, "--resize-shorter", shorter) == files


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
@pytest.mark.parametrize("shorter", [149, 100, 75, 60, 37, 20])
def test_pixels_are_those_of_a_bicubic_filter(tool, mode, shorter):
    options = {"subsampling": 0} if mode == "RGB" else {}
    before = jpeg(photo(200, 150, mode), quality=98, **options)
    after = image(pack_one(tool, before, "--resize-shorter", shorter, "--quality", "100"))
    assert after.mode == mode
    filtered = image(before).resize(after.size, Image.Resampling.BICUBIC)
    nearest = image(before).resize(after.size, Image.Resampling.NEAREST)
    assert difference(after, filtered) < 1
    assert difference(after, nearest) > 4 * difference(after, filtered)


@pytest.mark.parametrize("shorter", [30, 70, 100, 199])
def test_large_images_are_filtered_too(tool, shorter):
    before = jpeg(photo(1200, 800), quality=98, subsampling=0)
    after = image(pack_one(tool, before, "--resize-shorter", shorter, "--quality", "100"))
    reduced = image(before).resize(after.size, Image.Resampling.BICUBIC, reducing_gap=3)
    assert difference(after, reduced) < 1.5


@pytest.mark.parametrize("shorter", [95, 60, 31, 10])
def test_stripes_finer_than_the_result_become_grey(tool, shorter):
    stripes = np.zeros((200, 200), np.uint8)
    stripes[:, ::2] = 255
    stripes = np.repeat(stripes[:, :, None], 3, axis=2)
    before = jpeg(Image.fromarray(stripes), quality=100, subsampling=0)
    after = pixels(pack_one(tool, before, "--resize-shorter", shorter, "--quality", "100"))
    assert np.abs(after[:, 2:-2].astype(float) - 127.5).max() < 12


@pytest.mark.parametrize("level", [0, 1, 128, 254, 255])
def test_what_is_flat_stays_flat(tool, level):
    before = jpeg(Image.new("L", (211, 173), level), quality=100)
    after = pixels(pack_one(tool, before, "--resize-shorter", "47", "--quality", "100"))
    assert np.abs(after.astype(int) - level).max() <= 1


@pytest.mark.parametrize("kind", ["4:2:0", "4:2:2", "4:4:4", "grey", "CMYK", "YCCK",
                                  "restart markers"])
def test_resized_images_keep_their_colours_and_sampling_and_become_baseline(tool, kind):
    before = KINDS[kind]
    after = pack_one(tool, before, "--resize-shorter", "40")
    assert SOF0 in markers(after) and SOF2 not in markers(after)
    assert image(after).mode == image(before).mode and sampling(after) == sampling(before)
    filtered = image(before).resize(image(after).size, Image.Resampling.BICUBIC)
    assert difference(pixels(after), filtered) < 6
    assert [p[11] for m, p in segments(after) if m == APP14] == [
        p[11] for m, p in segments(before) if m == APP14]


def test_a_resized_rgb_image_has_the_right_colours(tool):
    after = image(pack_one(tool, KINDS["RGB"], "--resize-shorter", "40", "--quality", "95"))
    filtered = image(KINDS["RGB"]).resize(after.size, Image.Resampling.BICUBIC)
    assert after.mode == "RGB" and difference(after, filtered) < 6


def test_a_resized_rgb_image_says_of_its_colours_what_is_true(tool):
    after = segments(pack_one(tool, KINDS["RGB"], "--resize-shorter", "40"))
    is_ycbcr = any(m == APP0 and p.startswith(b"JFIF\0") for m, p in after)
    says_rgb = any(m == APP14 and p[11] == 0 for m, p in after)
    assert not (is_ycbcr and says_rgb)


@pytest.mark.parametrize("quality", [None, 1, 30, 75, 100])
def test_quality_is_that_of_libjpeg(tool, quality):
    options = ["--quality", quality] if quality else []
    after = pack_one(tool, SMALL, "--resize-shorter", "30", *options)
    expected = jpeg(photo(90, 60), quality=quality or 90)
    assert image(after).quantization == image(expected).quantization


@pytest.mark.parametrize("quality", ["101", "4294967297", "-1", "0"])
def test_a_quality_is_between_1_and_100(tool, quality):
    write("in/a.jpg", SMALL)
    tool("pack", "in", "out.tar", "--resize-shorter", "30", "--quality", quality, code=2)
    assert not Path("out.tar").exists()


def test_no_image_has_a_shorter_side_of_0(tool):
    write("in/a.jpg", SMALL)
    tool("pack", "in", "out.tar", "--resize-shorter", "0", code=2)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_resizing_keeps_the_orientation(tool, orientation):
    before = put(jpeg(photo(200, 150), quality=98, subsampling=0), APP1, exif(orientation))
    after = image(pack_one(tool, before, "--resize-shorter", "75", "--quality", "100"))
    assert after.size == (100, 75)
    shown = ImageOps.exif_transpose(after)
    expected = ImageOps.exif_transpose(image(before))
    assert shown.size == ((100, 75) if orientation < 5 else (75, 100))
    assert difference(shown, expected.resize(shown.size, Image.Resampling.BICUBIC)) < 1


def test_resizing_keeps_metadata_unless_they_are_stripped(tool):
    before = jpeg(photo(90, 60), exif=exif(6), icc_profile=ICC, comment=b"hello")
    assert metadata(pack_one(tool, before, "--resize-shorter", "30")) == metadata(before)
    stripped = pack_one(tool, before, "--resize-shorter", "30", "--strip")
    assert image(stripped).info["icc_profile"] == ICC and orientation_of(stripped) == 6
    assert COM not in markers(stripped) and b"me\0\0" not in stripped


def test_all_options_together_do_to_each_image_what_it_needs(tool):
    noted = put(jpeg(photo(90, 60)), COM, b"secret")
    files = {"large.jpg": put(jpeg(photo(300, 200), progressive=True), COM, b"secret"),
             "progressive.jpg": put(PROGRESSIVE, COM, b"secret"),
             "noted.jpg": noted, "small.jpg": SMALL}
    options = ["--jpeg-baseline", "--resize-shorter", "100", "--strip"]
    after = pack(tool, files, *options)
    assert image(after["large.jpg"]).size == (150, 100)
    assert {image(after[n]).size for n in files if n != "large.jpg"} == {(90, 60)}
    for data in after.values():
        assert SOF0 in markers(data) and b"secret" not in data
    assert after["small.jpg"] == SMALL
    assert np.array_equal(pixels(after["progressive.jpg"]), pixels(PROGRESSIVE))
    assert counts(tool, files, *options) == {"resized": 1, "baselined": 1, "stripped": 1, "kept": 1}


# ---- which files


def test_without_the_options_nothing_changes(tool):
    files = {"a.jpg": PROGRESSIVE, "b.jpg": put(SMALL, COM, b"x"), "c.jpg": SMALL[:500],
             "d.jpg": b"text"}
    assert pack(tool, files) == files
    assert set(counts(tool, files).values()) == {0}


ALL = ["--jpeg-baseline", "--resize-shorter", "30", "--strip"]


def test_other_components_pass_untouched(tool):
    png, webp = io.BytesIO(), io.BytesIO()
    photo(90, 60).save(png, "PNG")
    photo(90, 60).save(webp, "WEBP", exif=exif(6))
    files = {"a.png": png.getvalue(), "a.webp": webp.getvalue(), "a.txt": b"text",
             "a.jpg.txt": PROGRESSIVE, "a.jpe": PROGRESSIVE, "b.bin": PROGRESSIVE}
    assert pack(tool, files, *ALL) == files


@pytest.mark.parametrize("name, options", [
    ("a.jpg", []), ("a.JPG", []), ("a.jpeg", []), ("a.JPEG", []), ("a.rgb.jpg", []),
    ("a.img", ["--map", "img=jpg"])])
def test_jpeg_is_what_its_component_is_called(tool, name, options):
    (after,) = pack(tool, {name: PROGRESSIVE}, "--jpeg-baseline", *options).values()
    assert SOF0 in markers(after)


def test_every_input_is_treated_alike(tool):
    files = {"a.jpg": PROGRESSIVE, "b.jpg": jpeg(photo(200, 150)), "b.txt": b"text"}
    expected = pack(tool, files, *ALL)
    with zipfile.ZipFile("z.zip", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    write("list", "".join(f"{name}\n" for name in files))
    rows = [{"key": "a", "jpg": "a.jpg"}, {"key": "b", "jpg": "b.jpg", "txt": "b.txt"}]
    write("in/rows.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    plain = tool("pack", "--files-from", "list", "-C", "in", "-").out_bytes
    for i, source in enumerate([["z.zip"], ["-"], ["--files-from", "list", "-C", "in"],
                                ["--from", "in/rows.jsonl", "--files", "jpg,txt"]]):
        tool("pack", *source, f"{i}.tar", *ALL, stdin=plain)
        with tarfile.open(f"{i}.tar") as tar:
            found = {m.name: tar.extractfile(m).read() for m in tar}
        assert {n: c for n, c in found.items() if not n.endswith(".json")} == expected, source


def test_a_jpeg_of_many_megabytes(tool):
    noise = np.random.default_rng(1).integers(0, 256, (1700, 1700, 3), dtype=np.uint8)
    large = jpeg(Image.fromarray(noise), quality=100, subsampling=0)
    assert len(large) > 8 << 20
    after = pack_one(tool, large, "--resize-shorter", "50", "--memory", "256MiB")
    assert image(after).size == (50, 50)


@pytest.mark.parametrize("beside", ["a.bin", "a.zip"])
def test_jpeg_beside_many_megabytes(tool, beside):
    after = pack(tool, {"a.jpg": PROGRESSIVE, beside: bytes(9 << 20)}, "--jpeg-baseline")
    assert SOF0 in markers(after["a.jpg"])


def test_the_number_of_threads_does_not_change_a_byte(tool):
    for i in range(60):
        data = jpeg(photo(40 + 7 * i, 30 + 5 * i, seed=i), progressive=i % 3 == 0)
        write(f"in/{i:02d}.jpg", put(data, APP1, exif(i % 9)))
        write(f"in/{i:02d}.txt", str(i))
    outputs = []
    for jobs in ("1", "4"):
        Path(jobs).mkdir()
        tool("pack", "in", f"{jobs}/out-<0..3>.tar", "-j", jobs, "--resize-shorter", "100",
             "--jpeg-baseline", "--strip")
        outputs.append(read_files(jobs))
    assert len(outputs[0]) == 9
    assert outputs[0] == outputs[1]


# ---- damage


DAMAGE = {
    "empty": b"",
    "text": b"this is no image",
    "PNG": b"\x89PNG\r\n\x1a\n" + bytes(100),
    "start alone": PROGRESSIVE[:2],
    "head alone": PROGRESSIVE[:200],
    "cut off": PROGRESSIVE[:len(PROGRESSIVE) * 2 // 3],
    "without its end": PROGRESSIVE[:-2],
}


@pytest.mark.parametrize("options", [["--jpeg-baseline"], ["--resize-shorter", "30"], ["--strip"],
                                     ALL], ids=" ".join)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_image_is_an_error_that_names_it(tool, damage, options):
    write("in/cats/good.jpg", SMALL)
    write("in/cats/bad.jpg", DAMAGE[damage])
    failed = tool("pack", "in", "out.tar", *options, code=1)
    assert "in/cats/bad.jpg" in failed.err and "JPEG" in failed.err and failed.err.count("\n") == 1
    assert list(read_files(".", "*")) == [] and list(read_files(".", ".*")) == []


@pytest.mark.parametrize("before, option", [
    (PROGRESSIVE, ["--jpeg-baseline"]),
    (PROGRESSIVE, ["--resize-shorter", "30"]),
    (SMALL, ["--resize-shorter", "30"]),
], ids=["to baseline", "resize progressive", "resize baseline"])
def test_coded_data_that_end_early_are_no_grey_area(tool, before, option):
    write("in/bad.jpg", before[:len(before) * 2 // 3] + b"\0\xff\xd9")
    assert "in/bad.jpg" in tool("pack", "in", "out.tar", *option, code=1).err


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_image_can_be_left_out(tool, damage):
    files = {"1/good.jpg": SMALL, "2/bad.jpg": DAMAGE[damage], "2/bad.txt": b"x",
             "3/good.jpg": PROGRESSIVE}
    for name, content in files.items():
        write(f"in/{name}", content)
    result = tool("pack", "in", "out.tar", "--jpeg-baseline", "--on-error", "skip")
    assert "left out 1 sample" in result.err
    manifest = json.loads(Path("out.shards.json").read_text())
    (skipped,) = manifest["skipped"]
    assert manifest["samples"] == 2
    assert skipped["name"] == "2/bad" and "in/2/bad.jpg" in skipped["reason"]
    assert tool("pack", "in", "out.tar", "-f", "--jpeg-baseline", "--on-error", "skip",
                "--json").json["skipped"] == 1
    with tarfile.open("out.tar") as tar:
        assert tar.getnames() == ["1/good.jpg", "3/good.jpg"]
    tool("verify", "out.shards.json")


def test_an_image_that_claims_to_be_huge_takes_no_memory(tool):
    frame = PROGRESSIVE.index(b"\xff\xc2")
    huge = PROGRESSIVE[:frame + 5] + b"\xff\xdc\xff\xdc" + PROGRESSIVE[frame + 9:]
    for option in (["--jpeg-baseline"], ["--resize-shorter", "30"]):
        write("in/huge.jpg", huge)
        failed = tool("pack", "in", "out.tar", *option, code=1)
        assert "in/huge.jpg: JPEG of 65500 x 65500 pixels" in failed.err
        assert "--memory" in failed.err


def test_a_thousand_scans_are_too_many(tool):
    scan = PROGRESSIVE.rindex(b"\xff\xda")
    write("in/scans.jpg", PROGRESSIVE[:scan] + PROGRESSIVE[scan:-2] * 1000 + b"\xff\xd9")
    failed = tool("pack", "in", "out.tar", "--jpeg-baseline", code=1)
    assert "in/scans.jpg" in failed.err and "scans" in failed.err


def test_a_photo_of_twelve_megapixels_needs_no_option(tool):
    """Progressive: libjpeg holds all its coefficients, 6 bytes a pixel."""
    write("in/a.jpg", jpeg(photo(4000, 3000), progressive=True, quality=60))
    images = tool("pack", "in", "out.tar", "--resize-shorter", "200", "--json").json["images"]
    assert images["resized"] == 1
