# SPDX-License-Identifier: Apache-2.0
"""pack --from: rows of .jsonl and .csv become samples, and their files are read."""
import csv
import io
import json
import os
import tarfile
from pathlib import Path

import pytest
from conftest import write


def jsonl(*rows, path="t.jsonl", **how):
    write(path, "".join(json.dumps(row, **how) + "\n" for row in rows))
    return path


def csv_table(*rows, path="t.csv", **how):
    """A table of these rows, written by Python; the first one has the headings."""
    text = io.StringIO(newline="")
    csv.writer(text, **how).writerows(rows)
    write(path, text.getvalue())
    return path


def pack(tool, *args, code=0, **how):
    """Pack into out.tar; its members, or the failed run. What was packed must verify."""
    result = tool("pack", "--from", *args, "out.tar", "-f", code=code, **how)
    if result.code != 0:
        assert not Path("out.tar").exists()
        return result
    tool("verify", "out.shards.json")
    with tarfile.open("out.tar", errors="surrogateescape") as tar:
        return {m.name: tar.extractfile(m).read() for m in tar}


def keys(tool, where="out.shards.json"):
    return [line["key"] for line in tool("ls", "--json", where).lines]


@pytest.fixture
def images(tool):
    """a.jpg and b.JPG in img/, with a text beside each."""
    for name in ("a.jpg", "b.JPG", "a.seg.png"):
        write(f"img/{name}", f"bytes of {name}")


# ---- what becomes of columns


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_paths_become_components_and_the_rest_json(tool, images, kind):
    if kind == "jsonl":
        table = jsonl({"key": "x", "image": "img/a.jpg", "n": 1, "text": "caf\u00e9"},
                      {"key": "y", "image": "img/b.JPG", "n": [2, {"a": None}], "text": ""})
    else:
        table = csv_table(["key", "image", "n", "text"], ["x", "img/a.jpg", "1", "caf\u00e9"],
                          ["y", "img/b.JPG", "2", ""])
    found = pack(tool, table)
    assert list(found) == ["x.jpg", "x.json", "y.jpg", "y.json"]
    assert found["x.jpg"] == b"bytes of a.jpg" and found["y.jpg"] == b"bytes of b.JPG"
    rest = [json.loads(found[f"{k}.json"]) for k in "xy"]
    if kind == "jsonl":
        assert rest == [{"n": 1, "text": "caf\u00e9"}, {"n": [2, {"a": None}], "text": ""}]
    else:
        assert rest == [{"n": "1", "text": "caf\u00e9"}, {"n": "2", "text": ""}]


def test_columns_named_in_options(tool, images):
    table = jsonl({"id": "x", "image": "img/a.jpg", "mask": "img/a.seg.png", "text": "T", "label": 3, "u": 1.5})
    found = pack(tool, table, "--key", "id", "--files", "image=jpeg,mask", "--fields", "text=txt,label=cls")
    assert found == {"x.cls": b"3", "x.jpeg": b"bytes of a.jpg", "x.json": b'{"u":1.5}',
                     "x.seg.png": b"bytes of a.seg.png", "x.txt": b"T"}
    found = pack(tool, table, "--key", "id", "--files", "image", "--files", "mask", "--fields", "text=txt",
                 "--fields", "u=u,label=cls", "--map", "jpg=image,seg.png=mask")
    assert found == {"x.cls": b"3", "x.image": b"bytes of a.jpg", "x.mask": b"bytes of a.seg.png",
                     "x.txt": b"T", "x.u": b"1.5"}


def test_values_in_components_are_text_or_json_as_they_stand(tool):
    row = r'{"key":"x","s":"a\"b\\\u00e9\n\u0000","n":1.50e+2,"o":{"b":1, "a":[]},"t":true,"z":null}'
    write("t.jsonl", row + "\n")
    assert pack(tool, "t.jsonl", "--fields", "s=s,n=n,o=o,t=t,z=z") == {
        "x.n": b"1.50e+2", "x.o": b'{"b":1, "a":[]}', "x.s": 'a"b\\\u00e9\n\0'.encode(), "x.t": b"true"}


