"""include/cairn/api.def names exactly the functions that the public headers declare; docs/c-api.md
is made from it."""

import re
import subprocess
import sys

import structure

DECLARED = re.compile(r"\bCAIRN_API\s[^;{]*?\bcairn_(\w+)\s*\(")
LISTED = re.compile(r"^CAIRN_CALL\((\w+)\)$", re.M)


def check(headers, listed):
    """`headers`: text of the headers. `listed`: text of the list."""
    declared = DECLARED.findall(structure.without_comments(headers))
    names = LISTED.findall(listed)
    problems = [f"api.def lacks cairn_{name}" for name in sorted(set(declared) - set(names))]
    problems += [f"api.def names cairn_{name}, which no header declares"
                 for name in sorted(set(names) - set(declared))]
    problems += [f"api.def names cairn_{name} twice"
                 for name in sorted({n for n in names if names.count(n) > 1})]
    return problems


structure.must_find(check, [
    ("CAIRN_API int cairn_open(int\n a);", ""),
    ("", "CAIRN_CALL(open)\n"),
    ("CAIRN_API int cairn_open(int a);", "CAIRN_CALL(open)\nCAIRN_CALL(open)\n"),
])
structure.must_accept(check, [
    ("/* as cairn_close() */ CAIRN_API const char* cairn_open(int a);", "CAIRN_CALL(open)\n"),
    ("#define CAIRN_API __attribute__((visibility(\"default\")))\n", ""),
])

headers = [n for n in structure.files(".h") if n.parts[0] == "include"]
found = check("\n".join(map(structure.text, headers)), structure.text("include/cairn/api.def"))
made = subprocess.run(
    [sys.executable, "-B", structure.ROOT / "include/cairn/make_api_reference.py", "--check"],
    capture_output=True, text=True, check=False)
found += [made.stderr.strip()] if made.returncode != 0 else []
structure.verdict(found, f"api.def and {len(headers)} headers name the same functions")
