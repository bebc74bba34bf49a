"""A run that begins in a pool which an earlier run has left full: it drains what is left, or says
what makes room."""

import os
import signal
import subprocess
import sys

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase

# Fills the pool to its last block, then waits if it is told to. Each file has several names, if
# asked for: a pool evicts no such files.
FILL = """
import os, sys, time
directory, names, waits = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "wait"
made = 0
for size in (100000, 1):
    try:
        while True:
            path = f"{directory}/f{made}"
            with open(path, "wb", buffering=0) as file:
                made += 1
                if file.write(b"x" * size) < size:
                    break
            for other in range(1, names):
                os.link(path, f"{path}.{other}")
    except OSError:
        pass
print(len(os.listdir(directory)), flush=True)
while waits:
    time.sleep(1)
"""


class FullPool(CoverCase):
    def setUp(self):
        super().setUp()
        self.env["CAIRN_POOL_SIZE"] = "8M"

    def fill(self, mode, *options, names=1):
        run = self.cairn("run", "--at", self.dir, "--drain", mode, *options, "--", sys.executable,
                         "-c", FILL, self.dir, str(names), "")
        return int(run.out)

    def fill_and_kill(self):
        with subprocess.Popen(
            [CAIRN, "run", "--at", self.dir, "--", sys.executable, "-c", FILL, self.dir, "1",
             "wait"], env=self.env, stdout=subprocess.PIPE, start_new_session=True,
                stderr=subprocess.DEVNULL) as run:
            count = int(run.stdout.readline())
            os.killpg(run.pid, signal.SIGKILL)
        self.wait_for(lambda: not self.json("status")[0]["covers"][0]["in_use"],
                      "the killed processes stay")
        return count

    def count(self, *options, **more):
        return self.cairn("run", "--at", self.dir, *options, "--", sys.executable, "-c",
                          f"import os; print(len(os.listdir({self.dir!r})))", **more)

    def assert_all_in_lower(self, count):
        names = [name for name in self.names() if not name.startswith(".cairn")]
        self.assertEqual(len(names), count)
        self.assertEqual(self.json("status"), [])

    def test_the_next_run_drains_first(self):
        for mode in ("exit", "close", "async"):
            with self.subTest(mode):
                self.dir = self.path(mode)
                os.mkdir(self.dir)
                count = self.fill("never")
                run = self.count("--drain", mode)
                self.assertEqual(int(run.out), count)
                self.assertIn("an earlier run has left the pool", run.err)
                self.assert_all_in_lower(count)

    def test_files_that_cannot_be_evicted(self):
        count = self.fill("never", names=2)
        self.assertEqual(int(self.count("--drain", "exit").out), count)
        self.assert_all_in_lower(count)

    def test_a_run_of_mode_never_says_what_makes_room(self):
        count = self.fill("never", "--job", "1")
        self.refused("run", "--at", self.dir, "--drain", "never", "--job", "2", "--", "true",
                     code=1, says=["is full", f"`cairn drain {self.dir}` makes room", "files"])
        self.assertEqual(int(self.count("--drain", "never", "--job", "1").out), count)
        self.cairn("drain", self.dir)
        self.assert_all_in_lower(count)

    def test_a_directory_whose_pool_is_full_of_another_one(self):
        self.fill("never")
        other = self.path("other")
        os.mkdir(other)
        for command in (("run", "--at", other, "--", "true"), ("stage", "--at", other, other)):
            with self.subTest(command[0]):
                self.refused(*command, code=1,
                             says=["is full", f"`cairn drain {self.dir}` makes room"])
        self.assertEqual(os.listdir(other), [])

    def test_a_job_that_is_started_again_after_a_kill(self):
        """It met ENOSPC at its first write."""
        for mode in ("exit", "async"):
            with self.subTest(mode):
                self.dir = self.path(mode)
                os.mkdir(self.dir)
                count = self.fill_and_kill()
                self.shell("head -c 3000000 /dev/zero > again", "--drain", mode)
                self.assertEqual(os.stat(os.path.join(self.dir, "again")).st_size, 3000000)
                self.assert_all_in_lower(count + 1)


if __name__ == "__main__":
    cairn_case.main()
