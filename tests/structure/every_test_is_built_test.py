"""A test that no target builds is no test: each test file is compiled and known to ctest."""

import json
import re
import subprocess
import sys

import structure

SOURCES = (".cc", ".c", ".sh", ".py")


def registered():
    listing = subprocess.run(["ctest", "--test-dir", str(structure.BUILD), "--show-only=json-v1"],
                             capture_output=True, text=True, check=False)
    if listing.returncode != 0:
        sys.exit(f"ctest cannot list the tests of {structure.BUILD}:\n{listing.stderr}")
    names = set()
    for test in json.loads(listing.stdout)["tests"]:
        names.add(test["name"])
        properties = {p["name"]: p["value"] for p in test.get("properties", [])}
        if properties.get("DISABLED"):
            names.discard(test["name"])
    return names


def entry_of(name):
    """The ctest name that belongs to a test file; see cmake/CairnTest.cmake."""
    folder = name.parent.parts
    if folder[0] in ("src", "adapters", "tests"):
        folder = folder[1:]
    return "/".join(folder + (name.stem,))


tests = [n for n in structure.files(*SOURCES) if n.stem.endswith("_test")]
names = registered()
compiled = {source for members in structure.compiled().values() for source in members}

found = []
for test in tests:
    if entry_of(test) not in names:
        found.append(f"{test}: ctest knows no test {entry_of(test)}")
    if test.suffix in (".cc", ".c") and test.as_posix() not in compiled:
        found.append(f"{test}: no target compiles it")
    source = structure.without_comments(structure.text(test)) if test.suffix == ".cc" else ""
    if test.suffix == ".cc" and not re.search(r"^\s*(TYPED_)?TEST(_[FP])?\s*\(", source, re.M):
        found.append(f"{test}: has no TEST in it")
    if re.search(r"\bDISABLED_\w+|^\s*#\s*if\s+0\b", source, re.M):
        found.append(f"{test}: holds a test that never runs")
for helper in structure.files(".cc", ".c"):
    if helper.parts[0] == "tests" and not helper.stem.startswith("fuzz_") \
            and helper.as_posix() not in compiled:
        found.append(f"{helper}: no target compiles it")
if not tests:
    sys.exit("no test files found at all: looked in the wrong place")
structure.verdict(found, f"{len(tests)} test files are built and run")
