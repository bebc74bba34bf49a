"""Small things that do not belong into sources or documents."""

import pathlib
import re

import structure

CODE = (".h", ".cc", ".c", ".inc", ".def")
OTHER = (".hpp", ".f90", ".F90")
SCRIPT = OTHER + (".py", ".sh", ".cmake", ".txt", ".json", ".yaml", ".yml", ".map", "")
LIBRARY = ("src", "adapters", "include")
# Where this checkout happens to lie: its top directory, unless every system has that.
EVERYWHERE = {
    "bin", "boot", "build", "dev", "etc", "home", "lib", "media", "mnt", "opt", "proc", "run",
    "sbin", "scratch", "srv", "src", "sys", "tmp", "usr", "var"
}
TOP = structure.ROOT.parts[1] if len(structure.ROOT.parts) > 2 else "tmp"
HERE = rf"(?<![\w.$}}]){re.escape(str(structure.ROOT) if TOP in EVERYWHERE else '/' + TOP)}(?=/|\b)"

# (pattern, applies to, what is wrong with it); matched line by line
RULES = [
    (re.compile(r"^(<{7}|={7}|>{7})( |$)"), lambda p: True, "a conflict left over"),
    (re.compile(r"[ \t]+$"), lambda p: p.suffix in CODE + OTHER +
     (".py", ".sh", ".cmake"), "blanks at the end"),
    (re.compile(r"\t"), lambda p: p.suffix in CODE + OTHER + (".py", ), "a tab"),
    (re.compile(r"\b(TO"
                r"DO|FIX"
                r"ME|XX"
                r"X|HA"
                r"CK)\b"), lambda p: True, "finish it, or write the limit down where users look"),
    # A reader elsewhere has neither our machine nor our lists.
    (re.compile(HERE), lambda p: True, "a path of this machine"),
    (re.compile(r"\b([Ii]ssue|[Tt]icket) #?\d+\b"), lambda p: True, "say it here, not by number"),
]
# The same on code without comments and strings, for what is loaded into other people's programs.
LIBRARY_RULES = [
    (re.compile(r"\b(try|throw|catch)\b\s*[({]|\bthrow\b"), "nothing throws here: return a Status"),
    (re.compile(r"\b(v?sprintf|strcpy|strcat|gets|strtok|tmpnam|mktemp)\s*\("),
     "an unbounded or shared libc call"),
    (re.compile(r"\bstd::(cout|cerr|clog)\b"), "a library does not print"),
    (re.compile(r"\busing namespace std\b"), "names its names"),
    (re.compile(r"\b(exit|_exit|quick_exit)\s*\("), "a library does not end its host"),
]


def check(name, source):
    place = pathlib.Path(name)
    problems = []
    for number, line in enumerate(source.split("\n"), 1):
        for pattern, applies, reason in RULES:
            if applies(place) and pattern.search(line):
                problems.append(f"{place}:{number}: {reason}: {line.strip()}")
    if source and not source.endswith("\n"):
        problems.append(f"{place}: no newline at the end")
    if place.suffix in CODE and place.parts[0] in LIBRARY and not place.stem.endswith("_test"):
        # An adapter defines calls of these names; it may not be held to them.
        rules = LIBRARY_RULES[:2] + LIBRARY_RULES[2:4] if place.parts[
            0] == "adapters" else LIBRARY_RULES
        for number, line in enumerate(structure.without_comments(source).split("\n"), 1):
            for pattern, reason in rules:
                if pattern.search(line):
                    problems.append(f"{place}:{number}: {reason}: {line.strip()}")
    if place.suffix == ".h" and place.parts[0] == "src" and "#pragma once" not in source:
        problems.append(f"{place}: no #pragma once")
    return problems


structure.must_find(check, [("README.md", "see iss"
                         "ue 12\n"), ("src/a/a.cc", "// TO"
                                      "DO later\n"), ("src/a/a.cc", "int a; \n"),
                        ("src/a/a.cc", "int a;"), ("src/a/a.cc", "  throw 1;\n"),
                        ("src/a/a.h", "int a;\n"), ("src/a/a.cc", "  exit(1);\n"), ])
structure.must_accept(check, [
    ("src/a/a.cc", "// it may throw\nint retry(int);\n"), ("README.md", "two blanks  \n"),
    ("src/a/a.h", "#pragma once\nint a;\n"),
])

found = []
names = [n for n in structure.files()
         if n.suffix in CODE + SCRIPT + (".md", ) and n.parts[0] != "LICENSE"]
for name in names:
    found += check(str(name), structure.text(name))
structure.verdict(found, f"{len(names)} files")
