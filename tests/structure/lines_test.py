"""No line is longer than 100 columns: code, comments, prose, scripts."""

import io
import re
import tokenize

import structure

MOST = 100
# Written by programs, or as somebody else printed it.
GENERATED = re.compile(r"docs/(c-api|compat/posix-calls|cli-reference|user/bench-options)\.md|"
                       r"docs/(results|images)/|tests/bench/recorded/")
# Tables and addresses cannot be broken; a shell's line in a block is to be copied whole.
UNBREAKABLE = re.compile(r"^\s*[|<]|https?://|^\s*#include ")
RAW_STRING = re.compile(r'R"(\w*)\(.*?\)\1"', re.S)
BEFORE_STATEMENTS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)


def without_programs(text):
    """Without texts of several lines that are not docstrings: programs that a script runs."""
    lines = text.split("\n")
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        first, last = token.start[0], token.end[0]
        if token.type == tokenize.STRING and first != last and before not in BEFORE_STATEMENTS:
            lines[first - 1:last] = [""] * (last - first + 1)
        if token.type not in (tokenize.NL, tokenize.COMMENT):
            before = token.type
    return "\n".join(lines)


def longest(path, text):
    """The first line that is too long, or 0."""
    in_block = False
    if path.endswith((".cc", ".h")):
        text = RAW_STRING.sub(lambda found: "\n" * found.group(0).count("\n"), text)
    if path.endswith(".py"):
        text = without_programs(text)
    for number, line in enumerate(text.split("\n"), 1):
        if path.endswith(".md") and line.lstrip().startswith("```"):
            in_block = not in_block
        if len(line) > MOST and not in_block and not UNBREAKABLE.search(line):
            return number
    return 0


def check(sources):
    found = ((path, longest(path, text)) for path, text in sources)
    return [f"{path}:{number}: longer than {MOST} columns" for path, number in found if number]


LONG = "x" * (MOST + 1) + "\n"
structure.must_find(check, [
    ([("src/a.cc", LONG)],),
    ([("docs/a.md", "text\n" + LONG)],),
    ([("tests/a.py", LONG)],),
    ([("tests/a.sh", "true\n" + LONG)],),
    ([("tests/a.py", '"""' + LONG + '"""\n')],),
])
structure.must_accept(check, [
    ([("tests/a.py", 'a = """' + LONG + '"""\n')],),
    ([("docs/a.md", "```sh\n" + LONG + "```\n| " + LONG)],),
    ([("src/a.cc", "// https://" + LONG + 'auto a = R"(' + LONG + ')";\n')],),
])

files = [n for n in structure.files(".cc", ".h", ".hpp", ".c", ".py", ".sh", ".md")
         if not GENERATED.match(n.as_posix())]
structure.verdict(check([(n.as_posix(), structure.text(n)) for n in files]), f"{len(files)} files")
