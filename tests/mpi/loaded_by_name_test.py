"""A program that loads the MPI itself, under a name without its version, as mpi4py does: the MPI is
known by what it calls itself."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
SKIPPED = 77
# As Python loads a library and then an extension that is linked to it. The first MPI call is one of
# those that pass through us.
PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char** words) {
  if (count < 3 || dlopen(words[1], RTLD_NOW | RTLD_LOCAL) == NULL) return puts(dlerror());
  void* rest = dlopen(words[2], RTLD_NOW | RTLD_LOCAL);
  if (rest == NULL) return puts(dlerror());
  int (*run)(void) = (int (*)(void))dlsym(rest, "run");
  return run();
}
"""
EXTENSION = """
#include <mpi.h>
#include <stdio.h>
int run(void) {
  int given, count;
  MPI_File file;
  MPI_Status status;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_SINGLE, &given);
  MPI_File_open(MPI_COMM_WORLD, "made", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  MPI_File_write_at_all(file, 0, "by MPI", 6, MPI_CHAR, &status);
  MPI_Get_count(&status, MPI_CHAR, &count);
  MPI_File_close(&file);
  printf("%d bytes\\n", count);
  return MPI_Finalize();
}
"""


def run(command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", check=False, timeout=120, **more)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def try_it(mpi, scratch):
    at = lambda name: os.path.join(scratch, name)
    for name, text in (("program.c", PROGRAM), ("extension.c", EXTENSION)):
        pathlib.Path(at(name)).write_text(text, encoding="utf-8")
    run(["cc", "-o", at("program"), at("program.c"), "-ldl"])
    run([f"mpicc.{mpi}", "-shared", "-fPIC", "-o", at("extension.so"), at("extension.c")])
    libraries = [
        line.split("=>")[1].split()[0] for line in run(["ldd", at("extension.so")]).splitlines()
        if line.split()[0].startswith(("libmpi.so.", "libmpich.so.")) and "=>" in line
    ]
    os.symlink(libraries[0], at("libmpi.so"))
    os.mkdir(at("dir"))
    said = run([
        CAIRN, "run", "--at",
        at("dir"), "--pool-size", "64M", "--",
        at("program"),
        at("libmpi.so"),
        at("extension.so")
    ], cwd=at("dir"), env={**os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": at("pools")})
    made = pathlib.Path(at("dir/made")).read_text(encoding="utf-8")
    if "6 bytes" not in said or made != "by MPI":
        sys.exit(f"{mpi}: {said!r}, {made!r}")
    print(f"{mpi}: as linked to it")


def main():
    mpis = [mpi for mpi in ("openmpi", "mpich") if shutil.which(f"mpicc.{mpi}")]
    if not mpis or not shutil.which("cc"):
        print("no MPI here")
        sys.exit(SKIPPED)
    for mpi in mpis:
        with tempfile.TemporaryDirectory(
                prefix="cairn-loaded-",
                dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as scratch:
            os.mkdir(os.path.join(scratch, "pools"), 0o700)
            try_it(mpi, scratch)


if __name__ == "__main__":
    main()
