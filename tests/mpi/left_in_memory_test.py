"""Files in /dev/shm by which ranks share memory: none is left when a rank ends the job right after
MPI_File_open, and a job removes those that dead ranks of the same user have left, and nothing else.
With every MPI that was found."""

import errno
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "mpi").glob("*/conformance"))
MEMORY = pathlib.Path("/dev/shm")
PREFIX = "cairn-mpiio-"
ABORTS = 10
RANKS = 4
NOBODY = 65534
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}

if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(77)
if not os.access(MEMORY, os.W_OK):
    print("there is no /dev/shm to write to")
    sys.exit(77)
scratch = tempfile.mkdtemp(prefix="cairn-left-", dir=MEMORY)
failed = False


def expect(what, right, *more):
    global failed
    print(f"{what}: {'ok' if right else 'failed'}", *(() if right else more), flush=True)
    failed = failed or not right


def run(program, ranks, part):
    mpi = program.parent.name
    directory = tempfile.mkdtemp(prefix=f"{mpi}-", dir=scratch)
    launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
    return subprocess.run(
        [
            CAIRN, "run", "--at", ".", "--pool-size", "64MiB", "--", launcher, "-n",
            str(ranks), program, part
        ], cwd=directory,
        env={**os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(scratch, "pools")},
        capture_output=True, text=True, errors="replace", timeout=200, check=False)


def names():
    return {path.name for path in MEMORY.glob(PREFIX + "*")}


def is_left(name):
    """Its maker is dead. Other tests' jobs may be opening files now."""
    try:
        file = os.open(MEMORY / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.EWOULDBLOCK):
            return False
        raise
    os.close(file)
    return True


def aborts(program):
    """A job would remove what the one before it has left."""
    left = 0
    for _ in range(ABORTS):
        before = names()
        run(program, RANKS, "abort_after_open")
        left += sum(is_left(name) for name in names() - before)
    expect(f"{program.parent.name}: {ABORTS} aborts after MPI_File_open", left == 0,
           f"{left} files are left")


def removes_what_is_left(program):
    place = MEMORY / f"{PREFIX}{os.getpid()}"
    paths = {
        what: pathlib.Path(f"{place}-{what}")
        for what in ("left", "locked", "link", "target", "directory", "fifo", "others")
    }
    other = pathlib.Path(scratch) / "other"
    other.write_text("kept", encoding="ascii")
    try:
        for what in ("left", "locked", "others"):
            paths[what].write_text("", encoding="ascii")
        paths["link"].symlink_to(other)
        paths["directory"].mkdir()
        os.mkfifo(paths["fifo"])
        kept = {"locked", "link", "directory", "fifo"}
        if os.geteuid() == 0:
            os.chown(paths["others"], NOBODY, NOBODY)
            kept.add("others")
        with open(paths["locked"], encoding="ascii") as locked:
            fcntl.flock(locked, fcntl.LOCK_SH)
            done = run(program, 2, "sizes")
        found = {what for what, path in paths.items() if os.path.lexists(path)}
        expect(
            f"{program.parent.name}: what dead ranks have left",
            done.returncode == 0 and found == kept and other.exists(),
            f"{sorted(found)} are there, not"
            f" {sorted(kept)}\n{done.stdout[-2000:]}{done.stderr[-2000:]}",
        )
    finally:
        for path in paths.values():
            if path.is_dir() and not path.is_symlink():
                path.rmdir()
            else:
                path.unlink(missing_ok=True)


try:
    for one in PROGRAMS:
        aborts(one)
        removes_what_is_left(one)
finally:
    shutil.rmtree(scratch, ignore_errors=True)
sys.exit(failed)
