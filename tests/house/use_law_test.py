"""Uses follow the order of rooms as includes do: the objects show what the include law cannot see,
a room that calls by a header below it what is defined above it. Nothing is built: this test reads
the objects that are there. UPWARD and KNOTS only shrink."""

import collections
import pathlib
import re
import subprocess
import sys

import house
from order import allowed

# Each use against the order of rooms that is left: "USER -> DEFINER".
UPWARD = {
    "src/capi/context/context.cc -> src/capi/checkpoint/background.cc",
    "src/capi/context/context.cc -> src/capi/checkpoint/levels.cc",
    "src/capi/context/context.cc -> src/capi/checkpoint/look.cc",
    "src/capi/context/context.cc -> src/capi/checkpoint/lower_copies.cc",
    "src/capi/context/context.cc -> src/capi/checkpoint/partner.cc",
}
# Folder: the units of each cycle of uses inside it that is left.
KNOTS = {
    "cli/commands": [
        "bench_command change_commands ckpt_commands command_line config_command copy_command"
        " cover_commands doctor_command help_commands list_commands pool_clean pool_commands"
        " run_command stage_command status_command"
    ],
    "src/capi/checkpoint": ["drop look", "background levels lower_copies partner"],
}

# Our names: those of the C library and of the C++ runtime that an adapter defines in their place
# are the library's for everybody who calls them.
OURS = re.compile(r"cairn_|_Z(?!n[wa]|d[la]|N?K?S)")
# What engine/hooks.h and engine/paths.h declare for the adapter that carries the engine to define.
HOOKS = re.compile(r"_ZN6engine5(hooks|pathsE)")
IN_OBJECT = re.compile(r"\.dir/((?:src|adapters|cli)/.*)\.o$")


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
        if refused and f"{user} -> {definer}" in left:
            left.remove(f"{user} -> {definer}")
        elif refused:
            problems.append(f"{user} -> {definer}: {reasons[refused[0]]}: uses {refused}")
        unit, other = user.with_suffix(""), definer.with_suffix("")
        if unit.parent == other.parent and unit != other:
            edges[unit].add(other)
            edges[other].update()
    problems += [f"{use}: take it out of the list, it is no more" for use in sorted(left)]
    return problems + house.unlisted_cycles(edges, knots, "use each other")


def read_objects(paths):
    """Of each object: its source, the symbols that it alone defines, and those that it needs."""
    listing = subprocess.run(["nm", "-A", "--format=posix", *map(str, paths)],
                             capture_output=True, text=True, check=True).stdout
    defined, needed = collections.defaultdict(set), collections.defaultdict(set)
    for line in listing.splitlines():
        path, _, rest = line.partition(": ")
        symbol, kind = rest.split()[:2]
        source = IN_OBJECT.search(path).group(1)
        if kind in "TDBRS":
            defined[source].add(symbol)
        elif kind == "U":
            needed[source].add(symbol)
    return [(source, defined[source], needed[source]) for source in {**defined, **needed}]


def readable(problem):
    names = subprocess.run(["c++filt"], input=problem, capture_output=True, text=True, check=False)
    return names.stdout


upward_use = [("src/tier/claim/a.cc", ["_Z1av"], ["_Z1bv"]),
              ("src/tier/cover/b.cc", ["_Z1bv"], ["_Z1av"])]
listed = {"src/tier/claim/a.cc -> src/tier/cover/b.cc"}
knot = [("src/tier/claim/a.cc", ["_Z1av"], ["_Z1bv"]),
        ("src/tier/claim/b.cc", ["_Z1bv"], ["_Z1cv"]),
        ("src/tier/claim/c.cc", ["_Z1cv"], ["_Z1av"])]
house.must_find(check, [
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
house.must_accept(check, [
    (upward_use, listed, {}),
    (upward_use[:1], set(), {}),
    (knot, set(), {"src/tier/claim": ["a b c"]}),
    ([("src/base/a.cc", [], ["open", "_Znwm", "_ZSt4exitv", "_ZNSt1aEv"]),
      ("adapters/posix/entry/b.cc", ["open", "_Znwm", "_ZSt4exitv", "_ZNSt1aEv"], [])], set(), {}),
    ([("cli/text/a.cc", [], ["cairn_b"]), ("src/capi/core/b.cc", ["cairn_b"], [])], set(), {}),
    ([("adapters/mpiio/backend/job/a.cc", [], ["_Z1bv"]),
      ("src/cluster/mpi/session/b.cc", ["_Z1bv"], [])], set(), {}),
    ([("adapters/engine/a.cc", [], ["_ZN6engine5hooks1aEv"]),
      ("adapters/posix/entry/b.cc", ["_ZN6engine5hooks1aEv"], [])], set(), {}),
])

sources = {n.as_posix() for n in house.files(".cc", ".c")
           if n.parts[0] in ("src", "adapters", "cli") and not n.stem.endswith("_test")}
# Objects of files that have left the tree may still lie there.
paths = [path for path in (house.BUILD / "CMakeFiles").rglob("*.o")
         if (match := IN_OBJECT.search(path.as_posix())) and match.group(1) in sources]
objects = read_objects(paths) if paths else []
# What is built for each MPI is absent where there is none.
missing = {source for source in sources - {source for source, _, _ in objects}
           if not source.startswith(("src/cluster/mpi/", "adapters/mpiio/"))}
if missing:
    print(f"not built: {' '.join(sorted(missing))}")
    sys.exit(house.SKIPPED)
house.verdict([readable(problem) for problem in check(objects, UPWARD, KNOTS)],
              f"{len(objects)} objects keep the order of rooms in what they use")
