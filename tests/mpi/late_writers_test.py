"""A rank that does not come to a collective write: the others do not wait for it longer than
CAIRN_MPI_TIMEOUT, and not at all once it is dead. With every MPI that was found."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "mpi").glob("*/conformance"))
RANKS = 3
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}
# The job goes on when a rank is killed. (MPICH's launcher ends then, with its own option for that
# too.)
GOES_ON = {"openmpi": ("--mca", "orte_enable_recovery", "1")}

if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(77)
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
scratch = tempfile.mkdtemp(prefix="cairn-late-", dir=memory)
failed = False


def run(program, part, options, settings):
    mpi = program.parent.name
    directory = tempfile.mkdtemp(prefix=f"{mpi}-", dir=scratch)
    launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
    return subprocess.run([
        CAIRN, "run", "--at", ".", "--pool-size", "64MiB", "--", launcher, *options, "-n",
        str(RANKS), program, part
    ], cwd=directory, env={
        **os.environ, **ENVIRONMENT, **settings, "CAIRN_POOL_DIR": os.path.join(scratch, "pools")
    }, capture_output=True, text=True, errors="replace", timeout=200, check=False)


def expect(what, right, done):
    global failed
    print(f"{what}: {'ok' if right else f'failed: {done.returncode}'}", flush=True)
    if not right:
        failed = True
        print(done.stdout[-3000:], done.stderr[-3000:], flush=True)


try:
    for program in PROGRAMS:
        mpi = program.parent.name
        done = run(program, "late_writer", (), {"CAIRN_MPI_TIMEOUT": "2"})
        told = re.findall(
            rf"^cairn: MPI-IO: late_writer: size: after 2 s rank {RANKS - 1} \(process \d+\) has"
            r" not finished",
            done.stderr,
            re.M,
        )
        expect(f"{mpi}: one is late", done.returncode == 0 and len(told) == RANKS - 1, done)
        if mpi in GOES_ON:
            done = run(program, "killed_writer", GOES_ON[mpi], {})
            expect(f"{mpi}: one is killed", done.stdout.count("went on") == RANKS - 1, done)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(failed)
