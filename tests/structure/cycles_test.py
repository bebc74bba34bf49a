"""No cycle of .h/.cc pairs: each folder's files have an order. No cycle of Python modules that
import each other, nor of packages that lie beside each other. ALLOWED only shrinks."""

import ast
import pathlib
import posixpath
import re

import structure

INCLUDE = re.compile(r'^#include "([^"]+)\.h"', re.M)

# Folder: the pairs of each cycle that is left. A pair that has left its cycle leaves this list.
ALLOWED = {}


def graph(sources):
    """Each unit (.h/.cc pair) to those of its folder that it includes; `sources`: (path, text)."""
    units = {}
    for path, source in sources:
        place = pathlib.PurePosixPath(path)
        units.setdefault(place.with_suffix(""), set()).update(
            (place.parent, target) for target in INCLUDE.findall(source))
    found = {}
    for unit, targets in units.items():
        others = {included(folder, target, units) for folder, target in targets}
        found[unit] = {other for other in others if other not in (None, unit)
                       and other.parent == unit.parent}
    return found


def included(folder, target, units):
    """The unit that `target` means in a file of `folder`: there, or from a folder around it."""
    for around in (folder, *folder.parents):
        path = pathlib.PurePosixPath(posixpath.normpath(around / target))
        if path in units:
            return path
    return None


def modules(sources):
    """Each Python module to those of its package that it imports, at the top or in a function."""
    known = {}
    for path, source in sources:
        place = pathlib.PurePosixPath(path).with_suffix("")
        known[place.parent if place.name == "__init__" else place] = (place, source)
    return {module: set(imported(place, source, known)) - {module}
            for module, (place, source) in known.items()}


def imported(place, source, known):
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        package = place.parents[node.level - 1]
        base = package.joinpath(*node.module.split(".")) if node.module else package
        for name in node.names:
            if base / name.name in known:
                yield base / name.name
            elif base in known and base not in place.parents:
                yield base


def packages(edges):
    """Each package to those beside it that its modules import."""
    found = {}
    for module, others in edges.items():
        mine = found.setdefault(module.parent, set())
        mine |= {other.parent for other in others
                 if other.parent.parent == module.parent.parent and other.parent != module.parent}
    return {folder: others & set(found) for folder, others in found.items()}


def check(sources, allowed):
    return structure.unlisted_cycles(graph(sources), allowed, "include each other")


def check_python(sources, allowed):
    edges = modules(sources)
    return (structure.unlisted_cycles(edges, allowed, "import each other")
            or structure.unlisted_cycles(packages(edges), allowed, "import each other"))


knot = [("src/a/x.h", '#include "a/y.h"\n'), ("src/a/y.h", "\n"),
        ("src/a/y.cc", '#include "a/x.h"\n')]
structure.must_find(check, [
    (knot, {}),
    (knot, {"src/a": ["x z"]}),
    (knot, {"src/a": ["x y z"]}),
    (knot[:2], {"src/a": ["x y"]}),
    ([("cli/x.h", '#include "y.h"\n'), ("cli/y.h", '#include "x.h"\n')], {}),
    ([("cli/a/x.h", '#include "a/y.h"\n'), ("cli/a/y.h", '#include "a/x.h"\n')], {}),
    ([("bench/b/c/a/x.h", '#include "a/y.h"\n'), ("bench/b/c/a/y.h", '#include "x.h"\n')], {}),
    ([("bench/b/x.h", '#include "../b/y.h"\n'), ("bench/b/y.h", '#include "x.h"\n')], {}),
])
structure.must_find(check_python, [
    ([("p/__init__.py", ""), ("p/a.py", "from . import b\n"), ("p/b.py", "from .a import c\n")],
     {}),
    ([("p/a.py", "from .q import b\n"), ("p/q/b.py", "def f():\n    from .. import a\n")], {}),
    ([("p/q/a.py", "from ..r import b\n"), ("p/q/d.py", ""), ("p/r/b.py", ""),
      ("p/r/c.py", "from ..q import d\n")], {}),
])
structure.must_accept(check_python, [
    ([("p/__init__.py", "A = 1\n"), ("p/a.py", "from . import A, b\n"), ("p/b.py", "import a\n"),
      ("p/q/c.py", "from ..a import d\nfrom . import e\n"), ("p/q/e.py", "from .. import b\n")],
     {}),
])
structure.must_accept(check, [(knot, {"src/a": ["x y"]}), (knot[:2], {}),
                          ([("src/a/x.cc", '#include "a/x.h"\n#include "b/x.h"\n'),
                            ("src/b/x.h", '#include "a/x.h"\n')], {}), ])

files = [n for n in structure.files(".h", ".cc")
         if n.parts[0] in ("src", "adapters", "bench", "cli") and not n.stem.endswith("_test")]
python = [n for n in structure.files(".py") if n.parts[:2] in (("bench", "python"),
                                                           ("bindings", "python"))]
found = check([(n.as_posix(), structure.text(n)) for n in files], ALLOWED)
found += check_python([(n.as_posix(), structure.text(n)) for n in python], {})
structure.verdict(found, f"{len(files)} files, {len(python)} modules: no cycle but those listed")
