"""An MPI that is not known: one line names it and those that are known, and names that begin with
cairn: are errors instead of files of that MPI."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
LIBRARY = r"""
#include <stdio.h>
int MPI_Init(int* argc, char*** argv) { (void)argc; (void)argv; return 0; }
int MPI_Get_library_version(char* text, int* length) { *length = sprintf(text, "Fancy MPI 1.0\nof today"); return 0; }
int MPI_File_open(int comm, const char* name, int mode, int info, int* file) {
  (void)comm; (void)mode; (void)info; *file = 1; printf("opened %s\n", name); return 0;
}
int MPI_File_delete(const char* name, int info) { (void)info; printf("deleted %s\n", name); return 0; }
#ifdef CLASSES
int MPI_Add_error_class(int* made) { *made = 71; return 0; }
int MPI_Add_error_string(int code, const char* text) { printf("%d: %s\n", code, text); return 0; }
#endif
"""
PROGRAM = r"""
#include <stdio.h>
int MPI_Init(int*, char***);
int MPI_File_open(int, const char*, int, int, int*);
int MPI_File_delete(const char*, int);
int main(void) {
  int file = 0;
  MPI_Init(0, 0);
  for (int i = 0; i < 2; ++i) {
    printf("ours %d\n", MPI_File_open(0, "cairn:file", 9, 0, &file));
    printf("delete ours %d\n", MPI_File_delete("cairn:file", 0));
  }
  printf("plain %d\n", MPI_File_open(0, "file", 9, 0, &file));
  printf("delete plain %d\n", MPI_File_delete("file", 0));
  return 0;
}
"""
PLAIN = ["opened file", "plain 0", "deleted file", "delete plain 0"]
TELLS = "71: cairn: MPI-IO is not served: names that begin with cairn: cannot be used"


def refused(code):
    return [f"ours {code}", f"delete ours {code}"] * 2


compiler = shutil.which("cc") or shutil.which("gcc")
if compiler is None:
    print("no C compiler is here")
    sys.exit(77)
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
scratch = tempfile.mkdtemp(prefix="cairn-unknown-mpi-", dir=memory)
failed = []


def build(*words):
    subprocess.run([compiler, "-w", *map(str, words)], check=True, cwd=scratch)


try:
    for name, text in (("library.c", LIBRARY), ("program.c", PROGRAM)):
        pathlib.Path(scratch, name).write_text(text, encoding="ascii")
    # A name that no known MPI has, and one that a known MPI has.
    for soname, flags, expected in (("libmpi.so.77", ["-DCLASSES"], [TELLS, *refused(71), *PLAIN]),
                                    ("libmpi.so.40", [], [*refused(16), *PLAIN])):
        build("-shared", "-fPIC", *flags, f"-Wl,-soname,{soname}", "library.c", "-o", soname)
        build("program.c", f"./{soname}", "-Wl,-rpath," + scratch, "-o", f"program-{soname}")
        work = os.path.join(scratch, f"work-{soname}")
        for rank, lines in (("", 1), ("0", 1), ("1", 0)):
            os.mkdir(work)
            environment = {**os.environ, "CAIRN_POOL_DIR": os.path.join(scratch, "pools")}
            environment.pop("OMPI_COMM_WORLD_RANK", None)
            if rank:
                environment["OMPI_COMM_WORLD_RANK"] = rank
            done = subprocess.run([
                CAIRN, "run", "--at", ".", "--pool-size", "64MiB", "--",
                os.path.join(scratch, f"program-{soname}")
            ], cwd=work, env=environment, capture_output=True, text=True, errors="replace",
                                  timeout=120, check=False)
            told = [
                line for line in done.stderr.splitlines()
                if line.startswith("cairn: MPI-IO is not served")
            ]
            named = all(word in line for line in told
                        for word in ('"Fancy MPI 1.0"', soname, "Open MPI", "MPICH",
                                     "libmpi_abi.so"))
            if done.returncode != 0 or done.stdout.splitlines() != expected or len(
                    told) != lines or not named:
                failed.append(
                    f"{soname}, rank {rank}: {done.returncode}\n{done.stdout}{done.stderr}")
            shutil.rmtree(work)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
print("\n".join(failed) or "ok")
sys.exit(bool(failed))
