"""Uses follow the order of folders as includes do: the objects show what the include law cannot
see, a folder that calls by a header below it what is defined above it. Nothing is built: this test
reads the objects that are there. UPWARD and KNOTS stay empty.

Where the sources of a folder are compiled as one, only the uses between folders can be seen. The
presets dev and clang compile each by itself, and show the uses within a folder as well."""

import collections
import pathlib
import re
import subprocess
import sys

import structure
from order import allowed

# Each use against the order of folders that is left: "FOLDER -> FOLDER".
UPWARD = set()
# Folder: the units of each cycle of uses inside it that is left.
KNOTS = {}

# Our names: those of the C library and of the C++ runtime that an adapter defines in their place
# are the library's for everybody who calls them.
OURS = re.compile(r"cairn_|_Z(?!n[wa]|d[la]|N?K?S)")
# What engine/hooks.h and engine/paths.h declare for the adapter that carries the engine to define.
HOOKS = re.compile(r"_ZN6engine5(hooks|pathsE)")
ALL = "all.cc"  # stands for the sources of a folder that are compiled as one


def top_folder(place):
    return place.parts[:3] if place.parts[:3] == ("src", "cluster", "mpi") else place.parts[:2]


def why_not(user, definer, symbol):
    """None, or why code in the file `user` must not use `symbol`, which `definer` defines."""
    if HOOKS.match(symbol):
        return None
    if symbol.startswith("cairn_") and top_folder(user) != top_folder(definer):
        return allowed(user, True, "cairn/cairn.h")
    return allowed(user, True, definer.relative_to(definer.parts[0]).with_suffix(".h").as_posix())


def uses_of(objects):
    """(user, definer) to the symbols. `objects`: (source, symbols it defines, symbols it needs)."""
    definers = collections.defaultdict(set)
    for source, defined, _ in objects:
        for symbol in filter(OURS.match, defined):
            definers[symbol].add(pathlib.PurePosixPath(source))
    uses = collections.defaultdict(set)
    for source, _, needed in objects:
        user = pathlib.PurePosixPath(source)
        for symbol in needed:
            for definer in definers.get(symbol, set()) - {user}:
                uses[user, definer].add(symbol)
    return uses


def check(objects, upward, knots):
    problems, left = [], set(upward)
    edges = collections.defaultdict(set)
    for (user, definer), symbols in sorted(uses_of(objects).items()):
        reasons = {symbol: why_not(user, definer, symbol) for symbol in sorted(symbols)}
        refused = [symbol for symbol, reason in reasons.items() if reason]
        folders = f"{user.parent} -> {definer.parent}"
        if refused and folders in upward:
            left.discard(folders)
        elif refused:
            problems.append(f"{user} -> {definer}: {reasons[refused[0]]}: uses {refused}")
        unit, other = user.with_suffix(""), definer.with_suffix("")
        if unit.parent == other.parent:
            edges[unit].add(other)
            edges[other].update()
    problems += [f"{use}: take it out of the list, it is no more" for use in sorted(left)]
    as_one = {str(pathlib.PurePosixPath(source).parent) for source, _, _ in objects
              if source.endswith("/" + ALL)}
    knots = {folder: names for folder, names in knots.items() if folder not in as_one}
    return problems + structure.unlisted_cycles(edges, knots, "use each other")


