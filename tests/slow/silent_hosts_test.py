"""A rank waits in a call on a file for hosts or ranks that are stopped, cut off or dead: after
twice CAIRN_MPI_TIMEOUT at most one line says which file and which call, and who does not answer,
and the job ends. Who computes for longer than that is waited for, and so are hosts that were
suspended together."""

import os
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cluster"))
from cluster_job import TESTS, Job, mpis_with, new_directory, run_tests  # noqa: E402
from cluster_runner import VirtualCluster  # noqa: E402

MPIS = mpis_with("cluster", "silent_program")
TIMEOUT_S = 2
SUSPENDED_TIMEOUT_S = 8
LATE_S = 20  # after twice that, on a machine that is busy
LIMIT_S = 120
GATHERED = "collecting what each rank has written"
DECIDED = "waiting for what rank 0 has decided"
# The call as the line names it, and what a rank waits for that is not rank 0, or is.
CALLS = {
    "open": ("open silent", "making a communicator",
             "making a communicator"), "sync": ("sync silent", DECIDED, GATHERED),
    "close": ("close silent", DECIDED, GATHERED), "delete": ("close silent", DECIDED, GATHERED),
    "set_size": ("set size silent", "waiting for all ranks", "waiting for all ranks"),
    "set_view": ("set view silent", "collecting the results of all ranks",
                 "collecting the results of all ranks"),
    "ordered": ("access in order of ranks to silent", "waiting for",
                "waiting for"), "finalize": ("waiting for all in MPI_Finalize", "", ""),
}
# Lets the thread that answers for a host stand still until a line is said to it; its process goes
# on.
HOLD_THE_SERVER = """
import ctypes, glob, os, pathlib, sys
SEIZE, INTERRUPT, DETACH, EVERY_CHILD = 0x4206, 0x4207, 17, 0x40000000
found = [path for path in glob.glob("/proc/[0-9]*/task/[0-9]*/comm")
         if pathlib.Path(path).read_text() == "cairn-mpi\\n"]
assert len(found) == 1, found
thread = int(found[0].split("/")[4])
def trace(request):
    arguments = [ctypes.c_long(value) for value in (request, thread, 0, 0)]
    failed = ctypes.CDLL(None, use_errno=True).ptrace(*arguments)
    assert failed == 0, os.strerror(ctypes.get_errno())
trace(SEIZE)
trace(INTERRUPT)
os.waitpid(thread, EVERY_CHILD)
print("held", flush=True)
sys.stdin.readline()
trace(DETACH)
"""


