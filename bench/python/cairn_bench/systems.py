"""A system of the matrix: its directories, its pool, and the words around a kernel's command."""

import os
import pathlib
import shutil
import subprocess
import tempfile

from . import cells, installation, outside, reads, sizes
from .errors import Mistake

CPUS = len(os.sched_getaffinity(0))


def place(text):
    """A directory as the matrix gives it: ~ and variables replaced, absolute."""
    return pathlib.Path(os.path.abspath(os.path.expanduser(os.path.expandvars(text))))


class System:
    def __init__(self, name, given, launcher=None):
        self.name = name
        self.launcher = launcher  # None: mpirun; srun; or a template with {ranks}
        self.given = given
        self.cairn = given.get("cairn")
        self.directory = place(given["directory"])
        self.pool_directory = place(given.get("pool_directory", "/dev/shm")) if self.cairn else None
        usable = [mpi for mpi in installation.MPIS if installation.usable(mpi, launcher)]
        self.mpi = given.get("mpi") or (usable[0] if usable else "openmpi")
        self.scratch = None
        self.pools = None
        self.runs = 0

    def problems(self):
        found = []
        if not installation.usable(self.mpi, self.launcher):
            lacks = installation.what_lacks(self.mpi, self.launcher)
            found.append(f"systems.{self.name}: {lacks}")
        for key, directory in (
            ("directory", self.directory),
            ("pool_directory", self.pool_directory),
        ):
            if directory is not None and not os.access(directory, os.W_OK | os.X_OK):
                found.append(
                    f"systems.{self.name}.{key}: {directory}: not a directory that you can write to"
                )
        return [*found, *reads.problems(self.name, self.given, self.directory)]

    @property
    def medium(self):
        """The directory on whose medium the data lie while a kernel runs."""
        return self.pool_directory if self.cairn else self.directory

    def pool_size(self, cell):
        """Bytes of the pool: as given, else what the cell writes, and room for names and tables."""
        if "pool_size" in self.given:
            return sizes.parse(self.given["pool_size"])
        return cells.file_bytes(cell) * 5 // 4 + (64 << 20)

    def prepare(self, mine):
        """Makes the directories, and the pool that stays; `mine`: the system's cells."""
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-", dir=self.directory))
        if self.cairn:
            self.pools = pathlib.Path(
                tempfile.mkdtemp(prefix="cairn-bench-", dir=self.pool_directory)
            )
        if self.cairn == "kept":
            self.kept_size = max(map(self.pool_size, mine))
            self.make_pool()

    def make_pool(self):
        words = [
            installation.command(),
            "pool",
            "create",
            "--pool-dir",
            str(self.pools),
            "--size",
            str(self.kept_size),
            "--populate",
        ]
        run = subprocess.run(
            words,
            env=base_environment(),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if run.returncode != 0:
            raise Mistake(f"systems.{self.name}: {' '.join(words)}: {run.stderr.strip()}", code=1)

    def renew_pool(self):
        """After a failure: what a killed run left in the pool must not meet the next one."""
        if self.cairn == "kept":
            shutil.rmtree(self.pools, ignore_errors=True)
            self.pools.mkdir(mode=0o700)
            self.make_pool()

    def remove(self):
        for directory in (self.scratch, self.pools):
            if directory is not None:
                shutil.rmtree(directory, ignore_errors=True)

    def fresh_directory(self):
        self.runs += 1
        directory = self.scratch / f"run-{self.runs}"
        directory.mkdir()
        return directory

    def between(self, cell, directory):
        """(what, words) of the command between a cell's writes and its reads, or None."""
        kernel = [str(installation.kernel(self.mpi, "drop")), "--format", "json"]
        drop = [*installation.launch_words(self.mpi, cell.ranks, self.launcher), *kernel]
        return reads.command_between(self.given, directory, drop)

    def all_words(self, cell, directory):
        """Each command line of a cell, one after the other."""
        if "reads_after" not in cell.parameters:
            return [self.words(cell, directory)]
        between = self.between(cell, directory)
        return [
            self.words(cell, directory, "write"),
            *([between[1]] if between else []),
            self.words(cell, directory, "read"),
        ]

    def words(self, cell, directory, side=None):
        """The whole command line of a cell in a directory. side: "write" or "read" only."""
        words = cells.words(cell, self.program(cell), directory, side)
        if cell.kind != "program" or outside.PROGRAMS[cell.parameters["program"]].uses_mpi:
            words = [*installation.launch_words(self.mpi, cell.ranks, self.launcher), *words]
        words = [*map(str, self.given.get("prefix", [])), *words]
        if not self.cairn:
            return words
        size = [] if self.cairn == "kept" else ["--pool-size", str(self.pool_size(cell))]
        if self.cairn == "kept" and side == "write":
            size += ["--drain", "never"]
        pools = str(self.pools or self.pool_directory / "cairn-bench-POOLS")
        return [
            installation.command(),
            "run",
            "--at",
            str(directory),
            "--pool-dir",
            pools,
            *size,
            "--",
            *words,
        ]

    def program(self, cell):
        """The file that the ranks run."""
        if cell.kind != "program":
            return str(installation.kernel(self.mpi, cell.kind))
        command = outside.PROGRAMS[cell.parameters["program"]].command
        return installation.found(command) or command

    def environment(self, ranks):
        """Variables that are set besides the user's, for so many ranks."""
        own = {key: str(value) for key, value in self.given.get("environment", {}).items()}
        if self.mpi != "openmpi":
            return own
        standard = {"OMPI_MCA_rmaps_base_oversubscribe": "1"}
        if os.geteuid() == 0:
            standard |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        if ranks > CPUS:  # ranks that have to share a processor must not spin on it
            standard["OMPI_MCA_mpi_yield_when_idle"] = "1"
        return standard | own


def base_environment():
    """The user's environment without what is ours."""
    return {key: value for key, value in os.environ.items() if not key.startswith("CAIRN_")}
