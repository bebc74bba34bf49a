"""More processes at once than a pool has places for."""

import json
import os
import time

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase


class Lanes(CoverCase):
    def assert_all_written(self, count):
        self.assertEqual({name: self.read(name) for name in self.names()},
                         {f"f{i}": f"{i}\n" for i in range(1, count + 1)})

    def test_ordinary_programs_never_meet_it(self):
        """200 shells, each with a file open and a program started with that, in the smallest pool
        that people make."""
        run = self.shell(
            "for i in $(seq 200); do (exec 3> f$i; sleep 3 >&3; echo $i >&3) & done; wait")
        self.assertEqual(run.err, "")
        self.assert_all_written(200)

    def test_who_finds_none_waits(self):
        """64 processes on a few places, one each: those that come late have to wait until others
        go."""
        work = "n=0; while [ $n -lt 3000 ]; do n=$((n + 1)); done"
        for lanes in ["4", "16"]:
            run = self.shell(
                f"for i in $(seq 64); do (exec 3> f$i; {work}; echo $i >&3) & done; wait",
                "--lanes", lanes, timeout=100)
            self.assertEqual(run.err, "")
            self.assert_all_written(64)

    def test_who_waits_in_vain_says_why(self):
        begin = time.monotonic()
        gate = self.path("gate")
        os.mkfifo(gate)
        run = self.shell(
            f"exec 4<> {gate}; for i in 1 2 3 4 5 6; do (exec 3> f$i; read go <&4; echo $i >&3) &"
            " done; for i in 1 2 3 4 5 6; do echo go >&4; done; wait",
            "--lanes",
            "4",
            timeout=100,
        )
        self.assertGreater(time.monotonic() - begin, 10)
        told = [line for line in run.err.splitlines() if line.startswith("cairn: ")]
        self.assertTrue(told, run.err)
        for line in told:
            self.assertIn(
                "/default: no free lane: at most 4 concurrent processes (or groups of 7 threads)",
                line)
            self.assertIn("--lanes", line)
        self.assertEqual([self.read(name) for name in self.names() if name in ("f1", "f2", "f3")],
                         ["1\n", "2\n", "3\n"])

    def test_ended_programs_are_not_attached(self):
        """Only the shell is: each `cat` leaves its place to whoever comes next."""
        def inside(*words):
            return self.shell(
                f"for i in 1 2 3; do cat /dev/null > f$i; done; {CAIRN} {' '.join(words)}").out
        info = json.loads(inside("pool", "info", "--json"))
        self.assertEqual([each["command"] for each in info["processes"]], ["sh"])
        self.assertEqual((info["lanes_attached"], info["processes"][0]["state"]), (1, "alive"))
        self.assertGreaterEqual(info["processes_ended"], 1)
        self.assertEqual(json.loads(inside("pool", "list", "--json"))[0]["lanes_attached"], 1)
        status = json.loads(inside("status", "--json"))[0]
        self.assertEqual([each["command"] for each in status["processes"]], ["sh"])
        self.assertGreaterEqual(status["processes_ended"], 1)
        for words in [("pool", "info"), ("status",)]:
            text = inside(*words)
            self.assertIn("has ended", text)
            self.assertNotIn("dead", text)
            self.assertNotIn(" cat\n", text)

    def test_a_pool_that_is_there_keeps_its_own(self):
        self.cairn("pool", "create", "--lanes", "64", "--size", "16M")
        run = self.shell("echo 1 > f1", "--lanes", "128")
        self.assertIn("was created with 64 lanes", run.err)
        self.assertEqual(self.shell("echo 1 > f1", "--lanes", "64").err, "")
        self.refused("run", "--at", self.dir, "--pool", "other", "--lanes", "5000", "--", "true",
                     code=1, says="5000 lanes; at most 1024")

    def test_the_default_goes_by_size(self):
        for size, lanes in [("4M", 64), ("16M", 64), ("64M", 256), ("128M", 512), ("512M", 1024)]:
            self.assertEqual(self.json("pool", "create", size, "--size", size)["lanes"], lanes)


if __name__ == "__main__":
    cairn_case.main()
