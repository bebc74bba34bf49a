"""An MPI that Cairn was not built for: programs, `cairn doctor` and `cairn bench` say how to get it
served, in the same words."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(os.environ["CAIRN_BUILD_DIR"])
AGAIN = "build Cairn again with this MPI's mpicc in PATH"
LIBRARY = r"""
#include <stdio.h>
int MPI_Init(int* argc, char*** argv) { (void)argc; (void)argv; return 0; }
int MPI_Get_library_version(char* text, int* length) {
  *length = sprintf(text, "Open MPI v4.1");
  return 0;
}
int MPI_File_open(int comm, const char* name, int mode, int info, int* file) {
  (void)comm; (void)name; (void)mode; (void)info; *file = 1; return 0;
}
"""
PROGRAM = r"""
int MPI_Init(int*, char***);
int MPI_File_open(int, const char*, int, int, int*);
int main(void) {
  int file = 0;
  MPI_Init(0, 0);
  return MPI_File_open(0, "file", 9, 0, &file);
}
"""

compiler = shutil.which("cc") or shutil.which("gcc")
if compiler is None:
    print("no C compiler is here")
    sys.exit(77)


def build(where, name, text, *words):
    source = where / f"{name}.c"
    source.write_text(text, encoding="ascii")
    subprocess.run([compiler, "-w", source, *words, "-o", where / name], check=True)


def says(what, words, environment, code=None):
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    text = " ".join((done.stdout + done.stderr).split())
    print(f"{what}: {text[:300]}")
    if AGAIN not in text or code not in (None, done.returncode):
        sys.exit(f"{what}: exit code {done.returncode}, without '{AGAIN}'")


# An installation without back ends and kernels. Hard links: the command looks beside itself.
with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
    here = pathlib.Path(scratch)
    for name in ("bin/cairn", "lib/libcairn_posix.so"):
        (here / name).parent.mkdir(parents=True)
        os.link(BUILD / name, here / name)
    (here / "lib/cairn").mkdir()
    (here / "lib/cairn/python").symlink_to(BUILD / "lib/cairn/python")
    (here / "covered").mkdir()
    build(here, "libmpi.so.40", LIBRARY, "-shared", "-fPIC", "-Wl,-soname,libmpi.so.40")
    build(here, "program", PROGRAM, here / "libmpi.so.40", f"-Wl,-rpath,{here}")
    (here / "orterun").write_text("#!/bin/sh\necho 'mpirun (Open MPI) 4.1'\n")
    (here / "orterun").chmod(0o755)
    (here / "mpirun.openmpi").symlink_to("orterun")
    (here / "mpirun").symlink_to("orterun")
    environment = {
        **os.environ, "CAIRN_POOL_DIR": str(here / "pools"), "CAIRN_POOL_SIZE": "64MiB",
        "PATH": f"{here}:/usr/bin:/bin"
    }
    cairn = here / "bin/cairn"
    run = [cairn, "run", "--at", here / "covered", "--", here / "program"]
    says("program", run, environment, 0)
    says("doctor", [cairn, "doctor"], environment)
    if BUILD.joinpath("lib/cairn/python/cairn_bench").exists():
        run = [cairn, "bench", "run", "noise", "--output", here / "results"]
        says("bench", run, environment, 2)
