"""Runs that write: drained at the end, kept, interrupted, continued, discarded; status and clean
meanwhile."""

import fcntl
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase


class AtExit(CoverCase):
    def test_directory_holds_ordinary_files_afterwards(self):
        self.write("dir/before", "old\n")
        run = self.shell(
            "cat before; echo new > made; echo more >> before; mkdir d; echo deep > d/e; ln -s made"
            " link"
        )
        self.assertEqual(run.out, "old\n")
        self.assertEqual(self.names(), ["before", "d", "link", "made"])
        self.assertEqual((self.read("made"), self.read("before"), self.read("d/e")),
                         ("new\n", "old\nmore\n", "deep\n"))
        self.assertEqual(os.readlink(os.path.join(self.dir, "link")), "made")
        self.assertEqual(self.json("status"), [])

    def test_removed_names_go(self):
        self.write("dir/a", "A")
        self.write("dir/b", "B")
        self.shell("rm a; mv b c")
        self.assertEqual(self.names(), ["c"])

    def test_report(self):
        run = self.shell("echo 12345 > x", "--log-level", "info")
        self.assertRegex(run.err, r"1 file, 6 B drained to .*/dir in ")
        run = self.shell("echo 12345 > y", "--json")
        self.assertIn('"files":1', run.err)
        self.assertIn('"bytes":6', run.err)
        self.assertEqual(self.shell("echo quiet > z").err, "")

    def test_status_of_the_program_wins(self):
        self.shell("echo kept > x; exit 9", expect=9)
        self.assertEqual(self.read("x"), "kept\n")

    def test_a_background_child_loses_nothing(self):
        self.shell("(sleep 1; echo late > late) > /dev/null 2>&1 &")
        self.assertEqual(self.read("late"), "late\n")
        self.assertEqual(self.json("status"), [])

    def test_made_pools_go_and_created_ones_stay(self):
        self.shell("echo x > x")
        self.assertEqual(self.json("pool", "list"), [])
        self.cairn("pool", "create")
        self.shell("echo y > y")
        self.assertEqual([pool["name"] for pool in self.json("pool", "list")], ["default"])
        self.assertEqual(self.json("status")[0]["covers"], [])

    def test_full_pool_says_how_much_was_missing(self):
        run = self.shell("dd if=/dev/zero of=big bs=1M count=100 2> /dev/null", "--pool-size",
                         "32M", expect=1)
        self.assertRegex(
            run.err,
            r"pool .* was full: \d+ write\(s\) did not fit, at least .* missing.* with"
            r" --pool-size\n",
        )

    def test_a_full_pool_that_was_there_is_to_be_grown(self):
        self.cairn("pool", "create", "--size", "16M")
        run = self.shell("fallocate -l 100M big", expect=1)
        self.assertRegex(run.err, r"was full: .* with `cairn pool grow`\n$")

    def test_a_file_that_does_not_fit_says_how_much_was_missing(self):
        with open(os.path.join(self.dir, "big"), "wb") as file:
            file.write(b"b" * (20 << 20))
        for change in ["echo x >> big", "truncate -s 19M big", "ln big other"]:
            run = self.shell(change, "--pool-size", "16M", expect=None)
            self.assertRegex(
                run.err, r"was full: \d+ write\(s\) did not fit, at least [\d.]+ MiB were missing",
                change)

    def test_a_directory_that_was_removed_meanwhile(self):
        run = self.shell(f"echo kept > file; cd /; exec env -u LD_PRELOAD rm -r {self.dir}",
                         expect=1)
        self.assertIn(
            f"{self.dir}: the covered directory is gone; what was not drained stays in the pool",
            run.err)
        self.assertIn(f"`cairn drain {self.dir} --to ELSEWHERE`", run.err)
        os.mkdir(self.dir)
        self.cairn("drain", self.dir, "--to", self.dir)
        self.assertEqual(self.read("file"), "kept\n")

    def test_conflicting_change_is_not_overwritten(self):
        name = os.path.join(self.dir, "shared")
        self.write("dir/shared", "ours before\n")
        marker = self.path("go")
        run = subprocess.Popen([
            CAIRN, "run", "--json", "--at", self.dir, "--", "sh", "-c",
            f"echo mine >> {name}; touch {marker}; while [ -e {marker} ]; do sleep 0.05; done"
        ], env=self.env, stderr=subprocess.PIPE)
        self.wait_for(lambda: os.path.exists(marker), "the program did not start")
        with open(name, "w", encoding="utf-8") as file:
            file.write("somebody else's\n")
        os.unlink(marker)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1, err)
        self.assertIn(b"shared", err)
        self.assertEqual(json.loads(err.splitlines()[-1])["conflicts"], 1)
        self.assertEqual(self.read("shared"), "somebody else's\n")
        self.assertEqual(len(self.json("status")[0]["covers"]), 1)
        self.cairn("discard", self.dir)
        self.assertEqual(self.read("shared"), "somebody else's\n")


