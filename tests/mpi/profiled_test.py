"""MPI programs under a profiling tool that interposes MPI-IO (tool/tool.c.in), in every way to
bring the two together: the tool sees each call of the program once, with its file and its bytes,
none of Cairn's own, and the files are served."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
LIBRARY = pathlib.Path(os.environ["CAIRN_LIB_DIR"]) / "libcairn_posix.so"
TOOL = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"]) / "tests/mpi/tool"
FIRST = os.environ.get("CAIRN_PRELOAD_FIRST", "")  # a sanitizer's runtime
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader"
}
RANKS = 3
SKIPPED = 77
# What the program does, by call and file: calls and bytes of a rank.
COMMON = {("MPI_Finalize", "-"): (1, 0), ("MPI_File_open", "one"): (1, 0),
          ("MPI_File_close", "one"): (1, 0), ("MPI_File_write_at_all", "one"): (1, 1000),
          ("MPI_File_read_at_all", "one"): (1, 1000)}
PROGRAM = {
    **COMMON, ("MPI_Init", "-"): (1, 0), ("MPI_File_write_at", "one"): (1, 1000),
    ("MPI_File_sync", "one"): (1, 0), ("MPI_File_iread_at", "one"): (1, 500),
    ("MPI_File_open", "two"): (1, 0), ("MPI_File_set_view", "two"): (1, 0),
    ("MPI_File_write_ordered", "two"): (1, 100), ("MPI_File_write_shared", "two"): (1, 50),
    ("MPI_File_close", "two"): (1, 0), ("MPI_File_open", "/dev/null"): (1, 0),
    ("MPI_File_close", "/dev/null"): (1, 0), ("MPI_File_open", "cairn:three"): (1, 0),
    ("MPI_File_close", "cairn:three"): (1, 0)
}
FORTRAN = {
    **COMMON, ("MPI_Init", "-"): (1, 0), ("MPI_File_open", "cairn:three"): (1, 0),
    ("MPI_File_close", "cairn:three"): (1, 0)
}
failed = []


def run(command, **more):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          errors="replace", check=False, timeout=120, **more)


def need(command):
    done = run(command)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


class Tools:
    """The tool and the program, for one MPI."""

    def __init__(self, scratch, mpi):
        self.scratch, self.mpi, self.count = scratch, mpi, 0
        self.launcher = f"mpirun.{mpi}"
        at = lambda name: os.path.join(scratch, f"{mpi}-{name}")
        for name in ("tool", "program"):
            shutil.copy(TOOL / f"{name}.c.in", at(f"{name}.c"))
        cc = [f"mpicc.{mpi}", "-std=gnu11", "-O1", "-w"]
        self.next, self.link, self.linked, self.static = at("next.so"), at("libtool_link.so"), at(
            "linked"), at("static")
        self.plain, self.fortran = at("plain"), None
        need([*cc, "-DNEXT", "-shared", "-fPIC", at("tool.c"), "-o", self.next, "-ldl"])
        need([*cc, "-shared", "-fPIC", at("tool.c"), "-o", self.link])
        need([*cc, at("program.c"), "-o", self.plain])
        need([*cc, at("program.c"), "-Wl,--no-as-needed", self.link, "-o", self.linked])
        need([*cc, at("program.c"), at("tool.c"), "-o", self.static])
        if shutil.which(f"mpifort.{mpi}") and shutil.which("gfortran"):
            shutil.copy(TOOL / "program.f90.in", at("program.f90"))
            self.fortran = at("fortran")
            need([f"mpifort.{mpi}", "-J", scratch, at("program.f90"), "-o", self.fortran])

    def look(self, what, command, preload=None, expected=PROGRAM):
        self.count += 1
        directory = os.path.join(self.scratch, f"{self.mpi}{self.count}")
        os.mkdir(directory)
        out = os.path.join(self.scratch, f"{self.mpi}{self.count}.out")
        environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(self.scratch, "pools"),
            "TOOL_OUT": out
        }
        if preload:
            environment["LD_PRELOAD"] = ":".join(filter(None, [FIRST, *map(str, preload)]))
        command = [str(word).replace("LAUNCHER", self.launcher) for word in command]
        done = run(command, cwd=directory, env=environment)
        problems = []
        if (
            done.returncode != 0
            or "served, 0 wrong" not in done.stdout
            or "not served" in done.stdout
        ):
            problems.append(
                f"exit code {done.returncode}: {done.stdout[-1500:]}{done.stderr[-1500:]}")
        files = sorted(os.listdir(directory))
        if files != (["one", "three", "two"] if expected is PROGRAM else ["one", "three"]):
            problems.append(f"files {files}")
        for rank in range(RANKS):
            seen = {}
            if os.path.exists(f"{out}.{rank}"):
                with open(f"{out}.{rank}", encoding="utf-8") as file:
                    for line in file:
                        call, calls, name, size = line.split()
                        seen[call, name] = int(calls), int(size)
            if seen != expected:
                problems.append(f"rank {rank}: too much {sorted(seen.items() - expected.items())}, "
                                f"missing {sorted(expected.items() - seen.items())}")
        print(f"{self.mpi}: {what}: {'ok' if not problems else 'failed'}", flush=True)
        if problems:
            failed.append(what)
            print("\n".join(problems), flush=True)

    def all(self):
        cover = [CAIRN, "run", "--at", ".", "--pool-size", "64MiB", "--"]
        ranks = ["LAUNCHER", "-n", RANKS]
        give = (lambda value: ["-x", f"LD_PRELOAD={value}"]) if self.mpi == "openmpi" else (
            lambda value: ["-genv", "LD_PRELOAD", value])
        for form, tool in (("by RTLD_NEXT", self.next), ("by name", self.link)):
            self.look(f"preloaded, {form}", [*cover, *ranks, self.plain], [tool])
            self.look(f"preloaded, {form}, cairn run in each rank", [*ranks, *cover, self.plain],
                      [tool])
            given = ":".join(filter(None, [FIRST, str(tool)]))
            self.look(f"preloaded by the launcher, {form}",
                      [*cover, *ranks, *give(given), self.plain])
            self.look(f"preloaded by the launcher, {form}, cairn run in each rank",
                      [*ranks, *give(given), *cover, self.plain])
            for order, both in (("Cairn first", [LIBRARY, tool]), ("Cairn last", [tool, LIBRARY])):
                given = ":".join(filter(None, [FIRST, *map(str, both)]))
                self.look(f"preloaded, {form}, {order}", [*cover, *ranks, *give(given), self.plain])
                self.look(f"preloaded, {form}, {order}, set by the rank",
                          [*cover, *ranks, "env", f"LD_PRELOAD={given}", self.plain])
        self.look("linked to the program", [*cover, *ranks, self.linked])
        self.look("part of the program", [*cover, *ranks, self.static])
        if self.fortran:
            self.look("preloaded, by RTLD_NEXT, Fortran", [*cover, *ranks, self.fortran],
                      [self.next], FORTRAN)


tried = 0
scratch_directory = tempfile.mkdtemp(prefix="cairn-profiled-",
                                     dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
try:
    for one in ("openmpi", "mpich"):
        if shutil.which(f"mpicc.{one}") and shutil.which(f"mpirun.{one}"):
            Tools(scratch_directory, one).all()
            tried += 1
finally:
    shutil.rmtree(scratch_directory, ignore_errors=True)
if tried == 0:
    print("no MPI with a compiler is here")
    sys.exit(SKIPPED)
sys.exit(1 if failed else 0)
