"""Ways of starting and ending MPI programs that open files, on one host, with every MPI that was
found: each thread level, several programs in one job, processes that others start, sessions without
MPI_Init, ends without MPI_Finalize and by MPI_Abort."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
PROGRAMS = sorted((pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "cluster").glob("*/starts_program"))
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it. Processes that others have started reach each other over TCP only.
ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader,tcp"
}
LEVELS = ("single", "funneled", "serialized", "multiple")
SKIPPED = 77
failed = []


class Runs:
    def __init__(self, scratch, mpi, program):
        self.scratch, self.mpi, self.program = scratch, mpi, program
        self.launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        self.count = 0

    def directory(self):
        self.count += 1
        path = os.path.join(self.scratch, f"{self.mpi}{self.count}")
        os.mkdir(path)
        return path

    def run(self, directory, *words, covered=True):
        """RUN: each rank is a run of its own, and so is what it starts."""
        run = [CAIRN, "run", "--at", directory, "--pool-size", "128MiB", "--"]
        cover = run if covered and "RUN" not in words else []
        words = [
            one for word in words for one in (
                run if word == "RUN" else [self.program if word == "PROGRAM" else str(word)])
        ]
        return subprocess.run([*cover, self.launcher, *words], cwd=directory, capture_output=True,
                              text=True, errors="replace", env={
                                  **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": os.path.join(
                                      self.scratch, "pools")
                              }, timeout=120, check=False)

    def expect(self, what, done, *said, code=0):
        right = (code is None or done.returncode == code) and all(word in done.stdout
                                                                  for word in said)
        print(f"{self.mpi}: {what}: {'ok' if right else f'failed: {done.returncode}'}", flush=True)
        if not right:
            failed.append(what)
            print(done.stdout[-3000:], done.stderr[-3000:], flush=True)

    def holds(self, what, directory, sizes):
        found = {
            name: os.stat(os.path.join(directory, name)).st_size
            for name in os.listdir(directory)
        }
        if found != sizes:
            failed.append(what)
            print(f"{self.mpi}: {what}: {found}, not {sizes}", flush=True)

    def all(self):
        for level in LEVELS:
            self.expect(f"MPI_Init_thread, {level}",
                        self.run(self.directory(), "-n", 3, "PROGRAM", "levels", level), "levels\n")
        directory = self.directory()
        self.expect(
            "several programs",
            self.run(directory, "-n", 2, "PROGRAM", "one_of_several", "writes", ":", "-n", 2,
                     "PROGRAM", "one_of_several", "nothing"), "one_of_several\n")
        self.holds("several programs", directory, {"of_some": 6000})
        self.expect("one rank before the others",
                    self.run(self.directory(), "-n", 3, "PROGRAM", "early"), "early\n")
        self.on_other_hosts()
        self.spawned()
        self.sessions()
        self.late_session()
        self.failing()
        for how, code in (("abort", 3), ("no_finalize", None), ("open", 0)):
            self.ends(how, code)

    def on_other_hosts(self):
        """As where the launcher has started some of the ranks elsewhere, which `cairn run` around
        it does not cover."""
        elsewhere = ("env", {"openmpi": "OMPI_COMM_WORLD_LOCAL_SIZE=1"
                             }.get(self.mpi, "MPI_LOCALNRANKS=1"))
        self.expect("a run around the launcher of several hosts",
                    self.run(self.directory(), "-n", 2, *elsewhere, "PROGRAM", "levels", "single"),
                    "covers only the launcher's host", code=None)
        self.expect("files of one rank there",
                    self.run(self.directory(), "-n", 2, *elsewhere, "PROGRAM", "early"), "early\n")
        inside = self.run(self.directory(), "-n", 2, CAIRN, "run", "--at", ".", "--", *elsewhere,
                          "PROGRAM", "levels", "single")
        self.expect("each rank in a run inside it", inside, "levels\n")

    def spawned(self):
        """Only where the MPI can do it here: Debian's MPICH 4.0 cannot."""
        if self.run(self.directory(), "-n", 2, "PROGRAM", "spawn", covered=False).returncode != 0:
            print(f"{self.mpi}: MPI_Comm_spawn does not work here", flush=True)
            return
        directory = self.directory()
        self.expect("MPI_Comm_spawn", self.run(directory, "-n", 2, "PROGRAM", "spawn"), "spawn\n",
                    "spawned\n")
        self.holds("MPI_Comm_spawn", directory,
                   {"of_parents": 6000, "of_children": 6000, "of_all": 12000})

        # A run around each rank: what those start is none, and waits for them in its MPI's own
        # MPI_File_open until they end the job.
        refused = (
            "of_all: open: some processes of the communicator were not in MPI_COMM_WORLD at"
            " MPI_Init"
        )
        together = f"together: {refused}"
        directory = self.directory()
        done = self.run(directory, "-n", 2, "RUN", "PROGRAM", "spawn")
        self.expect("MPI_Comm_spawn, each rank in a run", done, together, code=5)
        told = done.stderr.count(f"cairn: MPI-IO: {refused}")
        if told != 1:
            failed.append(f"MPI_Comm_spawn, each rank in a run: said {told} times")
        directory = self.directory()
        self.expect(
            "MPI_Comm_spawn, all in runs",
            self.run(directory, "-n", 2, "RUN", "PROGRAM", "spawn", "RUN", "PROGRAM", "spawn"),
            together, "spawn\n", "spawned\n")
        self.holds("MPI_Comm_spawn, all in runs", directory,
                   {"of_parents": 6000, "of_children": 6000})

    def sessions(self):
        done = self.run(self.directory(), "-n", 3, "PROGRAM", "session")
        if "this MPI has no part session" in done.stdout:
            return
        self.expect("a session without MPI_Init", done, "session\n")
        plain = self.run(self.directory(), "-n", 3, "PROGRAM", "session", covered=False)
        text = "of_session: open: this MPI cannot open files without MPI_Init"
        refused = text in done.stdout
        self.expect("as the MPI does it itself", done, *([f"together: {text}"] if refused else []))
        if refused and "together: " not in plain.stdout:
            failed.append("a session is refused that the MPI serves")
            print(plain.stdout, flush=True)

    def late_session(self):
        """Debian's MPICH 4.0 crashes by itself; tests/slow/mpi_versions_test.py has MPIs that do
        not."""
        plain = self.run(self.directory(), "-n", 3, "PROGRAM", "late_session", covered=False)
        if "this MPI has no part" in plain.stdout or plain.returncode != 0:
            print(f"{self.mpi}: no sessions after MPI_Finalize here", flush=True)
            return
        done = self.run(self.directory(), "-n", 3, "PROGRAM", "late_session")
        self.expect("a session after MPI_Finalize", done,
                    "together: of_session: open: MPI_Finalize was called", "late_session\n")

    def failing(self):
        """An error of the MPI's while a rank hears what another one has done: it must not go on as
        if that were success."""
        for _ in range(5):
            done = self.run(self.directory(), "-n", 3, self.program.parent / "failing_program",
                            "set_size")
            if done.returncode == 0 or done.stdout or done.stderr:
                break  # MPICH's launcher may lose all that a job has said that ends like this
        self.expect("an MPI that fails", done, code=None)
        if (
            done.returncode == 0
            or "went on" in done.stdout
            or 'waiting for rank 0: the MPI says "' not in done.stderr
        ):
            failed.append("an MPI that fails")
            print(done.returncode, done.stdout, done.stderr, flush=True)

    def ends(self, how, code):
        """All bytes of calls that have returned are there for the next job, also without
        MPI_File_sync."""
        directory = self.directory()
        # MPI_Abort may kill the rank that says so before it has; what is found afterwards shows
        # that all had written. A launcher may cut the line.
        said = () if how == "abort" else ("written",)
        self.expect(f"an end: {how}", self.run(directory, "-n", 3, "PROGRAM", "ends", how), *said,
                    code=code)
        self.expect(f"after it: {how}", self.run(directory, "-n", 2, "PROGRAM", "look", 3),
                    "look\n", "found 6\n")
        self.holds(f"after it: {how}", directory, {"closed": 9000, "synced": 18000})


if not PROGRAMS:
    print("no MPI was found when this was built")
    sys.exit(SKIPPED)
scratch_directory = tempfile.mkdtemp(prefix="cairn-starts-",
                                     dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
try:
    for one in PROGRAMS:
        Runs(scratch_directory, one.parent.name, one).all()
finally:
    shutil.rmtree(scratch_directory, ignore_errors=True)
sys.exit(1 if failed else 0)