class PoolOfSeveralRuns(CoverCase):
    """A pool that a run has made stays for the others, and goes with the last."""

    def lock(self, name, mode):
        file = open(os.path.join(self.pools, ".lock-" + name), "w", encoding="utf-8")
        self.addCleanup(file.close)
        fcntl.flock(file, mode)
        return file

    def test_runs_that_come_and_go_side_by_side_lose_nothing(self):
        script = (
            f"for i in 1 2 3 4 5 6 7 8; do {CAIRN} run --at $0 -- sh -c \"echo $i > $0/$i\" ||"
            " exit; done"
        )
        places = [self.path("one"), self.path("two"), self.path("three")]
        for place in places:
            os.mkdir(place)
        runs = [subprocess.Popen(["sh", "-c", script, place], env=self.env) for place in places]
        self.assertEqual([run.wait(60) for run in runs], [0, 0, 0])
        for place in places:
            self.assertEqual(sorted(os.listdir(place)), list("12345678"))
        self.assertEqual(self.json("status"), [])

    def test_it_is_not_removed_while_a_run_starts(self):
        marker = self.path("go")
        run = subprocess.Popen([
            CAIRN, "run", "--at", self.dir, "--", "sh", "-c",
            f"echo x > {self.dir}/x; touch {marker}; while [ -e {marker} ]; do sleep 0.05; done"
        ], env=self.env, stderr=subprocess.PIPE)
        self.wait_for(lambda: os.path.exists(marker), "the program did not start")
        with self.lock("start", fcntl.LOCK_EX):
            os.unlink(marker)
            self.wait_for(lambda: self.names() == ["x"], "the run did not drain")
            time.sleep(0.3)
            self.assertEqual([pool["covers"] for pool in self.json("status")], [[]])
        _, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, err, self.json("status")), (0, b"", []))

    def test_it_goes_with_the_last_of_many(self):
        directories = [self.path(f"d{i}") for i in range(4)]
        for directory in directories:
            os.mkdir(directory)
        for turn in range(3):
            runs = [
                subprocess.Popen([
                    CAIRN, "run", "--at", directory, "--", "sh", "-c",
                    f"echo {turn} > {directory}/x"
                ], env=self.env, stderr=subprocess.PIPE) for directory in directories
                for _ in range(2)
            ]
            for run in runs:
                _, err = run.communicate(timeout=60)
                # Under load, a run may wait for the other one in its directory so long that it says
                # so.
                said = [
                    line for line in err.splitlines()
                    if not line.startswith(b"cairn run: waiting for other runs in ")
                ]
                self.assertEqual((run.returncode, said), (0, []))
            # Runs that end in the same moment may each leave it to another one; the next takes it
            # along.
            self.assertEqual([pool["covers"] for pool in self.json("status") if pool["covers"]], [])
            self.cairn("run", "--at", directories[0], "--", "true")
            self.assertEqual(self.json("status"), [])
            for directory in directories:
                with open(os.path.join(directory, "x"), encoding="utf-8") as file:
                    self.assertEqual(file.read(), f"{turn}\n")

    def test_a_pool_that_was_taken_away_is_told(self):
        marker = self.path("go")
        run = subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "env", "-i", "sh", "-c",
                                f": > {marker}; while [ -e {marker} ]; do sleep 0.05; done"],
                               env=self.env, stderr=subprocess.PIPE)
        self.wait_for(lambda: os.path.exists(marker), "the program did not start")
        shutil.rmtree(os.path.join(self.pools, "default"))
        os.unlink(marker)
        _, err = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"{self.dir}/.cairn-claim".encode(), err)


