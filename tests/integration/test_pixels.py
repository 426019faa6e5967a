# SPDX-License-Identifier: Apache-2.0
"""Pixels of images, held against Pillow: decoded whole, then cut, turned and scaled."""
import io
import os
import random
import re
import struct
import subprocess
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageOps

BUILD = Path(os.environ.get("SHARD_BUILD", Path(__file__).parents[2] / "build/dev"))
DECODE = BUILD / "tests/decode_image"
SHIM_SOURCE = Path(__file__).parent.parent / "support/libjpeg_shim.c"


# ---- images


def photo(width, height, mode="RGB", seed=1):
    """Waves, edges and noise, another phase in each band."""
    y, x = np.mgrid[0:height, 0:width]
    rng = np.random.default_rng(seed)
    bands = []
    for c in range(len(Image.new(mode, (1, 1)).getbands())):
        band = 128 + 60 * np.sin(x / (7 + c) + y / 11) + 40 * np.cos(y / (5 + c)) + 20 * ((x // 40 + y // 30) % 2)
        band += rng.normal(0, 6, band.shape)
        bands.append(Image.fromarray(np.clip(band, 0, 255).astype(np.uint8)))
    return Image.merge(mode, bands)


def encoded(image, format="JPEG", **options):
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def cjpeg(image, *options):
    """Sampling factors and the like that Pillow does not set."""
    pixels = encoded(image, "PPM")
    return subprocess.run(["cjpeg", "-quality", "92", *options], input=pixels, capture_output=True, check=True).stdout


def as_ycck(cmyk):
    """The same numbers, said to be YCCK: Pillow writes no others."""
    adobe = cmyk.index(b"Adobe")
    return cmyk[:adobe + 11] + b"\2" + cmyk[adobe + 12:]


def with_orientation(jpeg, orientation):
    exif = b"Exif\0\0MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 0x112, 3, 1, orientation, 0, 0)
    return jpeg[:2] + struct.pack(">HH", 0xFFE1, len(exif) + 2) + exif + jpeg[2:]


# ---- what is under test


class Failed(Exception):
    """A status and a message."""


def decode_all(images, width, height, *options, channels=3, dtype=np.uint8, planar=False):
    """For each image an array or a Failed."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(i)) for i in range(len(images))]
        for path, data in zip(paths, images):
            path.write_bytes(data)
        run = subprocess.run([DECODE, "--size", f"{width},{height}", *map(str, options), *paths], capture_output=True,
                             timeout=300)
    assert run.returncode == 0, run.stderr.decode()
    results, rest = [], run.stdout
    shape = (channels, height, width) if planar else (height, width, channels)
    for _ in images:
        line, rest = rest.split(b"\n", 1)
        if not line.startswith(b"OK "):
            results.append(Failed(line.decode()))
            continue
        size = int(line[3:])
        results.append(np.frombuffer(rest[:size], dtype).reshape(shape))
        rest = rest[size:]
    assert not rest
    return results


def decode(image, width, height, *options, **more):
    result = decode_all([image], width, height, *options, **more)[0]
    if isinstance(result, Failed):
        raise result
    return result


def by_pillow(data, width, height, box=None, mode="RGB"):
    image = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB").convert(mode)
    if box:
        x, y, w, h = box
        image = image.crop((x, y, x + w, y + h))
    pixels = np.asarray(image.resize((width, height), Image.BILINEAR))
    return pixels.reshape(height, width, -1)


def psnr(a, b):
    error = np.mean((np.asarray(a, float) - np.asarray(b, float)) ** 2)
    return 10 * np.log10(255**2 / max(error, 1e-9))


def box_option(box):
    return ("--box", ",".join(map(str, box)))


# ---- kinds of images

JPEGS = {
    "4:4:4": lambda: encoded(photo(301, 203), quality=92, subsampling="4:4:4"),
    "4:2:2": lambda: encoded(photo(301, 203), quality=92, subsampling="4:2:2"),
    "4:2:0": lambda: encoded(photo(301, 203), quality=92, subsampling="4:2:0"),
    "4:1:1": lambda: cjpeg(photo(301, 203), "-sample", "4x1"),
    "4:4:0": lambda: cjpeg(photo(301, 203), "-sample", "1x2"),
    "4:1:0": lambda: cjpeg(photo(301, 203), "-sample", "4x2"),
    "finer chroma": lambda: cjpeg(photo(301, 203), "-sample", "1x1,2x2,2x1"),
    "progressive": lambda: encoded(photo(301, 203), quality=92, progressive=True),
    "progressive 4:4:4": lambda: encoded(photo(301, 203), quality=92, progressive=True, subsampling="4:4:4"),
    "arithmetic": lambda: cjpeg(photo(301, 203), "-arithmetic"),
    "restart markers": lambda: cjpeg(photo(301, 203), "-restart", "1"),
    "RGB": lambda: cjpeg(photo(301, 203), "-rgb"),
    "grey": lambda: encoded(photo(301, 203, "L"), quality=92),
    "grey progressive": lambda: encoded(photo(301, 203, "L"), quality=92, progressive=True),
    "CMYK": lambda: encoded(photo(301, 203, "CMYK"), quality=92),
    "YCCK": lambda: as_ycck(encoded(photo(301, 203, "CMYK"), quality=92)),
    "tall": lambda: encoded(photo(30, 700), quality=92),
    "wide": lambda: encoded(photo(701, 31), quality=92),
}


def png_of(image, bits=8, interlaced=False):
    """RGB with 16 bits or interlaced: Pillow reads such files, but does not write them."""
    pixels = np.asarray(image)
    if bits == 16:
        pixels = (pixels.astype(np.uint16) << 8) + 77
    pixels = pixels.astype(f">u{bits // 8}")
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    rows = b""
    for left, top, across, down in passes if interlaced else [(0, 0, 1, 1)]:
        part = pixels[top::down, left::across]
        rows += b"".join(b"\0" + row.tobytes() for row in part if part.size)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    head = struct.pack(">IIBBBBB", *image.size, bits, 2, 0, 0, interlaced)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


PNGS = {
    "RGB": lambda: encoded(photo(151, 103), "PNG"),
    "RGBA": lambda: encoded(photo(151, 103, "RGBA"), "PNG"),
    "grey": lambda: encoded(photo(151, 103, "L"), "PNG"),
    "grey and alpha": lambda: encoded(photo(151, 103, "LA"), "PNG"),
    "one bit": lambda: encoded(photo(151, 103, "L").convert("1"), "PNG"),
    "palette": lambda: encoded(photo(151, 103).quantize(200), "PNG"),
    "palette of 4 bits": lambda: encoded(photo(151, 103).quantize(16), "PNG", bits=4),
    "palette, transparent": lambda: encoded(photo(151, 103).quantize(200), "PNG", transparency=3),
    "RGB, transparent": lambda: encoded(photo(151, 103), "PNG", transparency=(1, 2, 3)),
    "16 bits": lambda: png_of(photo(151, 103), 16),
    "interlaced": lambda: png_of(photo(151, 103), interlaced=True),
    "interlaced, 16 bits": lambda: png_of(photo(151, 103), 16, True),
    "interlaced, tiny": lambda: png_of(photo(3, 2), interlaced=True),
    "1 x 1": lambda: encoded(photo(1, 1), "PNG"),
}
WEBPS = {
    "lossy": lambda: encoded(photo(151, 103), "WEBP", quality=90),
    "lossless": lambda: encoded(photo(151, 103), "WEBP", lossless=True),
    "lossy with alpha": lambda: encoded(photo(151, 103, "RGBA"), "WEBP", quality=90, exact=True),
    "lossless with alpha": lambda: encoded(photo(151, 103, "RGBA"), "WEBP", lossless=True, exact=True),
    "1 x 1": lambda: encoded(photo(1, 1), "WEBP", lossless=True),
}
ALL = {**{f"JPEG {k}": v for k, v in JPEGS.items()}, **{f"PNG {k}": v for k, v in PNGS.items()},
       **{f"WebP {k}": v for k, v in WEBPS.items()}}
built = subprocess.run([DECODE, "--formats"], capture_output=True, text=True).stdout.split() if DECODE.exists() else []


def skip_what_was_not_built(kind):
    if kind.split()[0].lower() not in [*built, "jpeg"]:
        pytest.skip(f"built without {kind.split()[0]}")


# ---- the same pixels


@pytest.mark.parametrize("kind", ALL)
def test_the_whole_image_as_pillow_scales_it(kind):
    skip_what_was_not_built(kind)
    data = ALL[kind]()
    assert psnr(decode(data, 120, 90), by_pillow(data, 120, 90)) > 50


@pytest.mark.parametrize("kind", ALL)
def test_parts_as_pillow_cuts_and_scales_them(kind):
    skip_what_was_not_built(kind)
    data = ALL[kind]()
    width, height = Image.open(io.BytesIO(data)).size
    rng = random.Random(kind)
    for _ in range(12):
        w, h = rng.randint(1, width), rng.randint(1, height)
        box = rng.randint(0, width - w), rng.randint(0, height - h), w, h
        got = decode(data, 64, 48, *box_option(box))
        assert psnr(got, by_pillow(data, 64, 48, box)) > 50, box


@pytest.mark.parametrize("kind", ALL)
def test_an_unscaled_part_is_exact(kind):
    skip_what_was_not_built(kind)
    data = ALL[kind]()
    width, height = Image.open(io.BytesIO(data)).size
    rng = random.Random(kind)
    for _ in range(12):
        w, h = rng.randint(1, width), rng.randint(1, height)
        box = rng.randint(0, width - w), rng.randint(0, height - h), w, h
        got = decode(data, w, h, *box_option(box))
        assert np.array_equal(got, by_pillow(data, w, h, box)), box


@pytest.mark.parametrize("kind", ALL)
def test_grey_is_pillows_luminance(kind):
    skip_what_was_not_built(kind)
    data = ALL[kind]()
    got = decode(data, 60, 50, "--grey", channels=1)
    # Of YCbCr images the stored luminance is taken, which the way through RGB may cut off.
    assert psnr(got, by_pillow(data, 60, 50, mode="L")) > (38 if kind.startswith("JPEG") else 50)


@pytest.mark.parametrize("kind", ["4:2:0", "4:4:4", "4:2:2", "4:1:1", "progressive", "grey"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_images_are_turned_as_exif_says(kind, orientation):
    data = with_orientation(JPEGS[kind](), orientation)
    assert psnr(decode(data, 120, 90), by_pillow(data, 120, 90)) > 50
    for box in [(20, 10, 100, 150), (3, 44, 190, 51)]:
        assert psnr(decode(data, 61, 47, *box_option(box)), by_pillow(data, 61, 47, box)) > 50


@pytest.mark.parametrize("size", [(1, 1), (8, 1), (1, 8), (2, 2), (3, 5), (16, 16), (17, 15), (33, 1)])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
def test_tiny_images(size, subsampling):
    data = encoded(photo(*size), quality=92, subsampling=subsampling)
    for out in [(5, 3), (17, 16), size, (40, 40)]: # none of them scaled in the transform
        assert psnr(decode(data, *out), by_pillow(data, *out)) > 50
    assert psnr(decode(data, 1, 1), by_pillow(data, 1, 1)) > 30


@pytest.mark.parametrize("scale", [2, 3, 5, 9, 20])
@pytest.mark.parametrize("sampling", ["1x1", "2x1", "1x2", "2x2", "4x1", "1x4", "4x2"])
def test_scaling_in_the_transform_is_hardly_seen(scale, sampling):
    width, height = 64 * scale + 5, 48 * scale + 3
    # As in photographs, there is less in the finest details than in what is larger.
    image = photo(160, 120).resize((width, height), Image.BICUBIC)
    data = cjpeg(image, "-sample", sampling)
    expected = by_pillow(data, 64, 48)
    assert psnr(decode(data, 64, 48), expected) > 48
    assert psnr(decode(data, 64, 48, "--fast"), expected) > 40


def test_float_layouts():
    data = JPEGS["4:2:0"]()
    mean, deviation = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
    plain = decode(data, 40, 30)
    expected = ((plain / np.float32(255) - np.float32(mean)) / np.float32(deviation)).transpose(2, 0, 1)
    numbers = ("--numbers", ",".join(map(str, mean + deviation)))
    singles = decode(data, 40, 30, "--layout", "f32", *numbers, dtype=np.float32, planar=True)
    assert np.allclose(singles, expected, atol=1e-6)
    halves = decode(data, 40, 30, "--layout", "f16", *numbers, dtype=np.float16, planar=True)
    assert np.array_equal(halves, singles.astype(np.float16))


# ---- who decodes the scan of a JPEG image


def who_decodes(images, *options, env=None):
    """For each image "ours" or "libjpeg", and what came out."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(i)) for i in range(len(images))]
        for path, data in zip(paths, images):
            path.write_bytes(data)
        run = subprocess.run([DECODE, "--which", "--size", "2,1", *options, *paths], capture_output=True, check=True,
                             env=os.environ | (env or {}))
    return re.findall(rb"(ours|libjpeg)\n(OK 6\n.{6}|SHARD_[^\n]*\n)", run.stdout, re.DOTALL)


@pytest.fixture
def ours():
    if who_decodes([JPEGS["4:2:0"]()])[0][0] != b"ours":
        pytest.skip("built without jpegint.h")


SCANS = {"separate": b"0;1;2;", "two": b"0 1;2;"}


def cjpeg_of_scans(name):
    with tempfile.NamedTemporaryFile() as script:
        script.write(SCANS[name])
        script.flush()
        return cjpeg(photo(301, 203), "-scans", script.name)


def test_we_decode_ordinary_scans_and_libjpeg_the_others(ours):
    others = {"progressive", "progressive 4:4:4", "grey progressive", "arithmetic"}
    images = [make() for make in JPEGS.values()] + [cjpeg_of_scans(name) for name in SCANS]
    expected = [b"libjpeg" if name in others else b"ours" for name in JPEGS] + [b"libjpeg"] * len(SCANS)
    results = who_decodes(images)
    assert [who for who, _ in results] == expected
    assert all(what.startswith(b"OK") for _, what in results)
    assert [what for _, what in who_decodes(images, "--libjpeg")] == [what for _, what in results]


@pytest.mark.parametrize("kind", JPEGS)
def test_both_make_the_same_pixels(kind):
    data = JPEGS[kind]()
    for options in [(), ("--grey",), ("--fast",), *(("--fit", "random", "--key", key) for key in range(20))]:
        ours, theirs = (decode(data, 57, 43, *options, *who, channels=1 if "--grey" in options else 3)
                        for who in [(), ("--libjpeg",)])
        assert np.array_equal(ours, theirs), options


@pytest.mark.parametrize("kind", ["DEAF", "OTHER", "none"])
def test_a_libjpeg_that_is_another_one_decodes_alone(ours, tmp_path, kind):
    shim = tmp_path / "libjpeg_shim.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", "-o", shim, SHIM_SOURCE, "-ldl"], check=True)
    images = [JPEGS["4:2:0"](), JPEGS["grey"]()]
    asan = os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
    results = who_decodes(images, env={"LD_PRELOAD": str(shim), "SHIM_LIBJPEG": kind, "ASAN_OPTIONS": asan})
    assert {who for who, _ in results} == {b"ours" if kind == "none" else b"libjpeg"}
    assert [what for _, what in results] == [what for _, what in who_decodes(images)]


