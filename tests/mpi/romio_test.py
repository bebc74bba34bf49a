"""What is said to ROMIO holds where it is the MPI's I/O: a file system's name in front of a file's
("ufs:file") is no part of that name, also on Open MPI with ROMIO; an open that fails because of
ROMIO_FSTYPE_FORCE says so. With every MPI that was found."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "mpi").glob("*/conformance"))
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}
STRIPPED = {"prefixed", "capital", "other:kept"}
KEPT = {"ufs:prefixed", "UFS:capital", "other:kept"}
# A file system that neither MPI of Debian was built for.
FORCED = {"ROMIO_FSTYPE_FORCE": "gpfs:"}

if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(77)
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
scratch = tempfile.mkdtemp(prefix="cairn-romio-", dir=memory)
failed = False


def romio_of(launcher):
    """Open MPI's component, if it has been built."""
    info = shutil.which(f"ompi_info.{launcher}") or shutil.which("ompi_info")
    done = subprocess.run([info, "--parsable"], capture_output=True, text=True,
                          check=False) if info else None
    found = [
        line.split(":")[2] for line in (done.stdout.splitlines() if done else [])
        if line.startswith("mca:io:romio")
    ]
    return found[0] if found else None


def run(program, part, settings):
    mpi = program.parent.name
    directory = tempfile.mkdtemp(prefix=f"{mpi}-", dir=scratch)
    launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
    done = subprocess.run([
        CAIRN, "run", "--at", ".", "--pool-size", "64MiB", "--", launcher, "-n", "2", program, part
    ], cwd=directory, env={
        **os.environ, **ENVIRONMENT, **settings, "CAIRN_POOL_DIR": os.path.join(scratch, "pools")
    }, capture_output=True, text=True, errors="replace", timeout=200, check=False)
    return done, set(os.listdir(directory))


def expect(what, right, done, names):
    global failed
    print(f"{what}: {'ok' if right else f'failed: {done.returncode}, {sorted(names)}'}", flush=True)
    if not right:
        failed = True
        print(done.stdout[-3000:], done.stderr[-3000:], flush=True)


def prefixes(what, program, settings, expected):
    done, names = run(program, "file_system_prefix", settings)
    expect(f"{what}: names", done.returncode == 0 and names == expected, done, names)


def forced(what, program, settings, opens):
    done, names = run(program, "forced_file_system", {**settings, **FORCED})
    said = done.stdout.splitlines()
    told = [
        line for line in said
        if line.startswith("refused: forced: ") and "ROMIO_FSTYPE_FORCE=gpfs:" in line
    ]
    expect(f"{what}: ROMIO_FSTYPE_FORCE", done.returncode == 0
           and ("opened" in said if opens else len(told) == 1), done, names)


try:
    for one in PROGRAMS:
        if one.parent.name != "openmpi":
            prefixes(one.parent.name, one, {}, STRIPPED)
            forced(one.parent.name, one, {}, False)
            continue
        prefixes("openmpi", one, {"OMPI_MCA_io": "ompio"}, KEPT)
        forced("openmpi", one, {"OMPI_MCA_io": "ompio"}, True)
        if romio := romio_of("openmpi"):
            prefixes(f"openmpi, {romio}", one, {"OMPI_MCA_io": romio}, STRIPPED)
            forced(f"openmpi, {romio}", one, {"OMPI_MCA_io": romio}, False)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(failed)