def test_the_json_of_a_row_keeps_order_numbers_and_escapes(tool):
    row = r'{"key":"x","b":9223372036854775807,"a":0.1000,"s":"\u00e9\ud83d\ude00\/","e":{}}'
    write("t.jsonl", row + "\n")
    assert pack(tool, "t.jsonl")["x.json"].decode() == "{" + row.partition(",")[2]


@pytest.mark.parametrize("number", ["9223372036854775808", "12345678901234567890123"])
def test_numbers_past_64_bits_are_json_too(tool, number):
    write("t.jsonl", f'{{"key":"x","n":{number}}}\n')
    assert pack(tool, "t.jsonl") == {"x.json": f'{{"n":{number}}}'.encode()}


@pytest.mark.parametrize("name", ["key", "__key__"])
def test_the_column_of_keys_goes_by_two_names(tool, name):
    assert pack(tool, jsonl({"n": 1, name: "x"})) == {"x.json": b'{"n":1}'}
    assert pack(tool, csv_table(["n", name], ["1", "x"])) == {"x.json": b'{"n":"1"}'}


def test_rows_keep_their_order_unless_shuffled(tool):
    names = [f"k{i * 37 % 100:02d}" for i in range(100)]
    table = jsonl(*({"key": name, "n": i} for i, name in enumerate(names)))
    pack(tool, table)
    assert keys(tool) == names
    tool("pack", "--from", table, "s-<0..3>.tar", "--shuffle", "1")
    assert sorted(keys(tool, "s.shards.json")) == sorted(names) and keys(tool, "s.shards.json") != names
    tool("pack", "--from", table, "c-%03d.tar", "--max-samples", "30")
    assert json.loads(Path("c.shards.json").read_text())["shard_samples"] == [30, 30, 30, 10]


@pytest.mark.parametrize("jobs", ["1", "5"])
def test_large_files_of_a_table_are_streamed(tool, jobs):
    data = os.urandom(1 << 20) * 11
    write("big.bin", data)
    table = jsonl({"key": "x", "f": "big.bin", "n": 1}, {"key": "y", "f": "big.bin", "n": 2})
    found = pack(tool, table, "-j", jobs)
    assert found == {"x.bin": data, "x.json": b'{"n":1}', "y.bin": data, "y.json": b'{"n":2}'}


def test_paths_are_relative_to_the_table_or_a_folder(tool, images):
    os.rename("img", "elsewhere")
    write("sub/img/a.jpg", "of sub")
    write("other/img/a.jpg", "of other")
    table = jsonl({"key": "x", "f": "img/a.jpg"}, path="sub/t.jsonl")
    assert pack(tool, table) == {"x.jpg": b"of sub"}
    assert pack(tool, table, "-C", "other") == {"x.jpg": b"of other"}
    for path in (os.path.abspath("elsewhere/b.JPG"), "../elsewhere/b.JPG"):
        table = jsonl({"key": "x", "f": path}, path="sub/t.jsonl")
        assert pack(tool, table) == {"x.jpg": b"bytes of b.JPG"}


def test_rows_without_a_file_or_a_value_lack_that_component(tool, images):
    table = jsonl({"key": "x", "f": "img/a.jpg", "t": "T"}, {"key": "y", "f": None, "t": "U"},
                  {"key": "z", "t": "V"}, {"key": "w", "f": "img/a.jpg", "t": None})
    need = ["--fields", "t=txt", "--require", "jpg,txt"]
    failed = pack(tool, table, *need, code=1)
    assert "line 2" in failed.err and '"jpg"' in failed.err
    found = pack(tool, table, "--fields", "t=txt")
    assert list(found) == ["x.jpg", "x.txt", "y.txt", "z.txt", "w.jpg"]
    found = pack(tool, table, *need, "--missing", "skip")
    assert list(found) == ["x.jpg", "x.txt"]
    skipped = json.loads(Path("out.shards.json").read_text())["skipped"]
    assert [s["name"] for s in skipped] == ["y", "z", "w"] and '"txt"' in skipped[2]["reason"]