# ---- what is chosen


def drawn(data, width, height, key, *options):
    """The crop that this key draws of an image of that size, x, y, width, height, mirrored."""
    run = subprocess.run([DECODE, "--size", "50,50", "--fit", "random", "--key", str(key), *options,
                          "--draw", f"{width},{height}"], capture_output=True, text=True, check=True)
    return run.stdout.split()


def test_a_random_crop_is_the_part_that_its_key_draws():
    data = JPEGS["4:2:0"]()
    for key in range(20):
        box = drawn(data, 301, 203, key, "--flip", "0.5")
        got = decode(data, 50, 50, "--fit", "random", "--key", key, "--flip", "0.5")
        assert np.array_equal(got, decode(data, 50, 50, *box_option(box)))
        x, y, w, h, mirrored = map(int, box)
        expected = by_pillow(data, 50, 50, (x, y, w, h))
        assert psnr(got, expected[:, ::-1] if mirrored else expected) > 48


def test_the_middle_as_torchvision_takes_it():
    data = JPEGS["4:4:4"]()
    image = Image.open(io.BytesIO(data))
    # shorter 256: 203 pixels become 256; 224 of them are 177.625 pixels in the middle.
    side = 224 * 203 / 256
    x, y = (301 - side) / 2, (203 - side) / 2
    expected = np.asarray(image.resize((224, 224), Image.BILINEAR, box=(x, y, x + side, y + side)))
    got = decode(data, 224, 224, "--fit", "center", "--shorter", "256")
    assert psnr(got[2:-2, 2:-2], expected[2:-2, 2:-2]) > 50 # at the edges Pillow looks beyond the box


