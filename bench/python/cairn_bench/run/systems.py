"""A system of the matrix: its directories, its pool, and the words around a kernel's command."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

from .. import sizes
from ..errors import Mistake
from ..node import installation, memory, space
from ..plan import before_write, cells, outside, reads
from . import scratch

CPUS = len(os.sched_getaffinity(0))


def place(text):
    """A directory as the matrix gives it: ~ and variables replaced, absolute."""
    return pathlib.Path(os.path.abspath(os.path.expanduser(os.path.expandvars(text))))


class System:
    def __init__(self, name, given, launcher=None):
        self.name = name
        self.launcher = launcher  # None: mpirun; srun; or a template with {ranks}
        self.given = given
        self.nodes = given.get("nodes")  # of a job of the launcher; None: as that likes
        self.cairn = given.get("cairn")
        self.directory = place(given["directory"])
        self.pool_directory = place(given.get("pool_directory", "/dev/shm")) if self.cairn else None
        usable = [mpi for mpi in installation.MPIS if installation.usable(mpi, launcher)]
        self.mpi = given.get("mpi") or (usable[0] if usable else "openmpi")
        self.scratch = None
        self.pools = None  # the directory of its pools, where one node is all there is
        self.most_ranks = 1
        self.runs = 0

    def problems(self, job=False):
        """[(key or "", text)] of why the system cannot run. job: its directories are not here."""
        found = []
        if not installation.usable(self.mpi, self.launcher):
            found.append(("", installation.what_lacks(self.mpi, self.launcher)))
        for key, directory in (
            ("directory", self.directory),
            ("pool_directory", self.pool_directory),
        ):
            if directory is not None and not job and not os.access(directory, os.W_OK | os.X_OK):
                found.append((key, f"{directory}: not a directory that you can write to"))
        if self.nodes is not None and self.launcher is None:
            found.append(("nodes", "needs a launcher, such as srun"))
        found += [("rewrite", text) for text in before_write.problems(self.given)]
        return [*found, *reads.problems(self.given, self.directory)]

    def launch(self, ranks):
        """The words that start so many ranks."""
        return installation.launch_words(self.mpi, ranks, self.launcher, self.nodes)

    @property
    def medium(self):
        """The directory on whose medium the data lie while a kernel runs."""
        return self.pool_directory if self.cairn else self.directory

    @property
    def memory_before_write(self):
        """The kind of memory that its writes meet: used, new or the page cache."""
        return before_write.met(self.given, space.in_memory(self.medium))

    def pool_size(self, cell):
        """Bytes of the pool: as given, else what the cell writes, and room for names and tables."""
        if "pool_size" in self.given:
            return sizes.parse(self.given["pool_size"])
        return cells.file_bytes(cell) * 5 // 4 + (64 << 20)

    @property
    def on_each_node(self):
        """Whether ranks may lie on several nodes, so that each of them starts `cairn run`."""
        return bool(self.cairn) and self.launcher is not None

    def named(self):
        """Names the directories and the pool that prepare() makes; returns the directories."""
        self.scratch = scratch.name(self.directory)
        if self.cairn and not self.on_each_node:
            self.pools = scratch.name(self.pool_directory)
        return [path for path in (self.scratch, self.pools) if path is not None]

    def prepare(self, mine):
        """Makes the directories, and the pool that stays; `mine`: the system's cells."""
        self.most_ranks = max(cell.ranks for cell in mine)
        for path in (self.scratch, self.pools):
            if path is not None:
                path.mkdir(mode=0o700)
        if self.cairn == "kept":
            self.kept_size = max(map(self.pool_size, mine))
            self.make_pool()

    @property
    def pool_name(self):
        """That of the pool on each node; None where the pools have a directory."""
        if not self.on_each_node:
            return None
        return f"{self.scratch.name if self.scratch else 'cairn-bench-DIR'}-{self.name}"

    def pool_words(self, name=None):
        """Options that name the pool. name: that of an earlier start, on each node."""
        if not self.on_each_node:
            pools = self.pools or self.pool_directory / "cairn-bench-POOLS"
            return ["--pool-dir", str(pools)]
        return ["--pool-dir", str(self.pool_directory), "--pool", name or self.pool_name]

    def make_pool(self):
        create = ["pool", "create", *self.pool_words(), "--size", str(self.kept_size), "--populate"]
        if not self.on_each_node:
            self.call([installation.command(), *create])
            return
        # Of the ranks of a node one makes it; the others find it.
        info = shlex.join(["pool", "info", *self.pool_words()])
        self.call_on_nodes(f'"$0" {shlex.join(create)} || exec "$0" {info}')

    def call_on_nodes(self, script, must=True):
        """A script by each rank, with the command as $0."""
        start = self.launch(self.most_ranks)
        self.call([*start, "sh", "-c", script, installation.command()], must)

    def call(self, words, must=True):
        run = subprocess.run(
            words,
            env={**base_environment(), **self.environment(self.most_ranks)},
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if must and run.returncode != 0:
            raise Mistake(f"systems.{self.name}: {shlex.join(words)}: {run.stderr.strip()}", code=1)

    def remove_pool(self, name=None):
        """name: that of an earlier start."""
        if self.on_each_node:
            words = shlex.join(["pool", "remove", *self.pool_words(name), "--force"])
            self.call_on_nodes(f'"$0" {words} 2>/dev/null; true', must=False)
        elif self.pools is not None:
            shutil.rmtree(self.pools, ignore_errors=True)

    def renew_pool(self):
        """After a failure: what a killed run left in the pool must not meet the next one."""
        self.remove_pool()
        if not self.on_each_node and self.pools is not None:
            self.pools.mkdir(mode=0o700)
        if self.cairn == "kept":
            self.make_pool()

    def after_cell(self):
        """A run keeps its pool for checkpoints in it; the next cell needs one of its own size."""
        if self.cairn == "fresh" and self.pools is not None and any(self.pools.iterdir()):
            self.renew_pool()

    def pool_bytes(self):
        """What a pool that stays takes on this node."""
        if self.cairn != "kept":
            return 0
        if not self.on_each_node:
            return memory.bytes_of(self.pools)
        name = self.pool_words()[-1]
        # The command knows where the user's pools lie (cairn_own_place).
        listed = subprocess.run(
            [installation.command(), "pool", "list", "--json", "--pool-dir",
             str(self.pool_directory)],
            env=base_environment(), capture_output=True, text=True, check=False,
            stdin=subprocess.DEVNULL)
        pools = json.loads(listed.stdout) if listed.returncode == 0 else []
        return next((memory.bytes_of(pathlib.Path(pool["path"]))
                     for pool in pools if pool["name"] == name), 0)

    def watched(self):
        """Directories and files that a command's files and its own pool lie in."""
        found = [self.scratch]
        if self.cairn == "fresh" and self.pools is not None:
            found.append(self.pools)
        if self.cairn == "fresh" and self.on_each_node:
            found += self.pool_directory.glob(f"cairn-{os.geteuid()}*/{self.pool_name}*")
        return found

    def remove(self):
        if self.cairn and self.scratch is not None:
            self.remove_pool()
        if self.scratch is not None:
            shutil.rmtree(self.scratch, ignore_errors=True)

    def fresh_directory(self):
        self.runs += 1
        directory = self.scratch / f"run-{self.runs}"
        directory.mkdir()
        return directory

    def between(self, cell, directory):
        """(what, words) of the command between a cell's writes and its reads, or None."""
        kernel = [str(installation.kernel(self.mpi, "drop")), "--format", "json"]
        drop = [*self.launch(cell.ranks), *kernel]
        return reads.command_between(self.given, directory, drop)

    def all_words(self, cell, directory):
        """Each command line of a cell, one after the other."""
        fill = [self.words(cell, directory, "fill")] if "rewrite" in cell.parameters else []
        if "reads_after" not in cell.parameters:
            return [*fill, self.words(cell, directory)]
        between = self.between(cell, directory)
        return [
            *fill,
            self.words(cell, directory, "write"),
            *([between[1]] if between else []),
            self.words(cell, directory, "read"),
        ]

    def words(self, cell, directory, side=None):
        """The whole command line of a cell in a directory. side: as in cells.words."""
        words = cells.words(cell, self.program(cell), directory, side)
        prefix = [*map(str, self.given.get("prefix", []))]
        if cell.kind != "program" or outside.PROGRAMS[cell.parameters["program"]].uses_mpi:
            prefix += self.launch(cell.ranks)
        if not self.cairn:
            return [*prefix, *words]
        run = self.run_words(cell, directory, side)
        return [*prefix, *run, *words] if self.on_each_node else [*run, *prefix, *words]

    def run_words(self, cell, directory, side):
        """`cairn run` of a cell, up to its program."""
        words = [installation.command(), "run", "--at", str(directory), *self.pool_words()]
        if self.cairn == "fresh":
            words += ["--pool-size", str(self.pool_size(cell))]
        elif side == "write":
            words += ["--drain", "never"]
        return [*words, "--"]

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