def test_an_empty_text_is_a_component_not_a_missing_one(tool):
    """A caption may be empty; null is how JSON says that there is none."""
    found = pack(tool, jsonl({"key": "x", "t": ""}, {"key": "y", "t": "T"}), "--fields", "t=txt")
    assert found == {"x.txt": b"", "y.txt": b"T"}


# ---- files


def test_a_missing_file_is_an_error_or_left_out(tool, images):
    table = jsonl({"key": "x", "f": "img/a.jpg"}, {"key": "y", "f": "img/none.jpg"})
    assert "img/none.jpg" in pack(tool, table, code=3).err
    assert pack(tool, table, "--on-error", "skip") == {"x.jpg": b"bytes of a.jpg"}
    skipped, = json.loads(Path("out.shards.json").read_text())["skipped"]
    assert "img/none.jpg" in skipped["name"] + skipped["reason"] or skipped["name"] == "y"


def test_a_missing_file_in_a_named_column_of_the_first_row_is_an_error(tool, images):
    table = jsonl({"key": "x", "f": "img/none.jpg"}, {"key": "y", "f": "img/a.jpg"})
    assert "img/none.jpg" in pack(tool, table, "--files", "f", code=3).err


@pytest.mark.parametrize("first", [None, "", "img/none.jpg"])
def test_files_are_not_taken_for_text_because_the_first_row_has_none(tool, images, first):
    """Silently packing paths in place of pictures is the worst that can happen to a set."""
    table = jsonl({"key": "x", "f": first, "n": 1}, *({"key": f"y{i}", "f": "img/a.jpg"} for i in range(3)))
    result = tool("pack", "--from", table, "out.tar", code=None)
    names = tarfile.open("out.tar").getnames() if result.code == 0 else []
    assert result.code != 0 or "y0.jpg" in names or "--files" in result.err


@pytest.mark.parametrize("path", ["img", "img/noext", "img/a.jpg\0x", "pipe.jpg", "d.jpg", f"{'n' * 5000}.jpg"])
def test_paths_of_what_is_no_file_with_an_extension(tool, images, path):
    write("img/noext", "x")
    os.mkdir("d.jpg")
    os.mkfifo("pipe.jpg")
    failed = pack(tool, jsonl({"key": "x", "f": path}), "--files", "f", code=None)
    assert not isinstance(failed, dict) and failed.code in (1, 3)
    assert "line 1" in failed.err or path[:10] in failed.err
    assert "Invalid argument" not in failed.err


def test_files_that_share_a_component_are_an_error(tool, images):
    failed = pack(tool, jsonl({"key": "x", "f": "img/a.jpg", "g": "img/b.JPG"}), code=1)
    assert '"jpg"' in failed.err and '"x"' in failed.err
    failed = pack(tool, jsonl({"key": "x", "f": "img/a.jpg", "n": 1}), "--files", "f=json", code=1)
    assert '"json"' in failed.err


# ---- keys


def test_keys_are_stored_as_those_of_files_are(tool):
    rows = [("v1.2/a.b", "v1_2/a_b"), ("caf\u00e9/\u732b", "caf\u00e9/\u732b"), ("a\tb\u007f", "a_b_"),
            ("with space", "with space"), (12, "12"), ("d/" * 60 + "k" * 100, "d/" * 60 + "k" * 100)]
    found = pack(tool, jsonl(*({"key": k, "n": 1} for k, _ in rows)))
    assert list(found) == [f"{stored}.json" for _, stored in rows]


