"""Each exported call that can reach a pool opens the write window first of all: without it the call
would fault where a program asks for CAIRN_ATTACH_WRITE_WINDOW, and only there."""

import re

import structure

# What reads nothing but the caller's own memory, or calls another exported function.
WITHOUT = {"cairn_last_error", "cairn_version", "cairn_retain", "cairn_file_ino", "cairn_file_pool",
           "cairn_fdatasync", "cairn_cover_top", "cairn_cover_path"}
FUNCTION = re.compile(r"^(?!\s)[\w\s*]+?\b(cairn_\w+)\(([^;{}]*?)\)\s*\{([^\n]*\}$|.*?^\})",
                      re.M | re.S)
SWITCH = re.compile(r"^\s*if \(\(flags & CAIRN_ATTACH_WRITE_WINDOW\) != 0\) \{.*?\n  \}", re.S)


def check(name, source):
    at = source.find('extern "C" {')
    problems = []
    for function in FUNCTION.finditer(source[at:] if at >= 0 else ""):
        body = SWITCH.sub("", function.group(3)).strip()
        # The transport holds no pool.
        if function.group(1) in WITHOUT or function.group(1).startswith("cairn_transport_"):
            continue
        if not body.startswith("const WriteWindow window;"):
            problems.append(f"{name}: {function.group(1)} does not begin with a WriteWindow")
    return problems


structure.must_find(check,
                [("src/capi/a.cc", 'extern "C" {\nint cairn_a(int x) {\n  return x;\n}\n}\n'),
                 ("src/capi/a.cc", 'extern "C" {\nint cairn_a(int x) { return x; }\n}\n')])
structure.must_accept(
    check,
    [("src/capi/a.cc",
      'extern "C" {\nint cairn_a(int x) {\n  const WriteWindow window;\n  return x;\n}\n}\n'),
     ("src/capi/a.cc", 'extern "C" {\nconst char* cairn_version(void) { return "1"; }\n}\n')])

found = []
names = [n for n in structure.files(".cc")
         if n.parts[:2] == ("src", "capi") and not n.stem.endswith("_test")]
for name in names:
    found += check(str(name), structure.text(name))
structure.verdict(found, f"{len(names)} files of exported calls")
