"""Makes docs/c-api.md, the list of the C API, from api.def and the comments of the headers.

--check: says whether the page is up to date, and changes nothing.
"""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs/c-api.md"
HEAD = """# The C API

Made from `include/cairn/api.def` and the headers by `include/cairn/make_api_reference.py`: do not edit.

Each header begins with its conventions and guarantees, and describes every function; this page only
lists them. `cairn/cairn.h`, `cairn/cover.h` and `cairn/tier.h` are stable; `cairn/checkpoint.h`
still grows. The headers in `cairn/adapter/` are for adapters and for libraries on top of Cairn, and
may change between releases.
[Examples](../examples/README.md) show how to build with them.
"""
DECLARATION = re.compile(
    r"CAIRN_API\s+(?P<type>[\w\s*]*?)\s*\b(?P<name>cairn_\w+)\((?P<arguments>[^;]*)\);")
LONGEST = 160  # characters of a sentence that has a part after a colon
COMMENT = re.compile(r"/\*(.*?)\*/\s*\Z", re.S)


def first_sentence(text):
    """Of the comment that ends `text`; "" where there is none directly above, or it is a
    heading."""
    found = COMMENT.search(text)
    if not found or "----" in found.group(1):
        return ""
    words = " ".join(re.sub(r"^\s*\*\s?", " ", found.group(1), flags=re.M).split())
    sentence = re.split(r"(?<=[a-z)`\"0-9A-Z]\.) ", words, maxsplit=1)[0]
    if len(sentence) > LONGEST:
        sentence = sentence.split(": ")[0]
    return sentence.replace("|", "\\|")


def declarations(header):
    """Name -> (prototype, first sentence)."""
    text = (HERE / header).read_text(encoding="utf-8")
    found, end = {}, 0
    for match in DECLARATION.finditer(text):
        above = text[end:match.start()]
        # The last comment above it, with nothing but blanks between.
        begin = above.rfind("/*")
        comment = first_sentence(above[begin:]) if begin >= 0 else ""
        arguments = " ".join(match["arguments"].split())
        result = re.sub(r"\s*\*$", " *", match["type"])
        space = "" if result.endswith("*") else " "
        found[match["name"]] = (f"{result}{space}{match['name']}({arguments})", comment)
        end = match.end()
    return found


def page():
    out = [HEAD]
    known = {}
    for line in (HERE / "api.def").read_text(encoding="utf-8").splitlines():
        if line.startswith("// cairn/"):
            known = declarations(line.removeprefix("// cairn/"))
            out.append(f"\n## {line.removeprefix('// ')}\n\n| function | |\n| --- | --- |\n")
        elif line.startswith("CAIRN_CALL("):
            prototype, comment = known["cairn_" + line[len("CAIRN_CALL("):-1]]
            out.append(f"| `{prototype}` | {comment} |\n")
    return "".join(out)


fresh = page()
if "--check" in sys.argv[1:]:
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != fresh:
        sys.exit(f"{PAGE.name} is out of date: run include/cairn/make_api_reference.py")
else:
    PAGE.write_text(fresh, encoding="utf-8")