@pytest.mark.parametrize("key", ["/x", "x/", "__x__/y", "_.x._/y", "..../y", "x//y", "./y", "../y", "."])
def test_a_key_that_readers_would_take_otherwise_is_refused_or_stored_so_that_they_do_not(tool, key):
    """What pack writes must be read back: a sample, with a name that unpack takes."""
    found = pack(tool, jsonl({"key": key, "n": 1}), code=None)
    if isinstance(found, dict):
        assert len(found) == 1 and len(keys(tool)) == 1
        tool("index", "out.tar")
        assert len(keys(tool)) == 1
        tool("unpack", "out.tar", "-C", "back")
    else:
        assert found.code == 1 and "line 1" in found.err


BAD_KEYS = {"none": {}, "null": {"key": None}, "empty": {"key": ""}, "NUL": {"key": "a\0b"},
            "too long": {"key": "k" * 5000}, "too deep": {"key": "c/" * 2100 + "k"},
            "object": {"key": {"a": 1}}, "array": {"key": ["a"]}, "true": {"key": True}}


@pytest.mark.parametrize("kind", BAD_KEYS)
def test_a_row_without_a_usable_key_is_told_with_its_line(tool, kind):
    failed = pack(tool, jsonl({"key": "x", "n": 1}, {"key": "y", "n": 1}, {**BAD_KEYS[kind], "n": 1}), code=None)
    assert not isinstance(failed, dict), failed
    assert failed.code == 1 and "t.jsonl" in failed.err and "line 3" in failed.err


def test_a_table_without_the_column_of_keys(tool):
    for table in (jsonl({"id": "x", "n": 1}), csv_table(["id", "n"], ["x", "1"])):
        failed = pack(tool, table, code=2)
        assert table in failed.err and "--key" in failed.err
        failed = pack(tool, table, "--key", "name", code=None)
        assert failed.code in (1, 2) and table in failed.err and "name" in failed.err


@pytest.mark.parametrize("second", ["x.1", "x_1"])
def test_keys_that_stand_twice_or_become_one_are_told_with_both_lines(tool, second):
    failed = pack(tool, jsonl(*({"key": k, "n": 1} for k in ("x.1", "y", second))), code=1)
    assert "t.jsonl" in failed.err and "lines 1 and 3" in failed.err and f'"{second}"' in failed.err
    failed = pack(tool, csv_table(["key", "n"], ["x.1", "1"], ["y", "1"], [second, "2"]), code=1)
    assert "lines 2 and 4" in failed.err


# ---- columns that are not there


@pytest.mark.parametrize("options", [["--files", "picture"], ["--fields", "caption=txt"],
                                     ["--files", "f", "--fields", "t=txt,caption=cls"]])
@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_an_option_that_names_no_column_is_an_error(tool, images, options, kind):
    table = (jsonl({"key": "x", "f": "img/a.jpg", "t": "T"}) if kind == "jsonl" else
             csv_table(["key", "f", "t"], ["x", "img/a.jpg", "T"]))
    failed = pack(tool, table, *options, code=None)
    assert not isinstance(failed, dict), "a misspelt column is ignored"
    assert ("picture" if options[1] == "picture" else "caption") in failed.err


@pytest.mark.parametrize("ascii", [True, False])
def test_columns_are_the_same_however_json_writes_their_names(tool, images, ascii):
    """json.dumps escapes what is not ASCII: gr\\u00f6\\u00dfe."""
    table = jsonl({"cl\u00e9": "x", "gr\u00f6\u00dfe": "T", "\u56fe": "img/a.jpg"}, ensure_ascii=ascii)
    found = pack(tool, table, "--key", "cl\u00e9", "--fields", "gr\u00f6\u00dfe=txt", "--files", "\u56fe")
    assert found == {"x.jpg": b"bytes of a.jpg", "x.txt": b"T"}


def test_escapes_in_the_name_of_a_column(tool):
    write("t.jsonl", r'{"\u006bey":"x","n":1}' + "\n")
    assert pack(tool, "t.jsonl") == {"x.json": b'{"n":1}'}


