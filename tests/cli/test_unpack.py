# SPDX-License-Identifier: Apache-2.0
"""unpack: back to the tree, and never a byte outside the folder."""
import io
import os
import stat
import tarfile
from pathlib import Path

import pytest
from conftest import make_tree, write

SUFFIXES = ["tar", "tar.zst", "tar.gz"]


def tree(folder):
    """{path: content} of all files below a folder; links and special files by what they are."""
    found = {}
    for path in sorted(Path(folder).rglob("*")):
        name = str(path.relative_to(folder))
        kind = path.lstat().st_mode
        if stat.S_ISREG(kind):
            found[name] = path.read_bytes()
        elif stat.S_ISLNK(kind):
            found[name] = ("link", os.readlink(path))
        elif not stat.S_ISDIR(kind):
            found[name] = "special"
    return found


def member(name, content=b"", kind=tarfile.REGTYPE, target=""):
    found = tarfile.TarInfo(name)
    found.type, found.linkname, found.size = kind, target, len(content)
    return found, content


def make_tar(path, *members, format=tarfile.GNU_FORMAT):
    with tarfile.open(path, "w", format=format) as tar:
        for info, content in members:
            tar.addfile(info, io.BytesIO(content))


# ---- all of it


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("jobs", ["1", "4"])
def test_what_was_packed_comes_back(tool, suffix, jobs):
    files = make_tree("in", samples=60, components=("jpg", "txt", "seg.png"))
    files |= {"caf\u00e9/\u732b 1.jpg": b"x", f"{'d' * 100}/{'n' * 150}.jpg": b"", "top.bin": bytes(3 << 20)}
    for name, content in files.items():
        write(f"in/{name}", content)
    tool("pack", "in", f"out-<0..4>.{suffix}")
    for i, names in enumerate((["out.shards.json"], [f"out-{{0..4}}.{suffix}"])):
        tool("unpack", *names, "-C", str(i), "-j", jobs)
        assert tree(str(i)) == files == tree("in")


def test_a_shard_from_standard_input_goes_to_the_present_folder(tool):
    files = make_tree("in", samples=5)
    data = tool("pack", "in", "-").out_bytes
    os.mkdir("here")
    tool("unpack", "-", stdin=data, cwd="here")
    assert tree("here") == files


def test_the_summary_as_json(tool):
    files = make_tree("in", samples=10)
    tool("pack", "in", "out-<0..1>.tar")
    result = tool("unpack", "--json", "out.shards.json", "-C", "back")
    assert result.err == "" and result.json.pop("seconds") >= 0
    assert {k: v for k, v in result.json.items() if k != "seconds"} == {
        "files": 20, "bytes": sum(map(len, files.values())), "links_left_out": 0}
    assert "unpacked 20 files" in tool("unpack", "out.shards.json", "-C", "again").err
    quiet = tool("unpack", "-q", "out.shards.json", "-C", "quiet")
    assert quiet.out == quiet.err == ""


@pytest.mark.parametrize("wanted", ["txt", "txt,seg.png", "nothing"])
def test_only_some_components(tool, wanted):
    files = make_tree("in", samples=6, components=("jpg", "txt", "seg.png"))
    tool("pack", "in", "out.tar")
    tool("unpack", "out.tar", "--component", wanted, "-C", "back")
    assert tree("back") == {n: c for n, c in files.items() if n.partition(".")[2] in wanted.split(",")}


def test_a_component_in_upper_case_is_found_by_its_lower_case(tool):
    make_tar("x.tar", member("a.JPG", b"1"), member("a.txt", b"2"), member("README", b"3"))
    tool("unpack", "x.tar", "--component", "jpg", "-C", "back")
    assert tree("back") == {"a.JPG": b"1"}


