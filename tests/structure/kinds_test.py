"""Kinds of distributions have one list, include/cairn/kinds.def. Constants of other languages are
made from it, few files name a kind, and docs/dev/adding-a-distribution.md lists what a new one
needs. ALLOWED only shrinks."""

import re
import subprocess
import sys

import structure

sys.path.insert(0, str(structure.ROOT / "include/cairn"))
import make_constants  # noqa: E402  (from the folder above)

PAGE = "docs/dev/adding-a-distribution.md"
MOST = 15  # files that a new kind may touch
PLACES = ("src/", "include/", "cli/", "adapters/", "bindings/")
SUFFIXES = (".h", ".hpp", ".c", ".cc", ".def", ".f90", ".py")
STORED = re.compile(r"^CAIRN_STORED_KIND\((\w+), (\d+), (\w+)\)", re.M)

# Files that name a kind, and why. A file of src/checkpoint/array that implements one is not listed.
ALLOWED = {
    "include/cairn/kinds.def": "the list",
    "include/cairn/checkpoint.h": "made from the list",
    "include/cairn/checkpoint.hpp": "a type for the arguments of each kind",
    "bindings/fortran/cairn.f90": "made from the list; a function for each kind",
    "bindings/fortran/cairn_fortran.c": "arguments whose order differs in Fortran",
    "bindings/python/cairn/_checkpoint.py": "a keyword for the arguments of each kind",
    "bindings/python/cairn/_distributions.py":
        "made from the list; a class for the arguments of each kind",
    "src/checkpoint/array/decomposition.h": "a decomposition that was not read is replicated",
    "src/checkpoint/array/distribution.h": "a definition without a distribution is replicated",
    "src/capi/checkpoint/define.cc": "a definition without a distribution is replicated",
    "cli/ckpt/ckpt_import.cc": "imports scalars",
    "cli/netcdf/netcdf_counted.cc": "imports arrays of one dimension whose note is out of date",
    "cli/sets/ckpt_set.h": "the kind of an array that was not written",
    "cli/sets/ckpt_set.cc": "JSON says whether an array is replicated",
}


def names_of(kinds_def):
    """What a file may say to name a kind, as one regular expression."""
    given = [kind.name for kind in make_constants.read_kinds(kinds_def)]
    stored = [match[0] for match in STORED.findall(kinds_def)]
    return re.compile(rf"\bCAIRN_({'|'.join(given)})\b"
                      rf"|\b(?:Decomposition)?Kind::({'|'.join(stored)})\b"
                      rf"|\bkind_({'|'.join(name.lower() for name in given)})\b"
                      rf"|\b_distributions\.({'|'.join(given)})\b"
                      rf"|^({'|'.join(given)}) = \d", re.M)


def code_of(name, source):
    if name.endswith(".def"):
        return "".join(f"CAIRN_{kind.name}\n" for kind in make_constants.read_kinds(source))
    if name.endswith((".py", ".f90")):
        return source
    return structure.without_comments(source)


def implements(name, kinds_def):
    """Whether a file defines the distribution of a kind."""
    stored = "|".join(match[0] for match in STORED.findall(kinds_def))
    defines = rf"^const Distribution& ({stored})_distribution\(\) {{"
    return name.startswith("src/checkpoint/array/") and bool(
        re.search(defines, structure.text(name), re.M))


def check(sources, kinds_def, allowed):
    """`sources`: (name, text) of each file."""
    names = names_of(kinds_def)
    naming = {name: match.group(0) for name, source in sources
              if (match := names.search(code_of(name, source)))}
    problems = [f"{name}: names a kind ({said}); let a Distribution, or facts in kinds.def, answer"
                for name, said in sorted(naming.items()) if name not in allowed]
    problems += [f"{name}: names no kind any more: take it out of the list"
                 for name in sorted(allowed) if name not in naming]
    return problems


def check_format(format_page, kinds_def):
    """The table of kinds in docs/format/checkpoint.md has each stored kind with its number."""
    return [f"docs/format/checkpoint.md lacks kind {number}, {name}"
            for name, number, _ in STORED.findall(kinds_def)
            if not re.search(rf"^\| {number} \| {name.replace('_', ' ')} \|", format_page, re.M)]


def check_page(page, exists):
    """The rows of the table: each names one file, which exists unless it has the kind's name."""
    rows = re.findall(r"^\| \d+ \| `([^`]+)` \|", page, re.M)
    problems = [f"{PAGE}: there is no {row}" for row in rows if "NAME" not in row
                and not exists(row)]
    if not rows or len(set(rows)) != len(rows):
        problems.append(f"{PAGE}: {len(rows)} files, {len(set(rows))} of them different")
    if len(rows) > MOST:
        problems.append(f"{PAGE}: {len(rows)} files; a new kind may touch {MOST}")
    return problems


EXAMPLE = ('CAIRN_KIND(BLOCK, 2, by_layout, boxes, "block", "", "a box")\n'
           "CAIRN_STORED_KIND(boxes, 3, BLOCK)\n")
structure.must_find(check, [
    ([("a.cc", "if (kind == CAIRN_BLOCK) return;")], EXAMPLE, {}),
    ([("a.cc", "case DecompositionKind::boxes:")], EXAMPLE, {}),
    ([("a.cc", "case Kind::boxes:")], EXAMPLE, {}),
    ([("a.f90", "  made%kind = kind_block\n")], EXAMPLE, {}),
    ([("a.py", "where.kind = _distributions.BLOCK")], EXAMPLE, {}),
    ([("a.cc", "is_counted(kind)")], EXAMPLE, {"a.cc": "a reason"}),
])
structure.must_accept(check, [
    ([("a.cc", "// as of CAIRN_BLOCK\nint boxes = CAIRN_BLOCK_SIZE;")], EXAMPLE, {}),
    ([("a.cc", "case CAIRN_BLOCK:")], EXAMPLE, {"a.cc": "a reason"}),
])
structure.must_find(check_format, [("| 2 | boxes |\n", EXAMPLE)])
structure.must_accept(check_format, [("| 3 | boxes | entries\n", EXAMPLE)])
structure.must_find(check_page, [
    ("| 1 | `src/a.cc` | why |\n", lambda name: False),
    ("| 1 | `src/a.cc` | why |\n| 2 | `src/a.cc` | why |\n", lambda name: True),
    ("".join(f"| {n} | `src/{n}.cc` | why |\n" for n in range(MOST + 1)), lambda name: True),
    ("", lambda name: True),
])
structure.must_accept(check_page, [
    ("| 1 | `src/a.cc` | why |\n| 2 | `src/NAME.cc` | why |\n", lambda name: name == "src/a.cc"),
])

kinds_def = structure.text("include/cairn/kinds.def")
sources = [(str(name), structure.text(name)) for name in structure.files(*SUFFIXES)
           if str(name).startswith(PLACES) and not name.stem.endswith("_test")
           and str(name) != "include/cairn/make_constants.py"]
sources = [(name, source) for name, source in sources if not implements(name, kinds_def)]
found = check(sources, kinds_def, ALLOWED)
found += check_format(structure.text("docs/format/checkpoint.md"), kinds_def)
found += check_page(structure.text(PAGE), lambda name: (structure.ROOT / name).exists())
made = subprocess.run(
    [sys.executable, "-B", structure.ROOT / "include/cairn/make_constants.py", "--check"],
    capture_output=True, text=True, check=False)
found += [made.stderr.strip()] if made.returncode != 0 else []
structure.verdict(found,
                  f"{len(sources)} files; {len(ALLOWED)} of them name a kind of distribution")
