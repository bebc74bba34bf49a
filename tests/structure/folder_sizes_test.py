"""A folder above 25 source files gets folders. ALLOWED: where they would be artificial, and why."""

import collections
import pathlib

import structure

LIMIT = 25
SUFFIXES = (".h", ".hpp", ".c", ".cc", ".f90", ".F90", ".py")
PLACES = ("src", "adapters", "cli", "include", "bindings", "bench", "examples", "tests")

# Folder: the reason.
ALLOWED = {
    "tests/crash": "each test there links the whole laboratory of histories and scenes",
}


def counts(name):
    """Whether a file counts. A test stands beside its file, or with what calls helpers in tests/
    alone; in both places nobody looks for it by itself."""
    is_alone = name.stem.endswith("_test") or name.parts[0] == "tests" and name.stem.endswith(
        "_program")
    is_script = name.suffix == ".py" and name.parts[0] == "tests"
    return name.suffix in SUFFIXES and name.parts[0] in PLACES and not is_alone and not is_script


def check(names, allowed):
    sizes = collections.Counter(
        pathlib.PurePosixPath(name).parent.as_posix() for name in names
        if counts(pathlib.PurePosixPath(name)))
    problems = [f"{folder}: {size} source files, more than {LIMIT}: sort them into folders"
                for folder, size in sorted(sizes.items()) if size > LIMIT and folder not in allowed]
    problems += [f"{folder}: take it out of the list, it has {sizes[folder]} source files"
                 for folder in allowed if sizes[folder] <= LIMIT]
    return problems


full = [f"src/a/{number}.cc" for number in range(LIMIT)]
structure.must_find(check, [
    (full + ["src/a/b.h"], {}),
    (full, {"src/a": "a reason"}),
    ([], {"src/a": "a reason"}),
    ([f"bench/python/a/{number}.py" for number in range(LIMIT + 1)], {}),
])
structure.must_accept(check, [
    (full + ["src/a/1_test.cc", "src/a/b/b.h", "src/a/README.md", "src/a/folder.cmake"], {}),
    (full + ["src/a/b.h"], {"src/a": "a reason"}),
    ([f"tests/a/{number}_program.cc" for number in range(LIMIT + 1)], {}),
    ([f"tests/a/{number}.py" for number in range(LIMIT + 1)], {}),
])

names = [name.as_posix() for name in structure.files(*SUFFIXES)]
structure.verdict(check(names, ALLOWED), f"{len(names)} files: each folder can be looked over")