def test_members_that_are_no_components_are_files_too(tool):
    make_tar("x.tar", member("README", b"1"), member(".hidden", b"2"), member("d/", kind=tarfile.DIRTYPE),
             member("d/a.txt", b"3"), member("./e//./f.txt", b"4"))
    tool("unpack", "x.tar", "-C", "back")
    assert tree("back") == {"README": b"1", ".hidden": b"2", "d/a.txt": b"3", "e/f.txt": b"4"}


# ---- what is there already


def test_files_that_exist_are_kept_unless_forced(tool):
    files = make_tree("in", samples=6)
    tool("pack", "in", "out.tar")
    write("back/class1/s0001.txt", "precious")
    failed = tool("unpack", "out.tar", "-C", "back", code=3)
    assert "class1/s0001.txt" in failed.err and "--force" in failed.err
    assert tree("back")["class1/s0001.txt"] == b"precious"
    tool("unpack", "out.tar", "-C", "back", "--force")
    assert tree("back") == files
    tool("unpack", "out.tar", "-C", "back", "-f")
    assert tree("back") == files


def test_a_folder_in_the_place_of_a_file_stays(tool):
    make_tar("x.tar", member("a.txt", b"1"))
    write("back/a.txt/inside", "precious")
    for force in ([], ["-f"]):
        assert "a.txt" in tool("unpack", "x.tar", "-C", "back", *force, code=3).err
    assert tree("back") == {"a.txt/inside": b"precious"}


def test_forcing_does_not_write_through_a_second_name_of_a_file(tool):
    make_tar("x.tar", member("a.txt", b"new"))
    write("other", "precious")
    os.mkdir("back")
    os.link("other", "back/a.txt")
    tool("unpack", "x.tar", "-C", "back", "-f")
    assert Path("other").read_bytes() == b"precious" and tree("back") == {"a.txt": b"new"}


@pytest.mark.parametrize("first, second", [("a", "a/b.txt"), ("a/b.txt", "a"), ("a.txt", "./a.txt"),
                                           ("a.txt", "a.txt")])
def test_names_that_are_in_each_others_way_are_an_error(tool, first, second):
    make_tar("x.tar", member(first, b"1"), member(second, b"2"))
    failed = tool("unpack", "x.tar", "-C", "back", code=3)
    assert second in failed.err
    assert tree("back") == {first: b"1"}


def test_of_a_name_that_stands_twice_the_last_one_counts_when_forced(tool):
    make_tar("x.tar", member("a.txt", b"1"), member("a.txt", b"22"))
    tool("unpack", "x.tar", "-C", "back", "--force")
    assert tree("back") == {"a.txt": b"22"}


def test_where_the_folder_cannot_be(tool):
    make_tar("x.tar", member("a.txt", b"1"))
    write("file", "x")
    assert "file" in tool("unpack", "x.tar", "-C", "file", code=3).err
    assert "no/such" in tool("unpack", "x.tar", "-C", "no/such", code=3).err
    assert "SET" in tool("unpack", code=2).err
    assert sorted(os.listdir(".")) == ["file", "x.tar"]


# ---- outside


@pytest.fixture
def outside(tool, tmp_path):
    """A folder `dest` among precious things; afterwards nothing but it may have changed."""
    write("precious.txt", "precious")
    write("elsewhere/precious.txt", "precious")
    os.mkdir("dest")
    yield tmp_path
    os.remove("x.tar")
    found = {name: what for name, what in tree(".").items() if not name.startswith("dest/")}
    assert found == {"precious.txt": b"precious", "elsewhere/precious.txt": b"precious"}
    assert not any(isinstance(what, tuple) and name not in ("dest/out", "dest/in", "dest/a.txt")
                   for name, what in tree(".").items())


