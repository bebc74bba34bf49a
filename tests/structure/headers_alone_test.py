"""Every header compiles alone: public ones as C11 and C++20 (.hpp: C++20), those of src/ as C++20.

The build has proved it already for a header whose own source includes it first.
"""

import concurrent.futures
import functools
import os
import re
import shutil
import subprocess
import sys

import structure

COMMON = ["-fsyntax-only", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function",
          "-Wno-unused-const-variable"]


def compilers():
    """(C, C++) pairs: the build's own, and clang where it is another one."""
    pairs = [(os.environ.get("CAIRN_CC", "cc"), os.environ.get("CAIRN_CXX", "c++"))]
    if shutil.which("clang") and "clang" not in pairs[0][0]:
        pairs.append(("clang", "clang++"))
    return pairs


def compile_alone(command, directory, header):
    """The problem with `header` (a list of none or one)."""
    # Through a file that includes it twice: #pragma once is no warning there, and guards are tried.
    source = f'#include "{header}"\n#include "{header}"\nint cairn_alone(void);\n'
    run = subprocess.run(command + ["-I", str(directory), "-"], input=source, text=True,
                         capture_output=True, check=False, cwd=structure.ROOT)
    if run.returncode == 0:
        return []
    return [f"{directory}/{header} does not compile alone: {' '.join(command)}\n{run.stderr}"]


def is_first_in_its_source(header):
    source = (structure.ROOT / header).with_suffix(".cc")
    if not source.exists():
        return False
    first = re.search(r'^#include ["<](.*)[">]', source.read_text(encoding="utf-8"), re.MULTILINE)
    return first is not None and first.group(1) == str(header.relative_to(header.parts[0]))


@functools.cache
def mpis():
    """Where the header of one MPI is: the build compiles the sources with that of each."""
    found = [["-isystem", "adapters/mpiio/abi"]]
    for wrapper in filter(shutil.which, ("mpicc.openmpi", "mpicc.mpich")):
        line = subprocess.run([wrapper, "-show"], capture_output=True, text=True, check=True).stdout
        found.append(
            [word.replace("-I", "-isystem", 1) for word in line.split() if word.startswith("-I")])
    return found[-1:]


jobs = []
for c, cxx in compilers():
    as_c = [c, "-x", "c", "-std=c11", "-Wpedantic", "-Wstrict-prototypes"] + COMMON
    as_cxx = [cxx, "-x", "c++", "-std=c++20", "-Wpedantic"] + COMMON
    jobs += [(as_cxx, "include", name.relative_to("include")) for name in structure.files(".hpp")
             if name.parts[0] == "include"]
    for name in structure.files(".h"):
        if name.parts[0] == "include":
            header = name.relative_to("include")
            jobs += [(as_c, "include", header), (as_cxx, "include", header)]
        elif is_first_in_its_source(name):
            continue
        elif name.parts[:3] == ("src", "cluster", "mpi") and c == compilers()[0][0]:
            jobs += [(as_cxx + ["-Iinclude"] + flags, "src", name.relative_to("src"))
                     for flags in mpis()]
        elif name.parts[0] == "src" and c == compilers()[0][0]:
            jobs.append((as_cxx + ["-Iinclude"], "src", name.relative_to("src")))
        elif name.parts[:3] == ("adapters", "mpiio", "backend") and c == compilers()[0][0]:
            jobs += [(as_cxx + ["-Iinclude", "-Isrc"] + flags, "adapters",
                      name.relative_to("adapters")) for flags in mpis()]
        elif name.parts[0] == "adapters" and c == compilers()[0][0]:
            jobs.append((as_cxx + ["-Iinclude"], "adapters", name.relative_to("adapters")))

if not jobs:
    print("no headers yet")
    sys.exit(structure.SKIPPED)
if not compile_alone([compilers()[0][1], "-x", "c++", *COMMON], "src", "base/no_such_header.h"):
    sys.exit("the check itself is broken: it accepts a header that is not there")
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    found = [problem for problems in pool.map(lambda job: compile_alone(*job), jobs)
             for problem in problems]
structure.verdict(found, f"{len(jobs)} compilations of headers by themselves")