class Kept(CoverCase):
    def test_never_keeps_until_asked(self):
        self.shell("echo one > a", "--drain", "never")
        self.assertNotIn("a", self.names())
        self.assertGreater(self.undrained(), 0)
        self.assertIn("not drained", self.cairn("status").out)
        self.assertEqual(self.shell("cat a; echo two >> a", "--drain", "never").out, "one\n")
        report = self.json("drain", self.dir)
        self.assertTrue(report["ok"])
        self.assertEqual(self.read("a"), "one\ntwo\n")
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(self.json("status"), [])

    def test_a_later_run_drains(self):
        self.shell("echo one > a", "--drain", "never")
        self.shell("echo two > b")
        self.assertEqual((self.read("a"), self.read("b")), ("one\n", "two\n"))

    def test_drain_and_keep(self):
        self.shell("echo one > a", "--drain", "never")
        self.cairn("drain", "--keep", self.dir)
        self.assertEqual(self.read("a"), "one\n")
        self.assertEqual(self.undrained(), 0)
        self.assertEqual(len(self.json("status")[0]["covers"]), 1)
        self.shell("echo two >> a")
        self.assertEqual(self.read("a"), "one\ntwo\n")

    def test_discard(self):
        self.write("dir/a", "before\n")
        self.shell("echo after > a; echo more > b", "--drain", "never")
        self.assertIn("discarded", self.cairn("discard", self.dir).out)
        self.assertEqual((self.names(), self.read("a")), (["a"], "before\n"))
        self.assertEqual(self.json("status"), [])

    def test_pool_with_undrained_data_is_not_removed_by_mistake(self):
        self.shell("echo one > a", "--drain", "never")
        self.refused("pool", "remove", code=1, says=["not drained", self.dir])
        self.assertIn("undrained", {each["state"] for each in self.json("pool", "clean")})
        self.assertGreater(self.undrained(), 0)
        self.assertEqual(
            {each["state"]
             for each in self.json("pool", "clean", "--force", "--dry-run")}, {"left over"})
        self.assertGreater(self.undrained(), 0)
        self.json("pool", "clean", "--force")
        self.assertEqual(self.json("pool", "list"), [])
        self.assertEqual(self.names(), [])

    def test_changes_without_bytes_are_not_dropped_by_mistake(self):
        """None of them has bytes of data: they counted as drained, and were lost."""
        changes = {
            "a removal": "rm gone", "a mode": "chmod 600 mode", "a directory": "mkdir -p new/sub",
            "an empty file": ": > DONE", "a link": "ln -s t link", "holes": "truncate -s 1G sparse",
            "the top's mode": "chmod 710 ."
        }
        self.write("dir/gone", "x")
        self.write("dir/mode", "x")
        for what, change in changes.items():
            with self.subTest(what):
                self.shell(change, "--drain", "never")
                status = self.cairn("status").out
                self.assertIn("names or attributes not drained", status)
                self.assertNotIn("all drained", status)
                self.assertIn("names or attributes not drained", self.cairn("pool", "info").out)
                self.assertEqual(self.json("pool", "list")[0]["all_drained"], False)
                self.refused("pool", "remove", code=1, says=["not drained", self.dir])
                found = self.json("pool", "clean")
                self.assertEqual([(each["state"], each["removed"]) for each in found],
                                 [("undrained", False)] * 2)
                self.cairn("drain", "--keep", self.dir)
                self.assertIn("all drained", self.cairn("status").out)
                self.assertEqual([each["removed"] for each in self.json("pool", "clean")],
                                 [True] * 2)
        self.assertEqual(self.names(), ["DONE", "link", "mode", "new", "sparse"])
        self.assertEqual(os.stat(os.path.join(self.dir, "sparse")).st_size, 1 << 30)
        self.assertEqual((os.stat(self.dir).st_mode & 0o777,
                          os.stat(os.path.join(self.dir, "mode")).st_mode & 0o777), (0o710, 0o600))

    def test_claimed_by_another_job(self):
        self.shell("echo one > a", "--drain", "never", "--job", "first-17")
        mark = self.path("started")
        self.refused("run", "--at", self.dir, "--pool", "other", "--job", "second-18", "--",
                     "touch", mark, code=1, says=[self.dir,
                                                  os.uname().nodename, "first-17"])
        self.assertFalse(os.path.exists(mark))
        self.assertEqual([pool["name"] for pool in self.json("pool", "list")], ["default"])

    def test_directory_inside_a_covered_one(self):
        os.mkdir(os.path.join(self.dir, "below"))
        self.shell("echo one > a", "--drain", "never")
        self.refused("run", "--at", os.path.join(self.dir, "below"), "--", "true", code=2,
                     says="below")

    def test_not_covered(self):
        self.assertIn("nothing to drain", self.cairn("drain", self.dir).out)
        self.assertEqual(self.json("drain", self.dir)["files"], 0)
        self.refused("discard", self.dir, code=1, says=self.dir)
        self.refused("drain", self.path("none"), code=2, says=self.path("none"))
        self.refused("discard", self.write("file", ""), code=2, says="not a directory")