OUTSIDE = ["../x.txt", "../precious.txt", "..", "a/../../x.txt", "a/../b.txt", "./../x.txt", "a/..", "/x.txt",
           "//x.txt", "/", ".", "./", "a/.", "../dest/x.txt", "dest/../../x.txt"]


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_name_that_leads_out_is_refused(tool, outside, name, force, format):
    make_tar("x.tar", member("first.txt", b"1"), member(name, b"" if name.endswith("/") else b"evil"),
             member("last.txt", b"2"), format=format)
    result = tool("unpack", "x.tar", "-C", "dest", *force, code=None)
    if name in ("/", "./"):  # a folder, and no file is made of those
        assert result.code in (0, 1) and "evil" not in str(tree("dest"))
        return
    assert result.code == 1 and f"{name}: refused" in result.err and "SHARD_EDATA" in result.err
    assert tree("dest") == {"first.txt": b"1"}


def test_a_name_from_the_root_is_refused_where_it_could_be_written(tool, outside):
    target = outside / "elsewhere" / "evil.txt"
    make_tar("x.tar", member(str(target), b"evil"))
    assert str(target) in tool("unpack", "x.tar", "-C", "dest", "--force", code=1).err
    assert tree("dest") == {}


def test_what_is_refused_is_told_with_its_shard(tool, outside):
    make_tar("x.tar", member("../x.txt", b"evil"))
    assert "x.tar" in tool("unpack", "x.tar", "-C", "dest", code=1).err


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("target", ["..", "../elsewhere", "/tmp"])
def test_a_link_in_the_shard_is_not_made_and_not_gone_through(tool, outside, target, force):
    make_tar("x.tar", member("in", kind=tarfile.SYMTYPE, target=target), member("in/x.txt", b"1"))
    result = tool("unpack", "x.tar", "-C", "dest", "--json", *force)
    assert tree("dest") == {"in/x.txt": b"1"} and result.json["links_left_out"] == 1


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.parametrize("target", ["..", "../elsewhere", "."])
def test_a_link_that_stands_in_the_folder_is_not_gone_through(tool, outside, target, force):
    os.symlink(target, "dest/out")
    make_tar("x.tar", member("out/precious.txt", b"evil"), member("out/evil.txt", b"evil"))
    failed = tool("unpack", "x.tar", "-C", "dest", *force, code=None)
    assert failed.code in (1, 3) and "out/precious.txt" in failed.err and "refused" in failed.err
    assert tree("dest") == {"out": ("link", target)}


@pytest.mark.parametrize("target", ["../precious.txt", "../new.txt"])
def test_a_link_in_the_place_of_a_file_is_not_written_through(tool, outside, target):
    os.symlink(target, "dest/a.txt")
    make_tar("x.tar", member("a.txt", b"evil"))
    assert "a.txt" in tool("unpack", "x.tar", "-C", "dest", code=3).err
    assert tree("dest") == {"a.txt": ("link", target)}
    tool("unpack", "x.tar", "-C", "dest", "--force")
    assert tree("dest") == {"a.txt": b"evil"}


@pytest.mark.parametrize("kind, target", [
    (tarfile.LNKTYPE, "../precious.txt"), (tarfile.LNKTYPE, "/etc/passwd"), (tarfile.SYMTYPE, "/etc/passwd"),
    (tarfile.CHRTYPE, ""), (tarfile.BLKTYPE, ""), (tarfile.FIFOTYPE, ""), (tarfile.DIRTYPE, ""),
], ids=["hard link", "hard link to the root", "link", "character device", "block device", "fifo", "folder"])
@pytest.mark.parametrize("name", ["h.txt", "../h.txt", "/h.txt"])
def test_links_devices_and_folders_are_left_out(tool, outside, kind, target, name):
    make_tar("x.tar", member(name, kind=kind, target=target), member("h.txt", b"own"))
    result = tool("unpack", "x.tar", "-C", "dest", "--json")
    assert tree("dest") == {"h.txt": b"own"}
    assert result.json["links_left_out"] == (kind != tarfile.DIRTYPE) and result.json["files"] == 1