class SilentHosts(unittest.TestCase):
    def setUp(self):
        self.cluster = VirtualCluster()
        self.addCleanup(self.cluster.down)
        self.cluster.up(2)

    def start(self, mpi, ranks, *words, timeout_s=TIMEOUT_S):
        """The program, until it is ready."""
        job = Job(self.cluster, mpi, ranks, new_directory(self.cluster),
                  TESTS / "cluster" / mpi / "silent_program", *words, options=("--drain", "never"),
                  settings=[f"CAIRN_MPI_TIMEOUT={timeout_s}"], limit_s=LIMIT_S)
        job.wait_until(lambda: job.line_with("ready"))
        if not job.line_with("ready"):
            self.fail(job.end()[1])
        return job

    def go(self, host):
        self.cluster.on(host, "touch", "/dev/shm/go")

    def told(self, job, pattern):
        seconds = job.wait_until(lambda: job.line_with("the job is aborted"))
        self.assertRegex(job.line_with("the job is aborted"),
                         "cairn: MPI-IO: " + pattern + r": the job is aborted", "".join(job.said))
        self.assertLess(seconds, 2 * TIMEOUT_S + LATE_S)
        self.assertGreater(seconds, TIMEOUT_S)

    def silent(self, mpi, call, waiter, fault):
        """Host 0 or 1, with the rank of that number, waits for the other one."""
        other = f"node{1 - waiter}"
        job = self.start(mpi, 2, call, waiter)
        time.sleep(1)  # until all have left the program's barrier
        self.cluster.change(fault, other)
        self.go(f"node{waiter}")
        doing, *phases = CALLS[call]
        phase = phases[0 if waiter == 1 else 1]
        try:
            self.told(
                job,
                f"{doing}(: )?{phase}.*: after \\d+ s no answer of node {other} \\(pool"
                " /dev/shm/.*\\)",
            )
        finally:  # the next case finds its hosts
            if fault != "kill":
                self.cluster.change({"stop": "continue", "cut": "join"}[fault], other)
        self.assertNotEqual(job.end()[0], 0)
        self.assertEqual(sum("the job is aborted" in line for line in job.said), 1,
                         "".join(job.said))

    def test_a_host_is_stopped_in_each_call(self):
        for waiter in (0, 1):
            for call in CALLS:
                with self.subTest(call=call, waiter=waiter):
                    self.cluster.on(f"node{waiter}", "rm", "-f", "/dev/shm/go")
                    self.silent("openmpi", call, waiter, "stop")

    @unittest.skipUnless("mpich" in MPIS, "no MPICH")
    def test_a_host_is_stopped_with_mpich(self):
        for waiter in (0, 1):
            with self.subTest(waiter=waiter):
                self.cluster.on(f"node{waiter}", "rm", "-f", "/dev/shm/go")
                self.silent("mpich", "sync", waiter, "stop")

    def test_a_host_is_cut_off(self):
        self.silent("openmpi", "close", 1, "cut")

    def test_a_rank_stands_still(self):
        """Rank 2, which answers for its host, and rank 3, which does not; the other one of the host
        lives."""
        still = r"rank {} on node node1 \(pool .*\) is stopped"
        for victim, pattern in ((2, f"(no answer of node node1 |{still.format(2)})"),
                                (3, still.format(3))):
            with self.subTest(victim=victim):
                for node in range(2):
                    self.cluster.on(f"node{node}", "rm", "-f", "/dev/shm/go")
                job = self.start("openmpi", 4, "sync", 0, 0)
                time.sleep(1)  # until all have left the program's barrier
                find = (
                    f"grep -lz OMPI_COMM_WORLD_RANK={victim} /proc/[0-9]*/environ 2>/dev/null | cut"
                    " -d/ -f3"
                )
                stopped = self.cluster.on(
                    "node1", "sh", "-c",
                    f"for p in $({find}); do grep silent_program /proc/$p/comm && "
                    "kill -STOP $p; done; true").stdout
                self.assertEqual(stopped, "silent_program\n")
                self.go("node1")
                self.go("node0")
                self.told(job, f"sync silent: .*: after \\d+ s {pattern}.*")
                self.cluster.on("node1", "sh", "-c", "kill -CONT $(pgrep silent_program)",
                                expect=None)
                job.end()

    def test_who_computes_is_waited_for(self):
        for mpi in MPIS:
            for call in ("open", "sync", "close"):
                with self.subTest(mpi=mpi, call=call):
                    for node in range(2):
                        self.cluster.on(f"node{node}", "rm", "-f", "/dev/shm/go")
                    job = self.start(mpi, 4, call, 0, 5 * TIMEOUT_S)
                    self.go("node1")
                    self.go("node0")
                    self.all_come(mpi, job)

    def all_come(self, mpi, job):
        job.wait_until(lambda: job.line_with("all came"))
        code, said = job.end()
        self.assertIn("all came\n", said)
        self.assertNotIn("aborted", said)
        # MPICH 4.0 need not get out of MPI_Finalize (docs/user/mpi-multi-node.md).
        if mpi == "openmpi":
            self.assertEqual(code, 0, said)

    def test_who_is_never_to_give_up_waits(self):
        for timeout_s in (-1, 10**9):
            with self.subTest(timeout_s=timeout_s):
                for node in range(2):
                    self.cluster.on(f"node{node}", "rm", "-f", "/dev/shm/go")
                job = self.start("openmpi", 2, "sync", 0, 2, timeout_s=timeout_s)
                self.go("node1")
                self.go("node0")
                self.all_come("openmpi", job)

    def test_a_job_is_suspended(self):
        """All hosts stand still for long, not all at the same moment, while one of them waits for
        an answer of another one."""
        for call, asks_after_s in (("read", 0), ("sync", SUSPENDED_TIMEOUT_S)):
            with self.subTest(call=call):
                for node in range(2):
                    self.cluster.on(f"node{node}", "rm", "-f", "/dev/shm/go")
                job = self.start("openmpi", 2, call, 0, 0, timeout_s=SUSPENDED_TIMEOUT_S)
                self.cluster.change("stop", "node1")
                self.go("node0")
                time.sleep(asks_after_s + 1)
                self.cluster.change("stop", "node0")
                time.sleep(SUSPENDED_TIMEOUT_S)
                self.cluster.change("continue", "node0")
                self.cluster.change("continue", "node1")
                self.go("node1")
                self.all_come("openmpi", job)


    def test_a_question_that_comes_as_all_come_to_finalize(self):
        """Rank 1's host has not answered yet when rank 1 comes, too. Libraries may meet once more
        then."""
        job = self.start("openmpi", 2, "finalize_meeting", 0, 0, timeout_s=SUSPENDED_TIMEOUT_S)
        holding = self.cluster.start("node1", sys.executable, "-c", HOLD_THE_SERVER,
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.assertEqual(holding.stdout.readline(), "held\n")
        self.go("node0")
        time.sleep(SUSPENDED_TIMEOUT_S + 3)  # now rank 0 has asked
        self.go("node1")
        time.sleep(1)  # now rank 1 has come
        holding.communicate("go on\n")
        self.assertEqual(holding.returncode, 0)
        code, said = job.end()
        self.assertNotIn("aborted", said)
        self.assertEqual(code, 0, said)


if __name__ == "__main__":
    run_tests("openmpi" in MPIS)
