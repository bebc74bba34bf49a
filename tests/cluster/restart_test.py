"""MPI ranks of one host write checkpoints; other numbers of ranks, and the other MPI, restart from
them bitwise."""

import os
import shutil
import subprocess
import tempfile
import unittest

from cluster_job import TESTS, ended_well, mpis_with, run_tests, text_of_refused

MPIS = mpis_with("cluster", "restart_program")
LAUNCHER = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"],
    "mpich": ["mpiexec.mpich"]
}
LIMIT_S = 120


class OneHost(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="cairn-restart-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        home = tempfile.mkdtemp(prefix="cairn-restart-", dir="/tmp")
        self.addCleanup(shutil.rmtree, home)
        self.environment = {
            **os.environ, "CAIRN_POOL_DIR": self.place, "CAIRN_POOL_SIZE": "64MiB", "HOME": home,
            "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": "", "CAIRN_POOL_NAME": ""
        }

    def run_ranks(self, mpi, ranks, *words, **changes):
        return subprocess.run([
            *LAUNCHER[mpi], "-n",
            str(ranks),
            str(TESTS / "cluster" / mpi / "restart_program"), *words
        ], capture_output=True, text=True, check=False, timeout=LIMIT_S,
                              env={**self.environment, **changes})

    def expect_right(self, *arguments):
        done = self.run_ranks(*arguments)
        self.assertTrue(ended_well(done, "checkpoints are right"), done.stdout + done.stderr)
        self.assertIn("checkpoints are right", done.stdout)

    def test_other_numbers_of_ranks(self):
        version = 0
        for mpi in MPIS:
            for writers in (4, 1, 6):
                with self.subTest(mpi=mpi, writers=writers):
                    self.expect_right(mpi, writers, "write", str(version + 1), str(version + 2),
                                      str(version + 3))
                    version += 3
                    for reading in MPIS:
                        for readers in (1, 3, 4, 6):
                            self.expect_right(reading, readers, "read", str(version))

    def test_errors_are_those_of_all_ranks(self):
        for mpi in MPIS:
            said = text_of_refused(
                lambda mpi=mpi: self.run_ranks(mpi, 3, "write", "1", CAIRN_POOL_NAME="a:b"))
            self.assertIn(
                "init: -22: checkpoint field: pool.name (CAIRN_POOL_NAME): invalid pool name 'a:b'",
                said)
            with open(f"{self.environment['HOME']}/cairn.yaml", "w", encoding="utf-8") as file:
                file.write("# a form that libcairn does not read\npool: {size: 1G}\n")
            name = file.name
            said = text_of_refused(
                lambda mpi=mpi, name=name: self.run_ranks(mpi, 2, "write", "1", CAIRN_CONFIG=name))
            self.assertIn("cairn.yaml: line 2", said)


if __name__ == "__main__":
    run_tests(MPIS)