@pytest.mark.parametrize("args, why", [
    (["--fields", "caption"], "COLUMN=COMP"), (["--files", "=jpg"], "COLUMN=COMP"),
    (["--files", "f="], "COLUMN=COMP"), (["--label-from", "dir"], "cls"), (["extra"], "--from"),
    (["--files-from", "list"], "one kind of input"),
])
def test_options_that_make_no_sense(tool, args, why):
    jsonl({"key": "x", "n": 1})
    write("list", "x.txt\n")
    failed = tool("pack", "--from", "t.jsonl", *args, "out.tar", code=2)
    assert why in failed.err and not Path("out.tar").exists()


# ---- JSON lines


@pytest.mark.parametrize("line", ['{"key":"y","n":2', "[1, 2]", "hello", '{"key":"y"} x', '{"key":"y",}',
                                  "null", '{"key":"y","key":"z"}', '{"key":"y","n":NaN}', '{"key":"y","n":"\x01"}',
                                  '{"key":"y","n":"\\ud800"}', '{"key":"y","n":"caf\udce9"}'])
def test_a_bad_line_is_told_with_its_number(tool, line):
    line = line.encode("utf-8", "surrogateescape")
    write("t.jsonl", b'{"key":"x","n":1}\n\n' + line + b'\n{"key":"z","n":3}\n')
    failed = pack(tool, "t.jsonl", code=1)
    assert "t.jsonl: offset 19: line 3: " in failed.err and "SHARD_EFORMAT" in failed.err


def test_ends_of_lines_and_blank_ones(tool):
    expected = {"x.json": b'{"n":1}', "y.json": b'{"n":2}'}
    for text in ('{"key":"x","n":1}\r\n{"key":"y","n":2}\r\n', '{"key":"x","n":1}\n{"key":"y","n":2}',
                 '\n\n{"key":"x","n":1}\n \t\n\r\n{"key":"y","n":2}\n\n',
                 ' {"key":"x","n":1} \n\t{"key":"y","n":2}'):
        write("t.jsonl", text)
        assert pack(tool, "t.jsonl") == expected


@pytest.mark.parametrize("path, text", [("t.jsonl", '{"key":"x","n":"1"}\n'), ("t.csv", "key,n\nx,1\n"),
                                        ("t.csv", '"key","n"\nx,1\n')])
def test_a_byte_order_mark_is_no_part_of_the_table(tool, path, text):
    """Spreadsheets write one before "CSV UTF-8"."""
    write(path, b"\xef\xbb\xbf" + text.encode())
    assert {n: json.loads(c) for n, c in pack(tool, path).items()} == {"x.json": {"n": "1"}}


def test_a_table_without_rows(tool):
    for path, text in (("t.jsonl", ""), ("t.jsonl", "\n"), ("t.csv", ""), ("t.csv", "key,n\n")):
        write(path, text)
        assert "no samples" in pack(tool, path, code=1).err


def test_tables_that_are_none(tool):
    os.mkdir("folder.jsonl")
    assert "nowhere.csv" in pack(tool, "nowhere.csv", code=3).err
    assert "folder.jsonl" in pack(tool, "folder.jsonl", code=None).err
    write("t.parquet", b"PAR1\x15\x04")
    assert "t.parquet" in pack(tool, "t.parquet", code=1).err
    assert pack(tool, csv_table(["key", "n"], ["x", "1"], path="T.CSV")) == {"x.json": b'{"n":"1"}'}


# ---- CSV


VALUES = ["plain", "comma, here", 'quote " here', '"all quoted"', "two\nlines", "two\r\nlines", "",
          "caf\u00e9 \u732b \U0001f600", "\\backslash\\", "tab\there", "''", "=1+1", "{}", '{"a":1}', "0", "null"]