# ---- what cannot be decoded


@pytest.mark.parametrize("kind", ["JPEG 4:2:0", "JPEG progressive", "PNG RGB", "PNG palette", "WebP lossy",
                                  "WebP lossless"])
def test_what_is_cut_off_is_an_error(kind):
    skip_what_was_not_built(kind)
    data = ALL[kind]()
    whole = decode(data, 30, 20)
    ends = list(range(0, len(data) - 2, max(1, len(data) // 300)))
    for end, result in zip(ends, decode_all([data[:end] for end in ends], 30, 20)):
        if isinstance(result, Failed):
            assert str(result).split()[0] in ("SHARD_EDATA", "SHARD_EUNSUPPORTED")
            assert end < 12 or "SHARD_EDATA" in str(result), (end, result)
        else: # nothing but an end mark or a checksum is lost
            assert end > len(data) - 16 and np.array_equal(result, whole)


def test_what_lies_below_the_part_may_be_cut_off():
    data = JPEGS["4:2:0"]()
    box = box_option((10, 10, 100, 60))
    whole = decode(data, 50, 30, *box)
    ends = list(range(0, len(data), len(data) // 300))
    results = decode_all([data[:end] for end in ends], 50, 30, *box)
    good = [not isinstance(r, Failed) for r in results]
    assert good == sorted(good) and 60 < sum(good) < 260
    assert all(np.array_equal(r, whole) for r in results if not isinstance(r, Failed))


@pytest.mark.parametrize("kind", ["JPEG 4:2:0", "JPEG progressive", "JPEG restart markers", "PNG RGB", "WebP lossy",
                                  "WebP lossless"])
def test_garbage_is_an_error_or_pixels(kind):
    skip_what_was_not_built(kind)
    data, rng = ALL[kind](), random.Random(7)
    damaged = []
    for i in range(150):
        at = rng.randrange(2, len(data))
        damaged.append(data[:at] + rng.randbytes(rng.randint(1, 40)) + data[at + rng.randint(0, 40):])
    results = decode_all(damaged, 30, 20)
    known = ("SHARD_EDATA", "SHARD_EUNSUPPORTED", "SHARD_ELIMIT")
    assert all(str(r).startswith(known) for r in results if isinstance(r, Failed))
    if kind.startswith("PNG"): # all of it stands under checksums
        assert sum(isinstance(r, Failed) for r in results) > 140


def test_a_damaged_png_is_an_error():
    skip_what_was_not_built("PNG")
    data = bytearray(PNGS["RGB"]())
    data[len(data) // 2] ^= 1
    with pytest.raises(Failed, match="SHARD_EDATA PNG: "):
        decode(bytes(data), 30, 20)


@pytest.mark.parametrize("kind", ["PNG RGB", "WebP lossy"])
def test_what_the_library_was_built_without_is_named(kind):
    if kind.split()[0].lower() in built:
        pytest.skip("built with it")
    with pytest.raises(Failed, match=f"SHARD_EUNSUPPORTED {kind.split()[0]}: .* without lib"):
        decode(ALL[kind](), 30, 20)


def test_animated_webp_is_refused():
    skip_what_was_not_built("WebP")
    data = encoded(photo(40, 30), "WEBP", save_all=True, append_images=[photo(40, 30, seed=2)])
    with pytest.raises(Failed, match="SHARD_EUNSUPPORTED animated"):
        decode(data, 30, 20)


@pytest.mark.parametrize("kind", ["PNG RGB", "WebP lossless"])
def test_memory_max_is_kept(kind):
    skip_what_was_not_built(kind)
    image = photo(900, 700)
    data = encoded(image, "PNG") if kind == "PNG RGB" else encoded(image, "WEBP", lossless=True)
    if kind == "PNG RGB": # row by row: little
        decode(data, 30, 20, "--memory", 1 << 20)
    else:
        with pytest.raises(Failed, match="SHARD_ELIMIT"):
            decode(data, 30, 20, "--memory", 1 << 20)


def test_a_thousand_scans_are_too_many():
    data = JPEGS["progressive"]()
    scan = data.rindex(b"\xff\xda")
    first = data.index(b"\xff\xda") # sets bits, and may do so again; those that refine may not
    many = data[:scan] + data[first:data.index(b"\xff\xc4", first)] * 1000 + data[scan:]
    with pytest.raises(Failed, match="SHARD_EDATA JPEG: more than 100 scans"):
        decode(many, 30, 20)
