# SPDX-License-Identifier: Apache-2.0
"""The rules of docs/architecture.md, checked on the tree and on what was built from it."""
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("SHARD_BUILD", ROOT / "build/dev"))

# A stage sees itself and what stands before it; pack, the last, writes what the others read.
STAGES = ["core", "os", "source", "container", "index", "shardset", "order", "decode", "device", "batch",
          "loader", "pack"]
MAKES_THREADS = {"lib/os/threads.c", "cli/each_shard.c"}
LIBC = {"assert", "ctype", "dirent", "errno", "fcntl", "getopt", "inttypes", "limits", "poll", "pthread",
        "sched", "setjmp", "signal", "stdalign", "stdarg", "stdatomic", "stdbool", "stddef", "stdint",
        "stdio", "stdlib", "string", "strings", "sys/file", "sys/mman", "sys/resource", "sys/stat", "sys/types", "time",
        "unistd"}
FREESTANDING = {"stdalign", "stdarg", "stdbool", "stddef", "stdint", "string", "limits"}
# What formats/ may call: the C library's string functions, and what gcc makes of plain C.
PURE_CALLS = re.compile(r"^(mem\w+|str\w+|fmt_\w+|json_\w+|json\w*|__stack_chk_fail|_GLOBAL_OFFSET_TABLE_"
                        r"|snprintf|vsnprintf|__\w*snprintf_chk|__mem\w+_chk|__str\w+_chk)$")
FORBIDDEN_IN_LIB = re.compile(r"\b(getenv|setenv|isatty|exit|_exit|abort|signal|sigaction|printf|puts|putchar"
                              r"|perror|stdout|stderr|assert)\b *[(;,)]")


def sources(*folders, suffix=".[ch]"):
    return sorted(p for f in folders for p in (ROOT / f).rglob(f"*{suffix}"))


def name(path):
    return str(path.relative_to(ROOT))


def code(path):
    """The file without comments and string literals."""
    text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
    text = re.sub(r"//.*", "", text)
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text) if "#include" not in text else "\n".join(
        line if line.lstrip().startswith("#include") else re.sub(r'"(\\.|[^"\\])*"', '""', line)
        for line in text.splitlines())


def includes(path):
    """[("<", "shard/set.h"), ('"', "core/error.h"), ...]"""
    return re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', path.read_text(), flags=re.M)


def nm(*args):
    return subprocess.run(["nm", *map(str, args)], capture_output=True, text=True, check=True).stdout


# ---- who sees whom


def test_a_stage_sees_only_stages_before_it():
    wrong = []
    for path in sources("lib"):
        stage = path.relative_to(ROOT / "lib").parts[0]
        if stage == "include":
            continue
        for _, target in includes(path):
            seen = target.split("/")[0]
            if seen in STAGES and STAGES.index(seen) > STAGES.index(stage):
                wrong.append(f"{name(path)} includes {target}")
    assert not wrong


def test_every_folder_of_lib_is_a_known_stage():
    folders = {p.name for p in (ROOT / "lib").iterdir() if p.is_dir()}
    assert folders == set(STAGES) | {"include", "cmake"}


def test_inside_pack_inputs_do_not_know_the_engine_nor_it_their_kinds():
    seen = {part: {target for path in sources(f"lib/pack/{part}") for _, target in includes(path)}
            for part in ("input", "engine")}
    assert not [t for t in seen["input"] if t.startswith("pack/engine/")]
    assert {t for t in seen["engine"] if t.startswith("pack/input/")} == {"pack/input/input.h"}


def test_formats_see_only_themselves_and_the_freestanding_library():
    wrong = []
    for path in sources("formats"):
        for kind, target in includes(path):
            ok = (target.removesuffix(".h") in FREESTANDING or name(path) == "formats/json/json.c") \
                if kind == "<" else (ROOT / "formats" / target).exists()
            if not ok:
                wrong.append(f"{name(path)} includes {target}")
    assert not wrong


def test_public_headers_see_only_c_and_each_other():
    wrong = []
    for path in sources("lib/include"):
        for kind, target in includes(path):
            if kind != "<" or not (target.startswith("shard/") or target.removesuffix(".h") in FREESTANDING):
                wrong.append(f"{name(path)} includes {target}")
    assert not wrong


@pytest.mark.parametrize("folder", ["cli", "examples", "tests/consumer"])
def test_programs_use_public_headers_only(folder):
    own = {p.name for p in sources(folder)}
    wrong = [f"{name(path)} includes {target}" for path in sources(folder)
             for kind, target in includes(path) if kind == '"' and target not in own]
    assert not wrong