class Killed(CoverCase):
    def start(self, script):
        run = subprocess.Popen(
            [CAIRN, "run", "--at", self.dir, "--", "sh", "-c", f"cd {self.dir} && {script}"],
            env=self.env, stderr=subprocess.DEVNULL, start_new_session=True)
        self.addCleanup(run.wait)
        self.addCleanup(self.kill_group, run)
        return run

    @staticmethod
    def kill_group(run):
        try:
            os.killpg(run.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def test_what_a_killed_run_left_is_drained(self):
        run = self.start("echo safe > a; while :; do sleep 0.1; done")
        self.wait_for(lambda: self.undrained() > 0, "nothing was written")
        self.kill_group(run)
        run.wait()
        self.assertEqual(self.names().count("a"), 0)
        self.cairn("drain", self.dir)
        self.assertEqual(self.names(), ["a"])
        self.assertEqual(self.read("a"), "safe\n")

    def test_the_next_run_continues(self):
        run = self.start("echo safe > a; while :; do sleep 0.1; done")
        self.wait_for(lambda: self.undrained() > 0, "nothing was written")
        self.kill_group(run)
        run.wait()
        self.assertEqual(self.shell("cat a; echo more >> a").out, "safe\n")
        self.assertEqual(self.read("a"), "safe\nmore\n")

    def test_while_a_run_is_under_way(self):
        run = self.start("echo one > a; while [ ! -e stop ]; do sleep 3; done")
        self.wait_for(lambda: self.undrained() > 0, "nothing was written")
        self.refused("discard", self.dir, code=1, says="run is under way")
        self.assertIn("run is under way", self.cairn("drain", self.dir).out)
        self.assertEqual(self.read("a"), "one\n")
        # Each `sleep` that ends is dead until somebody has cleaned up after it.
        self.wait_for(
            lambda:
            {process["state"]
             for pool in self.json("status")
             for process in pool["processes"]} == {"alive"}, "the run is not alive")
        self.refused("pool", "remove", code=1, says="")
        os.killpg(run.pid, signal.SIGTERM)
        self.assertEqual(run.wait(30), 128 + signal.SIGTERM)
        self.assertEqual(self.json("status"), [])

    def test_clean_and_remove_leave_a_run_alone_whose_program_is_attached_to_nothing(self):
        mark = self.path("started")
        run = subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "env", "-i", "sh", "-c",
                                f": > {mark}; while [ -e {mark} ]; do sleep 0.05; done"],
                               env=self.env, stderr=subprocess.PIPE)
        self.wait_for(lambda: os.path.exists(mark), "the program did not start")
        self.assertEqual(self.json("status")[0]["processes"], [])
        for options in [[], ["--dry-run"], ["--force"]]:
            found = self.json("pool", "clean", *options)
            self.assertEqual([(each["kind"], each["state"], each["removed"]) for each in found],
                             [("cover", "in use", False), ("pool", "in use", False)])
            self.assertIn("run is under way", found[0]["detail"])
        self.refused("pool", "remove", code=1, says=["run is under way", self.dir])
        self.refused("pool", "remove", "--force", code=1, says=["run is under way", self.dir])
        self.assertIn(".cairn-claim", self.names())
        os.unlink(mark)
        _, err = run.communicate(timeout=60)
        self.assertEqual((run.returncode, err), (0, b""))
        self.assertEqual((self.names(), self.json("status")), ([], []))

    def test_stopped_processes_are_named(self):
        run = self.start("echo $$ > pid; while :; do sleep 0.1; done")
        self.wait_for(lambda: self.undrained() > 0, "nothing was written")
        pid = self.json("status")[0]["processes"][0]["pid"]
        os.kill(pid, signal.SIGSTOP)
        try:
            self.wait_for(lambda: self.json("status")[0]["processes"][0]["state"] == "stopped",
                          "not seen as stopped")
            self.assertIn("may block", self.cairn("pool", "info").err)
        finally:
            os.kill(pid, signal.SIGCONT)


