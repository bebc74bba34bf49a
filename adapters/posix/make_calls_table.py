#!/usr/bin/env python3
"""Makes docs/compat/posix-calls.md from the lists that calls.def includes; with --check, tells
whether it is fresh."""

import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE.parent.parent / "docs" / "compat" / "posix-calls.md"
ENTRY = re.compile(r"^(SERVED|ALIAS|REFUSED|VARIADIC|FORWARDED)\((.*)\)\s*(?://\s*(.*))?$")
NAME = re.compile(r"[ ,*]([A-Za-z_0-9]+), \(")

HEAD = """# The calls that libcairn_posix.so intercepts

Made from `adapters/posix/*/calls.def` by `adapters/posix/make_calls_table.py`: do not edit.

- **served**: works on covered files as on any.
- **refused**: fails on a covered file with a clean errno and one line on stderr that names it; on other
  files it is the system's call.
- **forwarded**: not intercepted, and need not be.

A call that is in no row and takes a path acts on the directory below the cover; on a Cairn descriptor
it returns `EBADF`. [The adapter](../../adapters/posix/README.md) has what cannot be served at all.
"""


def lists():
    """The lists that calls.def includes, in its order."""
    included = re.findall(r'^#include "posix/(.*)"$', (HERE / "calls.def").read_text(), re.M)
    return [HERE / name for name in included]


def entries(path):
    """(section, kind, name, target, note) of each entry."""
    section = ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("// == "):
            section = line[6:]
            continue
        match = ENTRY.match(line)
        if not match:
            if line and not line.startswith("//"):
                sys.exit(f"{path.relative_to(HERE)}:{number}: no entry: {line}")
            continue
        kind, body, note = match.groups()
        if kind == "FORWARDED":
            name = body
        elif kind == "VARIADIC":
            name = body.split(",")[1].strip()
        else:
            name = NAME.search(body).group(1)
        target = ""
        if kind == "ALIAS":
            target = re.findall(r"serve::(\w+)\(", body)[-1]
        yield section, kind, name, target, note or ""


def table():
    rows = [row for path in lists() for row in entries(path)]
    sections = list(dict.fromkeys(section for section, *_ in rows))
    rows.sort(key=lambda row: sections.index(row[0]))  # several folders may serve one section
    aliases = {}
    for _, kind, name, target, _ in rows:
        if kind == "ALIAS":
            aliases.setdefault(target, []).append(name)
    served = sum(kind in ("SERVED", "ALIAS", "VARIADIC") for _, kind, *_ in rows)
    refused = sum(kind == "REFUSED" for _, kind, *_ in rows)
    out = [HEAD, f"{served} names are served, {refused} refused.\n"]
    current = None
    known = {name for _, kind, name, *_ in rows if kind != "ALIAS"}
    for section, kind, name, target, note in rows:
        if kind == "ALIAS" and target in known:
            continue
        if section != current:
            out.append(f"\n## {section}\n\n| call | | also | |\n| --- | --- | --- | --- |\n")
            current = section
        word = {"REFUSED": "refused", "FORWARDED": "forwarded"}.get(kind, "served")
        also = " ".join(f"`{alias}`" for alias in aliases.get(name, []))
        out.append(f"| `{name}` | {word} | {also} | {note} |\n")
    return "".join(out)


fresh = table()
if "--check" in sys.argv[1:]:
    if not TABLE.exists() or TABLE.read_text() != fresh:
        sys.exit(f"{TABLE.name} is out of date: run adapters/posix/make_calls_table.py")
else:
    TABLE.write_text(fresh)
