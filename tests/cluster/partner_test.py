"""MPI ranks of several nodes write checkpoints with copies on other nodes. Nodes are lost with
their pools; jobs on the others, and on fresh ones, restart from the copies bitwise. Each pool of
this host is a node, and a failure domain by the environment."""

import os
import random
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from cluster_job import CAIRN, SEED, TESTS, Job, ended_well, mpis_with, run_tests

MPIS = mpis_with("cluster", "partner_program")
LAUNCHER = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"],
    "mpich": ["mpiexec.mpich"]
}
LIMIT_S = 120
# tests/slow/partner_test.py takes more kills, and all for all.
KILLS = int(os.environ.get("CAIRN_PARTNER_KILLS", "1"))
IS_WHOLE = "CAIRN_PARTNER_KILLS" in os.environ


class Rounds(Job):
    """`committed` and `copied` are the last versions that it has told of."""

    def __init__(self, command, environment):
        self.committed, self.copied, self.environment = 0, 0, environment
        self.start(command, LIMIT_S)

    def hear(self, line):
        super().hear(line)
        if found := re.match(r"(committed|copied) (\d+)$", line):
            setattr(self, found[1], int(found[2]))


class Copies(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="cairn-partner-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.environment = {
            **os.environ, "CAIRN_POOL_DIR": self.place, "CAIRN_POOL_SIZE": "64MiB",
            "HOME": self.place, "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": "",
            "CAIRN_CHECKPOINT_DOMAIN": ""
        }

    def command(self, mpi, nodes, *words, domains=None):
        """nodes: of each rank, its node. domains: of each node; they differ unless they are
        given."""
        command = []
        for node in nodes:
            domain = f"rack{node}" if domains is None else domains[node]
            command += ([":"] if command else []) + [
                "-n", "1", "env", f"CAIRN_POOL_NAME=node{node}",
                f"CAIRN_CHECKPOINT_DOMAIN={domain}",
                str(TESTS / "cluster" / mpi / "partner_program"), *words
            ]
        return [*LAUNCHER[mpi], *command]

    def run_on(self, mpi, nodes, *words, **more):
        done = subprocess.run(self.command(mpi, nodes, *words, **more), capture_output=True,
                              text=True, check=False, timeout=LIMIT_S, env=self.environment)
        self.assertTrue(ended_well(done, "copies are right"), done.stdout + done.stderr)
        self.assertIn("copies are right", done.stdout)
        return done.stdout

    def cairn(self, node, *words, expect=0):
        done = subprocess.run([CAIRN, *words], capture_output=True, text=True, check=False,
                              timeout=LIMIT_S,
                              env={**self.environment, "CAIRN_POOL_NAME": f"node{node}"})
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def lose(self, *nodes):
        for node in nodes:
            self.cairn(node, "pool", "remove", f"node{node}", "--force")

    def begin_anew(self):
        shutil.rmtree(self.place)
        os.mkdir(self.place)

    def test_a_lost_node(self):
        for mpi in MPIS:
            # On the others, and with a fresh one in its place; ranks are spread anew each time.
            cases = (([0, 1, 0, 2, 1], 1, [0, 1, 2, 0]), ([0, 1], 0, [1]), ([0, 1, 2], 1, [2, 0]),
                     ([2, 1, 0], 0, [3, 2, 1]), ([0, 0, 1, 1], 1, [0, 0, 0]))
            for writers, lost, readers in cases if IS_WHOLE else cases[:1 if mpi == MPIS[0] else 2]:
                with self.subTest(mpi=mpi, writers=writers, lost=lost, readers=readers):
                    self.run_on(mpi, writers, "write", "1", "2", "3")
                    self.lose(lost)
                    said = self.run_on(mpi, readers, "read", "3")
                    self.assertRegex(
                        said,
                        r"level 2, skipped 0, from copies 1: a copy on .* was read: its part on"
                        r" host \S+ is"
                        r" missing",
                    )
                    # It goes on from there, with copies again if it has two nodes.
                    if len(set(readers)) > 1:
                        self.run_on(mpi, readers, "write", "4", "5")
                        self.assertIn("level 3, skipped 0, from copies 0: \n",
                                      self.run_on(mpi, readers, "read", "5"))
                    self.begin_anew()

    @unittest.skipUnless(IS_WHOLE, "tests/checkpoint/disruption_test.cc has it without MPI")
    def test_two_lost_nodes(self):
        for mpi in MPIS:
            self.run_on(mpi, [0, 1, 2, 3], "write", "1")
            self.lose(1, 3)
            self.assertIn("from copies 2:", self.run_on(mpi, [2, 0], "read", "1"))
            self.lose(2)
            self.assertRegex(self.run_on(mpi, [0, 1], "lost"),
                             r"lost: no version can be read: .* part on host \S+ is missing")
            self.begin_anew()

    def test_levels_of_one_version(self):
        for mpi in MPIS if IS_WHOLE else MPIS[-1:]:
            self.run_on(mpi, [0, 1, 0, 1], "later", "5")
            self.lose(1)
            self.assertIn("from copies 1:", self.run_on(mpi, [0], "read", "7"))
            self.begin_anew()

    def test_no_node_for_copies(self):
        for mpi in MPIS if IS_WHOLE else MPIS[-1:]:
            host = os.uname().nodename[:31]
            cases = (([0, 1], ["", ""], f"all 2 nodes are in the failure domain '{host}'"),
                     ([0, 1, 0], ["rack", "rack"], "all 2 nodes are in the failure domain 'rack'"),
                     ([0, 0], None, "the run has one node"))
            for nodes, domains, why in cases if IS_WHOLE else cases[:1]:
                with self.subTest(mpi=mpi, domains=domains):
                    self.assertIn(f"impossible: level PARTNER: {why}",
                                  self.run_on(mpi, nodes, "impossible", domains=domains))
            self.begin_anew()
            # Never two in one domain.
            self.run_on(mpi, [0, 1, 2, 3], "write", "1", domains=["a", "a", "b", "b"])
            self.lose(0, 1)
            self.assertIn("from copies 2:", self.run_on(mpi, [2, 3], "read", "1"))
            self.begin_anew()

    def test_commands_know_copies(self):
        mpi = MPIS[0]
        self.run_on(mpi, [0, 1, 2], "write", "1", "2")
        shown = self.cairn(1, "ckpt", "show", "field")
        self.assertRegex(shown, r"survives +processes, loss of a node\n")
        self.assertRegex(shown, r"copies +1 part of other nodes\n")
        self.assertIn("has copies", self.cairn(1, "ckpt", "ls", "field"))
        self.cairn(1, "ckpt", "verify", "field")
        # Its own part of version 1 goes, and so does the copy.
        self.cairn(1, "ckpt", "rm", "field", "1", "--force")
        self.assertIn(
            '"versions": 1,',
            self.cairn(1, "ckpt", "ls", "--json").replace('"versions":1', '"versions": 1'))
        self.assertIn("level 3, skipped", self.run_on(mpi, [0, 1, 2], "read", "2"))

    def test_killed_while_it_copies(self):
        drawn = random.Random(SEED)
        for mpi in MPIS if IS_WHOLE else MPIS[:1]:
            for kill in range(KILLS):
                with self.subTest(mpi=mpi, kill=kill):
                    command = self.command(mpi, [0, 1, 2, 1], "rounds")
                    job = Rounds([
                        "env", *[f"{name}={value}"
                                 for name, value in self.environment.items()], *command
                    ], None)
                    reached = drawn.randint(2, 6)
                    job.wait_until(lambda: job.committed >= reached)
                    self.assertGreaterEqual(job.committed, reached, "".join(job.said))
                    self.kill_one(drawn.randrange(4))
                    job.limit_s = 10
                    _, said = job.end()
                    self.assertNotIn("an element", said)
                    self.lose(drawn.randrange(3))
                    found = int(
                        re.search(r"^version (\d+)$", self.run_on(mpi, [0, 1, 2], "read"), re.M)[1])
                    self.assertIn(found, range(job.copied, job.committed + 2), said[-500:])
                    self.begin_anew()

    def kill_one(self, which):
        """A process of the job, which has its pool in this test's directory."""
        ranks = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/comm",
                          encoding="utf-8") as comm, open(f"/proc/{pid}/environ", "rb") as environ:
                    if comm.read() == "partner_program\n" and self.place.encode() in environ.read():
                        ranks.append(int(pid))
            except OSError:
                continue
        if ranks:
            os.kill(sorted(ranks)[which % len(ranks)], signal.SIGKILL)


if __name__ == "__main__":
    run_tests(MPIS)
