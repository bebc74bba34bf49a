#!/usr/bin/env python3
"""Makes the constants of C, Fortran and Python for the kinds of distributions from kinds.def.

Each stands between two lines of a file, "begin: made from kinds.def ..." and "end: ...".
--check: says which files are out of date, and changes none.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIND = re.compile(r'^CAIRN_KIND\((\w+), (\d+), (\w+), (\w+), "(\w+)", "([\w-]*)",\s*'
                  r'((?:"[^"]*"\s*)+)\)', re.M)
BLOCK = re.compile(r"^( *\S+ begin: made from kinds\.def by make_constants\.py[^\n]*\n).*?"
                   r"(?=^ *\S+ end: made from kinds\.def)", re.M | re.S)
WIDTH = 100


class Kind:
    def __init__(self, match):
        self.name, self.number, self.counting, self.stored, self.word, self.listed, text = (
            match.groups())
        self.text = "".join(re.findall(r'"([^"]*)"', text))


def read_kinds(source):
    return [Kind(match) for match in KIND.finditer(source)]


def in_c(kinds):
    """The enumerators, each below its comment."""
    for kind in kinds:
        comment = textwrap.wrap(f"{kind.text[0].upper()}{kind.text[1:]}.", WIDTH - 9)
        yield "  /* " + "\n   * ".join(comment) + " */\n"
        comma = "" if kind is kinds[-1] else ","
        yield f"  CAIRN_{kind.name} = {kind.number}{comma}\n"


def in_fortran(kinds):
    for kind in kinds:
        yield f"  integer, parameter :: kind_{kind.word} = {kind.number}\n"


def in_python(kinds):
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


FILES = {
    "include/cairn/checkpoint.h": in_c,
    "bindings/fortran/cairn.f90": in_fortran,
    "bindings/python/cairn/_distributions.py": in_python,
}


def with_block(source, made):
    """`source` with what lies between the two lines replaced by `made`."""
    fresh, count = BLOCK.subn(lambda match: match.group(1) + made, source)
    if count != 1:
        sys.exit(f"{count} places for what kinds.def says; expected 1")
    return fresh


def main():
    kinds = read_kinds((ROOT / "include/cairn/kinds.def").read_text(encoding="utf-8"))
    stale = []
    for name, make in FILES.items():
        path = ROOT / name
        source = path.read_text(encoding="utf-8")
        fresh = with_block(source, "".join(make(kinds)))
        if fresh == source:
            continue
        stale.append(name)
        if "--check" not in sys.argv[1:]:
            path.write_text(fresh, encoding="utf-8")
    if stale and "--check" in sys.argv[1:]:
        sys.exit(f"out of date: {', '.join(stale)}: run include/cairn/make_constants.py")


if __name__ == "__main__":
    main()
