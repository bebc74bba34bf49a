#!/usr/bin/env python3
"""Makes the constants of C, Fortran and Python from kinds.def and types.def.

Those of a list stand between two lines of a file: "begin: made from LIST by make_constants.py" and
"end: made from LIST".
--check: says which files are out of date, and changes none.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEXT = r'((?:"[^"]*"\s*)+)\)'  # the last argument
KIND = re.compile(r'^CAIRN_KIND\((\w+), (\d+), (\w+), (\w+), "(\w+)", "([\w-]*)",\s*' + TEXT, re.M)
TYPE = re.compile(r"^CAIRN_TYPE\((\w+), (\w+), (\d+), (\d+), (\w+),\s*" + TEXT, re.M)
WIDTH = 100


def joined(text):
    """The text of a string literal in several pieces."""
    return "".join(re.findall(r'"([^"]*)"', text))


class Kind:
    def __init__(self, match):
        self.name, self.number, self.counting, self.stored, self.word, self.listed, text = (
            match.groups())
        self.text = joined(text)


class Type:
    def __init__(self, match):
        self.name, self.word, self.number, self.size, self.is_padded, text = match.groups()
        self.text = joined(text)


def read_kinds(source):
    return [Kind(match) for match in KIND.finditer(source)]


def read_types(source):
    return [Type(match) for match in TYPE.finditer(source)]


def kinds_in_c(kinds):
    """The enumerators, each below its comment."""
    for kind in kinds:
        comment = textwrap.wrap(f"{kind.text[0].upper()}{kind.text[1:]}.", WIDTH - 9)
        yield "  /* " + "\n   * ".join(comment) + " */\n"
        comma = "" if kind is kinds[-1] else ","
        yield f"  CAIRN_{kind.name} = {kind.number}{comma}\n"


def kinds_in_fortran(kinds):
    for kind in kinds:
        yield f"  integer, parameter :: kind_{kind.word} = {kind.number}\n"


def kinds_in_python(kinds):
    """Numbers of the kinds that arrays with a shape have, and an enumeration of the others."""
    for kind in kinds:
        if kind.counting == "by_layout":
            yield f"{kind.name} = {kind.number}\n"
    yield "\n\nclass Kind(enum.IntEnum):\n"
    yield '    """An array of one dimension of which each rank has any number of elements."""\n\n'
    for kind in kinds:
        if kind.counting != "by_layout":
            yield from (f"    # {line}\n" for line in textwrap.wrap(kind.text, WIDTH - 6))
            yield f"    {kind.name} = {kind.number}\n"


def types_in_c(types):
    for one in types:
        comma = "" if one is types[-1] else ","
        comment = f" /* {one.text} */" if one.text else ""
        yield f"  CAIRN_TYPE_{one.name} = {one.number}{comma}{comment}\n"


def types_in_fortran(types):
    for one in types:
        yield f"  integer, parameter, public :: cairn_{one.word} = {one.number}\n"


def types_in_python(types):
    for one in types:
        yield f"    {one.name} = {one.number}\n"


# List: how it is read, and what is made from it in each file.
LISTS = {
    "kinds.def": (read_kinds, {
        "include/cairn/checkpoint.h": kinds_in_c,
        "bindings/fortran/cairn.f90": kinds_in_fortran,
        "bindings/python/cairn/_distributions.py": kinds_in_python,
    }),
    "types.def": (read_types, {
        "include/cairn/checkpoint.h": types_in_c,
        "bindings/fortran/cairn.f90": types_in_fortran,
        "bindings/python/cairn/_types.py": types_in_python,
    }),
}


def with_block(source, name, made):
    """`source` with what lies between the two lines of list `name` replaced by `made`."""
    mark = re.escape(name)
    block = re.compile(rf"^( *\S+ begin: made from {mark} by make_constants\.py[^\n]*\n).*?"
                       rf"(?=^ *\S+ end: made from {mark}\b)", re.M | re.S)
    fresh, count = block.subn(lambda match: match.group(1) + made, source)
    if count != 1:
        sys.exit(f"{count} places for what {name} says; expected 1")
    return fresh


def main():
    stale = set()
    for name, (read, files) in LISTS.items():
        entries = read((ROOT / "include/cairn" / name).read_text(encoding="utf-8"))
        for file, make in files.items():
            path = ROOT / file
            source = path.read_text(encoding="utf-8")
            fresh = with_block(source, name, "".join(make(entries)))
            if fresh == source:
                continue
            stale.add(file)
            if "--check" not in sys.argv[1:]:
                path.write_text(fresh, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"out of date: {', '.join(sorted(stale))}: run include/cairn/make_constants.py")


if __name__ == "__main__":
    main()