def test_names_with_control_characters_are_files_inside(tool, outside):
    make_tar("x.tar", member("a\nb.txt", b"1"), member("\x1b[31m.txt", b"2"), member("-rf", b"3"))
    tool("unpack", "x.tar", "-C", "dest")
    assert tree("dest") == {"a\nb.txt": b"1", "\x1b[31m.txt": b"2", "-rf": b"3"}
    failed = tool("unpack", "x.tar", "-C", "dest", code=3)
    assert "\\x0a" in failed.err and len(failed.err.splitlines()) == 1


def test_a_name_of_bytes_that_are_no_text(tool, outside):
    make_tar("x.tar", member(os.fsdecode(b"caf\xe9.txt"), b"1"))
    tool("unpack", "x.tar", "-C", "dest")
    assert os.listdir(b"dest") == [b"caf\xe9.txt"]


def with_nul(kind, payload):
    """A member a.txt whose name comes from a header before it, with a NUL inside."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = kind, len(payload)
    head = info.tobuf(tarfile.GNU_FORMAT) + payload + bytes(-len(payload) % 512)
    info = tarfile.TarInfo("a.txt")
    info.size = 1
    return head + info.tobuf(tarfile.GNU_FORMAT) + b"1" + bytes(511 + 1024)


def test_a_nul_in_a_pax_name_is_refused(tool, outside):
    write("x.tar", with_nul(b"x", b"20 path=sub\0../x.tx\n"))
    failed = tool("unpack", "x.tar", "-C", "dest", code=1)
    assert "x.tar" in failed.err and "NUL" in failed.err
    assert tree("dest") == {}


def test_a_nul_ends_a_gnu_long_name(tool, outside):
    write("x.tar", with_nul(b"L", b"inside.txt\0/../../x.txt\0"))
    tool("unpack", "x.tar", "-C", "dest")
    assert tree("dest") == {"inside.txt": b"1"}


@pytest.mark.parametrize("name", ["n" * 300 + ".txt", "d/" * 2500 + "a.txt", "d/" * 200 + "a.txt"],
                         ids=["long part", "path over 4 KiB", "deep"])
def test_names_too_long_for_a_file_system_are_an_error_or_written(tool, outside, name):
    make_tar("x.tar", member(name, b"1"))
    result = tool("unpack", "x.tar", "-C", "dest", code=None)
    assert result.code in (0, 1, 3) and (result.code == 0 or "too long" in result.err.lower())


def test_the_folder_itself_may_be_a_link(tool, outside):
    os.symlink("dest", "link")
    make_tar("x.tar", member("a.txt", b"1"))
    tool("unpack", "x.tar", "-C", "link")
    os.remove("link")
    assert tree("dest") == {"a.txt": b"1"}


# ---- damage


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_shard_that_ends_early_leaves_whole_files_only(tool, suffix):
    files = {f"{i}.bin": os.urandom(300000) for i in range(5)}
    for name, content in files.items():
        write(f"in/{name}", content)
    tool("pack", "in", f"out.{suffix}")
    os.truncate(f"out.{suffix}", Path(f"out.{suffix}").stat().st_size // 2)
    failed = tool("unpack", f"out.{suffix}", "-C", "back", code=1)
    assert f"out.{suffix}: offset" in failed.err
    got = tree("back")
    assert got == {name: files[name] for name in got} and 1 <= len(got) < 5


def test_a_bad_shard_among_good_ones_is_an_error(tool):
    files = make_tree("in", samples=30)
    tool("pack", "in", "out-<0..2>.tar")
    os.truncate("out-1.tar", 4000)
    failed = tool("unpack", "out.shards.json", "-C", "back", code=1)
    assert "out-1.tar: offset" in failed.err
    assert all(files[name] == content for name, content in tree("back").items())
    os.remove("out-1.tar")
    assert "out-1.tar" in tool("unpack", "out.shards.json", "-C", "new", code=3).err


def test_unpacking_needs_no_index(tool):
    files = make_tree("in", samples=6)
    tool("pack", "in", "out.tar")
    write("out.tar.sidx", "rubbish")
    tool("unpack", "out.tar", "-C", "back")
    assert tree("back") == files
