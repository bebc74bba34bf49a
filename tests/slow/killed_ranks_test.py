"""Ranks of a job on several hosts are killed, or a host is cut off, at any moment of writing,
committing and reading. What was committed is there for the next job, on other numbers of ranks, and
nothing of what was not."""

import os
import pathlib
import random
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_job import CAIRN, SEED, TESTS, Job, new_directory, run_tests  # noqa: E402
from cluster_runner import VirtualCluster  # noqa: E402

PROGRAM = TESTS / "cluster" / "openmpi" / "killed_program"
KILLS = 10
HOSTS = 2
LIMIT_S = 180
ROUND_BYTES = 64_000


def pattern(size):
    """As in mpi_parts.h, for writer 0."""
    return bytes(1 + (at * 7 + at // 1024) % 255 for at in range(size))


class Rounds(Job):
    """The program over the hosts; `committed` is the last round that it has told of."""

    def __init__(self, cluster, ranks, directory, part):
        self.committed = 0
        super().__init__(cluster, "openmpi", ranks, directory, PROGRAM, part,
                         options=("--drain", "never"), settings=["CAIRN_MPI_TIMEOUT=5"],
                         limit_s=LIMIT_S)

    def hear(self, line):
        super().hear(line)
        if found := re.match(r"committed (\d+)$", line):
            self.committed = int(found[1])


class KilledRanks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(HOSTS)

    def setUp(self):
        self.directory = new_directory(self.cluster)
        self.drawn = random.Random(SEED)

    def after(self, fault, ranks, rounds):
        """Starts a job, lets `fault` happen in it, and looks at what the next one finds; how many
        rounds that is."""
        job = Rounds(self.cluster, ranks, self.directory, "rounds")
        reached = rounds + self.drawn.randint(1, 30)
        job.wait_until(lambda: job.committed >= reached)
        self.assertGreater(job.committed, rounds, "".join(job.said))
        time.sleep(self.drawn.uniform(0, 0.02))
        fault()
        code, said = job.end()
        self.assertNotEqual(code, 0, said)
        self.assertNotIn("line ", said)
        look = Rounds(self.cluster, self.drawn.randint(2, 4), self.directory, "look")
        code, found = look.end()
        self.assertEqual(code, 0, f"{said}\n{found}")
        now = int(re.search(r"^rounds (\d+)$", found, re.M)[1])
        self.assertIn(now, (job.committed, job.committed + 1), f"{said}\n{found}")
        return now

    def is_drained(self, rounds):
        for node in range(HOSTS):
            self.cluster.on(f"node{node}", CAIRN, "pool", "check")
        self.cluster.mpi("openmpi", HOSTS, CAIRN, "drain", self.directory)
        self.assertEqual(
            pathlib.Path(self.directory, "rounds").read_bytes(), pattern(rounds * ROUND_BYTES))

    def test_a_rank_is_killed(self):
        rounds = 0
        for _ in range(KILLS):
            victim = self.drawn.randrange(HOSTS)
            rounds = self.after(
                lambda: self.cluster.on(f"node{victim}", "sh", "-c",
                                        "kill -9 $(pgrep -x killed_program | shuf -n 1)"), 4,
                rounds)
        self.is_drained(rounds)

    def test_a_host_is_cut_off(self):
        """Nothing is lost there: its memory is as it was when the host comes back."""
        rounds = 0
        for _ in range(2):
            rounds = self.after(self.cut_off, 2, rounds)
        self.is_drained(rounds)

    def cut_off(self):
        self.cluster.change("cut", "node1")
        # The ranks that are left give up, each on its own.
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and self.cluster.on("node1", "pgrep", "-x", "killed_program",
                                                           expect=None).returncode == 0:
            time.sleep(0.2)
        self.cluster.change("join", "node1")


if __name__ == "__main__":
    run_tests(PROGRAM.exists())
