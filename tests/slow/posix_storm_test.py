"""Ranks on two hosts write the same files through POSIX calls at random, for half a minute with
each MPI: each byte is as they were told, on all hosts, and in the directory after the job."""

import os
import pathlib
import re
import sys
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_job import SEED, TESTS, Job, mpis_with, new_directory, run_tests  # noqa: E402
from cluster_runner import VirtualCluster  # noqa: E402

MPIS = mpis_with("cluster", "posix_storm_program")
SECONDS = 25
RANKS = 4
LIMIT_S = 240
GRACE_S = 10


def sum_of(held):
    """As in posix_storm_program.cc."""
    found = 2166136261
    for byte in held:
        found = (found ^ byte) * 16777619 & 0xffffffff
    return found


class PosixStorm(unittest.TestCase):
    def setUp(self):
        self.cluster = VirtualCluster()
        self.addCleanup(self.cluster.down)
        self.cluster.up(2)

    def storm(self, mpi, seed):
        directory = new_directory(self.cluster)
        job = Job(self.cluster, mpi, RANKS, directory,
                  TESTS / "cluster" / mpi / "posix_storm_program", seed, SECONDS,
                  pool_size="256MiB", limit_s=LIMIT_S)
        job.wait_until(lambda: job.line_with("posix_storm\n"))
        # MPICH 4.0 need not get out of MPI_Finalize (docs/user/mpi-multi-node.md).
        if mpi == "mpich":
            job.limit_s = GRACE_S
        code, said = job.end()
        self.assertIn("posix_storm\n", said, f"CAIRN_SEED={SEED}")
        print(mpi, re.search(r"^\d+ calls$", said, re.M)[0], flush=True)
        if mpi == "mpich":
            return
        self.assertEqual(code, 0, said)
        expected = {
            name: (int(size), int(sum_there))
            for name, size, sum_there in re.findall(r"^there is (\S+) of (\d+) bytes, (\d+)$", said,
                                                    re.M)
        }
        self.assertEqual(sorted(os.listdir(directory)), sorted(expected))
        for name, (size, sum_there) in expected.items():
            held = pathlib.Path(directory, name).read_bytes()
            self.assertEqual((len(held), sum_of(held)), (size, sum_there), name)

    def test_openmpi(self):
        if "openmpi" in MPIS:
            self.storm("openmpi", SEED)

    def test_mpich(self):
        if "mpich" in MPIS:
            self.storm("mpich", SEED)


if __name__ == "__main__":
    run_tests(MPIS)
