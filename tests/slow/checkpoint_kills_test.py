"""`cairn ckpt drain`, `restore` and `rm` are killed at random moments. What `ls`, `verify` and `ls
--in` show afterwards is whole, and the same command finishes the work. Three minutes; CAIRN_SECONDS
says otherwise, CAIRN_SEED repeats a run."""

import json
import os
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["CAIRN_SOURCE_DIR"], "tests", "cli", "ckpt"))
from ckpt_case import BIN, CkptCase, main  # noqa: E402

SECONDS = int(os.environ.get("CAIRN_SECONDS", "180"))
SEED = int(os.environ.get("CAIRN_SEED", str(time.time_ns() % 1_000_000)))


class CheckpointKills(CkptCase):
    def setUp(self):
        super().setUp()
        print(f"seed {SEED}", flush=True)
        self.draw = random.Random(SEED)
        self.kills, self.took_s = 0, {}

    def start(self, *words):
        return subprocess.Popen([BIN / "cairn", "ckpt", *words], env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, text=True)

    def finish(self, process, *may_say):
        err = process.communicate(timeout=120)[1]
        if process.returncode != 0:
            self.assertEqual(process.returncode, 1, err)
            self.assertTrue(any(text in err for text in may_say), err)

    def kill(self, *words):
        """Kills the command within the time that it has taken so far."""
        begun = time.monotonic()
        process = self.start(*words)
        try:
            err = process.communicate(
                timeout=self.draw.uniform(0, self.took_s.get(words[0], 0.2)))[1]
            self.took_s[words[0]] = time.monotonic() - begun
            self.assertEqual(process.returncode, 0, err)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.took_s[words[0]] = self.took_s.get(words[0], 0.2) * 1.05
            self.kills += 1

    def kill_and_finish(self, *words, check, may_say=("nothing",)):
        self.kill(*words)
        check()
        self.finish(self.start(*words), *may_say)

    def versions(self):
        numbers = [one["version"] for one in self.json("ckpt", "ls", "field")]
        self.assertTrue(self.json("ckpt", "verify", "field")["ok"])
        return numbers

    def is_there(self):
        return any(one["set"] == "field" for one in self.json("ckpt", "ls"))

    def copies(self):
        """What a list shows, without a warning."""
        run = self.cairn("ckpt", "ls", "--in", self.lower, "--json")
        self.assertEqual(run.err, "")
        return [one["version"] for one in json.loads(run.out)]

    def check_copies(self, *expected):
        copies = self.copies()
        self.assertIn(copies, expected)
        # The newest one is whole: nothing is skipped.
        env = {"CAIRN_POOL_NAME": "other"}
        self.cairn("pool", "create", "--size", "128M", env=env)
        restored = self.json("ckpt", "restore", "field", "--from", self.lower, env=env)
        self.assertEqual((restored["version"], restored["skipped"]), (copies[0], 0))
        self.cairn("pool", "remove", "--force", env=env)

    def round(self):
        self.lower = self.path(f"lower{self.kills}-{time.monotonic_ns()}")
        os.mkdir(self.lower)
        self.writer("field", 3)
        to = "--to", self.lower
        self.cairn("ckpt", "drain", "field", "1", *to)
        self.cairn("ckpt", "drain", "field", "2", *to)
        self.kill_and_finish("drain", "field", *to, "--keep", "2",
                             check=lambda: self.check_copies([2, 1], [3, 2, 1], [3, 2]))
        self.check_copies([3, 2])
        # One of two is killed; the other one goes on.
        other = self.start("drain", "field", "1", *to)
        self.kill("drain", "field", *to, "--keep", "1")
        self.finish(other)
        # What is left depends on which of the two was first.
        self.cairn("ckpt", "drain", "field", *to, "--keep", "2")
        self.check_copies([3, 2], [3, 1], [3])
        self.assertEqual([
            name for name in os.listdir(pathlib.Path(self.lower, ".cairn-checkpoints/field"))
            if name.startswith(".")
        ], [])
        self.kill_and_finish("rm", "field", "2",
                             check=lambda: self.assertIn(self.versions(), ([3, 2, 1], [3, 1])),
                             may_say=("no such version", ))
        self.assertEqual(self.versions(), [3, 1])
        self.kill_and_finish("rm", "--force", "field",
                             check=lambda: self.is_there() and self.versions(),
                             may_say=("there is none in pool", ))
        self.assertFalse(self.is_there())
        self.kill_and_finish(
            "restore", "field", "--from", self.lower,
            check=lambda: self.is_there() and self.assertIn(self.versions(), ([], [3])),
            may_say=("the pool has versions of the set", ))
        self.assertEqual(self.versions(), [3])
        self.writer("field", "read", 3)
        self.assertEqual(self.versions(), [103, 3])
        self.cairn("ckpt", "rm", "--force", "field")

    def test_kills(self):
        end, rounds = time.monotonic() + SECONDS, 0
        while time.monotonic() < end:
            self.round()
            rounds += 1
        self.assertGreater(self.kills, rounds)
        print(f"{rounds} rounds, {self.kills} kills", flush=True)


if __name__ == "__main__":
    main()
