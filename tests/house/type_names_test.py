"""No two headers of src/ give one name to different types. ALLOWED only shrinks."""

import collections
import pathlib
import re

import house

TYPE = re.compile(r"^(?:template\s*<[^>]*>\s*)?(?:struct|class|enum class|enum)\s+"
                  r"(?:alignas\(\w+\)\s*)?(\w+)[^;{]*\{", re.M)

# Names that still mean several things, with the headers that declare them.
ALLOWED = {}


def check(sources, allowed):
    """`sources`: (path below src without suffix, text) of each header."""
    declared = collections.defaultdict(set)
    for path, text in sources:
        for match in TYPE.finditer(house.without_comments(text)):
            declared[match.group(1)].add(path)
    problems = []
    for name, paths in sorted(declared.items()):
        listed = set(allowed.get(name, "").split())
        if len(paths) > 1 and paths - listed:
            problems.append(f"{name}: declared in {', '.join(sorted(paths))}: rename one")
    for name, listed in sorted(allowed.items()):
        gone = set(listed.split()) - declared.get(name, set())
        if gone:
            problems.append(f"{name}: no longer in {', '.join(sorted(gone))}: shorten the list")
    return problems


two = [("a/x", "struct Run {\n};\n"), ("b/y", "class Run final : Base {\n};\n")]
house.must_find(check, [
    (two, {}),
    (two, {"Run": "a/x"}),
    (two[:1], {"Run": "a/x b/y"}),
])
house.must_accept(check, [
    (two, {"Run": "a/x b/y"}),
    ([("a/x", "struct Run {\n};\n"), ("b/y", "struct Run;\n// struct Run {\n")], {}),
])

headers = [n for n in house.files(".h") if n.parts[0] == "src"]
sources = [(pathlib.PurePosixPath(*n.parts[1:]).with_suffix("").as_posix(), house.text(n))
           for n in headers]
house.verdict(check(sources, ALLOWED), f"{len(headers)} headers: each type has a name of its own")
