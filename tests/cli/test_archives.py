# SPDX-License-Identifier: Apache-2.0
"""pack of archives: the same shards as from the tree they hold, or an error that names the archive."""
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from conftest import make_tree, read_files, without_digest, write


def run(*command, stdin=b"", cwd="in", env=None):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not here")
    done = subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, env=env)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def names_in_order(files):
    """As pack orders files of a tree: by key, then by component."""
    return sorted(files, key=lambda n: tuple(n.partition(".")[::2]))


def zip_by_python(path, files, method=zipfile.ZIP_DEFLATED, out=None):
    with zipfile.ZipFile(out or path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)


class NoSeek(io.RawIOBase):
    """A stream that cannot go back: sizes in a zip come behind the contents."""

    def __init__(self, path):
        self.file = open(path, "wb")

    def writable(self):
        return True

    def write(self, data):
        return self.file.write(data)

    def close(self):
        self.file.close()
        super().close()


def zip_streamed(path, files):
    with NoSeek(path) as out:
        zip_by_python(None, files, out=out)


def listing(names):
    return "".join(f"{n}\n" for n in names).encode()


def tar(path, names, *options):
    if path.endswith(".lz4") and not shutil.which("lz4"):
        pytest.skip("lz4 is not here")
    run("tar", "-cf", f"../{path}", "-T", "-", *options, stdin=listing(names))


def seven_zip(path, names, *options):
    write("list", listing(names))
    run("7z", "a", f"../{path}", "@../list", "-bd", *options)


def by_bsdtar(path, names, format):
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}  # of the names that it reads
    run("bsdtar", f"--format={format}", "-cf", f"../{path}", "-T", "-", stdin=listing(names), env=environment)


KINDS = {  # of archives in `in`: name, and how to make it of names in order
    "zip": ("a.zip", lambda p, n: run("zip", "-q", f"../{p}", "-@", stdin=listing(n))),
    "zip stored": ("a.zip", lambda p, n: run("zip", "-q", "-0", f"../{p}", "-@", stdin=listing(n))),
    "zip through a pipe": ("a.zip", lambda p, n: write(p, run("zip", "-q", "-", "-@", stdin=listing(n)))),
    "zip by python": ("a.zip", lambda p, n: zip_by_python(p, {x: Path(f"in/{x}").read_bytes() for x in n})),
    "zip streamed": ("a.zip", lambda p, n: zip_streamed(p, {x: Path(f"in/{x}").read_bytes() for x in n})),
    "zip by bsdtar": ("a.zip", lambda p, n: by_bsdtar(p, n, "zip")),
    "zip behind a program": ("a.zip", lambda p, n: (
        run("zip", "-q", f"../{p}", "-@", stdin=listing(n)),
        write(p, b"#!/bin/sh\nexit\n" + Path(p).read_bytes()), run("zip", "-qA", f"../{p}"))),
    "tar": ("a.tar", tar),
    "tar posix": ("a.tar", lambda p, n: tar(p, n, "--format=posix")),
    "tar.gz": ("a.tar.gz", lambda p, n: tar(p, n, "--gzip")),
    "tgz": ("a.tgz", lambda p, n: tar(p, n, "--gzip")),
    "tar.xz": ("a.tar.xz", lambda p, n: tar(p, n, "--xz")),
    "tar.bz2": ("a.tar.bz2", lambda p, n: tar(p, n, "--bzip2")),
    "tar.lz4": ("a.tar.lz4", lambda p, n: tar(p, n, "-Ilz4")),
    "tar.zst": ("a.tar.zst", lambda p, n: tar(p, n, "--zstd")),
    "cpio newc": ("a.cpio", lambda p, n: write(p, run("cpio", "-o", "-Hnewc", stdin=listing(n)))),
    "cpio odc": ("a.cpio", lambda p, n: write(p, run("cpio", "-o", "-Hodc", stdin=listing(n)))),
    "cpio crc": ("a.cpio", lambda p, n: write(p, run("cpio", "-o", "-Hcrc", stdin=listing(n)))),
    "cpio.gz": ("a.cpio.gz", lambda p, n: write(
        p, run("gzip", "-c", stdin=run("cpio", "-o", "-Hnewc", stdin=listing(n))))),
    "7z": ("a.7z", seven_zip),
    "7z stored": ("a.7z", lambda p, n: seven_zip(p, n, "-mx0")),
    "7z not solid": ("a.7z", lambda p, n: seven_zip(p, n, "-ms=off")),
    "7z by bsdtar": ("a.7z", lambda p, n: by_bsdtar(p, n, "7zip")),
}