class CutShort(CoverCase):
    """Drains that a launcher kills, as it does after MPI_Abort: DIR was left with some of the
    files, and nothing was said."""

    RANK = {"OMPI_COMM_WORLD_SIZE": "1", "OMPI_COMM_WORLD_RANK": "0"}
    FILES, SIZE = 12, 4 << 20

    def setUp(self):
        super().setUp()
        self.announced = (
            f"cairn run: draining 48 MiB in {self.FILES} files to {self.dir}; if this is cut short,"
            f" `cairn drain {self.dir}` goes on with it\n"
        )

    def write_and_end(self, code):
        return [
            "sh",
            "-c",
            (
                f"cd {self.dir}; for i in $(seq {self.FILES}); do head -c {self.SIZE} /dev/zero >"
                f" $i; done; exit {code}"
            ),
        ]

    def kill_in_drain(self, *options):
        """What the run had said when it was killed in the middle of its drain."""
        for _ in range(20):
            run = subprocess.Popen(
                [CAIRN, "run", "--at", self.dir, *options, "--", *self.write_and_end(3)],
                stderr=subprocess.PIPE, env={**self.env,
                                             **self.RANK, "CAIRN_POOL_SIZE": "128M"}, text=True)
            while run.poll() is None and not any(name in self.names() for name in ("1", "2", "3")):
                pass
            run.kill()
            said = run.communicate(timeout=60)[1]
            if run.returncode == -signal.SIGKILL:
                return said
            for name in self.names():
                os.unlink(os.path.join(self.dir, name))
        self.fail("it was never killed in time")

    def test_a_run_says_before_it_drains_how_to_go_on(self):
        said = self.kill_in_drain()
        self.assertEqual(said, self.announced)
        self.assertLess(len([name for name in self.names() if not name.startswith(".")]),
                        self.FILES)

    def test_status_tells_of_a_drain_that_was_cut_short(self):
        self.kill_in_drain()
        cover = self.json("status")[0]["covers"][0]
        self.assertEqual((cover["drain_cut_short"], cover["in_use"]), (True, False))
        self.assertGreater(cover["undrained_files"], 0)
        self.assertRegex(
            self.cairn("status").out,
            rf"covers {self.dir}: .* MiB in \d+ files? not drained\n"
            rf"    the drain that began at 20.* was cut short: `cairn drain {self.dir}` goes on"
            r" with it\n",
        )
        self.cairn("drain", "--keep", self.dir)
        self.assertEqual(self.json("status")[0]["covers"][0]["drain_cut_short"], False)
        self.assertNotIn("cut short", self.cairn("status").out)
        self.assertEqual(self.names(),
                         sorted([".cairn-claim", *(str(i + 1) for i in range(self.FILES))]))

    def test_a_drain_that_a_signal_stopped_counts_as_cut_short(self):
        self.shell("echo one > a", "--drain", "never")
        self.assertEqual(self.json("status")[0]["covers"][0]["drain_cut_short"], False)
        for _ in range(20):
            run = subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", *self.write_and_end(0)],
                                   stderr=subprocess.PIPE,
                                   env={**self.env, "CAIRN_POOL_SIZE": "128M"}, text=True)
            while run.poll() is None and "1" not in self.names():
                pass
            run.terminate()
            said = run.communicate(timeout=60)[1]
            if run.returncode == 128 + signal.SIGTERM:
                break
            self.assertEqual(run.returncode, 0)
        self.assertIn(
            f"interrupted; what is not drained is still in the pool: `cairn drain {self.dir}`"
            " goes on",
            said,
        )
        self.assertEqual(self.json("status")[0]["covers"][0]["drain_cut_short"], True)

    def test_a_run_killed_before_it_drains_says_nothing_so_status_does(self):
        """As MPICH's launcher kills it."""
        with subprocess.Popen([
                CAIRN, "run", "--at", self.dir, "--", "sh", "-c",
                f"echo x > {self.dir}/x; echo; sleep 60"
        ], env=self.env, stdout=subprocess.PIPE, start_new_session=True) as run:
            run.stdout.readline()
            self.assertNotIn("no run is under way", self.cairn("status").out)
            os.killpg(run.pid, signal.SIGKILL)
        # The shell may die a moment after the command.
        end = time.monotonic() + 30
        while ": alive" in (shown := self.cairn("status").out) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertIn(
            f"    no run is under way: `cairn drain {self.dir}` writes it to the directory, `cairn"
            f" discard {self.dir}` drops it\n",
            shown,
        )

    def test_short_drains_are_no_news(self):
        self.assertEqual(self.shell("echo x > x", env=self.RANK).err, "")
        self.assertEqual(self.shell("echo x > y; exit 3", expect=3).err, "")
        self.assertEqual(self.shell(":; exit 3", expect=3, env=self.RANK).err, "")
        for env in self.RANK, {"SLURM_JOB_ID": "7"}:
            said = self.shell("echo x > z$SLURM_JOB_ID; exit 3", expect=3, env=env).err
            self.assertEqual(
                said,
                f"cairn run: draining 2 B in 1 file to {self.dir}; if this is cut short, `cairn"
                f" drain {self.dir}` goes on with it\n",
            )
        self.assertEqual(
            self.shell("echo x > x; exit 3", "--log-level", "error", expect=3, env=self.RANK).err,
            "")


if __name__ == "__main__":
    cairn_case.main()
