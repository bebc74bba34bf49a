"""The public libraries bring nothing into their host: no foreign libraries, no stray symbols."""

import os
import pathlib
import re
import subprocess
import sys

import structure

LIBRARIES = pathlib.Path(os.environ.get("CAIRN_LIB_DIR", structure.BUILD / "lib"))
# Old glibc has pthread, dl and rt in libraries of their own.
MAY_NEED = re.compile(r"^(libc|libm|libpthread|libdl|librt)\.so\.\d+$|^ld-linux[\w-]*\.so\.\d+$")
MAPS = {"libcairn.so": structure.BUILD / "cairn.map",  # made from include/cairn/api.def
        "libcairn_posix.so": structure.ROOT / "adapters/posix/posix.map"}


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def exported(library):
    """Names of the dynamic symbols that `library` defines, versions cut off."""
    names = set()
    for line in output("nm", "-D", "--defined-only", "--format=posix", str(library)).splitlines():
        name, kind = line.split()[:2]
        if kind != "A":  # the names of the versions themselves
            names.add(name.split("@")[0])
    return names


def patterns_of(version_script):
    """The global patterns of a version script as one compiled expression."""
    source = re.sub(r"/\*.*?\*/|#[^\n]*|//[^\n]*", "", version_script, flags=re.S)
    names = []
    for body in re.findall(r"\{(.*?)\}", source, re.S):
        scope = "global"
        for word in re.findall(r"[\w*?$.]+\s*:?", body):
            if word.rstrip(": \n") in ("global", "local") and word.endswith(":"):
                scope = word.rstrip(": \n")
            elif scope == "global":
                names.append(word.strip())
    return names


def declared():
    """Functions that the public headers declare and a library has to define."""
    names = set()
    for header in structure.files(".h"):
        if header.parts[0] != "include":
            continue
        source = structure.without_comments(structure.text(header))
        source = re.sub(r"^\s*#[^\n]*(\\\n[^\n]*)*", "", source, flags=re.M)
        source = re.sub(r"\bstatic\s+inline\b[^{;]*\{.*?^\}", "", source, flags=re.S | re.M)
        names |= set(re.findall(r"\b(cairn_\w+)\s*\(", source))
    return names


if patterns_of("V_1 { global: a_*; b; local: *; };\nV_2 { c; } V_1;") != ["a_*", "b", "c"]:
    sys.exit("the check itself is broken: it misreads version scripts")

found = []
seen = []
for file_name, script in MAPS.items():
    library = LIBRARIES / file_name
    if not library.exists():
        continue
    seen.append(file_name)
    dynamic = output("readelf", "-dW", str(library))
    if not os.environ.get("CAIRN_SANITIZE"):
        for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic):
            if not MAY_NEED.match(needed):
                found.append(f"{file_name} needs {needed}")
        if re.search(r"\((RPATH|RUNPATH|TEXTREL)\)", dynamic):
            found.append(f"{file_name} has a run path or relocations in its text")
        if re.search(r"GNU_STACK.*RWE", output("readelf", "-lW", str(library))):
            found.append(f"{file_name} asks for an executable stack")
    names = exported(library)
    for name in sorted(names):
        if name.startswith("_Z"):
            found.append(f"{file_name} exports the C++ symbol {name}")
    if script.exists():
        patterns = patterns_of(script.read_text())
        allowed = re.compile("|".join(p.replace(".", r"\.").replace("*", ".*").replace("?", ".")
                                      for p in patterns) or "$^")
        for name in sorted(names):
            if not allowed.fullmatch(name):
                found.append(f"{file_name} exports {name}, which {script.name} does not list")
        for pattern in patterns:
            if re.fullmatch(r"\w+", pattern) and pattern not in names:
                found.append(f"{script.name} lists {pattern}, which {file_name} does not define")
    if file_name == "libcairn.so":
        if not re.search(r"\(SONAME\).*\[libcairn\.so\.0\]", dynamic):
            found.append("libcairn.so is not named libcairn.so.0")
        # A header may be agreed on before the folder that implements it has its first source.
        implemented = any(n.parts[:2] == ("src", "capi") for n in structure.files(".cc"))
        for name in sorted(declared() - names) if implemented else []:
            found.append(f"include/cairn declares {name}, which libcairn.so does not export")
        for name in sorted(names - declared()):
            found.append(f"libcairn.so exports {name}, which no public header declares")
if not seen:
    print("no public library is built")
    sys.exit(structure.SKIPPED)
structure.verdict(found, f"{', '.join(seen)} stand by themselves")