def make(kind, **tree):
    """An archive of a tree; returns its name, and the files in the order of pack."""
    files = make_tree("in", **{"samples": 40, **tree})
    if kind != "7z by bsdtar":  # puts files without content behind all others
        write("in/class0/s0000.txt", b"")
        files["class0/s0000.txt"] = b""
    files = {n: files[n] for n in names_in_order(files)}
    path, maker = KINDS[kind]
    maker(path, list(files))
    return path, files


def members(shard):
    with tarfile.open(shard) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive}


# ---- the same shards


@pytest.mark.parametrize("kind", KINDS)
def test_an_archive_gives_the_shards_of_its_tree(tool, kind):
    path, files = make(kind)
    outputs = []
    for source in ("in", path):
        os.mkdir(f"of-{source}")
        for out in ("out-<0..2>.tar", "max-%03d.tar.zst", "one.tar.gz"):
            limit = ["--max-samples", "15"] if "%" in out else []
            summary = tool("pack", source, f"of-{source}/{out}", "--json", *limit).json
            assert summary["samples"] == 40 and summary["bytes_in"] == sum(map(len, files.values()))
        outputs.append({name: without_digest(content) if name.endswith(".json") else content
                        for name, content in read_files(f"of-{source}").items()})
    assert outputs[0].keys() == outputs[1].keys()
    assert [name for name in outputs[0] if outputs[0][name] != outputs[1][name]] == []
    tool("verify", f"of-{path}/out.shards.json")


@pytest.mark.parametrize("kind", ["zip", "tar.gz", "7z"])
def test_the_number_of_threads_does_not_change_a_byte(tool, kind):
    path, _ = make(kind, samples=150, size=9000)
    outputs = []
    for jobs in ("1", "2", "6"):
        os.mkdir(jobs)
        tool("pack", path, f"{jobs}/out-%03d.tar", "--max-size", "200KiB", "-j", jobs)
        outputs.append(read_files(jobs))
    assert outputs[0] == outputs[1] == outputs[2] and len(outputs[0]) > 5


@pytest.mark.parametrize("kind", ["tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2"])
def test_standard_input_is_a_tar_in_any_compression(tool, kind):
    path, files = make(kind)
    tool("pack", "-", "out.tar", stdin=Path(path).read_bytes())
    assert members("out.tar") == files
    tool("pack", "-", "part-%d.tar", "--max-samples", "15", stdin=Path(path).read_bytes())
    assert json.loads(Path("part.shards.json").read_text())["shard_samples"] == [15, 15, 10]


def test_what_needs_a_count_cannot_come_from_standard_input(tool):
    path, _ = make("tar")
    for args in (["out-<0..2>.tar"], ["out.tar", "--label-from", "dir"]):
        failed = tool("pack", "-", *args, stdin=Path(path).read_bytes(), code=2)
        assert "stdin" in failed.err and "counter" in failed.err
    assert "shuffle" in tool("pack", "-", "out.tar", "--shuffle", "1", stdin=b"x", code=2).err


@pytest.mark.parametrize("kind", ["zip", "cpio newc", "7z"])
def test_other_archives_on_standard_input_are_told(tool, kind):
    path, _ = make(kind)
    failed = tool("pack", "-", "out.tar", stdin=Path(path).read_bytes(), code=1)
    assert "(stdin)" in failed.err and not Path("out.tar").exists()


def test_several_archives_one_behind_the_other(tool):
    files = {f"{i:02d}.txt": f"{i}".encode() for i in range(30)}
    names = list(files)
    for i, write_one in enumerate((
            lambda f: zip_by_python("0.zip", f),
            lambda f: tarfile_of("1.tar", f),
            lambda f: zip_streamed("2.zip", f))):
        write_one({n: files[n] for n in names[i * 10:i * 10 + 10]})
    tool("pack", "0.zip", "1.tar", "2.zip", "out.tar")
    assert members("out.tar") == files and list(members("out.tar")) == names
    tool("pack", "2.zip", "0.zip", "part-<0..3>.tar")
    assert json.loads(Path("part.shards.json").read_text())["shard_samples"] == [5, 5, 5, 5]


def tarfile_of(path, files, extra=()):
    with tarfile.open(path, "w") as archive:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        for info in extra:
            archive.addfile(info)


@pytest.mark.parametrize("suffix", ["zip", "tar"])
def test_a_key_in_two_archives_is_an_error_that_names_the_second(tool, suffix):
    make_one = zip_by_python if suffix == "zip" else tarfile_of
    make_one(f"0.{suffix}", {"a.txt": b"1", "b.txt": b"2"})
    make_one(f"1.{suffix}", {"c.txt": b"1", "a.txt": b"2"})
    failed = tool("pack", f"0.{suffix}", f"1.{suffix}", "out.tar", code=1)
    assert f"1.{suffix}" in failed.err and '"a"' in failed.err


