"""What tests of covered directories share: a directory, and programs in it under `cairn run`."""

import os
import time

import cairn_case
from cairn_case import CairnCase


class CoverCase(CairnCase):
    def setUp(self):
        super().setUp()
        if not cairn_case.preload().exists():
            self.skipTest(f"{cairn_case.preload()} is not built")
        self.dir = self.path("dir")
        os.mkdir(self.dir)

    def shell(self, script, *options, **more):
        return self.cairn("run", "--at", self.dir, *options, "--", "sh", "-c",
                          f"cd {self.dir} && {script}", **more)

    def read(self, name):
        with open(os.path.join(self.dir, name), encoding="utf-8") as file:
            return file.read()

    def names(self):
        return sorted(os.listdir(self.dir))

    def undrained(self):
        # A pool that is being made at this moment is listed with an error.
        return sum(pool.get("undrained_bytes", 0) for pool in self.json("status"))

    def wait_for(self, condition, what):
        deadline = time.time() + 120
        while not condition():
            self.assertLess(time.time(), deadline, what)
            time.sleep(0.05)


class Run(CoverCase):
    """Whole runs as seen from outside."""

    def run_at(self, *program, **more):
        return self.cairn("run", "--at", self.dir, "--", *program, **more)

    def assert_nothing_left(self):
        self.assertEqual(self.json("status"), [])
        self.assertEqual([n for n in os.listdir(self.dir) if n.startswith(".cairn")], [])
