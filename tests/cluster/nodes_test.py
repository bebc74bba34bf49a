"""MPI ranks of several nodes write checkpoints together; other numbers of ranks and nodes restart
from them bitwise. Processes and whole hosts are killed at random moments."""

import os
import random
import re
import shutil
import subprocess
import tempfile
import time
import unittest

from cluster_job import SEED, TESTS, Job, ended_well, mpis_with, new_directory, run_tests
from cluster_runner import VirtualCluster

MPIS = mpis_with("cluster", "nodes_program")
LAUNCHER = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "--allow-run-as-root"],
    "mpich": ["mpiexec.mpich"]
}
LIMIT_S = 120
GRACE_S = 5  # for an MPI_Finalize that may not end
KILLS = int(os.environ.get("CAIRN_NODES_KILLS", "2"))
HOSTS = 3
# tests/slow/nodes_test.py takes all for all.
HOSTS_MPIS = MPIS if "CAIRN_NODES_KILLS" in os.environ else MPIS[:1]


def program_of(mpi, name="nodes_program"):
    return str(TESTS / "cluster" / mpi / name)


class PoolsOfOneHost(unittest.TestCase):
    """Each pool is a node."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="cairn-nodes-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.environment = {
            **os.environ, "CAIRN_POOL_DIR": self.place, "CAIRN_POOL_SIZE": "64MiB",
            "HOME": self.place, "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": ""
        }

    def run_on(self, mpi, nodes, *words, program="nodes_program"):
        """nodes: of each rank, its node."""
        command = []
        for node in nodes:
            command += ([":"] if command else []) + [
                "-n", "1", "env", f"CAIRN_POOL_NAME=node{node}",
                program_of(mpi, program), *words
            ]
        done = subprocess.run([*LAUNCHER[mpi], *command], capture_output=True, text=True,
                              check=False, timeout=LIMIT_S, env=self.environment)
        self.assertTrue(ended_well(done, " are right"), done.stdout + done.stderr)
        return done.stdout

    def begin_anew(self):
        shutil.rmtree(self.place)
        os.mkdir(self.place)

    def test_other_ranks_and_nodes(self):
        for mpi in MPIS:
            version = 0
            # Each job has the nodes of the one before.
            for writers in ([1], [2, 1, 2], [0, 1, 0, 2, 1], [2, 1, 0]):
                self.run_on(mpi, writers, "write", *map(str, range(version + 1, version + 4)),
                            program="restart_program")
                version += 3
                for readers in ([0, 1, 2], [2, 2, 1, 0, 0, 3, 3], [3, 2, 1, 0]):
                    with self.subTest(mpi=mpi, writers=writers, readers=readers):
                        self.run_on(mpi, readers, "read", str(version), program="restart_program")
            # With particles.
            self.run_on(mpi, [0, 1, 0, 2, 1], "async")
            for readers in ([0, 1, 2], [2, 2, 1, 0, 0, 3, 3], [3, 2, 1, 0]):
                with self.subTest(mpi=mpi, readers=readers):
                    self.assertIn("version 20\n", self.run_on(mpi, readers, "look"))
            self.begin_anew()

    def test_a_pool_that_is_not_there(self):
        for mpi in MPIS:
            self.run_on(mpi, [0, 1, 2], "some")
            for nodes in ([0, 1], [1], [2, 0, 3]):
                said = self.run_on(mpi, nodes, "refused")
                self.assertRegex(
                    said,
                    r"refused: no version can be read: version 2: its part on host \S+ is missing:"
                    r" no process "
                    r"of this run has that host's pool",
                )
            self.assertIn("version 2\n", self.run_on(mpi, [2, 1, 0], "look"))
            self.run_on(mpi, [0, 1], "anew")
            self.assertIn("version 1000\n", self.run_on(mpi, [1, 0, 2], "look"))
            self.begin_anew()

    def test_what_all_ranks_come_to(self):
        for mpi in MPIS:
            for nodes in ([0, 1, 0, 2, 1], [0, 1]):
                for part in ("need", "wrong", "async"):
                    with self.subTest(mpi=mpi, nodes=nodes, part=part):
                        said = self.run_on(mpi, nodes, part)
                        self.assertIn("nodes are right", said)
                        if part == "need":
                            self.assertGreater(int(re.search(r"^yes (\d+)$", said, re.M)[1]), 2)


class Rounds(Job):
    """The program over the hosts; `begun` and `committed` are the last versions that it has told
    of."""

    def __init__(self, command):
        self.begun, self.committed = 0, 0
        self.start(command, LIMIT_S)

    def hear(self, line):
        super().hear(line)
        if found := re.match(r"(begun|committed) (\d+)$", line):
            setattr(self, found[1], int(found[2]))


class ThreeHosts(unittest.TestCase):
    def setUp(self):
        self.cluster = VirtualCluster()
        self.addCleanup(self.cluster.down)
        self.cluster.up(HOSTS)
        # Each host's disk, which outlives it.
        self.disks = new_directory(self.cluster)
        for node in range(HOSTS):
            os.mkdir(os.path.join(self.disks, f"node{node}"))
        self.drawn = random.Random(SEED)

    def command(self, mpi, ranks, per_node, *words):
        place = f"CAIRN_POOL_DIR={self.disks}/$(hostname) CAIRN_POOL_SIZE=64MiB HOME={self.disks}"
        return self.cluster.command("run", "--mpi", mpi, "-n", ranks, "-ppn", per_node, "--", "sh",
                                    "-c", f"{place} exec {program_of(mpi)} {' '.join(words)}")

    def run_part(self, mpi, ranks, per_node, *words):
        """With MPICH 4.0 the program need not get out of MPI_Finalize
        (docs/user/mpi-multi-node.md)."""
        job = Rounds(self.command(mpi, ranks, per_node, *words))
        job.wait_until(lambda: job.line_with("nodes are right"))
        if mpi == "mpich" and job.line_with("nodes are right"):
            job.limit_s = GRACE_S
        code, said = job.end()
        self.assertIn("nodes are right\n", said)
        if mpi != "mpich":
            self.assertEqual(code, 0, said)
        return said

    def rounds(self, mpi, ranks, fault):
        """A job that a fault ends, and what the next one finds."""
        job = Rounds(self.command(mpi, ranks, -(-ranks // HOSTS), "rounds"))
        job.wait_until(lambda: job.committed != 0)
        self.assertNotEqual(job.committed, 0, "".join(job.said))
        reached = job.committed + self.drawn.randint(1, 10)
        job.wait_until(lambda: job.committed >= reached)
        time.sleep(self.drawn.uniform(0, 0.05))
        fault()
        job.limit_s = 2 * GRACE_S
        code, said = job.end()
        self.assertNotEqual(code, 0, said)
        self.assertNotIn("an element", said)
        ranks = self.drawn.choice((HOSTS, 2 * HOSTS - 1, 2 * HOSTS))  # on all hosts
        found = self.run_part(mpi, ranks, -(-ranks // HOSTS), "look")
        now = int(re.search(r"^version (\d+)$", found, re.M)[1])
        self.assertIn(now, (job.committed, job.committed + 1), f"{said[-500:]}\n{found}")
        return now

    def kill_process(self, node):
        self.cluster.on(f"node{node}", "sh", "-c", "kill -9 $(pgrep -x nodes_program | shuf -n 1)")

    def kill_host(self, node):
        self.cluster.change("kill", f"node{node}")
        self.cluster.change("join", f"node{node}")

    def test_faults_at_random_moments(self):
        for mpi in MPIS:
            last = 0
            for kill in range(KILLS):
                node = self.drawn.randrange(HOSTS)
                fault = self.kill_host if kill % 2 else self.kill_process
                with self.subTest(mpi=mpi, kill=kill, node=node, fault=fault.__name__):
                    now = self.rounds(mpi, 2 * HOSTS, lambda: fault(node))
                    self.assertGreater(now, last)
                    last = now
            for node in range(HOSTS):
                shutil.rmtree(os.path.join(self.disks, f"node{node}"))
                os.mkdir(os.path.join(self.disks, f"node{node}"))

    def test_other_numbers_of_hosts(self):
        for mpi in HOSTS_MPIS:
            self.run_part(mpi, 4, 2, "async")
            for ranks, per_node in ((3, 1), (6, 2), (2, 1), (5, 3)):
                self.assertIn("version 20\n", self.run_part(mpi, ranks, per_node, "look"))
            said = self.run_part(mpi, 1, 1, "refused")
            self.assertIn("its part on host node1 is missing", said)
            self.run_part(mpi, 6, 2, "async")
            self.assertIn("its part on host node2 is missing", self.run_part(mpi, 2, 1, "refused"))
            self.run_part(mpi, 1, 1, "anew")
            self.assertIn("version 1000\n", self.run_part(mpi, 6, 2, "look"))


if __name__ == "__main__":
    run_tests(MPIS)
