"""What tests of runs with a keeper share: a program that waits, and who drains meanwhile."""

import os
import signal
import subprocess

from cairn_case import CAIRN
from cover_case import Run

SLEEPER = "while [ ! -e {done} ]; do sleep 0.05; done"


class KeeperCase(Run):
    def begin(self, script, *options, mode="close", quiet="0"):
        """A run whose program does `script` and waits for finish()."""
        self.done = self.path("done")
        self.program = f"cd {self.dir} && {script}; {SLEEPER.format(done=self.done)}"
        run = subprocess.Popen([
            CAIRN, "run", "--at", self.dir, "--drain", mode, "--drain-quiet", quiet, *options, "--",
            "sh", "-c", self.program
        ], env=self.env, stderr=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(self.end, run)
        return run

    @staticmethod
    def end(run):
        """What a failed test has left; also where the run itself was killed."""
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        run.wait(30)
        run.stderr.close()

    def finish(self, run, code=0):
        with open(self.done, "w", encoding="utf-8"):
            pass
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, code, err)
        os.unlink(self.done)
        return err

    @staticmethod
    def has_ended(run):
        """Whether the program of a run has ended too, where the run itself was killed before it."""
        for entry in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{entry}/stat", encoding="utf-8", errors="replace") as file:
                    state, _, group = file.read().rpartition(")")[2].split()[:3]
            except OSError:
                continue
            if int(group) == run.pid and state not in "ZX":
                return False
        return True

    def has(self, name, text):
        try:
            return self.read(name) == text
        except FileNotFoundError:
            return False

    def keepers(self):
        found = []
        for pool in self.json("status"):
            found += [cover["keeper"] for cover in pool.get("covers", []) if "keeper" in cover]
        return found

    def wait_until_nothing_is_left(self):
        self.wait_for(lambda: self.json("status") == [], "the pool stays")
        self.assert_nothing_left()

    def wait_until_no_lock_is_left(self):
        self.wait_for(lambda: os.listdir(self.pools) == [], "a lock stays beside the pools")
