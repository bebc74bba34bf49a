"""Drains while a run goes on (--drain close and async), and after it (--detach-drain)."""

import ctypes
import os
import signal
import subprocess
import time

import cairn_case
from cairn_case import CAIRN
from keeper_case import KeeperCase

IOPRIO_GET = 252  # on x86_64


def is_idle_for_the_disk(pid):
    return ctypes.CDLL(None).syscall(IOPRIO_GET, 1, pid) >> 13 == 3


class Keeper(KeeperCase):
    def test_a_closed_file_goes_while_the_program_runs(self):
        run = self.begin("echo closed > closed; exec 3> open; echo first >&3")
        self.wait_for(lambda: self.has("closed", "closed\n"), "the closed file was not drained")
        time.sleep(1)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "open")),
                         "an open file was drained in mode close")
        self.assertEqual(self.undrained(), len("first\n"))
        self.assertEqual(self.finish(run), "")
        self.assertEqual(self.read("open"), "first\n")
        self.wait_until_nothing_is_left()
        self.wait_until_no_lock_is_left()

    def test_an_open_file_goes_in_mode_async(self):
        run = self.begin("exec 3> open; echo first >&3", mode="async")
        self.wait_for(lambda: self.has("open", "first\n"), "the open file was not drained")
        self.finish(run)
        self.wait_until_nothing_is_left()

    def test_a_renamed_file_is_told_as_such(self):
        """The line read "0 B in 1 file not drained"."""
        go = self.path("go")
        run = self.begin(
            f"echo text > new; while [ ! -e {go} ]; do sleep 0.05; done; mv new final; exec 3>"
            " open; echo x >&3"
        )
        self.wait_for(lambda: self.has("new", "text\n"), "not drained")
        # Until it ends nobody drains: what is left stays to be told.
        os.kill(self.keepers()[0]["pid"], signal.SIGKILL)
        self.write("go", "")
        self.wait_for(lambda: self.undrained() == 2, "the program did not go on")
        self.assertIn(": 2 B in 1 file and 1 renamed file not drained\n", self.cairn("status").out)
        cover = self.json("status")[0]["covers"][0]
        self.assertEqual((cover["undrained_files"], cover["renamed_files"]), (1, 1))
        self.finish(run)
        self.assertEqual(self.names(), ["final", "open"])
        self.wait_until_nothing_is_left()

    def test_a_renamed_directory_is_not_written_again(self):
        """As checkpoints are written: to a directory that gets its name once all is there."""
        go = self.path("go")
        run = self.begin(
            f"mkdir tmp; echo a > tmp/a; head -c 3000000 /dev/zero > tmp/b; while [ ! -e {go} ]; do"
            " sleep 0.05; done; mv tmp checkpoint-500; mkdir tmp; echo next > tmp/a"
        )
        self.wait_for(lambda: self.has("tmp/a", "a\n") and self.has_size("tmp/b", 3000000),
                      "not drained")
        before = [os.stat(os.path.join(self.dir, "tmp", name)).st_ino for name in "ab"]
        self.write("go", "")
        self.wait_for(lambda: self.has("tmp/a", "next\n") and self.has("checkpoint-500/a", "a\n"),
                      "not drained")
        self.wait_for(lambda: self.has_size("checkpoint-500/b", 3000000), "not drained")
        self.assertEqual(
            [os.stat(os.path.join(self.dir, "checkpoint-500", name)).st_ino for name in "ab"],
            before)
        self.finish(run)
        self.assertEqual(self.names(), ["checkpoint-500", "tmp"])
        self.assertEqual(os.listdir(os.path.join(self.dir, "tmp")), ["a"])
        self.wait_until_nothing_is_left()

    def has_size(self, name, size):
        try:
            return os.path.getsize(os.path.join(self.dir, name)) == size
        except FileNotFoundError:
            return False

    def test_a_file_that_is_not_quiet_stays(self):
        run = self.begin("echo x > file", quiet="3600")
        self.wait_for(self.keepers, "no keeper")
        time.sleep(1)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "file")))
        self.finish(run)
        self.assertEqual(self.read("file"), "x\n")
        self.wait_until_nothing_is_left()

    def test_modes_exit_and_never_write_nothing_meanwhile(self):
        for mode in ("exit", "never"):
            run = self.begin(f"echo x > {mode}", mode=mode)
            self.wait_for(lambda: self.undrained() == 2, "the program did not write")
            time.sleep(0.6)
            self.assertFalse(os.path.exists(os.path.join(self.dir, mode)), mode)
            self.assertEqual(self.keepers(), [])
            self.finish(run)
        self.cairn("discard", self.dir)

    def test_it_goes_on_after_a_killed_run(self):
        run = self.begin("echo x > file; exec 3> open; echo y >&3", quiet="3600")
        self.wait_for(lambda: self.undrained() == 4 and self.keepers(), "the program did not write")
        run.kill()
        run.wait(30)
        time.sleep(0.6)
        self.assertFalse(os.path.exists(os.path.join(self.dir, "file")),
                         "drained while the program still ran")
        with open(self.done, "w", encoding="utf-8"):
            pass
        self.wait_for(lambda: self.has("file", "x\n") and self.has("open", "y\n"), "nobody drained")
        self.wait_until_nothing_is_left()

    def test_detached(self):
        script = f"cd {self.dir} && head -c 20000000 /dev/urandom > big"
        self.cairn("run", "--at", self.dir, "--detach-drain", "--", "sh", "-c", script)
        # By the keeper, or by this drain if it comes first.
        self.assertRegex(
            self.cairn("drain", "--wait", self.dir).out, "all drained|^1 file, 19.1 MiB")
        self.assertEqual(os.path.getsize(os.path.join(self.dir, "big")), 20000000)
        self.wait_until_nothing_is_left()
        self.refused("run", "--at", self.dir, "--detach-drain", "--drain", "never", "--", "true",
                     code=2, says="--detach-drain: nothing is drained with --drain never")

    def test_detached_in_a_batch_job(self):
        run = self.cairn("run", "--at", self.dir, "--detach-drain", "--", "sh", "-c",
                         f"echo x > {self.dir}/x", env={"SLURM_JOB_ID": "12"})
        self.assertRegex(
            run.err,
            r"is drained in the background; .*\. But Slurm may end it with job 12: `cairn"
            r" drain` on "
            "this host continues\n$",
        )
        self.cairn("drain", "--wait", self.dir)
        self.assertEqual(self.read("x"), "x\n")
        self.wait_until_nothing_is_left()

    def test_its_streams_are_nobodys(self):
        """A launcher waits until the pipes of its processes are closed."""
        script = f"cd {self.dir} && head -c 50000000 /dev/zero > big"
        begun = time.time()
        self.cairn("run", "--at", self.dir, "--detach-drain", "--drain", "async", "--drain-rate",
                   "4M", "--", "sh", "-c", script, stdin=subprocess.PIPE)
        self.assertLess(time.time() - begun, 8)
        self.cairn("drain", "--wait", self.dir)
        self.assertEqual(os.path.getsize(os.path.join(self.dir, "big")), 50000000)

    def test_a_rate_that_is_kept_and_shown(self):
        run = self.begin("head -c 24000000 /dev/zero > big", "--drain-rate", "4M")
        begun = time.time()
        self.wait_for(self.keepers, "no keeper")
        follow = subprocess.Popen([CAIRN, "status", "--follow"], env=self.env,
                                  stdout=subprocess.PIPE, text=True)
        self.wait_for(lambda: os.path.exists(os.path.join(self.dir, "big")), "not drained")
        self.assertGreater(time.time() - begun, 4)
        self.finish(run)
        shown, _ = follow.communicate(timeout=30)
        self.assertEqual(follow.returncode, 0)
        self.assertRegex(
            shown, r"dir: 22\.9 MiB in 1 file not drained \(oldest: big, [\d.]+ s\), [\d.]+ MiB/s, "
            r"[\d.]+ s left\n")

    def test_the_oldest_undrained_file_is_shown(self):
        run = self.begin(
            "mkdir out; echo x > out/first; touch -d '1 hour ago' out/first; sleep 1.2; echo y >"
            " second",
            quiet="3600",
        )
        self.wait_for(lambda: self.undrained() == 4, "the program did not write")
        cover = self.json("status")[0]["covers"][0]
        # By the time of its last change, which nobody can set.
        self.assertEqual(cover["oldest_undrained"]["path"], "out/first")
        self.assertGreater(cover["oldest_undrained"]["age_seconds"], 1)
        self.assertLess(cover["oldest_undrained"]["age_seconds"], 60)
        with subprocess.Popen([CAIRN, "status", "--follow"], env=self.env, stdout=subprocess.PIPE,
                              text=True) as follow:
            self.assertRegex(follow.stdout.readline(),
                             r"dir: 4 B in 2 files not drained \(oldest: out/first, [\d.]+ s\)")
            follow.kill()
        self.finish(run)
        self.wait_until_nothing_is_left()

    def test_the_end_of_a_run_does_not_wait_for_the_rate(self):
        run = self.begin("head -c 50000000 /dev/zero > big", "--drain-rate", "1M")
        self.wait_for(self.keepers, "no keeper")
        time.sleep(1)
        begun = time.time()
        self.finish(run)
        self.assertLess(time.time() - begun, 20)
        self.assertEqual(os.path.getsize(os.path.join(self.dir, "big")), 50000000)
        self.wait_until_nothing_is_left()

    def test_one_keeper_for_several_runs(self):
        first = self.begin("echo x > first")
        self.wait_for(lambda: self.has("first", "x\n"), "not drained")
        second = self.begin("echo y > second", "--log-level", "info")
        self.wait_for(lambda: self.has("second", "y\n"), "not drained")
        self.assertEqual(len(self.keepers()), 1)
        self.finish(first)
        self.assertIn(f"cairn: {self.dir}: another process drains it in the background already",
                      self.finish(second))
        self.wait_until_nothing_is_left()

    def test_a_killed_keeper_loses_nothing(self):
        run = self.begin("head -c 30000000 /dev/urandom | tee big | sha256sum > sum",
                         "--drain-rate", "5M")
        self.wait_for(self.keepers, "no keeper")
        time.sleep(1)
        os.kill(self.keepers()[0]["pid"], signal.SIGKILL)
        self.finish(run)
        with open(os.path.join(self.dir, "big"), "rb") as file:
            shown = subprocess.run(["sha256sum"], stdin=file, capture_output=True, text=True,
                                   check=True).stdout
        self.assertEqual(self.read("sum"), shown)
        self.wait_until_nothing_is_left()

    def test_a_conflict_is_shown_and_tried_again(self):
        go = self.path("go")
        run = self.begin(f"echo a > a; while [ ! -e {go} ]; do sleep 0.05; done; echo mine > file")
        self.wait_for(lambda: self.has("a", "a\n"), "not drained")
        theirs = self.write("dir/file", "theirs")
        self.write("go", "")
        self.wait_for(
            lambda: self.keepers() and "changed there outside" in self.keepers()[0]["problem"],
            "no conflict")
        self.assertRegex(
            self.cairn("status").out,
            r"process \d+ drains it in the background: .*changed there outside")
        self.assertEqual(self.read("file"), "theirs")
        os.unlink(theirs)
        self.wait_for(lambda: self.has("file", "mine\n"), "not tried again")
        self.finish(run)
        self.wait_until_nothing_is_left()

    def test_ten_times_what_the_pool_holds(self):
        """Each file fits and is closed: what was drained is evicted, and read again from the
        directory."""
        for mode in ("close", "async"):
            with self.subTest(mode=mode):
                where = os.path.join(self.dir, mode)
                os.mkdir(where)
                script = (
                    f"cd {where}; for i in $(seq 40); do head -c 16777216 /dev/urandom > f$i ||"
                    f" exit 1; sha256sum f$i >> {self.path(mode)} || exit 1; done; sha256sum"
                    f" --quiet -c {self.path(mode)} && sha256sum --quiet -c {self.path(mode)} &&"
                    " find . -type f -printf '%b\n' | awk '{s += $1} END {print s * 512}'"
                )
                run = self.cairn("run", "--at", self.dir, "--pool-size", "64M", "--drain", mode,
                                 "--", "sh", "-c", script, timeout=300)
                self.assertEqual(run.err, "")
                self.wait_until_nothing_is_left()
                subprocess.run(
                    ["sha256sum", "--quiet", "-c", self.path(mode)], cwd=where, check=True)

    def test_a_full_pool_without_a_keeper_fails_at_once(self):
        begun = time.time()
        script = (
            f"cd {self.dir}; for i in 1 2 3 4 5; do head -c 16777216 /dev/zero > f$i || exit 9;"
            " done"
        )
        self.cairn("run", "--at", self.dir, "--pool-size", "64M", "--", "sh", "-c", script,
                   expect=9)
        self.assertLess(time.time() - begun, 20)

    def test_one_file_larger_than_the_pool_is_an_error(self):
        script = f"cd {self.dir}; head -c 100000000 /dev/zero > large || exit 9"
        run = self.cairn("run", "--at", self.dir, "--pool-size", "64M", "--drain", "async", "--",
                         "sh", "-c", script, expect=9, timeout=120)
        self.assertRegex(
            run.err,
            "was full: .* a file that is being written must fit: write smaller files, or give it"
            " more",
        )
        self.assertNotIn("--drain async", run.err)

    def test_the_mode_is_that_of_the_run_under_way(self):
        """The keeper that an earlier run has left drained in the earlier run's mode."""
        script = f"cd {self.dir} && head -c 50000000 /dev/zero > big"
        self.cairn("run", "--at", self.dir, "--detach-drain", "--drain", "close", "--drain-quiet",
                   "0", "--drain-rate", "2M", "--", "sh", "-c", script)
        self.wait_for(self.keepers, "no keeper")
        run = self.begin("echo x > file", mode="exit")
        self.wait_for(lambda: self.undrained() == 50000002, "the program did not write")
        time.sleep(1)
        self.assertEqual(self.keepers(), [])
        self.assertFalse(os.path.exists(os.path.join(self.dir, "file")), "drained in mode exit")
        self.finish(run)
        self.assertEqual(self.read("file"), "x\n")
        self.assertEqual(os.path.getsize(os.path.join(self.dir, "big")), 50000000)
        self.wait_until_nothing_is_left()

    def test_it_yields_to_the_program_or_not(self):
        for options, more in ((), 10), (("--drain-yield", "off"), 0):
            run = self.begin("true", *options)
            self.wait_for(self.keepers, "no keeper")
            keeper = self.keepers()[0]["pid"]
            own = os.getpriority(os.PRIO_PROCESS, run.pid)
            self.assertEqual(os.getpriority(os.PRIO_PROCESS, keeper), min(own + more, 19))
            self.assertEqual(is_idle_for_the_disk(keeper), more != 0)
            self.finish(run)
            self.wait_until_nothing_is_left()

    def test_wrong_values(self):
        for option, value, says in (
            ("--drain", "asinc",
             "'asinc' is not one of exit|close|async|never; did you mean async?"),
            ("--drain-quiet", "soon", "invalid time 'soon'"),
            ("--drain-rate", "fast", "invalid rate 'fast': expected bytes a second, such as 200M, "
             "or unlimited"), ("--drain-rate", "50%", "invalid rate '50%': expected bytes"),
            ("--drain-rate", "0", "invalid rate '0': expected bytes"),
            ("--drain-yield", "offf", "'offf' is not one of on|off; did you mean off?")):
            self.refused("run", "--at", self.dir, option, value, "--", "true", code=2, says=says)


if __name__ == "__main__":
    cairn_case.main()
