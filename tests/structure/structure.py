"""What the structure tests share: the list of our files, comments taken out, and a verdict."""

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2])).resolve()
BUILD = pathlib.Path(os.environ.get("CAIRN_BUILD_DIR", ROOT / "build/release"))
SKIPPED = 77  # the exit code that ctest shows as "skipped"



def read_order(lines):
    """Each folder of cmake/folders.txt to its rows: the folders of a row do not see each other, and
    each sees those of earlier rows."""
    order = {}
    for line in lines:
        if line.strip() and not line.startswith("#"):
            folder, *rows = line.split()
            order[folder] = [row.split(",") for row in rows]
    return order


ORDER = read_order((ROOT / "cmake/folders.txt").read_text(encoding="utf-8").splitlines())
# The include law: a folder of src/ may include itself and what stands before it.
LAYERS = [layer for row in ORDER["src"] for layer in row]
# The folders of cli/, bench/ and of folders of src/ and adapters/ have an order, too: a folder may
# include itself and the folders of earlier rows. Names are as in #include lines.
FOLDERS = {folder.removeprefix("src/").removeprefix("adapters/"): rows
         for folder, rows in ORDER.items() if folder != "src"}


def files(*suffixes):
    """Our files with one of the suffixes (all if none), relative to the root, sorted."""
    listing = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listing.returncode == 0:
        names = {pathlib.Path(os.fsdecode(n)) for n in listing.stdout.split(b"\0") if n}
    else:  # an unpacked archive
        names = {p.relative_to(ROOT) for p in ROOT.rglob("*")
                 if not {"build", ".git"} & set(p.relative_to(ROOT).parts)}
    return sorted(n for n in names
                  if (not suffixes or n.suffix in suffixes) and (ROOT / n).is_file())


def text(name):
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def without_comments(source):
    """C or C++ text with comments blanked and string contents emptied; line numbers stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|'
        r"'(?:\\.|[^'\\\n])+'",
        re.S,
    )

    def blank(match):
        piece = match.group(0)
        if piece.startswith("/"):
            return re.sub(r"[^\n]", " ", piece)
        if re.search(r"#\s*include\s*$", source[max(0, match.start() - 20):match.start()]):
            return piece
        return '""' + "\n" * piece.count("\n")

    # A ' between digits separates thousands; it opens no character.
    return pattern.sub(blank, re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", source))


OUTPUT = re.compile(r" -o (\S+)")
INCLUDED = re.compile(r'^#include "(.*)"$', re.M)


def compiled():
    """Each object of the build to the sources in it, relative to the root."""
    objects = {}
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        source = pathlib.Path(entry["directory"], entry["file"])
        members = [source]
        if "Unity" in source.parts:
            members = [pathlib.Path(name) for name in
                       INCLUDED.findall(source.read_text(encoding="utf-8"))]
        objects[BUILD / OUTPUT.search(entry["command"]).group(1)] = [
            member.relative_to(ROOT).as_posix() for member in members
            if ROOT in member.parents]
    return objects


def cycles(edges):
    """Sets of units that reach each other (strongly connected components of two and more)."""
    number, low, stack, found = {}, {}, [], []

    def visit(unit):
        number[unit] = low[unit] = len(number)
        stack.append(unit)
        for other in edges[unit]:
            if other not in number:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == number[unit]:
            at = stack.index(unit)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for unit in sorted(edges):
        if unit not in number:
            visit(unit)
    return found


def unlisted_cycles(edges, allowed, what):
    """Problems with the cycles of `edges` (unit to units of its folder). `allowed`: to each folder,
    the names of each cycle that is left; a name that has left its cycle has to leave the list."""
    problems = []
    left = {folder: [set(cycle.split()) for cycle in names] for folder, names in allowed.items()}
    for cycle in cycles(edges):
        folder = str(next(iter(cycle)).parent)
        names = {unit.name for unit in cycle}
        listed = next((one for one in left.get(folder, []) if names & one), set())
        if names - listed:
            inner = sorted(f"{unit.name} -> {other.name}" for unit in cycle
                           for other in edges[unit] & cycle if {unit.name, other.name} - listed)
            problems.append(f"{folder}: {what}: {' '.join(sorted(names))}\n  "
                            + "\n  ".join(inner))
        for one in left.get(folder, []):
            if names <= one and names != one:
                problems.append(f"{folder}: take out of the list, as no cycle holds them any more: "
                                + " ".join(sorted(one - names)))
        left[folder] = [one for one in left.get(folder, []) if not names & one]
    for folder, rest in left.items():
        problems += [f"{folder}: take out of the list, as no cycle is left: {' '.join(sorted(one))}"
                     for one in rest]
    return problems


def verdict(problems, looked_at):
    """Prints the problems and ends the test."""
    for problem in problems:
        print(problem)
    if problems:
        print(f"\n{len(problems)} problem(s)")
        sys.exit(1)
    print(f"in order: {looked_at}")
    sys.exit(0)


def must_find(check, examples):
    """A checker that finds nothing must be able to: each example has to give a problem."""
    for example in examples:
        if not check(*example):
            print(f"the check itself is broken: it accepts {example}")
            sys.exit(1)


def must_accept(check, examples):
    for example in examples:
        problems = check(*example)
        if problems:
            print(f"the check itself is broken: it refuses {example}: {problems}")
            sys.exit(1)