def test_archives_and_folders_do_not_go_together(tool):
    path, _ = make("zip")
    assert "archives" in tool("pack", path, "in", "out.tar", code=2).err
    assert "shuffled" in tool("pack", path, "out.tar", "--shuffle", "1", code=2).err


# ---- samples


@pytest.mark.parametrize("suffix", ["zip", "tar"])
def test_files_of_a_sample_that_are_not_neighbours_are_an_error(tool, suffix):
    (zip_by_python if suffix == "zip" else tarfile_of)(f"a.{suffix}", {"a.jpg": b"1", "b.jpg": b"2", "a.txt": b"3"})
    failed = tool("pack", f"a.{suffix}", "out.tar", code=1)
    assert f"a.{suffix}" in failed.err and '"a"' in failed.err and "neighbours" in failed.err
    assert not Path("out.tar").exists() and not Path("out.shards.json").exists()


def test_components_of_a_sample_may_come_in_any_order(tool):
    zip_by_python("a.zip", {"a.txt": b"1", "a.jpg": b"2", "a.cls": b"3", "b.x": b"4"})
    tool("pack", "a.zip", "out.tar")
    assert list(members("out.tar")) == ["a.cls", "a.jpg", "a.txt", "b.x"]


def test_a_component_twice_is_an_error(tool):
    zip_by_python("a.zip", {"a.txt": b"1", "a.TXT": b"2"})
    failed = tool("pack", "a.zip", "out.tar", code=1)
    assert '"txt"' in failed.err and '"a"' in failed.err


def test_options_hold_for_archives_too(tool):
    zip_by_python("a.zip", {"dog/1.5.JPEG": b"x", "dog/1.5.txt": b"t", "cat/2.JPEG": b"y", "ape/3.txt": b"z"})
    tool("pack", "a.zip", "out.tar", "--split", "last", "--map", "jpeg=jpg", "--label-from", "dir",
         "--require", "jpg,cls", "--missing", "skip")
    assert members("out.tar") == {"dog/1_5.cls": b"1", "dog/1_5.jpg": b"x", "dog/1_5.txt": b"t",
                                  "cat/2.cls": b"0", "cat/2.jpg": b"y"}
    manifest = json.loads(Path("out.shards.json").read_text())
    assert manifest["classes"] == ["cat", "dog"]
    assert [s["name"] for s in manifest["skipped"]] == ["ape/3"]
    assert '"jpg"' in tool("pack", "a.zip", "x.tar", "--require", "jpg", code=1).err


def test_a_file_at_the_top_has_no_label(tool):
    zip_by_python("a.zip", {"1.jpg": b"x"})
    assert "class folder" in tool("pack", "a.zip", "out.tar", "--label-from", "dir", code=1).err


def test_what_is_no_sample_is_counted_not_packed(tool):
    extra = [tarfile.TarInfo(n) for n in ("d", "link.jpg", "hard.jpg", "pipe.jpg")]
    kinds = (tarfile.DIRTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE)
    for info, info.type in zip(extra, kinds):
        info.linkname = "a.txt"
    tarfile_of("a.tar", {"a.txt": b"1", "README": b"2", "d/.hidden.txt": b"3", "__x__/y.txt": b"4"}, extra)
    run("bsdtar", "--format=zip", "-cf", "a.zip", "@a.tar", cwd=".")
    for source, special in (("a.tar", 3), ("a.zip", None)):
        ignored = tool("pack", source, "out.tar", "-f", "--json").json["ignored"]
        assert members("out.tar") == {"a.txt": b"1"} or special is None
        assert special is None or ignored == {"no_extension": 1, "hidden": 1, "reserved": 1, "special": 3}
    assert "link" in tool("pack", "a.tar", "x.tar", "--links", "error", code=1).err


@pytest.mark.parametrize("suffix", ["zip", "tar"])
@pytest.mark.parametrize("name, stored", [
    ("./a/b.txt", "a/b.txt"), ("a//b.txt", "a/b.txt"), ("/a/b.txt", "a/b.txt"), ("a/./b.txt", "a/b.txt"),
    ("v1.2/b.x.txt", "v1_2/b.x.txt"), ("a b/\u732b.txt", "a b/\u732b.txt"), ("d/" * 70 + "b.txt", "d/" * 70 + "b.txt"),
    ("n" * 200 + ".txt", "n" * 200 + ".txt")])
