"""MPI-IO over several hosts: unchanged programs under `cairn run` on the nodes of a virtual
cluster, with every MPI that was found; what they leave in the directory; and what is said when
something cannot be."""

import math
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
# noqa: E402
from cluster_job import CAIRN, SEED, TESTS, command_of, mpis_with, new_directory, run_tests
from cluster_runner import VirtualCluster  # noqa: E402

MPIS = mpis_with("mpi", "conformance")
HOSTS = 3
HUNG = 124
LIMIT_S = 240
GRACE_S = 10
KIB = 1024


def pattern(at, writer=0):
    """As in several_hosts_program.cc."""
    return 1 + (at * 7 + at // KIB + writer * 31) % 255


class SeveralHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(HOSTS)

    def directory(self, files=()):
        """A new one that all hosts see, with files of 0xff bytes."""
        path = new_directory(self.cluster)
        for name, size in files:
            os.makedirs(os.path.dirname(os.path.join(path, name)), exist_ok=True)
            pathlib.Path(path, name).write_bytes(b"\xff" * size)
        return path

    def command(self, *given, **more):
        return command_of(self.cluster, *given, pool_size="128MiB", **more)

    def run_ranks(self, mpi, *given, last=None, **more):
        """last: what the program says last. From then on it has GRACE_S to end."""
        with tempfile.TemporaryFile("w+", errors="replace") as out:
            job = subprocess.Popen(self.command(mpi, *given, **more), stdout=out, stderr=out,
                                   stdin=subprocess.DEVNULL)
            until, said = time.monotonic() + LIMIT_S, False
            while job.poll() is None and time.monotonic() < until:
                time.sleep(0.1)
                if last and not said and os.pread(
                        out.fileno(), 1 << 20, 0).decode(errors="replace").find(last + "\n") >= 0:
                    until, said = min(until, time.monotonic() + GRACE_S), True
            hung = job.poll() is None
            if hung:
                job.terminate()
                job.wait(LIMIT_S)
            out.seek(0)
            return subprocess.CompletedProcess(job.args, HUNG if hung else job.returncode,
                                               out.read())

    def passes(self, mpi, ranks, program, *words, last, files=()):
        """The program succeeds. With MPICH 4.0 it need not get out of MPI_Finalize: over UCX and
        TCP that hangs in many runs of any program, without Cairn too
        (docs/user/mpi-multi-node.md)."""
        directory = self.directory(files)
        done = self.run_ranks(mpi, ranks, directory, program, *words,
                              last=last if mpi == "mpich" else None)
        self.assertIn(last + "\n", done.stdout, f"{mpi}, {ranks} ranks: {done.stdout[:8000]}")
        if done.returncode == HUNG and mpi == "mpich":
            print(f"{mpi}, {ranks} ranks, {' '.join(words)}: no end of MPI_Finalize", flush=True)
            self.drain_what_is_left(ranks, directory)
        else:
            self.assertEqual(done.returncode, 0, f"{mpi}, {ranks} ranks: {done.stdout[:8000]}")
        self.assertNotIn("line ", done.stdout)
        return directory, done.stdout

    def drain_what_is_left(self, ranks, directory):
        """Of ranks whose launcher has been ended: it may give each `cairn run` time to drain, or
        kill them all."""
        def is_covered():
            return any(name.startswith(".cairn") for name in os.listdir(directory))
        until = time.monotonic() + 3 * GRACE_S
        while time.monotonic() < until and is_covered():
            time.sleep(0.1)
        if is_covered():
            of_each_host = math.ceil(ranks / HOSTS)
            self.cluster.mpi(MPIS[0], math.ceil(ranks / of_each_host), CAIRN, "drain", directory)

    def holds(self, directory, name, expected):
        found = pathlib.Path(directory, name).read_bytes()
        self.assertEqual(len(found), len(expected), name)
        wrong = next((at for at, (a, b) in enumerate(zip(found, expected)) if a != b), None)
        self.assertIsNone(wrong, f"{name} differs at offset {wrong}")

    def program(self, mpi):
        return TESTS / "cluster" / mpi / "several_hosts_program"

    def test_the_standard(self):
        """1 and 2 ranks on each of two hosts, and 1 on each of three."""
        for mpi, ranks in zip(MPIS, (4, 3)):
            began = time.time()
            directory, _ = self.passes(mpi, ranks, TESTS / "mpi" / mpi / "conformance", "all", "1",
                                       last="pairs")
            # Nobody has written to this one.
            self.assertGreater(os.stat(os.path.join(directory, "errors")).st_mtime, began - 60)
        for mpi in MPIS:
            self.passes(mpi, 2, TESTS / "mpi" / mpi / "conformance", "shared", "1", last="shared")

    def test_files_of_several_hosts(self):
        parts = ("alone", "overlapping", "busy_owner", "again", "write_interleaved",
                 "read_interleaved", "base", "local", "immediate", "finalize")
        for mpi in MPIS:
            directory, told = self.passes(mpi, 3, self.program(mpi), *parts,
                                          last="closed in MPI_Finalize",
                                          files=[("base", 1_000_000), ("before", 400_000)])
            for part in (*parts, "closed in MPI_Finalize"):
                self.assertIn(part + "\n", told)
            self.assertEqual([name for name in os.listdir(directory) if name.startswith(".")], [])
            self.holds(directory, "alone", bytes(pattern(at) for at in range(100_000)))
            self.holds(directory, "interleaved", bytes(pattern(at) for at in range(3 * 300 * KIB)))
            self.holds(directory, "again", bytes(300_000) + b"\1")
            self.holds(directory, "before", bytes(300_000) + b"\1")
            self.holds(directory, "local", bytes(pattern(at, 3) for at in range(50_000)) + b"\7")
            self.holds(directory, "finalize",
                       bytes(pattern(at, at // 5000) for at in range(15_000)))
            base = bytearray(b"\xff" * 1_000_000)
            for writer in range(3):
                at = 10_001 * (writer + 1)
                base[at:at + 3000] = bytes(pattern(i, writer) for i in range(at, at + 3000))
            self.holds(directory, "base", bytes(base))

    def run_parts(self, mpi, program, *parts, files=()):
        """They pass, each of them; the directory, and what was said."""
        directory, told = self.passes(mpi, 3, TESTS / "cluster" / mpi / program, *parts,
                                      last=parts[-1], files=[(name, 1000) for name in files])
        for part in parts:
            self.assertIn(part + "\n", told)
        return directory, told

    def names_in(self, directory, name):
        return sorted(os.listdir(os.path.join(directory, name)))

    def test_calls_by_name(self):
        """As PnetCDF and scripts use POSIX calls on one rank, on what all ranks write through
        MPI-IO."""
        for mpi in MPIS:
            directory, told = self.run_parts(mpi, "calls_by_name_program", "by_name",
                                             "changed_by_name",
                                             files=("before_by_name", "base_by_name"))
            self.assertIn("cairn: changed/appended: it is open through MPI-IO", told)
            self.holds(directory, "by_name", bytes(pattern(at, 1) for at in range(300_000)))
            self.assertEqual(os.stat(os.path.join(directory, "by_name")).st_mode & 0o777, 0o604)
            self.assertFalse(os.path.exists(os.path.join(directory, "before_by_name")))
            self.assertEqual(self.names_in(directory, "changed"),
                             ["appended", "cut", "replaced", "target"])
            self.holds(directory, "base_by_name", bytes(pattern(at, 1) for at in range(300_000)))
            self.holds(directory, "changed/replaced", b"ordinary")
            self.holds(directory, "changed/appended",
                       bytes(pattern(at) for at in range(100_000)) + b"!")
            self.holds(directory, "changed/cut", b"cut")
            self.holds(directory, "changed/target", bytes(pattern(at) for at in range(300_000)))

    def test_checkpoints_that_replace_each_other(self):
        """Of two ranks on each host: what is removed gives its space back while the job runs,
        however it is removed."""
        parts = ("deleted", "unlinked", "deleted_at_close", "deleted_while_open", "renamed_over")
        for mpi in MPIS:
            directory, told = self.passes(mpi, 6, TESTS / "cluster" / mpi / "rotating_program",
                                          *parts, last=parts[-1])
            for part in parts:
                self.assertIn(part + "\n", told)
            self.assertEqual(os.listdir(directory), ["latest"])

    def test_names_that_all_hosts_have(self):
        """Directories and links of one rank, and what it does to files that were there before."""
        old = [
            f"old/{name}" for name in ("appended", "moved", "replaced", "written", "gone/removed")
        ]
        for mpi in MPIS:
            directory, _ = self.run_parts(mpi, "host_names_program", "directories", "of_before",
                                          files=old)
            self.assertEqual(self.names_in(directory, "old"),
                             ["appended", "replaced", "there", "written"])
            for name in ("written", "replaced"):
                self.holds(directory, f"old/{name}", bytes(pattern(at, 1) for at in range(5000)))
            self.holds(directory, "old/there", b"\xff" * 1000)
            self.holds(directory, "old/appended", b"\xff" * 1000 + bytes(range(3)))
            self.assertEqual(self.names_in(directory, "step"), ["more", "rank0", "rank1", "rank2"])
            for rank in range(3):
                self.holds(directory, f"latest/rank{rank}", f"of rank {rank}".encode())
            self.holds(directory, "latest/more/shared", bytes(pattern(at) for at in range(300_000)))
            self.assertEqual(os.readlink(os.path.join(directory, "latest")), "step")
            self.assertFalse(
                any(
                    os.path.lexists(os.path.join(directory, name))
                    for name in ("step.tmp", "other", "latest.new")))
            self.assertEqual(os.stat(os.path.join(directory, "step")).st_mode & 0o777, 0o750)

    def test_checkpoints_get_their_names(self):
        """Directories with what all ranks write are renamed by one."""
        for mpi in MPIS:
            directory, _ = self.run_parts(mpi, "checkpoints_program", "rotated")
            for name, step in (("ckpt", 3), ("ckpt.2", 2), ("ckpt.1", 1), ("ckpt.0", 0)):
                self.holds(directory, f"{name}/all",
                           bytes(pattern(at, step) for at in range(300_000)))
                self.holds(directory, f"{name}/more/all",
                           bytes(pattern(at, step + 1) for at in range(300_000)))
                for rank in range(3):
                    self.holds(directory, f"{name}/rank{rank}",
                               bytes(pattern(at, rank) for at in range(1000 + step)))
            self.holds(directory, "ckpt.2/log", bytes(pattern(at) for at in range(60)))
            self.assertEqual(sorted(os.listdir(directory)), ["ckpt", "ckpt.0", "ckpt.1", "ckpt.2"])

    def test_links_and_special_files(self):
        """Names that files get beside their first ones, of FIFOs and of sockets, also where another
        host has removed what was there."""
        old = [f"linked/{name}" for name in ("before", "open", "removed", "unnamed")
               ] + ["special/fifo", "special/socket"]
        for mpi in MPIS:
            directory, _ = self.run_parts(mpi, "links_program", "links", "specials", files=old)
            anew = bytes(pattern(at, 2) for at in range(5000))
            for name in ("linked/removed", "linked/unnamed", "own2"):
                self.holds(directory, name, anew)
            for pair in (("linked/before", "linked/after"), ("linked/open", "linked/opened")):
                for name in pair:
                    self.holds(directory, name, b"\xff" * 1000 + b"!")
                self.assertTrue(os.path.samefile(*(os.path.join(directory, name) for name in pair)))
            self.assertEqual(os.readlink(os.path.join(directory, "pointer.too")), "own0")
            kinds = {name: stat.S_IFMT(os.lstat(os.path.join(directory, name)).st_mode)
                     for name in ("moved", "special/fifo", "special/socket")}
            self.assertEqual(kinds, {
                "moved": stat.S_IFIFO, "special/fifo": stat.S_IFIFO, "special/socket": stat.S_IFSOCK
            })
            self.assertEqual(
                sorted(os.listdir(directory)),
                ["linked", "moved", "own0", "own1", "own2", "pointer", "pointer.too", "special"])

    def test_ordinary_files(self):
        """What ranks write through POSIX calls, each on its host, others read, change, remove and
        write."""
        for mpi in MPIS:
            directory, _ = self.run_parts(mpi, "ordinary_files_program", "ordinary", "together",
                                          "taking", "reading")
            self.assertEqual(
                self.names_in(directory, "ordinary"),
                sorted(f"{what}{rank}" for what in ("cut", "kept", "target", "written")
                       for rank in range(3)))
            for rank in range(3):
                whole = bytes(pattern(at, rank) for at in range(200_000))
                for name, expected in (("cut", whole[:10]), ("kept", whole), ("target", whole),
                                       ("written", whole + b"!")):
                    self.holds(directory, f"ordinary/{name}{rank}", expected)
            self.holds(directory, "together", bytes(pattern(at, 3) for at in range(3 * 70_001)))
            # What a rank's streams hold for files of its own host goes with it where it does not
            # get out of MPI_Finalize.
            at_the_end = (("together.end", 1), ("reading", 1)) if mpi == "openmpi" else ()
            for name, times in (("together.log", 50), *at_the_end):
                with open(os.path.join(directory, name)) as log:
                    self.assertEqual(
                        sorted(log.read().split("\n")),
                        ["", *(f"rank {rank}" for rank in range(3) for _ in range(times))])

    def test_calls_in_handlers(self):
        for mpi in MPIS:
            self.run_parts(mpi, "handlers_program", "handlers")

    @unittest.skipUnless("openmpi" in MPIS, "Debian's mpi4py is made for Open MPI")
    def test_a_storm_of_names(self):
        """All ranks make, move and remove the same names; what one of them sees in the end is what
        the directory holds."""
        program = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster", "names_storm.py")
        seed = str(SEED)
        directory, told = self.passes("openmpi", 4, "/usr/bin/python3", "-m", "mpi4py", program,
                                      seed, 8, last="names_storm")
        seen = sorted(
            line.removeprefix("there is ").split() for line in told.splitlines()
            if line.startswith("there is "))
        held = sorted([os.path.relpath(path, directory), *sorted(directories), *sorted(files)]
                      for path, directories, files in os.walk(os.path.join(directory, "s")))
        self.assertEqual(seen, held, f"CAIRN_SEED={seed}")

    @unittest.skipUnless("openmpi" in MPIS, "Debian's parallel h5py is made for Open MPI")
    def test_hdf5_rereads_metadata(self):
        program = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster",
                               "hdf5_metadata.py")
        directory, _ = self.passes("openmpi", 4, "/usr/bin/python3", program, "file.h5",
                                   last="reread")
        listed = subprocess.run(
            ["h5dump", "-a", "group199/number",
             os.path.join(directory, "file.h5")], stdout=subprocess.PIPE, text=True,
            check=True).stdout
        self.assertRegex(listed, r"\(0\): 199\n")

    def test_a_later_job(self):
        """What a job keeps in the pools is read by one with more ranks; one host alone says which
        other one has the rest; `cairn drain` on all hosts makes it an ordinary file."""
        mpi = MPIS[0]
        directory = self.directory()
        keep = {"options": ("--drain", "never")}
        done = self.run_ranks(mpi, 2, directory, self.program(mpi), "write_interleaved", **keep)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertFalse(os.path.exists(os.path.join(directory, "interleaved")))
        done = self.run_ranks(mpi, 4, directory, self.program(mpi), "read_interleaved", **keep)
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertIn("read_interleaved\n", done.stdout)
        done = self.run_ranks(mpi, 1, directory, self.program(mpi), "read_interleaved", **keep)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stdout, "interleaved: open: .*node1")
        missing = "cairn run: " + re.escape(
            directory) + r": node node1 \(pool /dev/shm/\S+\) may hold files of "
        self.assertRegex(done.stdout, missing)
        self.assertRegex(
            self.cluster.on("node0", CAIRN, "status").stdout,
            rf"covers {re.escape(directory)}.*\n(    no run is under way.*\n)?    also covered by"
            r" node node1, pool /dev/shm/",
        )
        self.assertIn("waiting for node node1 ",
                      self.cluster.on("node0", CAIRN, "drain", directory, expect=1).stderr)
        self.cluster.mpi(mpi, 2, CAIRN, "drain", directory)
        self.holds(directory, "interleaved", bytes(pattern(at) for at in range(2 * 300 * KIB)))

    def test_a_later_job_without_a_host(self):
        """Where it spans others, it is told in MPI_Init which one is missing."""
        mpi, directory = MPIS[0], self.directory()
        for ranks in (3, 2):
            done = self.run_ranks(mpi, ranks, directory, self.program(mpi), "write_interleaved",
                                  options=("--drain", "never"))
            told = re.findall(
                rf"cairn: {re.escape(directory)}: node (\w+) \(pool /dev/shm/\S+\) may hold files"
                r" of an earlier job, and is not "
                "part of this one",
                done.stdout,
            )
            self.assertEqual(told, ["node2"] if ranks == 2 else [], done.stdout)
        self.cluster.mpi(mpi, 3, CAIRN, "drain", directory)

    def test_a_host_that_does_not_answer(self):
        """One line says what is waited for, and the job ends, though two ranks wait."""
        mpi = MPIS[0]
        job = subprocess.Popen(
            self.command(mpi, 4, self.directory(), self.program(mpi), "unanswered",
                         settings=["CAIRN_MPI_TIMEOUT=3"]), stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.addCleanup(job.kill)
        self.assertEqual(job.stdout.readline(), "ready\n")
        self.cluster.change("stop", "node1")
        self.cluster.on("node0", "touch", "/dev/shm/go")
        line = next((line for line in job.stderr if "still waiting" in line), "")
        self.cluster.change("continue", "node1")
        self.assertRegex(
            line,
            r"cairn: MPI-IO: read unanswered: after 3 s still waiting for a reply of node node1 "
            r"\(pool /dev/shm/.*\): the job is aborted")
        self.assertNotIn("the job is aborted", job.communicate(timeout=LIMIT_S)[1])
        self.assertNotEqual(job.returncode, 0)

    def starts(self, mpi, ranks, *words, last=None, **more):
        directory = self.directory()
        return directory, self.run_ranks(mpi, ranks, directory,
                                         TESTS / "cluster" / mpi / "starts_program", *words,
                                         last=last if mpi == "mpich" else None, **more)

    def test_ways_of_starting(self):
        """Each thread level; a rank before the others; several programs."""
        for mpi in MPIS:
            program = TESTS / "cluster" / mpi / "starts_program"
            for level in ("single", "funneled", "serialized", "multiple"):
                directory, _ = self.passes(mpi, 3, program, "levels", level, last="levels")
                self.assertEqual(os.stat(os.path.join(directory, "levels")).st_size, 9000)
            self.passes(mpi, 3, program, "early", last="early")
            for words in ("writes", "nothing"):
                self.passes(mpi, 2, program, "one_of_several", words, last="one_of_several")

    @unittest.skipUnless("openmpi" in MPIS, "Debian's MPICH starts no processes")
    def test_processes_that_others_start(self):
        """They run without Cairn, and these are refused together with them, at once: what waits for
        them then, they end."""
        directory, done = self.starts("openmpi", 2, "spawn")
        together = (
            "of_all: open: some processes of the communicator were not in MPI_COMM_WORLD at"
            " MPI_Init; open it without them"
        )
        self.assertIn(f"together: {together}\n", done.stdout)
        self.assertEqual(done.stdout.count(f"cairn: MPI-IO: {together}"), 1, done.stdout)
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertEqual(os.stat(os.path.join(directory, "of_children")).st_size, 6000)
        self.assertNotIn("of_all", os.listdir(directory))

    @unittest.skipUnless("mpich" in MPIS, "Debian's Open MPI has no sessions")
    def test_a_session_without_mpi_init(self):
        _, done = self.starts("mpich", 2, "session", last="session")
        self.assertIn("this MPI cannot open files without MPI_Init", done.stdout)

    @unittest.skipUnless("openmpi" in MPIS, "MPICH 4.0 need not get out of MPI_Finalize")
    def test_ends_without_an_end(self):
        """What was committed is there for the next job; what was written later is not."""
        for how in ("abort", "no_finalize", "open"):
            with self.subTest(how=how):
                keep = {"options": ("--drain", "never")}
                directory, done = self.starts("openmpi", 3, "ends", how, **keep)
                self.assertIn("written\n", done.stdout)
                look = self.run_ranks("openmpi", 3, directory,
                                      TESTS / "cluster" / "openmpi" / "starts_program", "look", "3",
                                      **keep)
                self.assertEqual(look.returncode, 0, f"{done.stdout}{look.stdout}")
                self.assertIn("found 3\n", look.stdout)

    @unittest.skipUnless("mpich" in MPIS, "no MPICH")
    def test_started_the_other_way_round(self):
        """`cairn run -- mpirun` covers one host: ranks on others are told how to start."""
        directory = self.directory()
        # Whatever another test has left there.
        for node in range(3):
            self.cluster.on(f"node{node}", "sh", "-c", "rm -rf /dev/shm/cairn-*")
        done = self.cluster.on("login", "timeout", "-k", "5", LIMIT_S, "env", "-C", directory,
                               CAIRN, "run", "--at", directory, "--", "mpiexec.mpich", "-n", "2",
                               "-ppn", "1", self.program("mpich"), "alone", expect=None)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(
            done.stdout,
            "alone: open: `cairn run` covers only the launcher's host.*; start it as mpirun ..."
            " cairn run ... program",
        )


if __name__ == "__main__":
    run_tests(MPIS)
