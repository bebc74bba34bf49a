"""Files of which several nodes hold parts: drained node by node, waited for, discarded. The nodes
are two pools."""

import os
import pathlib
import subprocess
import time

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase

HOLD = pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "cli" / "hold_part_program"


class Collect(CoverCase):
    def setUp(self):
        super().setUp()
        for node in ("a", "b"):
            self.on(node, "run", "--job", "7", "--at", self.dir, "--drain-mode", "never", "--",
                    "true")
        self.hold("a", 0, "first ")
        self.hold("b", 6, "second")

    def on(self, node, *words, **more):
        return self.cairn(*words, env={"CAIRN_POOL_NAME": node, **more.pop("env", {})}, **more)

    def pool(self, node):
        found = [pool["path"] for pool in self.json("status") if pool["name"] == node]
        self.assertEqual(len(found), 1)
        return found[0]

    def hold(self, node, offset, text):
        subprocess.run([HOLD, self.pool(node), self.dir, "sub/file", "12",
                        str(offset), text], check=True, timeout=60)

    def expect_whole(self):
        self.assertEqual(pathlib.Path(self.dir, "sub/file").read_text(), "first second")
        self.assertEqual(sorted(os.listdir(self.dir)), ["sub"])
        self.assertEqual(self.json("status"), [])

    def test_node_by_node(self):
        status = {pool["name"]: pool for pool in self.json("status")}
        self.assertEqual(status["a"]["covers"][0]["parts"], 1)
        self.assertFalse(status["a"]["all_drained"])
        self.assertIn("parts of 1 file that several nodes write", self.cairn("status").out)
        self.refused("pool", "remove", "a", code=1, says="not drained")
        waiting = (
            f"{self.dir}/sub/file: waiting for node node-of-{self.pool('b')} (pool"
            f" {self.pool('b')}): run `cairn drain {self.dir}` there"
        )
        self.refused("drain", self.dir, code=1, says=waiting, env={"CAIRN_POOL_NAME": "a"})
        self.assertFalse(os.path.exists(self.path("dir/sub/file")))
        report = self.json("drain", self.dir, env={"CAIRN_POOL_NAME": "b"})
        self.assertEqual((report["files"], report["bytes"], report["waiting"]), (1, 6, 0))
        self.on("a", "drain", self.dir)
        self.expect_whole()

    def test_a_run_waits_for_the_others(self):
        run = subprocess.Popen([CAIRN, "run", "--job", "7", "--at", self.dir, "--", "true"],
                               env=dict(self.env,
                                        CAIRN_POOL_NAME="a"), stderr=subprocess.PIPE, text=True)
        self.addCleanup(run.kill)
        self.assertIn("may hold files of job 7 that are not drained", run.stderr.readline())
        line = run.stderr.readline()
        self.assertIn("waiting for node node-of-", line)
        self.assertIn("or wait until its run ends", line)
        self.on("b", "drain", self.dir)
        self.assertEqual(run.communicate(timeout=60)[1], "")
        self.assertEqual(run.returncode, 0)
        # Both pools lie in one directory here, where a run that is under way in either keeps the
        # other covered.
        self.on("b", "drain", self.dir)
        self.expect_whole()

    def test_drains_of_a_launcher_wait_and_one_says_so(self):
        for rank, told in ("0", [f"cairn drain: {self.dir}/sub/file: waiting for node node-of-"
                                 ]), ("1", []):
            done = self.cairn(
                "drain", "--drain-wait", "4", self.dir, expect=1, env={
                    "CAIRN_POOL_NAME": "a", "SLURM_JOB_ID": "7", "OMPI_COMM_WORLD_SIZE": "2",
                    "OMPI_COMM_WORLD_RANK": rank
                })
            waits = [line for line in done.err.splitlines() if "or wait until its run ends" in line]
            self.assertEqual(len(waits), len(told), done.err)
            for line, begin in zip(waits, told):
                self.assertTrue(line.startswith(begin), line)
        for node in "ba":
            self.on(node, "drain", self.dir)
        self.expect_whole()

    def test_but_not_for_ever(self):
        began = time.time()
        told = self.on("a", "run", "--job", "7", "--at", self.dir, "--drain-wait", "1", "--",
                       "true", expect=1).err.splitlines()
        self.assertEqual(len(told), 2, told)
        self.assertIn("may hold files of job 7 that are not drained", told[0])
        for text in ("waiting for node node-of-", "stay in its pool"):
            self.assertIn(text, told[1])
        self.assertLess(time.time() - began, 30)
        self.on("b", "drain", self.dir)
        self.on("a", "drain", self.dir)
        self.expect_whole()

    def test_discarding_says_what_it_costs(self):
        discarded = self.on("a", "discard", self.dir)
        self.assertIn("with parts of 1 file that other nodes may hold parts of", discarded.out)
        self.on("b", "drain", self.dir)
        self.assertEqual(os.listdir(self.dir), [])
        self.assertEqual(self.json("status"), [])


if __name__ == "__main__":
    cairn_case.main()
