"""Several nodes copy checkpoints to a directory of lower together. A version counts there when all parts are there."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest

from cluster_job import CAIRN, TESTS, mpis_with, run_tests
from nodes_test import LAUNCHER, LIMIT_S

MPIS = mpis_with("cluster", "lower_program")


class CopiesOfNodes(unittest.TestCase):
    """Each pool is a node."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="cairn-lower-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.begin_anew()
        self.environment = {**os.environ, "CAIRN_POOL_DIR": f"{self.place}/pools", "CAIRN_POOL_SIZE": "32MiB",
                            "HOME": self.place, "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": ""}

    def begin_anew(self):
        shutil.rmtree(self.place)
        for name in ("pools", "lower"):
            os.makedirs(f"{self.place}/{name}")
        self.lower = f"{self.place}/lower"
        self.set = f"{self.lower}/.cairn-checkpoints/field"

    def lose(self, *nodes):
        for name in os.listdir(f"{self.place}/pools"):
            if not nodes or any(name.startswith(f"node{node}") for node in nodes):
                path = f"{self.place}/pools/{name}"
                shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def command(self, mpi, nodes, what, *words):
        """nodes: of each rank, its node."""
        command = []
        for node in nodes:
            command += ([":"] if command else []) + ["-n", "1", "env", f"CAIRN_POOL_NAME=node{node}",
                                                     str(TESTS / "cluster" / mpi / "lower_program"), what, self.lower,
                                                     *map(str, words)]
        return [*LAUNCHER[mpi], *command]

    def run_on(self, mpi, nodes, what, *words):
        done = subprocess.run(self.command(mpi, nodes, what, *words), capture_output=True, text=True, check=False,
                              timeout=LIMIT_S, env=self.environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("copies are right\n", done.stdout)
        return done.stdout

    def cairn(self, *words, node=0):
        done = subprocess.run([CAIRN, *map(str, words)], capture_output=True, text=True, check=False, timeout=LIMIT_S,
                              env={**self.environment, "CAIRN_POOL_NAME": f"node{node}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def copies(self):
        listed = json.loads(self.cairn("--json", "ckpt", "ls", "--in", self.lower))
        return [one["version"] for one in listed]

    def files(self, sequence):
        return sorted(name for name in os.listdir(self.set) if name.startswith(f"v{sequence:016x}"))

    def test_the_parts_of_a_version(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.run_on(mpi, [0, 1, 0, 2, 1], "write", 1, 2)
                self.assertEqual(self.copies(), [2, 1])
                parts = [f"v{2:016x}-{part:05x}.{kind}" for part in range(3) for kind in ("data", "manifest")]
                self.assertEqual(self.files(2), [*parts, f"v{2:016x}.json"])
                self.assertIn("and 2 more", self.cairn("ckpt", "ls", "--in", self.lower))
                # finalize copies the last one; what is beyond those that are kept goes.
                self.run_on(mpi, [0, 1, 0, 2, 1], "keep", 3, 4)
                self.assertEqual(self.copies(), [4, 2])
                self.assertEqual([self.files(1), self.files(3)], [[], []])
                self.begin_anew()

    def test_an_error_of_one_node_is_one_of_all(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.run_on(mpi, [0, 1, 2, 1], "write", 1)
                # Where node 1 wants to put its part.
                in_the_way = f"{self.set}/v{2:016x}-00001.data"
                os.makedirs(f"{in_the_way}/below")
                said = self.run_on(mpi, [0, 1, 2, 1], "fail", 2)
                self.assertRegex(said, r"rank 0: node \S+ \(pool \S*node1\S*\) could not copy its part to lower: Is a directory")
                self.assertRegex(said, r"rank 1: \S+-00001.data: rename: Is a directory")
                self.assertEqual(self.copies(), [1])
                shutil.rmtree(in_the_way)
                before = os.stat(f"{self.set}/v{2:016x}-00000.data").st_ino
                self.run_on(mpi, [0, 1, 2, 1], "keep")
                self.assertEqual(self.copies(), [2, 1])
                # Parts that were there are used again.
                self.assertEqual(os.stat(f"{self.set}/v{2:016x}-00000.data").st_ino, before)
                self.begin_anew()

    def test_each_host_by_the_command(self):
        mpi = MPIS[0]
        self.run_on(mpi, [0, 1, 2], "write", 1)
        shutil.rmtree(f"{self.lower}/.cairn-checkpoints")
        for missing, node in ((2, 1), (1, 2)):
            said = json.loads(self.cairn("--json", "ckpt", "drain", "field", "--to", self.lower, node=node))
            self.assertEqual((said["version"], said["missing_parts"]), (1, missing))
            self.assertEqual(self.copies(), [])
        self.assertIn("1 of other hosts is missing", self.cairn("ckpt", "drain", "field", "--to", self.lower, node=1))
        self.assertIn("is in", self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep", 1))
        self.assertEqual(self.copies(), [1])


if __name__ == "__main__":
    run_tests(MPIS)
