"""`cairn ckpt export` on each of several hosts: each writes its part of a version to one file, and
the file is the one that a pool with all parts makes. Each pool of this host is a node."""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest

from cluster_job import CAIRN, TESTS, ended_well, mpis_with, run_tests
from nodes_test import LAUNCHER, LIMIT_S

MPIS = mpis_with("cluster", "export_program")
READER = pathlib.Path(__file__).parents[1] / "cli/ckpt/read_export.py"
PYTHON = "/usr/bin/python3"  # the distribution's has h5py and netCDF4
NODES = [0, 1, 0, 2, 1]  # of each rank
LOGIN = 7
READERS = ["read_h5py", "read_netcdf4"]
BESIDE = ".long-double.h5"


def read(path, *readers):
    """What other programs read in a file; without the time at which one host began it."""
    run = subprocess.run([PYTHON, "-B", READER, path, *readers], capture_output=True, text=True,
                         check=False, timeout=LIMIT_S)
    if run.returncode != 0 and "No module named" in run.stderr:
        raise unittest.SkipTest("no numpy, h5py or netCDF4")
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for one in found.values():
        if one is None:
            raise unittest.SkipTest("no h5py or netCDF4")
        one.get("attributes", {}).pop("cairn_begun_ns", None)
    return found


class Nodes(unittest.TestCase):
    """Tests leave the pools as they are."""

    VERSIONS = ("plain", 1, 2)

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.mkdtemp(prefix="cairn-export-", dir="/dev/shm")
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        for name in ("pools", "lower"):
            os.makedirs(f"{cls.place}/{name}")
        cls.environment = {
            **os.environ, "CAIRN_POOL_DIR": f"{cls.place}/pools", "CAIRN_POOL_SIZE": "32MiB",
            "HOME": cls.place, "CAIRN_CONFIG": "", "XDG_CONFIG_HOME": "", "CAIRN_POOL": "",
            "CAIRN_CHECKPOINT_DOMAIN": ""
        }
        cls.whole = None
        command = []
        for node in NODES:
            command += ([":"] if command else []) + [
                "-n", "1", "env", f"CAIRN_POOL_NAME=node{node}",
                f"CAIRN_CHECKPOINT_DOMAIN=rack{node}",
                str(TESTS / "cluster" / MPIS[0] / "export_program"), *map(str, cls.VERSIONS)
            ]
        done = subprocess.run([*LAUNCHER[MPIS[0]], *command], capture_output=True, text=True,
                              check=False, timeout=LIMIT_S, env=cls.environment)
        assert ended_well(done, " are right\n"), done.stdout + done.stderr

    def setUp(self):
        self.out = tempfile.mkdtemp(dir=self.place)
        self.file = f"{self.out}/field.nc"

    def start(self, node, *words):
        return subprocess.Popen([CAIRN, "--json", "ckpt", *map(str, words)],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**self.environment, "CAIRN_POOL_NAME": f"node{node}"})

    def cairn(self, node, *words, expect=0):
        process = self.start(node, *words)
        out, error = process.communicate(timeout=LIMIT_S)
        if "libhdf5 is missing" in error:
            self.skipTest("no libhdf5")
        self.assertEqual(process.returncode, expect, out + error)
        return error if expect else json.loads(out)

    def export(self, node, *words, expect=0):
        return self.cairn(node, "export", "field", *(words or [self.file]), expect=expect)

    def export_on_all(self, *words):
        """At once."""
        processes = [self.start(node, "export", "field", *words) for node in range(3)]
        said = [process.communicate(timeout=LIMIT_S) for process in processes]
        if any("libhdf5 is missing" in error for _, error in said):
            self.skipTest("no libhdf5")
        self.assertEqual([process.returncode for process in processes], [0, 0, 0], said)
        return [json.loads(out) for out, _ in said]

    def read_whole(self):
        """What is read in the file that a pool with all parts of the last version makes."""
        if self.whole is None:
            lower, whole = f"{self.place}/lower", f"{self.place}/whole.nc"
            for node in range(3):
                self.cairn(node, "drain", "field", "--to", lower)
            subprocess.run([CAIRN, "pool", "create", "--size", "32M"], check=True,
                           stdout=subprocess.DEVNULL, timeout=LIMIT_S,
                           env={**self.environment, "CAIRN_POOL_NAME": f"node{LOGIN}"})
            self.cairn(LOGIN, "restore", "field", "--from", lower)
            self.assertTrue(self.export(LOGIN, whole)["complete"])
            type(self).whole = (read(whole, *READERS), read(whole + BESIDE, READERS[0]))
        return self.whole

    def expect_as_whole(self, readers=READERS[:1]):
        """The file is the one that a pool with all parts makes."""
        self.assertEqual(sorted(os.listdir(self.out)), ["field.nc", "field.nc" + BESIDE])
        found = read(self.file, *readers)
        whole, beside = self.read_whole()
        self.assertEqual(found, {reader: whole[reader] for reader in readers})
        self.assertEqual(read(self.file + BESIDE, READERS[0]), beside)
        return found[READERS[0]]

    def find_in_pool(self, node, wanted):
        """The file of the pool, the place in it, and the byte there."""
        for path in pathlib.Path(self.place, "pools", node).rglob("*"):
            content = path.read_bytes() if path.is_file() else b""
            if (at := content.find(wanted)) > 0:
                return path, at, content[at]
        return self.fail(f"{wanted} is not in the pool of {node}")

    def meeting(self):
        """The directory where the processes meet."""
        return next(f"{self.out}/{name}" for name in os.listdir(self.out)
                    if name.endswith(".parts"))