def test_names_are_stored_as_those_of_files_are(tool, suffix, name, stored):
    (zip_by_python if suffix == "zip" else tarfile_of)(f"a.{suffix}", {name: b"x"})
    tool("pack", f"a.{suffix}", "out.tar")
    assert members("out.tar") == {stored: b"x"}
    tool("verify", "out.shards.json")


@pytest.mark.parametrize("name", ["_.a._/x.txt", "./__a__/x.txt", "a/../x.txt", "../x.txt"])
def test_names_that_readers_would_take_otherwise_are_refused_or_left_out(tool, name):
    """What pack writes must be read back. (_.a._ becomes __a__, which is no name of a sample.)"""
    zip_by_python("a.zip", {"ok.txt": b"1", name: b"x"})
    result = tool("pack", "a.zip", "out.tar", code=None)
    if result.code == 0:
        tool("verify", "out.shards.json")
    else:
        assert result.code == 1 and name in result.err and "a.zip" in result.err


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_names_that_are_not_ascii_do_not_depend_on_the_locale(tool, locale):
    files = {"caf\u00e9/\u732b.txt": b"1", "\U0001f600.txt": b"2"}
    for name, content in files.items():
        write(f"in/{name}", content)
    for kind in ("zip", "zip by python", "tar posix", "cpio newc", "7z", "7z by bsdtar"):
        path, maker = KINDS[kind]
        Path(path).unlink(missing_ok=True)
        if kind == "zip by python":
            zip_by_python(path, files)
        else:
            maker(path, list(files))
        tool("pack", path, "out.tar", "-f", env={"LC_ALL": locale})
        assert members("out.tar") == files, kind


def test_names_of_any_bytes_are_kept(tool):
    os.mkdir(b"in")
    Path(os.fsdecode(b"in/caf\xe9.txt")).write_bytes(b"x")
    for path, command in (("a.tar", ["tar", "-cf", "../a.tar", "."]), ("a.cpio", None)):
        if command:
            run(*command)
        else:
            write(path, run("cpio", "-o", "-Hnewc", stdin=b"caf\xe9.txt\n"))
        tool("pack", path, "out.tar", "-f")
        with tarfile.open("out.tar", errors="surrogateescape") as archive:
            assert archive.getnames() == [os.fsdecode(b"caf\xe9.txt")]


def test_folders_in_folders_and_entries_for_them(tool):
    files = {f"{'abc'[i % 3]}/{'xyz'[i // 3]}/deep/er/{i}.txt": bytes([i]) for i in range(9)}
    files = {n: files[n] for n in sorted(files)}
    for name, content in files.items():
        write(f"in/{name}", content)
    run("zip", "-qr", "../a.zip", ".")
    run("tar", "-cf", "../a.tar", "--sort=name", ".")
    for path in ("a.zip", "a.tar"):
        tool("pack", path, "out.tar", "-f")
        assert members("out.tar") == files
        assert tool("pack", path, "x.tar", "-f", "--json").json["ignored"] == {
            "no_extension": 0, "hidden": 0, "reserved": 0, "special": 0}


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_large_members_do_not_need_memory_and_leave_no_files_behind(tool, kind):
    data = os.urandom(1 << 20) * 24
    write("in/a.bin", data)
    write("in/a.txt", "beside it")
    write("in/b.bin", data[:100])
    path, maker = KINDS[kind]
    maker(path, ["a.bin", "a.txt", "b.bin"])
    for suffix in ("tar", "tar.zst"):
        tool("pack", path, f"out.{suffix}", "-f", "-j", "2", "--memory", "8MiB")
        assert tool("cat", f"out.{suffix}", "a.bin").out_bytes == data
        tool("verify", "out.shards.json")
    assert not [n for n in os.listdir(".") if n.startswith(".")]


def test_an_archive_to_standard_output(tool):
    path, files = make("zip")
    write("out.tar", tool("pack", path, "-").out_bytes)
    assert members("out.tar") == files


def test_a_dry_run_of_an_archive(tool):
    path, _ = make("zip")
    before = set(os.listdir("."))
    assert tool("pack", path, "out-<0..1>.tar", "-n").out.split() == [
        "out-0.tar", "20", "samples", "out-1.tar", "20", "samples"]
    assert set(os.listdir(".")) == before


# ---- what is wrong with them


@pytest.mark.parametrize("kind", ["zip", "zip stored", "zip streamed", "tar", "tar.gz", "tar.xz", "tar.zst", "tar.bz2",
                                  "cpio newc", "cpio odc", "cpio.gz", "7z", "7z stored"])
