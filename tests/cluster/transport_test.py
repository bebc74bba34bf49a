"""A program that links libcairn calls the transport from its own MPI code: without `cairn run`, and
under it."""

import os
import shutil
import subprocess
import tempfile
import time
import unittest

from cluster_job import CAIRN, TESTS, command_of, mpis_with, new_directory, run_tests
from cluster_runner import VirtualCluster

MPIS = mpis_with("cluster", "transport_program")
LAUNCHER = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"],
    "mpich": ["mpiexec.mpich"]
}
WAYS = [("funneled", "calls"), ("funneled", "calls-stay"), ("multiple", "calls"),
        ("multiple", "thread"), ("funneled", "thread")]
POOL = "/dev/shm/transport-test"
OTHER_VERSION = """
struct { unsigned long size; const char* version; } other = {104, "0.0.9"};
void* cairn_mpi_module() { return &other; }
"""
LIMIT_S = 120
GRACE_S = 5  # for an MPI_Finalize that may not end


def program_of(mpi):
    return str(TESTS / "cluster" / mpi / "transport_program")


class OneHost(unittest.TestCase):
    def test_by_a_program_of_its_own(self):
        pool = f"{POOL}.{os.getpid()}"
        subprocess.run([CAIRN, "pool", "create", pool, "--size", "64MiB"], check=True,
                       capture_output=True)
        self.addCleanup(subprocess.run, [CAIRN, "pool", "remove", "--force", pool], check=True,
                        capture_output=True)
        for mpi in MPIS:
            for ranks, ways in ((1, WAYS[:1]), (3, WAYS)):
                for level, how in ways:
                    with self.subTest(mpi=mpi, ranks=ranks, level=level, how=how):
                        done = subprocess.run([
                            *LAUNCHER[mpi], "-n",
                            str(ranks),
                            program_of(mpi), pool, "1", level, how
                        ], capture_output=True, text=True, check=False, timeout=120)
                        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                        self.assertIn("transport ended", done.stdout)

    def test_pools_of_one_host_are_nodes(self):
        pools = [f"{POOL}.{os.getpid()}.{node}" for node in range(3)]
        for pool in pools:
            subprocess.run([CAIRN, "pool", "create", pool, "--size", "64MiB"], check=True,
                           capture_output=True)
            self.addCleanup(subprocess.run, [CAIRN, "pool", "remove", "--force", pool], check=True,
                            capture_output=True)
        for mpi in MPIS:
            for level, how in WAYS:
                # Ranks of a node lie apart, and a node has more of them than another.
                words = []
                for rank, node in enumerate((0, 1, 0, 2, 1)):
                    words += ([":"] if rank else []) + [
                        "-n", "1", program_of(mpi), pools[node], "3", level, how
                    ]
                with self.subTest(mpi=mpi, level=level, how=how):
                    done = subprocess.run([*LAUNCHER[mpi], *words], capture_output=True, text=True,
                                          check=False, timeout=LIMIT_S)
                    self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                    self.assertIn("transport ended", done.stdout)

    def test_another_version_in_the_process_is_refused(self):
        scratch = tempfile.mkdtemp(prefix="cairn-transport-", dir="/tmp")
        self.addCleanup(shutil.rmtree, scratch)
        for mpi in MPIS:
            name = f"libcairn_mpi_{mpi}.so"
            subprocess.run([
                "cc", "-shared", "-fPIC", f"-Wl,-soname,{name}", "-x", "c", "-", "-o",
                f"{scratch}/{name}"
            ], text=True, input=OTHER_VERSION, check=True)
            done = subprocess.run([
                *LAUNCHER[mpi], "-n", "1", "env", f"LD_PRELOAD={scratch}/{name}",
                program_of(mpi), "none", "1", "funneled", "calls"
            ], capture_output=True, text=True, check=False, timeout=LIMIT_S)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(
                done.stderr,
                rf"{scratch}/{name}: the transport of Cairn 0\.0\.9 does not fit Cairn \d")


class ThreeHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(3)
        for node in range(3):
            cls.cluster.on(f"node{node}", CAIRN, "pool", "create", POOL, "--size", "64MiB")

    def run_program(self, mpi, command):
        """With MPICH 4.0 the program need not get out of MPI_Finalize: over UCX and TCP that hangs
        in many runs of any program, without Cairn too (docs/user/mpi-multi-node.md)."""
        with tempfile.TemporaryFile("w+") as out:
            job = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT,
                                   stdin=subprocess.DEVNULL)
            until = time.monotonic() + LIMIT_S
            shortened = False
            while job.poll() is None and time.monotonic() < until:
                time.sleep(0.05)
                if mpi == "mpich" and not shortened and b"transport ok\n" in os.pread(
                        out.fileno(), 1 << 20, 0):
                    until, shortened = time.monotonic() + GRACE_S, True
            hung = job.poll() is None
            if hung:
                job.terminate()
                job.wait(LIMIT_S)
            out.seek(0)
            said = out.read()
        self.assertIn("transport ok\n", said)
        self.assertNotIn("line ", said)
        if not (hung and mpi == "mpich"):
            self.assertEqual(job.returncode, 0, said)
            self.assertIn("transport ended\n", said)

    def test_by_a_program_of_its_own(self):
        for mpi in MPIS:
            for level, how in WAYS:
                with self.subTest(mpi=mpi, level=level, how=how):
                    self.run_program(
                        mpi,
                        self.cluster.command("run", "--mpi", mpi, "-n", 6, "--", program_of(mpi),
                                             POOL, 3, level, how))

    def test_under_cairn_run_beside_mpi_io(self):
        for mpi in MPIS:
            for how in ("thread", "thread-stay", "calls"):
                with self.subTest(mpi=mpi, how=how):
                    directory = new_directory(self.cluster)
                    self.run_program(
                        mpi,
                        command_of(self.cluster, mpi, 6, directory, program_of(mpi), POOL, 3,
                                   "multiple", how, "shared"))


if __name__ == "__main__":
    run_tests(MPIS)
