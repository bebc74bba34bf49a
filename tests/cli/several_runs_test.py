"""Several runs at once: one within another, side by side, and of one directory."""

import errno
import os
import subprocess
import sys
import time

import cairn_case
from cairn_case import CAIRN
from cover_case import Run


class SeveralRuns(Run):
    def test_run_inside_a_run(self):
        inner = f"{CAIRN} run --at {self.dir} -- sh -c 'echo $CAIRN_COVER; exit 3'"
        run = self.run_at("sh", "-c", f"{inner} & {inner}; wait; exit 5", expect=5)
        self.assertEqual(run.out, f"{self.dir}\n" * 2)
        other = self.path("other")
        os.mkdir(other)
        run = self.run_at(CAIRN, "run", "--at", other, "--", "true", expect=2)
        self.assertIn("one run covers one directory", run.err)
        self.assert_nothing_left()

    def test_run_inside_a_run_that_the_environment_does_not_name(self):
        """The inner one waited for the outer one, which waited for it."""
        passed = [
            f"{name}={value}" for name, value in self.env.items()
            if name in ("PATH", "HOME", "CAIRN_POOL_DIR", "CAIRN_POOL_SIZE",
                        *cairn_case.OF_SANITIZERS)
        ]
        inner = ["env", "-i", *passed, CAIRN, "run", "--at", self.dir, "--", "sh", "-c",
                 f"echo $CAIRN_COVER; echo inner > {self.dir}/x; exit 3"]
        run = self.run_at(*inner, expect=3, timeout=30)
        self.assertEqual((run.out, run.err), (f"{self.dir}\n", ""))
        with open(os.path.join(self.dir, "x"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "inner\n")
        self.assert_nothing_left()

    def test_an_environment_that_names_a_run_that_has_ended(self):
        """Another process had the number of that run: the run took itself for one inside of it,
        ended with 0, and drained nothing."""
        named = self.run_at("sh", "-c", "echo $CAIRN_RUN").out.strip()
        host, pid, start = named.rsplit(":", 2)
        self.assertNotEqual((int(pid), int(start)), (0, 0))
        of_a_run = {"CAIRN_COVER": self.dir, "CAIRN_POOL": os.path.join(self.pools, "default")}
        with subprocess.Popen(["sleep", "100"]) as other:
            try:
                for number, name in enumerate(
                    (named, f"{host}:{other.pid}", f"{host}:{other.pid}:{start}",
                     f"{host}:{other.pid}:0", f"{host}:{other.pid}:", f"{other.pid}:{start}")):
                    with self.subTest(name):
                        self.run_at("sh", "-c", f"echo {number} > {self.dir}/x",
                                    env=dict(self.env, CAIRN_RUN=name, **of_a_run))
                        with open(os.path.join(self.dir, "x"), encoding="utf-8") as file:
                            self.assertEqual(file.read(), f"{number}\n")
                        self.assert_nothing_left()
            finally:
                other.kill()

    def test_an_environment_that_names_a_run_whose_parent_has_not_heard_of_its_end(self):
        script = f"""
import os, subprocess, sys
run = subprocess.Popen([{CAIRN!r}, "run", "--at", {self.dir!r}, "--", "sh", "-c",
                        "echo $CAIRN_RUN"], stdout=subprocess.PIPE)
name = run.stdout.read().decode().strip()
os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
env = dict(os.environ, CAIRN_RUN=name, CAIRN_COVER={self.dir!r})
sys.exit(subprocess.call([{CAIRN!r}, "run", "--at", {self.dir!r}, "--", "sh", "-c",
                          "echo drained > {self.dir}/x"], env=env))
"""
        subprocess.run([sys.executable, "-c", script], env=self.env, check=True, timeout=60)
        with open(os.path.join(self.dir, "x"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "drained\n")
        self.assert_nothing_left()

    def test_it_says_for_which_other_run_it_waits(self):
        other = subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "sleep", "4"], env=self.env)
        while not any(pool.get("covers") for pool in self.json("status")):
            time.sleep(0.05)
        run = self.run_at("true")
        self.assertEqual(
            run.err,
            f"cairn run: waiting for other runs in {self.dir} to end: process {other.pid}\n")
        self.assertEqual(other.wait(30), 0)
        self.assert_nothing_left()

    def test_its_pool_goes_also_while_runs_of_other_directories_go_on(self):
        """It stayed, with all its memory, if any run was under way in the same place."""
        elsewhere = self.path("elsewhere")
        os.mkdir(elsewhere)
        options = ("--at", elsewhere, "--pool", "other", "--", "sh", "-c", "echo x > x; cat")
        other = subprocess.Popen([CAIRN, "run", *options], cwd=elsewhere, env=self.env,
                                 stdin=subprocess.PIPE)
        while not any(pool.get("covers") for pool in self.json("status")):
            time.sleep(0.05)
        self.run_at("sh", "-c", f"echo y > {self.dir}/y")
        self.assertEqual([pool["name"] for pool in self.json("status")], ["other"])
        self.cairn("run", "--at", self.dir, "--drain", "never", "--", "sh", "-c",
                   f"echo z > {self.dir}/y")
        self.cairn("drain", self.dir)
        self.assertEqual([pool["name"] for pool in self.json("status")], ["other"])
        other.communicate(timeout=30)
        self.assertEqual(other.returncode, 0)
        self.assert_nothing_left()

    def test_a_run_that_keeps_its_files_waits_for_no_other(self):
        """Whoever looked into a running job got the prompt back when the job had ended."""
        keep = ("run", "--at", self.dir, "--drain", "never", "--")
        other = subprocess.Popen([CAIRN, *keep, "sh", "-c", "echo other > x; cat"], cwd=self.dir,
                                 env=self.env, stdin=subprocess.PIPE)
        while self.cairn(*keep, "test", "-s", f"{self.dir}/x", expect=None,
                         timeout=30).returncode != 0:
            time.sleep(0.05)
        run = self.cairn(*keep, "cat", f"{self.dir}/x", timeout=30)
        self.assertEqual((run.out, run.err), ("other\n", ""))
        self.assertIsNone(other.poll())
        other.communicate(timeout=30)
        self.cairn("drain", self.dir)
        self.assert_nothing_left()

    def test_a_failure_is_told_while_other_runs_go_on(self):
        """An MPI's launcher hears of a rank that was killed when its run ends; the other ranks wait
        for ever."""
        go = self.path("go")
        other = subprocess.Popen([
            CAIRN, "run", "--at", self.dir, "--", "sh", "-c",
            f"echo other > x; while [ ! -e {go} ]; do sleep 0.1; done"
        ], cwd=self.dir, env=self.env)
        while not any(pool.get("covers") for pool in self.json("status")):
            time.sleep(0.05)
        run = self.run_at("sh", "-c", "kill -9 $$", expect=137, timeout=30)
        self.assertEqual(run.err,
                         f"cairn run: other runs still use {self.dir}; the last one drains it\n")
        self.assertIsNone(other.poll())
        # Each rank of a job that ended so said it, by the hundred.
        ranks = {"OMPI_COMM_WORLD_SIZE": "4"}
        runs = [
            subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "false"], env=self.env | ranks,
                             stderr=subprocess.PIPE, text=True) for _ in range(4)
        ]
        said = "".join(run.communicate(timeout=30)[1] for run in runs)
        self.assertEqual(
            said,
            f"cairn run: other runs still use {self.dir}; the last one drains it, or run `cairn"
            f" drain {self.dir}` if that run is killed\n",
        )
        self.assertEqual([run.returncode for run in runs], [1] * 4)
        self.assertEqual(
            self.cairn("run", "--at", self.dir, "--log-level", "error", "--", "false",
                       expect=1).err, "")
        self.assertIsNone(other.poll())
        with open(go, "w", encoding="utf-8"):
            pass
        self.assertEqual(other.wait(30), 0)
        with open(os.path.join(self.dir, "x"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "other\n")
        self.assert_nothing_left()

    def test_no_lock_files_stay_beside_the_pools(self):
        for name in "one", "two":
            self.dir = self.path(name)
            os.mkdir(self.dir)
            self.run_at("sh", "-c", f"echo text > {self.dir}/file")
        self.cairn("pool", "create")
        self.run_at("true")
        self.cairn("pool", "remove")
        self.assertEqual([n for n in os.listdir(self.pools) if n.startswith(".lock")], [])

    def test_runs_side_by_side_share_the_directory(self):
        """mpirun cairn run ...: the ranks start and end at different times."""
        runs = [
            subprocess.Popen([CAIRN, "run", "--at", self.dir, "--", "sleep",
                              str(0.1 * i)], env=self.env, stderr=subprocess.PIPE) for i in range(6)
        ]
        for run in runs:
            _, err = run.communicate(timeout=60)
            self.assertEqual(run.returncode, 0, err)
        self.assert_nothing_left()

    def test_a_run_that_is_under_way_keeps_its_directory(self):
        """Nobody need be attached to its pool in that moment."""
        with subprocess.Popen(
            [CAIRN, "run", "--at", self.dir, "--", "sh", "-c", "echo; exec sleep 60"], env=self.env,
                stdout=subprocess.PIPE) as run:
            run.stdout.readline()
            other = os.path.join(self.scratch, "pools")
            os.mkdir(other, 0o700)
            self.refused("run", "--at", self.dir, "--pool-dir", other, "--", "true", code=1,
                         says="covered by")
            # A pool beside the run's own was made for nothing, and stayed.
            self.refused("run", "--at", self.dir, "--pool", "other", "--", "true", code=1,
                         says="covered by")
            self.assertEqual([pool["name"] for pool in self.json("status")], ["default"])
            run.terminate()
        self.assert_nothing_left()


if __name__ == "__main__":
    cairn_case.main()