def test_a_library_of_others_is_included_by_one_file_of_each_layer():
    users = {}
    for path in sources("formats", "lib", "cli"):
        for kind, target in includes(path):
            stem = target.removesuffix(".h")
            if kind == "<" and not target.startswith("shard/") and stem not in LIBC:
                layer = name(path).split("/")[0]
                users.setdefault((layer == "cli", target), set()).add(name(path))
    assert {k: v for k, v in users.items() if len(v) > 1} == {}
    assert any(target == "jansson.h" for _, target in users)


# ---- what code may do where


def test_formats_call_nothing_but_string_functions():
    objects = sorted(BUILD.rglob("shard_formats.dir/**/*.o"))
    if not objects:
        pytest.skip(f"no objects of formats/ in {BUILD}")
    if any("san_" in nm("-u", o) for o in objects[:1]):
        pytest.skip("a sanitizer adds calls of its own")
    wrong = [f"{o.name}: {symbol}" for o in objects for symbol in nm("-u", "--format=just-symbols", o).split()
             if not PURE_CALLS.match(symbol)]
    assert not wrong


def test_the_library_leaves_terminal_environment_and_process_alone():
    wrong = [f"{name(path)}: {found.group()}" for path in sources("lib", "formats")
             for found in [FORBIDDEN_IN_LIB.search(code(path))] if found and path.name != "attrs.h"]
    assert not wrong


def test_threads_are_made_in_two_places():
    assert {name(p) for p in sources("lib", "cli", "formats") if "pthread_create" in code(p)} == MAKES_THREADS


def test_the_library_has_no_variables():
    archive = BUILD / "libshard.a"
    if not archive.exists():
        pytest.skip(f"no {archive}")
    if "san_" in nm("-u", archive):
        pytest.skip("a sanitizer adds variables of its own")
    rows = [line.split("|") for line in nm("--format=sysv", "--defined-only", archive).splitlines() if "|" in line]
    assert [row[0].strip() for row in rows if re.match(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)", row[-1].strip())] == []


# ---- names and words


def test_what_the_library_exports_begins_with_shard():
    archive = BUILD / "libshard.a"
    if not archive.exists():
        pytest.skip(f"no {archive}")
    table = subprocess.run(["readelf", "-sW", archive], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[7] for line in table.splitlines()
                if re.search(r" (FUNC|OBJECT) +(GLOBAL|WEAK) +DEFAULT +\d", line)}
    exported = {s for s in exported if not s.startswith("__")}
    assert exported == declared_functions()


def declared_functions():
    found = set()
    for path in sources("lib/include"):
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(), flags=re.S)
        found |= set(re.findall(r"SHARD_API[^;{]*?\b(shard_\w+)\s*\(", text))
    assert len(found) > 20
    return found


def test_every_public_function_and_type_is_documented():
    bare = []
    for path in sources("lib/include/shard"):
        lines = path.read_text().splitlines()
        for i, line in enumerate(lines):
            if re.match(r"(SHARD_NODISCARD )?SHARD_API|typedef (struct|enum) \w+ \{|typedef struct \w+ \w+;", line):
                above = lines[i - 1].strip()
                if not above.endswith("*/") and not documented_inside(lines[i:]):
                    bare.append(f"{name(path)}:{i + 1}: {line}")
    assert not bare


def documented_inside(lines):
    """A struct or enum whose every member has its comment needs none of its own."""
    body = "\n".join(lines).split("}")[0]
    members = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return "{" in body and body.count("/**") >= max(1, (members.count(";") + members.count(",")) // 2)


def test_files_are_short_and_licensed():
    wrong = []
    for path in sources("formats", "lib", "cli", "tests", "examples", "bench"):
        lines = path.read_text().splitlines()
        if len(lines) > 600:
            wrong.append(f"{name(path)}: {len(lines)} lines")
        if "SPDX-License-Identifier: Apache-2.0" not in lines[0]:
            wrong.append(f"{name(path)}: no licence in its first line")
        if any(len(line) > 100 for line in lines):
            wrong.append(f"{name(path)}: a line past column 100")
    assert not wrong


def test_each_source_file_is_built():
    cmake = "".join((ROOT / f).read_text() for f in ["CMakeLists.txt", "examples/CMakeLists.txt"])
    verbs = re.search(r"set\(verbs ([^)]*)\)", cmake).group(1).split()
    known = cmake + "".join(f"cli/cmd_{v}.c\n" for v in verbs)
    missing = [name(p) for p in sources("formats", "lib", "cli", "examples", suffix=".c")
               if name(p).removeprefix("examples/") not in known]
    headers = [name(p) for p in sources("lib/include") if name(p) not in known]
    assert not missing and not headers