class Parts(Nodes):
    def test_each_host_writes_its_part(self):
        for node, missing in ((1, 2), (0, 1), (1, 1)):
            said = self.export(node)
            self.assertEqual((said["version"], said["complete"], said["missing_parts"],
                              len(said["missing_hosts"])), (2, False, missing, missing))
            self.assertFalse(os.path.exists(self.file))
        said = self.export(2)
        self.assertEqual((said["complete"], said["completed_here"], said["missing_parts"],
                          said["variables"]), (True, True, 0, 6))
        values = self.expect_as_whole(READERS)
        self.assertEqual(values["time"]["values"], [2 / 3])
        self.assertEqual(values["half"]["type"], "float32")
        # Where blocks overlap, the lowest rank's elements count.
        self.assertEqual(values["overlap"]["values"][3 * 7], 2000 + 3 * 7 / 4)
        self.assertEqual(values["dealt"]["values"], [2000 + i for i in range(23 * 3)])
        self.assertIn("exists already", self.export(2, expect=1))
        # Nobody else comes: a script must not go on as if the file were there.
        os.mkdir(f"{self.out}/alone")
        alone = f"{self.out}/alone/field.nc"
        self.export(0, alone, "--wait", 1, expect=1)
        self.assertFalse(os.path.exists(alone))
        shutil.rmtree(os.path.dirname(alone))
        # All at once: one process says that it is complete, which the others wait for.
        before = os.stat(self.file).st_ino
        said = self.export_on_all(self.file, "--force", "--wait", 60)
        self.assertEqual(sorted(one["completed_here"] for one in said), [False, False, True])
        self.assertEqual([one["complete"] for one in said], [True] * 3)
        self.assertNotEqual(os.stat(self.file).st_ino, before)
        self.expect_as_whole()

    def test_killed_at_any_time(self):
        for moment in range(12):
            process = self.start(moment % 2, "export", "field", self.file)
            try:
                process.communicate(timeout=0.004 * moment)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            self.assertFalse(os.path.exists(self.file))
        # What the killed ones may have left.
        for name in ("data-0123456789abcdef", ".new-0123456789abcdef"):
            with open(f"{self.meeting()}/{name}", "wb") as file:
                file.write(b"half")
        for node in (0, 1):
            self.assertFalse(self.export(node)["complete"])
        kept = f"{self.place}/kept"
        shutil.copytree(self.meeting(), kept)
        meeting = self.meeting()
        self.assertTrue(self.export(2)["complete"])
        self.expect_as_whole()
        # Killed behind the last step: the directory is left, without its file.
        os.rename(kept, meeting)
        for name in os.listdir(meeting):
            if name.startswith("data-"):
                os.unlink(f"{meeting}/{name}")
        shutil.copytree(meeting, kept)
        # Another process makes its file just now: who begins anew leaves it alone.
        begun = f"{meeting}/data-fedcba9876543210"
        with open(begun, "wb") as file:
            file.write(b"half")
        self.assertFalse(self.export(0, self.file, "--force")["complete"])
        self.assertTrue(os.path.exists(begun))
        shutil.rmtree(meeting)
        os.rename(kept, meeting)
        said = self.export_on_all(self.file, "--force", "--wait", 60)
        self.assertEqual([one["complete"] for one in said], [True] * 3)
        self.expect_as_whole()

    def test_versions_do_not_meet(self):
        for node in (0, 1):
            self.assertEqual(self.export(node, 1, self.file)["missing_parts"], 2 - node)
        for node in (2, 1):
            self.assertEqual(self.export(node, 2, self.file)["missing_parts"], node)
        self.assertEqual(len(os.listdir(self.out)), 2)
        process = self.start(0, "export", "field", "2", self.file)
        out, error = process.communicate(timeout=LIMIT_S)
        self.assertTrue(json.loads(out)["complete"])
        self.assertRegex(error, r"field\.nc\.\w+-1\.parts: is of an export by parts that is not")
        self.assertEqual(read(self.file, READERS[0])[READERS[0]]["attributes"]["cairn_version"],
                         [2])
        self.assertIn("exists already", self.export(2, 1, self.file, expect=1))
        self.assertTrue(self.export(2, 1, self.file, "--force")["complete"])
        found = read(self.file, READERS[0])[READERS[0]]
        self.assertEqual((found["attributes"]["cairn_version"], found["time"]["values"]),
                         ([1], [1 / 3]))
        self.assertEqual(sorted(os.listdir(self.out)), ["field.nc", "field.nc" + BESIDE])

    def test_a_damaged_part(self):
        self.assertEqual(self.export(0)["missing_parts"], 2)
        # A row of rank 1, as it lies in the memory of that rank.
        row = struct.pack("<5d", *((2 * 25 + i) * 14 * 9 / 7 for i in range(5, 10)))
        pool, at, byte = self.find_in_pool("node1", row)
        with open(pool, "r+b") as file:
            file.seek(at)
            file.write(bytes([byte ^ 1]))
        said = self.export(1, expect=1)
        # One block of checksums has all that the rank wrote.
        self.assertRegex(said, r"variable '\w+': .*bytes of rank 1 differ from their checksum")
        self.assertEqual(self.export(2)["missing_parts"], 1)
        with open(pool, "r+b") as file:
            file.seek(at)
            file.write(bytes([byte]))
        self.assertTrue(self.export(1)["complete"])
        self.expect_as_whole()

    def test_what_others_could_have_made_is_refused(self):
        self.export(0)
        meeting = self.meeting()
        os.chmod(meeting, 0o777)
        self.assertIn("others can write to it", self.export(1, expect=1))
        os.chmod(meeting, 0o700)
        if os.geteuid() == 0:
            os.chown(meeting, 54321, -1)
            self.assertIn("belongs to user 54321", self.export(1, expect=1))
            os.chown(meeting, 0, -1)
        os.rename(meeting, meeting + ".away")
        os.symlink(meeting + ".away", meeting)
        self.assertIn(".parts: ", self.export(1, expect=1))
        os.unlink(meeting)
        os.rename(meeting + ".away", meeting)
        with open(f"{meeting}/places", encoding="utf-8") as file:
            places = file.read()
        for text in (places[:-20], places.replace("field ", "other "), "[]"):
            with open(f"{meeting}/places", "w", encoding="utf-8") as file:
                file.write(text)
            self.assertIn("/places: is damaged", self.export(1, expect=1), text)
        with open(f"{meeting}/places", "w", encoding="utf-8") as file:
            file.write(places)
        data = next(name for name in os.listdir(meeting) if name.endswith(".h5"))
        os.rename(f"{meeting}/{data}", f"{self.place}/data")
        os.symlink(f"{self.place}/data", f"{meeting}/{data}")
        self.assertIn(data, self.export(1, expect=1))
        os.unlink(f"{meeting}/{data}")
        os.rename(f"{self.place}/data", f"{meeting}/{data}")
        for node, missing in ((1, 1), (2, 0)):
            self.assertEqual(self.export(node)["missing_parts"], missing)
        self.expect_as_whole()


