"""Several nodes copy checkpoints to a directory of lower together. A version counts there when all
parts are there."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from cluster_job import CAIRN, TESTS, ended_well, mpis_with, run_tests, text_of_refused
from nodes_test import LAUNCHER, LIMIT_S

MPIS = mpis_with("cluster", "lower_program")
READER = pathlib.Path(__file__).parents[1] / "cli/ckpt/read_export.py"
PYTHON = "/usr/bin/python3"  # the distribution's has h5py and netCDF4


class CopiesOfNodes(unittest.TestCase):
    """Each pool is a node."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="cairn-lower-", dir="/dev/shm")
        self.addCleanup(shutil.rmtree, self.place, ignore_errors=True)
        self.begin_anew()
        self.environment = {
            **os.environ, "CAIRN_POOL_DIR": f"{self.place}/pools", "CAIRN_POOL_SIZE": "32MiB",
            "HOME": self.place, "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": ""
        }

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

    def command(self, mpi, nodes, what, *words, program="lower_program"):
        """nodes: of each rank, its node."""
        command = []
        words = [what, *([self.lower] if program == "lower_program" else []), *map(str, words)]
        for node in nodes:
            command += ([":"] if command else []) + [
                "-n", "1", "env", f"CAIRN_POOL_NAME=node{node}",
                str(TESTS / "cluster" / mpi / program), *words
            ]
        return [*LAUNCHER[mpi], *command]

    def run_on(self, mpi, nodes, what, *words, program="lower_program"):
        done = subprocess.run(self.command(mpi, nodes, what, *words,
                                           program=program), capture_output=True, text=True,
                              check=False, timeout=LIMIT_S, env=self.environment)
        self.assertTrue(ended_well(done, " are right\n"), done.stdout + done.stderr)
        self.assertIn(" are right\n", done.stdout)
        return done.stdout

    def cairn(self, *words, node=0):
        done = subprocess.run([CAIRN, *map(str, words)], capture_output=True, text=True,
                              check=False, timeout=LIMIT_S,
                              env={**self.environment, "CAIRN_POOL_NAME": f"node{node}"})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def copies(self):
        listed = json.loads(self.cairn("--json", "ckpt", "ls", "--in", self.lower))
        return [one["version"] for one in listed]

    def files(self, sequence):
        return sorted(name for name in os.listdir(self.set) if name.startswith(f"v{sequence:016x}"))

    def kill_ranks(self):
        """Of this test: its directory is in their arguments. They may outlive their launcher."""
        def left():
            found = []
            for pid in filter(str.isdigit, os.listdir("/proc")):
                with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
                    words = file.read().split(b"\0")
                    if self.lower.encode() in words and words[0].endswith(b"lower_program"):
                        found.append(int(pid))
            return found
        while pids := left():
            for pid in pids:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.02)

    def test_the_parts_of_a_version(self):
        for mpi in MPIS[:1]:
            with self.subTest(mpi=mpi):
                self.run_on(mpi, [0, 1, 0, 2, 1], "write", 1, 2)
                self.assertEqual(self.copies(), [2, 1])
                parts = [
                    f"v{2:016x}-{part:05x}.{kind}" for part in range(3)
                    for kind in ("data", "manifest")
                ]
                self.assertEqual(self.files(2), [*parts, f"v{2:016x}.json"])
                self.assertIn("and 2 more", self.cairn("ckpt", "ls", "--in", self.lower))
                # finalize copies the last one; what is beyond those that are kept goes.
                self.run_on(mpi, [0, 1, 0, 2, 1], "keep", 3, 4)
                self.assertEqual(self.copies(), [4, 2])
                self.assertEqual([self.files(1), self.files(3)], [[], []])
                self.begin_anew()

    def test_pools_that_are_lost(self):
        for mpi in MPIS:
            self.run_on(mpi, [0, 1, 0, 2, 1], "write", 1, 2)
            # All of them; other numbers of nodes and ranks, and one host.
            for nodes in [[0, 1], [1, 2, 3, 0, 2], [5]][:3 if mpi == MPIS[0] else 1]:
                with self.subTest(mpi=mpi, nodes=nodes):
                    self.lose()
                    self.assertIn("skipped 0", self.run_on(mpi, nodes, "read", 2))
            if mpi != MPIS[0]:
                continue
            # What came back is in the pools now, and a run goes on from it.
            self.run_on(mpi, [5], "read", 2)
            self.lose()
            self.run_on(mpi, [0, 1], "write", 3)
            self.assertEqual(self.copies(), [3, 2])
            self.run_on(mpi, [1, 0, 1], "read", 3)
            # One of them: the others keep their parts.
            self.lose(0)
            self.run_on(mpi, [0, 1], "read", 3)
            self.run_on(mpi, [4, 0, 1], "keep", 4)
            self.assertEqual(self.copies(), [4, 3])
            self.begin_anew()

    def test_what_was_not_copied_is_skipped(self):
        mpi = MPIS[-1]
        self.run_on(mpi, [0, 1, 2], "write", 1)
        self.run_on(mpi, [0, 1, 2], "write", 2, program="restart_program")  # without lower
        self.lose(2)
        # The others have their parts of version 1 still.
        said = self.run_on(mpi, [0, 1, 2], "read", 1)
        self.assertRegex(said, "skipped 1 version 2: its part on host .* is missing")
        self.run_on(mpi, [0, 1, 2], "keep", 3)
        self.assertEqual(self.copies(), [3, 1])

    def test_newer_copies_beside_pools_that_are_complete(self):
        mpi = MPIS[-1]
        for here, there in (([0, 1], [2, 3]), ([4], [5])):
            with self.subTest(here=here):
                self.run_on(mpi, here, "write", 1, 2)
                self.run_on(mpi, there, "write", 3, 4)
                self.assertEqual(self.copies(), [4, 3])
                # The pools of the first job have all of version 2.
                self.assertIn("skipped 0", self.run_on(mpi, here, "read", 4))
                self.run_on(mpi, here, "keep", 5)
                self.assertEqual(self.copies(), [5, 4])
                # What is damaged in lower does not count.
                self.run_on(mpi, there, "write", 6)
                self.flip(next(name for name in self.files(6) if name.endswith(".data")), 2 << 20)
                self.run_on(mpi, here, "read", 5)
                self.begin_anew()

    def test_parts_of_another_version_of_the_sequence(self):
        mpi = MPIS[-1]
        self.run_on(mpi, [0, 1, 2], "write", 1)
        self.run_on(mpi, [0, 1, 2], "write", 2, program="restart_program")  # without lower
        self.run_on(mpi, [3, 4, 5], "write", 3)
        self.assertEqual(self.files(2)[-1], f"v{2:016x}.json")
        # Pools 0 and 1 have two parts of their second version, lower has three of another one.
        self.lose(2)
        # Both have the second place in the sequence, which counts once.
        self.assertIn(f"skipped 1 v{2:016x}: the pools have another version of this sequence",
                      self.run_on(mpi, [0, 1, 2], "read", 1))

    def flip(self, name, offset):
        with open(f"{self.set}/{name}", "r+b") as file:
            file.seek(offset)
            byte = file.read(1)[0]
            file.seek(offset)
            file.write(bytes([byte ^ 1]))

    def test_a_damaged_part_in_lower(self):
        for mpi in MPIS[:1]:
            with self.subTest(mpi=mpi):
                self.run_on(mpi, [0, 1, 2, 1], "write", 1, 2)
                self.lose()
                self.flip(f"v{2:016x}-00001.data", 2 << 20)
                said = self.run_on(mpi, [0, 1], "read", 1)
                self.assertRegex(said,
                                 r"skipped 1 v0{15}2: bytes at \d+ differ from their checksum")
                # Nothing of the damaged one is left in the pools.
                self.assertRegex(self.run_on(mpi, [1, 0], "read", 1),
                                 r"skipped 1 v0{15}2: bytes at")
                self.lose()
                self.flip(f"v{1:016x}-00002.manifest", 1100)
                said = self.run_on(mpi, [0, 1], "none")
                self.assertRegex(
                    said,
                    "none: checkpoint field: options.lower: no version is whole: .*; "
                    "CAIRN_CHECKPOINT_FRESH begins anew")
                self.begin_anew()

    def test_killed_while_it_copies(self):
        mpi = MPIS[0]
        self.run_on(mpi, [0, 1, 2], "write", 1)
        job = subprocess.Popen(self.command(mpi, [0, 1, 2], "write", *range(2, 1000)),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env=self.environment, start_new_session=True)
        self.addCleanup(job.stdout.close)
        said = []
        for line in job.stdout:
            said.append(line)
            if line == "local 5\n":
                break
        # Anywhere in the copy of version 5, or soon after.
        os.killpg(job.pid, signal.SIGKILL)
        self.kill_ranks()
        said += job.stdout.readlines()
        job.wait()
        self.assertIn("global 4\n", said)
        newest = max(self.copies())
        self.assertGreaterEqual(newest, 4)
        self.lose()
        self.run_on(mpi, [0, 1], "read", newest)
        # What was left of the copy is used, or goes.
        self.run_on(mpi, [0, 1], "keep", 2000)
        self.assertEqual(self.copies(), [2000, newest])
        self.assertEqual([name for name in os.listdir(self.set) if name.startswith(".tmp-")], [])

    def test_behind_the_programs_back(self):
        for mpi in MPIS[:1]:
            with self.subTest(mpi=mpi):
                said = self.run_on(mpi, [0, 1, 0, 2, 1], "background", 1, 2, 3)
                self.assertIn("global 3\n", said)
                self.assertEqual(self.copies(), [3, 2])
                self.lose()
                self.run_on(mpi, [0, 1], "read", 3)
                # Killed at any time: what a rank has seen at GLOBAL is there.
                job = subprocess.Popen(self.command(mpi, [0, 1, 2], "background", *range(4, 100)),
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                       env=self.environment, start_new_session=True)
                self.addCleanup(job.stdout.close)
                said = []
                for line in job.stdout:
                    said.append(line)
                    if line == "global 5\n":
                        break
                os.killpg(job.pid, signal.SIGKILL)
                self.kill_ranks()
                said += job.stdout.readlines()
                job.wait()
                self.assertIn("global 5\n", said)
                newest = max(self.copies())
                self.assertGreaterEqual(newest, max(
                    int(line.split()[1]) for line in said if line.startswith("global ")))
                self.lose()
                self.run_on(mpi, [0, 1], "read", newest)
                self.begin_anew()

    def test_an_error_of_one_node_is_one_of_all(self):
        for mpi in MPIS[-1:]:
            with self.subTest(mpi=mpi):
                self.run_on(mpi, [0, 1, 2, 1], "write", 1)
                # Where node 1 wants to put its part.
                in_the_way = f"{self.set}/v{2:016x}-00001.data"
                os.makedirs(f"{in_the_way}/below")
                said = self.run_on(mpi, [0, 1, 2, 1], "fail", 2)
                self.assertRegex(
                    said,
                    r"rank 0: node \S+ \(pool \S*node1\S*\) could not copy its part to lower: Is a"
                    r" directory",
                )
                self.assertRegex(said, r"rank 1: \S+-00001.data: rename: Is a directory")
                self.assertEqual(self.copies(), [1])
                shutil.rmtree(in_the_way)
                before = os.stat(f"{self.set}/v{2:016x}-00000.data").st_ino
                self.run_on(mpi, [0, 1, 2, 1], "keep")
                self.assertEqual(self.copies(), [2, 1])
                # Parts that were there are used again.
                self.assertEqual(os.stat(f"{self.set}/v{2:016x}-00000.data").st_ino, before)
                # What is damaged there is made anew.
                self.flip(f"v{2:016x}-00002.data", 2 << 20)
                self.run_on(mpi, [0, 1, 2, 1], "keep")
                self.lose()
                self.assertIn("skipped 0", self.run_on(mpi, [0, 1], "read", 2))
                self.begin_anew()

    def test_each_host_by_the_command(self):
        mpi = MPIS[0]
        self.run_on(mpi, [0, 1, 2], "write", 1)
        shutil.rmtree(f"{self.lower}/.cairn-checkpoints")
        for missing, node in ((2, 1), (1, 2)):
            said = json.loads(
                self.cairn("--json", "ckpt", "drain", "field", "--to", self.lower, node=node))
            self.assertEqual((said["version"], said["missing_parts"]), (1, missing))
            self.assertEqual(self.copies(), [])
        self.assertIn("1 of other hosts is missing",
                      self.cairn("ckpt", "drain", "field", "--to", self.lower, node=1))
        self.assertIn("is in", self.cairn("ckpt", "drain", "field", "--to", self.lower, "--keep",
                                          1))
        self.assertEqual(self.copies(), [1])
        # All at once: whoever names the last part writes the record.
        shutil.rmtree(f"{self.lower}/.cairn-checkpoints")
        hosts = [
            subprocess.Popen([CAIRN, "ckpt", "drain", "field", "--to", self.lower],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**self.environment, "CAIRN_POOL_NAME": f"node{node}"})
            for node in range(3)
        ]
        said = [host.communicate(timeout=LIMIT_S)[0] for host in hosts]
        self.assertEqual([host.returncode for host in hosts], [0, 0, 0], said)
        self.assertEqual(self.copies(), [1])
        # One pool gets all parts.
        self.lose()
        self.cairn("pool", "create", "--size", "32M")
        self.cairn("ckpt", "restore", "field", "--from", self.lower)
        self.assertTrue(json.loads(self.cairn("--json", "ckpt", "verify", "field"))["ok"])
        self.run_on(mpi, [1, 0], "read", 1)
        shutil.rmtree(f"{self.lower}/.cairn-checkpoints")
        self.assertIn("is in", self.cairn("ckpt", "drain", "field", "--to", self.lower))
        self.assertEqual(self.copies(), [1])

    def test_a_login_node_makes_one_file(self):
        mpi = MPIS[0]
        self.run_on(mpi, [0, 1, 0, 2, 1], "write", 1, 2)
        self.lose()  # the job's nodes, with their pools
        login = 7
        self.cairn("pool", "create", "--size", "32M", node=login)
        self.cairn("ckpt", "restore", "field", "--from", self.lower, node=login)
        path = f"{self.place}/field.nc"
        export = subprocess.run([CAIRN, "ckpt", "export", "field", path], capture_output=True,
                                text=True, check=False, timeout=LIMIT_S,
                                env={**self.environment, "CAIRN_POOL_NAME": f"node{login}"})
        if "libhdf5 is missing" in export.stderr:
            self.skipTest("no libhdf5")
        self.assertEqual(export.returncode, 0, export.stderr)
        self.assertEqual([name for name in os.listdir(self.place) if name.startswith("field.nc")],
                         ["field.nc"])
        read = subprocess.run([PYTHON, "-B", READER, path, "read_h5py", "read_netcdf4"],
                              capture_output=True, text=True, check=False, timeout=LIMIT_S)
        if read.returncode != 0 and "No module named" in read.stderr:
            self.skipTest("no numpy")
        self.assertEqual(read.returncode, 0, read.stderr)
        found = json.loads(read.stdout)
        of_h5py, of_netcdf = found["read_h5py"], found["read_netcdf4"]
        if of_h5py is None or of_netcdf is None:
            self.skipTest("no h5py and netCDF4")
        # As checkpoint_field.h has it: blocks of five ranks of three hosts, each with its halo, are
        # one array.
        planes, rows, columns = 25, 14, 9
        wanted = [(2 * planes * rows * columns + i) / 7 for i in range(planes * rows * columns)]
        for one in (of_h5py["field"], of_netcdf["variables"]["field"]):
            self.assertEqual((one["type"], one["shape"]), ("float64", [planes, rows, columns]))
            self.assertEqual(one["values"], wanted)
        self.assertEqual(of_h5py["attributes"]["cairn_version"], [2])

    def test_a_run_drops_a_version_on_all_hosts(self):
        self.run_on(MPIS[0], [0, 1, 0, 2, 1], "write", 1, 2)
        self.run_on(MPIS[0], [0, 1, 0, 2, 1], "drop", 1)
        for node in range(3):
            listed = json.loads(self.cairn("--json", "ckpt", "ls", "field", node=node))
            self.assertEqual([one["version"] for one in listed], [2], node)

    def test_ranks_that_name_different_sets_are_refused(self):
        for nodes in [0, 0, 0], [0, 1, 0]:
            self.assertIn("names: checkpoint other: rank 0 opens 'field'",
                          self.run_on(MPIS[0], nodes, "names"))

    def test_ranks_that_differ_in_lower_are_refused(self):
        command = self.command(MPIS[0], [0, 1], "write", 1)
        last = len(command) - 1 - command[::-1].index(self.lower)
        command[last] += "/other"
        said = text_of_refused(
            lambda: subprocess.run(command, capture_output=True, text=True, check=False, timeout=
                                   LIMIT_S, env=self.environment))
        self.assertIn("options: ranks differ in lower", said)


if __name__ == "__main__":
    run_tests(MPIS)
