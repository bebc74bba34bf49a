"""Comments begin with what they are about: each folder has a budget of comments that do not.

A comment is a run of // lines of its own; it is counted if its first word is one of WORDS. The
budgets only shrink: a folder above its budget fails, and so does a budget that is more than one
percentage point above what is measured.
"""

import collections
import re

import structure

# A sentence that begins so has no actor, or leans on the one before it.
WORDS = set("""
    What Of As Those That Who Whose Which Where Why With Without For To By And But Or Also Else
    Only Nothing Nobody
""".split())

# Folder: percent of its comments that may begin with one of WORDS.
BUDGET = {
    "adapters/engine": 0.0,
    "adapters/mpiio": 1.1,
    "adapters/posix": 2.5,
    "cli": 0.5,
    "src/capi": 2.4,
    "src/cluster": 17.5,
    "src/pool": 0.3,
    "src/tier": 0.3,
}

FOLDERS = ("src", "adapters")  # each folder in these has a budget; bench and cli have one
COMMENT = re.compile(r"^([ \t]*)//(.*)((?:\n\1//.*)*)", re.M)


def is_counted(first_line):
    word = re.match(r"\s*([A-Za-z]+)\b", first_line)
    return word is not None and word.group(1) in WORDS


def folder_of(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in FOLDERS else parts[0]


def measure(sources):
    """For each folder its comments, and those of them that are counted as (path, line, text)."""
    comments = collections.Counter()
    counted = collections.defaultdict(list)
    for path, text in sources:
        folder = folder_of(path)
        for match in COMMENT.finditer(text):
            comments[folder] += 1
            if is_counted(match.group(2)):
                line = text.count("\n", 0, match.start()) + 1
                counted[folder].append((path, line, match.group(2).strip()))
    return comments, counted


def check(sources, budget):
    comments, counted = measure(sources)
    problems = []
    for folder in sorted({*comments, *budget}):
        of_folder = counted[folder]
        percent = 100 * len(of_folder) / max(comments[folder], 1)
        allowed = budget.get(folder, 0)
        figures = f"{folder}: {len(of_folder)} of {comments[folder]} comments ({percent:.1f} %)"
        if percent > allowed:
            problems += [f"{path}:{line}: {text}" for path, line, text in of_folder]
            problems.append(f"{figures} begin without a subject, more than {allowed} %: reword some"
                            " of those above as 'X does Y for Z.'")
        elif allowed > percent + 1:
            problems.append(f"{figures} begin without a subject: lower the budget of {allowed} %")
    return problems


GOOD = "// Opens a file.\nint open();\n"
BAD = "// Of a file,\n// what it is.\nint open();\n"
structure.must_find(check, [
    ([("src/a/a.h", BAD)], {}),
    ([("src/a/a.h", GOOD + BAD)], {"src/a": 49}),
    ([("src/a/a.h", GOOD + BAD)], {"src/a": 52}),
    ([("src/a/b/a.h", "class A {\n  // Who has it.\n  int a;\n};\n")], {"src/b": 1}),
    ([("cli/a/a.cc", GOOD)], {"cli": 2}),
    ([], {"src/gone": 2}),
])
structure.must_accept(check, [
    ([("src/a/a.h", GOOD + BAD)], {"src/a": 50}),
    ([("src/a/a.h", GOOD + BAD)], {"src/a": 51}),
    ([("src/a/a.h", "int a;  // what it is\n// Officers and Whatever.\n")], {}),
    ([("cli/a/a.cc", GOOD), ("src/a/a.h", GOOD)], {}),
])

names = [n for n in structure.files(".h", ".cc") if n.parts[0] in (*FOLDERS, "bench", "cli")]
sources = [(n.as_posix(), structure.text(n)) for n in names]
totals, found = measure(sources)
share = 100 * sum(map(len, found.values())) / sum(totals.values())
structure.verdict(check(sources, BUDGET),
              f"{sum(totals.values())} comments, {share:.1f} % begin without a subject")