class CountedElements(Nodes):
    VERSIONS = ("counted", 3)

    def test_elements_of_ranks(self):
        # Where they go is known when all hosts have said how many they have.
        for node, missing in ((0, 2), (2, 1)):
            said = self.export(node)
            self.assertEqual((said["missing_parts"], said["variables"]), (missing, None))
        self.assertEqual(self.export(1)["missing_parts"], 2)
        self.assertEqual(self.export(0)["missing_parts"], 1)
        self.assertTrue(self.export(2)["completed_here"])
        values = self.expect_as_whole(READERS)
        self.assertEqual(values["own_count"]["values"], [3, 4, 0, 6, 7])
        self.assertEqual(values["own"]["values"],
                         [150 + 10 * rank + i for rank in (0, 1, 3, 4) for i in range(rank + 3)])
        # Lists stand in the order of the cells, of which each host has some in each row.
        self.assertEqual(
            values["lists"]["values"],
            [3000 + 10 * cell + k for cell in range(60) for k in range((cell + 3) % 4)
             if cell // 15 != 2])
        said = self.export_on_all(3, self.file, "--force", "--wait", 60)
        self.assertEqual(sorted(one["completed_here"] for one in said), [False, False, True])
        self.expect_as_whole()
        # A host is lost, and another one has a copy of its part.
        os.rename(f"{self.place}/pools/node1", f"{self.place}/lost")
        os.unlink(self.file)
        os.unlink(self.file + BESIDE)
        for node in (0, 2):
            self.assertFalse(self.export(node, self.file, "--copies")["complete"])
        self.assertTrue(self.export(0)["completed_here"])
        self.expect_as_whole()


if __name__ == "__main__":
    run_tests(MPIS)