def read_objects(names):
    """Of each object: its name, the symbols that it alone defines, and those that it needs.
    `names`: path to name."""
    listing = subprocess.run(["nm", "-A", "--format=posix", *map(str, names)],
                             capture_output=True, text=True, check=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for line in listing.splitlines():
        path, _, rest = line.partition(": ")
        symbol, kind = rest.split()[:2]
        name = names[pathlib.Path(path)]
        if kind in "TDBRS":
            defined[name].add(symbol)
        elif kind == "U":
            needed[name].add(symbol)
    return [(name, defined[name], needed[name]) for name in {**defined, **needed}]


def readable(problem):
    names = subprocess.run(["c++filt"], input=problem, capture_output=True, text=True, check=False)
    return names.stdout


upward_use = [("src/tier/claim/a.cc", ["_Z1av"], ["_Z1bv"]),
              ("src/tier/cover/b.cc", ["_Z1bv"], ["_Z1av"])]
listed = {"src/tier/claim -> src/tier/cover"}
knot = [("src/tier/claim/a.cc", ["_Z1av"], ["_Z1bv"]),
        ("src/tier/claim/b.cc", ["_Z1bv"], ["_Z1cv"]),
        ("src/tier/claim/c.cc", ["_Z1cv"], ["_Z1av"])]
structure.must_find(check, [
    (upward_use, set(), {}),
    (upward_use[1:], listed, {}),
    ([("src/tier/claim/a.cc", [], []), ("src/tier/cover/b.cc", ["_Z1bv"], [])], listed, {}),
    ([("src/file/map/a.cc", [], ["_Z1bv"]), ("src/tier/claim/b.cc", ["_Z1bv"], [])], set(), {}),
    ([("src/file/map/a.cc", [], ["_ZN5cairn1bEv"]),
      ("src/file/data/b.cc", ["_ZN5cairn1bEv"], [])], set(), {}),
    ([("src/tier/claim/a.cc", [], ["cairn_b"]), ("src/capi/core/b.cc", ["cairn_b"], [])],
     set(), {}),
    ([("src/capi/core/a.cc", [], ["cairn_b"]), ("src/capi/cover/b.cc", ["cairn_b"], [])],
     set(), {}),
    ([("cli/text/a.cc", [], ["_Z1bv"]), ("src/capi/core/b.cc", ["_Z1bv"], [])], set(), {}),
    ([("adapters/engine/a.cc", [], ["_Z1bv"]), ("adapters/posix/fd/b.cc", ["_Z1bv"], [])],
     set(), {}),
    (knot, set(), {}),
    (knot, set(), {"src/tier/claim": ["a b"]}),
    (knot[:2], set(), {"src/tier/claim": ["a b c"]}),
])
structure.must_accept(check, [
    (upward_use, listed, {}),
    (upward_use[:1], set(), {}),
    (knot, set(), {"src/tier/claim": ["a b c"]}),
    ([("src/tier/claim/all.cc", ["_Z1av"], ["_Z1bv"]), ("src/tier/stage/all.cc", [], ["_Z1av"])],
     set(), {"src/tier/claim": ["a b c"]}),
    ([("src/base/a.cc", [], ["open", "_Znwm", "_ZSt4exitv", "_ZNSt1aEv"]),
      ("adapters/posix/entry/b.cc", ["open", "_Znwm", "_ZSt4exitv", "_ZNSt1aEv"], [])], set(), {}),
    ([("cli/text/a.cc", [], ["cairn_b"]), ("src/capi/core/b.cc", ["cairn_b"], [])], set(), {}),
    ([("adapters/mpiio/backend/job/a.cc", [], ["_Z1bv"]),
      ("src/cluster/mpi/session/b.cc", ["_Z1bv"], [])], set(), {}),
    ([("adapters/engine/a.cc", [], ["_ZN6engine5hooks1aEv"]),
      ("adapters/posix/entry/b.cc", ["_ZN6engine5hooks1aEv"], [])], set(), {}),
])

OURS_IN = ("src/", "adapters/", "cli/")
sources = {n.as_posix() for n in structure.files(".cc", ".c")
           if n.as_posix().startswith(OURS_IN) and not n.stem.endswith("_test")}
names, built = {}, set()
for path, members in structure.compiled().items():
    if any(member.endswith("_test.cc") for member in members):
        continue  # a batch of tests, which may lie in several folders
    members = [member for member in members if member in sources]
    if members and path.is_file():
        folder = pathlib.PurePosixPath(members[0]).parent
        names[path] = members[0] if len(members) == 1 else f"{folder}/{ALL}"
        built.update(members)
# What is built for each MPI is absent where there is none.
missing = {source for source in sources - built
           if not source.startswith(("src/cluster/mpi/", "adapters/mpiio/"))}
if missing:
    print(f"not built: {' '.join(sorted(missing))}")
    sys.exit(structure.SKIPPED)
objects = read_objects(names)
structure.verdict([readable(problem) for problem in check(objects, UPWARD, KNOTS)],
              f"{len(objects)} objects keep the order of folders in what they use")