@pytest.mark.parametrize("how", [{}, {"quoting": csv.QUOTE_ALL}, {"lineterminator": "\n"}])
def test_values_of_csv_are_those_that_python_wrote(tool, how):
    table = csv_table(["key", "a", "b c"], *([f"k{i}", v, v] for i, v in enumerate(VALUES)), **how)
    found = pack(tool, table)
    assert [json.loads(c) for c in found.values()] == [{"a": v, "b c": v} for v in VALUES]
    found = pack(tool, table, "--fields", "a=txt")
    texts = {name: content.decode() for name, content in found.items() if name.endswith("txt")}
    assert texts == {f"k{i}.txt": v for i, v in enumerate(VALUES) if v}


@pytest.mark.parametrize("value", [" x", "x ", " x y ", "  ", "\tx"])
def test_spaces_at_the_ends_of_a_field_are_part_of_it(tool, value):
    """RFC 4180, 2.4: "Spaces are considered part of a field and should not be ignored"."""
    found = pack(tool, csv_table(["key", "a"], ["k", value]))
    assert json.loads(found["k.json"]) == {"a": value}


@pytest.mark.parametrize("rows, line", [
    ("x,1\ny\n", 3), ("x,1\ny,2,3\n", 3), ('x,1\ny,a"b\n', 3), ('x,1\ny,"a"b\n', 3), ('x,1\ny,"open\n', 3),
    ('x,"two\nlines"\ny\n', 4), ('x,"1\n2\n3"\n\ny\n', 6),
])
def test_a_bad_row_of_csv_is_told_with_its_line(tool, rows, line):
    write("t.csv", "key,a\n" + rows)
    failed = pack(tool, "t.csv", code=1)
    assert "t.csv: offset " in failed.err and f"line {line}:" in failed.err


@pytest.mark.parametrize("table", [b"key,a\nx,caf\xe9\n", b"key,a\ncaf\xe9,x\n", b"key,a,caf\xe9\nx,y,z\n"],
                         ids=["value", "key", "heading"])
@pytest.mark.parametrize("options", [[], ["--fields", "a=txt"]])
def test_csv_that_is_not_utf8_is_told_or_kept_never_changed(tool, table, options):
    write("t.csv", table)
    found = pack(tool, "t.csv", *options, code=None)
    if isinstance(found, dict):
        stored = b"".join(os.fsencode(name) + content for name, content in found.items())
        assert b"caf\xe9" in stored and "\ufffd".encode() not in stored
    else:
        assert found.code == 1 and "line" in found.err


@pytest.mark.parametrize("head", ["key,a,a", "key,key,a", "key,a,"])
def test_headings_that_stand_twice_or_are_empty_are_refused_or_make_good_json(tool, head):
    write("t.csv", f"{head}\nx,1,2\n")
    found = pack(tool, "t.csv", code=None)
    if not isinstance(found, dict):
        assert "t.csv" in found.err
        return
    pairs = json.loads(found["x.json"], object_pairs_hook=list)
    assert len({name for name, _ in pairs}) == len(pairs) == 2


def test_a_file_whose_lines_end_with_cr_alone_is_read_or_told(tool):
    write("t.csv", "key,a\rx,1\ry,2\r")
    found = pack(tool, "t.csv", code=None)
    if not isinstance(found, dict):
        assert found.code == 1 and "t.csv" in found.err
        return
    assert found == {"x.json": b'{"a":"1"}', "y.json": b'{"a":"2"}'}


def test_csv_with_ten_thousand_rows(tool):
    rows = [[f"k{i:05d}", f"text {i}", str(i % 7)] for i in range(10000)]
    table = csv_table(["key", "text", "label"], *rows)
    tool("pack", "--from", table, "out-<0..3>.tar", "--fields", "text=txt,label=cls", "-q")
    assert keys(tool) == [row[0] for row in rows]
    assert tool("cat", "out.shards.json", "k07777.txt").out == "text 7777"
    tool("verify", "out.shards.json")
