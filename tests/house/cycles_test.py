"""No cycle of .h/.cc pairs: each folder's files have an order. ALLOWED only shrinks."""

import pathlib
import re

import house

INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.M)

# Folder: the pairs of each cycle that is left. A pair that has left its cycle leaves this list.
ALLOWED = {}


def graph(sources):
    """Each unit (.h/.cc pair) to those of its folder that it includes; `sources`: (path, text)."""
    units = {}
    for path, source in sources:
        place = pathlib.PurePosixPath(path)
        units.setdefault(place.with_suffix(""), set()).update(
            pathlib.PurePosixPath(place.parts[0], *target.split("/"))
            if "/" in target else place.parent / target for target in INCLUDE.findall(source))
    return {unit: {other for other in others if other in units and other != unit
                   and other.parent == unit.parent} for unit, others in units.items()}


def check(sources, allowed):
    return house.unlisted_cycles(graph(sources), allowed, "include each other")


knot = [("src/a/x.h", '#include "a/y.h"\n'), ("src/a/y.h", "\n"),
        ("src/a/y.cc", '#include "a/x.h"\n')]
house.must_find(check, [
    (knot, {}),
    (knot, {"src/a": ["x z"]}),
    (knot, {"src/a": ["x y z"]}),
    (knot[:2], {"src/a": ["x y"]}),
    ([("cli/x.h", '#include "y.h"\n'), ("cli/y.h", '#include "x.h"\n')], {}),
    ([("cli/a/x.h", '#include "a/y.h"\n'), ("cli/a/y.h", '#include "a/x.h"\n')], {}),
])
house.must_accept(check, [(knot, {"src/a": ["x y"]}), (knot[:2], {}),
                          ([("src/a/x.cc", '#include "a/x.h"\n#include "b/x.h"\n'),
                            ("src/b/x.h", '#include "a/x.h"\n')], {}), ])

files = [n for n in house.files(".h", ".cc") if n.parts[0] in ("src", "adapters", "cli")
         and not n.stem.endswith("_test")]
sources = [(n.as_posix(), house.text(n)) for n in files]
house.verdict(check(sources, ALLOWED), f"{len(files)} files: no cycle but those that are listed")