@pytest.mark.parametrize("out", ["out.tar", "out-<0..1>.tar"])
def test_an_archive_that_is_cut_off_is_an_error(tool, kind, out):
    path, _ = make(kind, samples=12)
    whole = Path(path).read_bytes()
    size = len(whole)
    cuts = [0, 1, 3, 40, size // 4, size // 2, size - size // 8, size - 600, size - 30, size - 13, size - 1]
    if kind.startswith("zip"):  # just before the central directory, and between two entries
        cuts += [whole.index(b"PK\1\2"), whole.index(b"PK\1\2") + 4, whole.index(b"PK\3\4", 4), whole.index(b"PK\5\6")]
    if kind.startswith("cpio "):
        cuts += [whole.index(b"TRAILER!!!"), whole.index(b"070701" if "newc" in kind else b"070707", 10)]
    for kept in cuts:
        write(path, whole[:kept])
        failed = tool("pack", path, out, code=None)
        if failed.code == 0 and kind in ("cpio newc", "cpio odc", "tar"):
            assert whole[kept:].strip(b"\0") == b""  # only padding is missing
            tool("pack", path, out, "-f")
            for name in Path(".").glob("out*"):
                os.remove(name)
            continue
        assert failed.code == 1, (kept, size, failed.code, failed.err)
        assert path in failed.err, (kept, failed.err)
        assert list(Path(".").glob("out*")) == []


@pytest.mark.parametrize("kind", ["zip", "zip stored", "tar.gz", "tar.xz", "tar.zst", "cpio.gz", "7z", "7z stored"])
def test_an_archive_with_a_flipped_byte_in_its_contents_is_an_error(tool, kind):
    path, files = make(kind, samples=12)
    whole = Path(path).read_bytes()
    content = max(files.values(), key=len)
    at = whole.index(content[100:]) + 50 if kind.endswith("stored") else len(whole) // 2
    write(path, whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1:])
    failed = tool("pack", path, "out.tar", code=1)
    assert path in failed.err and not Path("out.tar").exists()


@pytest.mark.parametrize("how", [["zip", "-q", "-P", "secret", "../a.zip", "-@"], ["7z", "a", "-bd", "-psecret", "../a.7z"],
                                 ["7z", "a", "-bd", "-psecret", "-mhe", "../a.7z"],
                                 ["7z", "a", "-bd", "-psecret", "-mem=AES256", "-tzip", "../a.zip"]],
                         ids=["zip", "7z", "7z with names", "zip with AES"])
@pytest.mark.parametrize("out", ["out.tar", "out-<0..1>.tar"])
def test_an_encrypted_archive_is_an_error_that_says_so(tool, how, out):
    files = make_tree("in", samples=6)
    run(*how, stdin=listing(names_in_order(files)))
    path = next(p.name for p in Path(".").glob("a.*"))
    failed = tool("pack", path, out, code=1)
    assert path in failed.err and ("ncrypt" in failed.err or "assphrase" in failed.err), failed.err
    assert list(Path(".").glob("out*")) == []


@pytest.mark.parametrize("name", ["a.zip", "a.7z", "a.cpio", "a.tar", "a.tar.gz", "a.cpio.gz"])
@pytest.mark.parametrize("content", [b"", b"hello " * 1000, bytes(5000), b"PK\3\4" + b"x" * 100, os.urandom(3000)],
                         ids=["empty", "text", "zeros", "nearly zip", "random"])
def test_what_is_no_archive_is_an_error(tool, name, content):
    write(name, content)
    failed = tool("pack", name, "out.tar", code=1)
    assert name in failed.err or "no samples" in failed.err and content == bytes(5000)
    assert not Path("out.tar").exists()


@pytest.mark.parametrize("suffix", ["zip", "tar"])
def test_an_archive_without_samples(tool, suffix):
    (zip_by_python if suffix == "zip" else tarfile_of)(f"a.{suffix}", {"README": b"x"})
    for out in ("out.tar", "out-<0..2>.tar", "out-%d.tar"):
        limit = ["--max-samples", "3"] if "%" in out else []
        failed = tool("pack", f"a.{suffix}", out, *limit, code=1)
        assert "no samples" in failed.err and list(Path(".").glob("out*")) == [], out


def test_an_archive_that_is_not_there_or_a_folder(tool):
    os.mkdir("folder.zip")
    assert "nowhere.zip" in tool("pack", "nowhere.zip", "out.tar", code=3).err
    assert "folder.zip" in tool("pack", "folder.zip", "out.tar", code=None).err


def test_archives_are_known_by_their_names_in_upper_case_too(tool):
    zip_by_python("A.ZIP", {"a.txt": b"x"})
    tool("pack", "A.ZIP", "out.tar")
    assert members("out.tar") == {"a.txt": b"x"}
