"""MPI programs under `cairn run` over the hosts of a cluster, for the tests of files that several
hosts write."""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time
import unittest

from cluster_runner import SKIPPED, end_where_no_cluster_can_be_made

CAIRN = str(pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn")
TESTS = pathlib.Path(os.environ["CAIRN_TEST_DIR"])

# Of what a test draws.
SEED = int(os.environ.get("CAIRN_SEED", time.time()))


def run_tests(has_programs):
    """The main part of a test over a cluster. has_programs: for an MPI that is here."""
    if not has_programs:
        print("no MPI for this was found when this was built, or its launcher is missing")
        sys.exit(SKIPPED)
    end_where_no_cluster_can_be_made()
    print("seed", SEED, flush=True)
    unittest.main(verbosity=2)


def mpis_with(*program):
    """Those whose launcher is there and that this program was built for: its folder in tests/ and
    its name."""
    folder, name = program
    return [mpi for mpi, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich"))
            if (TESTS / folder / mpi / name).exists() and shutil.which(launcher)]


def ended_well(done, last):
    """Whether a program whose last line is `last` has. Open MPI 4 may say of one that has, with PID
    0, that it did not call MPI_Finalize."""
    is_told_wrong = "with PID 0 on" in done.stdout + done.stderr and last in done.stdout
    return done.returncode == 0 or is_told_wrong


def text_of_refused(run):
    """What a job says that every time ends with an error; run() runs it. MPICH's launcher may lose
    what a rank printed before it aborted, all of it."""
    text = ""
    for _ in range(5):
        done = run()
        assert done.returncode != 0, done.stdout + done.stderr
        text = done.stdout + done.stderr
        if text.strip():
            break
    return text


def new_directory(cluster):
    """One that all hosts see."""
    path = os.path.join(cluster.shared, f"d{time.monotonic_ns()}")
    os.mkdir(path)
    return path


def command_of(cluster, mpi, ranks, directory, program, *words, pool_size="64MiB", options=(),
               settings=()):
    """options: of `cairn run`. settings: the environment's, as NAME=VALUE."""
    return cluster.command("run", "--mpi", mpi, "-n", ranks, "--", "env", "-C", directory,
                           *settings, CAIRN, "run", "--at", directory, "--pool-size", pool_size,
                           *options, "--", program, *words)


class Job:
    """One that runs, and the lines that it has said so far."""

    def __init__(self, *given, limit_s, **more):
        """limit_s: how long anybody waits for it; the rest is command_of's."""
        self.start(command_of(*given, **more), limit_s)

    def start(self, command, limit_s):
        self.limit_s, self.said, self.changed = limit_s, [], threading.Condition()
        self.silent = False  # for good
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                        text=True, errors="replace", stdin=subprocess.DEVNULL)
        self.reader = threading.Thread(target=self.read)
        self.reader.start()

    def read(self):
        for line in self.process.stdout:
            with self.changed:
                self.hear(line)
                self.changed.notify_all()
        with self.changed:
            self.silent = True
            self.changed.notify_all()

    def hear(self, line):
        self.said.append(line)

    def wait_until(self, reached):
        """Or until it says nothing any more, or for too long; how long that took."""
        began = time.monotonic()
        with self.changed:
            self.changed.wait_for(lambda: reached() or self.silent, self.limit_s)
        return time.monotonic() - began

    def line_with(self, what):
        return next((line for line in self.said if what in line), "")

    def end(self):
        """Its exit code, and all that it has said; one that does not end is made to."""
        try:
            self.process.wait(self.limit_s)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.wait()
        self.reader.join()
        self.process.stdout.close()
        return self.process.returncode, "".join(self.said)
