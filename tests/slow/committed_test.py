"""A rank of a job on two hosts is killed while all write through POSIX calls: the next job finds on
both hosts what had been closed, or synced where it lay on the other host."""

import os
import random
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_job import SEED, TESTS, Job, new_directory, run_tests  # noqa: E402
from cluster_runner import VirtualCluster  # noqa: E402

PROGRAM = TESTS / "cluster" / "openmpi" / "committed_program"
KILLS = 4
RANKS = 4
HOSTS = 2
LIMIT_S = 120


class Committed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(HOSTS)

    def start(self, directory, *words):
        return Job(self.cluster, "openmpi", RANKS, directory, PROGRAM, *words,
                   options=("--drain", "never"), settings=["CAIRN_MPI_TIMEOUT=10"], limit_s=LIMIT_S)

    def after_a_kill(self, victim, lines, pause_s):
        directory = new_directory(self.cluster)
        job = self.start(directory, "write")
        job.wait_until(lambda: len(job.said) > lines)
        time.sleep(pause_s)
        self.cluster.on(f"node{victim}", "sh", "-c",
                        "kill -9 $(pgrep -x committed_progr | shuf -n 1)")
        code, said = job.end()
        self.assertNotEqual(code, 0, said[-4000:])
        committed = re.findall(r"^committed (?:closed|synced) \d \d+\n", said, re.M)
        self.assertGreater(len(committed), lines // 2, said[-4000:])
        with open(directory + ".list", "w") as listed:
            listed.writelines(committed)
        code, found = self.start(directory, "look", listed.name).end()
        self.assertEqual(code, 0, f"{found[-4000:]}\nCAIRN_SEED={SEED}")
        self.assertIn(f"found {len(committed)}\n", found)

    def test_what_was_committed_is_found(self):
        drawn = random.Random(SEED)
        for _ in range(KILLS):
            self.after_a_kill(drawn.randrange(HOSTS), drawn.randint(20, 500),
                              drawn.uniform(0, 0.05))


if __name__ == "__main__":
    run_tests(PROGRAM.exists())
