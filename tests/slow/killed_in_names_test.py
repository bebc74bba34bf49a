"""A rank of a job on several hosts is killed or stopped in the middle of making, renaming and
removing names, where the launcher lets the others go on: none of them waits for it for ever, and
what it was about is done on all hosts or on none."""

import os
import random
import re
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_job import SEED, TESTS, Job, new_directory, run_tests  # noqa: E402
from cluster_runner import VirtualCluster  # noqa: E402

PROGRAM = TESTS / "cluster" / "openmpi" / "killed_in_names_program"
KILLS = int(os.environ.get("CAIRN_KILLS", 6))
STOPS = 40
RANKS = 4
HOSTS = 2
LIMIT_S = 60
GRACE_S = 3


class Callers(Job):
    """The program over the hosts; `made` are the calls of each rank so far."""

    def __init__(self, cluster, directory, *words):
        self.made, self.processes, self.ending, self.seen = [0] * RANKS, [None] * RANKS, set(), {}
        super().__init__(cluster, "openmpi", RANKS, directory, PROGRAM, *words,
                         settings=["CAIRN_MPI_TIMEOUT=5"], limit_s=LIMIT_S)

    def hear(self, line):
        super().hear(line)
        if found := re.match(r"rank (\d) made (\d+)$", line):
            self.made[int(found[1])] = int(found[2])
        if found := re.match(r"rank (\d) is (\d+)$", line):
            self.processes[int(found[1])] = found[2]
        if found := re.match(r"rank (\d) ends$", line):
            self.ending.add(int(found[1]))
        if found := re.match(r"rank (\d) sees(.*)$", line):
            self.seen[int(found[1])] = found[2]


class KilledInNames(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        os.environ["OMPI_MCA_orte_enable_recovery"] = "1"
        cls.cluster = VirtualCluster()
        cls.addClassCleanup(cls.cluster.down)
        cls.cluster.up(HOSTS)

    def after_a_kill(self, victim, number, pause_s):
        """Do the others go on? If not, the job has ended: where it is killed in the middle of a
        message, its MPI does that."""
        directory = new_directory(self.cluster)
        stop = directory + ".stop"
        job = Callers(self.cluster, directory, stop, number)
        job.wait_until(lambda: all(job.made))
        self.assertTrue(all(job.made), "".join(job.said))
        time.sleep(pause_s)
        self.cluster.on(f"node{victim * HOSTS // RANKS}", "kill", "-9", job.processes[victim])
        others = set(range(RANKS)) - {victim}
        before = list(job.made)
        seconds = job.wait_until(lambda: all(job.made[rank] > before[rank] + 20 for rank in others))
        goes_on = not job.silent
        self.assertLess(seconds, LIMIT_S, "".join(job.said)[-4000:])
        with open(stop, "w"):
            job.wait_until(lambda: others <= job.ending)
            if goes_on:
                with open(stop + ".look", "w"):
                    job.wait_until(lambda: others <= set(job.seen))
        os.unlink(stop)
        # Its launcher may go on waiting for the one that was killed.
        job.limit_s = GRACE_S
        _, said = job.end()
        self.assertNotIn("was told", said)
        if goes_on:
            self.assertEqual(set(job.seen), others, said[-4000:])
            self.assertEqual(len(set(job.seen.values())), 1,
                             f"rank {victim}, call {number}: {job.seen}")
        return goes_on

    def test_the_others_go_on(self):
        # Not those that answer for their hosts.
        drawn = random.Random(SEED)
        went_on = [
            self.after_a_kill(drawn.choice((1, 3)), number, drawn.uniform(0, 0.3))
            for number in range(KILLS)
        ]
        self.assertTrue(any(went_on))

    def test_one_that_stands_still_ends_the_job(self):
        directory = new_directory(self.cluster)
        job = Callers(self.cluster, directory, directory + ".stop", 0)
        self.addCleanup(job.end)
        job.wait_until(lambda: all(job.made))
        signal = lambda name: self.cluster.on(f"node{HOSTS - 1}", "kill", name, job.processes[RANKS
                                                                                              - 1])
        others = range(RANKS - 1)
        for _ in range(STOPS):
            signal("-STOP")
            before = list(job.made)
            time.sleep(0.5)
            if not any(job.made[rank] > before[rank] + 1 for rank in others):
                break  # it has the lock that they need
            signal("-CONT")
            time.sleep(0.1)
        job.wait_until(lambda: job.line_with("is stopped"))
        self.assertRegex(
            job.line_with("is stopped"),
            r"cairn: MPI-IO: [a-z0-9/]+: after 5 s still waiting for a process of node "
            r"node1 \(pool .*\) that holds the lock and is stopped: the job is aborted")


if __name__ == "__main__":
    run_tests(PROGRAM.exists())
