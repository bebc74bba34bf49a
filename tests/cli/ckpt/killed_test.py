"""Programs that restart and die under `cairn run`: which of them count against the version."""

import os
import signal
import subprocess

import ckpt_case
from ckpt_case import CAIRN, WRITER, CkptCase


class Killed(CkptCase):
    def setUp(self):
        super().setUp()
        self.writer("field", 2)

    def attempts(self):
        return self.json("ckpt", "ls", "field")[0]["attempts"]

    def restart_and_end(self, number, *words):
        """A program that restarts, and then gets the signal."""
        run = subprocess.Popen([
            CAIRN, "run", "--at", self.path("dir"), "--", *words, "sh", "-c",
            f"echo $$; exec {WRITER} field restart"
        ], env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        pid = int(run.stdout.readline())
        self.assertEqual(run.stdout.readline(), "ready\n")
        os.kill(pid, number)
        self.assertNotEqual(run.wait(timeout=60), 0)

    def test_what_ends_from_outside_does_not_count(self):
        os.mkdir(self.path("dir"))
        for number in signal.SIGKILL, signal.SIGTERM:
            self.restart_and_end(number)
            self.assertEqual(self.attempts(), 0, number)
        self.restart_and_end(signal.SIGSEGV)
        self.assertEqual(self.attempts(), 1)
        # A launcher passes the code on.
        self.restart_and_end(signal.SIGKILL, "sh", "-c", '"$@"; exit $?', "sh")
        self.assertEqual(self.attempts(), 1)


if __name__ == "__main__":
    ckpt_case.main()
