"""No two types of src/ that headers declare have one name, nested ones included. ALLOWED only
shrinks.

Sources may repeat a name, as their types are seen nowhere else; but a reader who meets it again
expects the same type, so SHARED limits how many names do.
"""

import collections
import pathlib
import re

import structure

TYPE = re.compile(r"^[ \t]*(?:template\s*<[^>]*>\s*)?(?:struct|class|enum class|enum|union)\s+"
                  r"(?:alignas\(\w+\)\s*)?(\w+)(?=[^;{()=]*\{)", re.M)
SYSTEM = {"stat"}  # a type of the C library: `struct stat st = {};` declares none

# Names that still mean several things, with the headers that declare them.
ALLOWED = {
    "Channel": "checkpoint/run/exchange cluster/mpi/session/transport",
    "Entry": "checkpoint/sources/part_reader format/entry",
    "Held": "checkpoint/restart/stored_version cluster/rpc/held_files",
    "Kind": "cluster/mpi/messages/peers format/entry",
    "Part": "checkpoint/restart/stored_version cluster/record/runs",
    "Piece": "checkpoint/layout/packing cluster/record/share_map",
    "Place": "checkpoint/restart/stored_version cluster/rpc/job",
    "Region": "checkpoint/versions/part_questions persist/region/region",
    "Run": "checkpoint/array/runs checkpoint/array/section checkpoint/run/run",
}
# So many names are given to types in several files, sources included. Lower it when there are less.
SHARED = 22


def declared_in(sources):
    """To each name of a type the files that declare one."""
    declared = collections.defaultdict(set)
    for path, text in sources:
        for match in TYPE.finditer(structure.without_comments(text)):
            declared[match.group(1)].add(path)
    return {name: paths for name, paths in declared.items() if name not in SYSTEM}


def check(sources, allowed):
    """`sources`: (path below src without suffix, text) of each header."""
    declared = declared_in(sources)
    problems = []
    for name, paths in sorted(declared.items()):
        listed = set(allowed.get(name, "").split())
        if len(paths) > 1 and paths - listed:
            problems.append(f"{name}: declared in {', '.join(sorted(paths))}: rename one")
    for name, listed in sorted(allowed.items()):
        found = declared.get(name, set()) & set(listed.split())
        if len(found) < 2:
            problems.append(f"{name}: means one thing now: take it out of the list")
        elif gone := set(listed.split()) - found:
            problems.append(f"{name}: no longer in {', '.join(sorted(gone))}: shorten the list")
    return problems


def check_shared(sources, most):
    """`sources`: (path without suffix, text) of each header and source."""
    shared = {name: paths for name, paths in declared_in(sources).items() if len(paths) > 1}
    if len(shared) > most:
        return ([f"{name}: {', '.join(sorted(paths))}" for name, paths in sorted(shared.items())]
                + [f"{len(shared)} names are given to several types, more than {most}: rename one"])
    if len(shared) + 5 < most:
        return [f"{len(shared)} names are given to several types: lower SHARED from {most}"]
    return []


two = [("a/x", "struct Run {\n};\n"), ("b/y", "class Run final : Base {\n};\n")]
nested = [("a/x", "struct Run {\n};\n"), ("b/y", "class B {\n  enum class Run : int { a };\n};\n")]
structure.must_find(check, [
    (two, {}),
    (nested, {}),
    (two, {"Run": "a/x"}),
    (two[:1], {"Run": "a/x b/y"}),
    (two + [("c/z", "")], {"Run": "a/x b/y c/z"}),
])
structure.must_accept(check, [
    (two, {"Run": "a/x b/y"}),
    ([("a/x", "struct Run {\n};\n"), ("b/y", "struct Run;\n// struct Run {\n")], {}),
    ([("a/x", "struct stat st = {};\n"), ("b/y", "struct stat st = {};\n")], {}),
    ([("a/x", "struct Run {\n};\n"), ("b/y", "Run make(enum Kind kind) {\n}\n")], {}),
])
structure.must_find(check_shared, [(two, 0), (two, 7)])
structure.must_accept(check_shared, [(two, 1), (two, 6), (two[:1], 0)])


def read(*suffixes):
    return [(pathlib.PurePosixPath(*name.parts[1:]).with_suffix("").as_posix(),
             structure.text(name)) for name in structure.files(*suffixes)
            if name.parts[0] == "src" and not name.stem.endswith("_test")]


headers = read(".h")
structure.verdict(check(headers, ALLOWED) + check_shared(read(".h", ".cc"), SHARED),
              f"{len(headers)} headers: each type has a name of its own")
