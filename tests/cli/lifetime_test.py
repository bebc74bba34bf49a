"""Who makes a pool where a logout or the end of a job would remove it is warned, and nobody
else."""

import json
import os

import cairn_case
from cairn_case import CairnCase


class Lifetime(CairnCase):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("dir"))
        self.env["USER"] = "nobody-who-lingers"
        self.login = {"XDG_RUNTIME_DIR": self.pools}

    def job(self, directory):
        """As in a batch job whose own directory this is: its name has the job's number in it."""
        number = os.path.basename(directory).rsplit("-", 1)[1]
        return {"SLURM_JOB_ID": number, "TMPDIR": directory}

    def run_at(self, *words, **more):
        return self.cairn("run", "--at", "dir", *words, "--", "sh", "-c", "echo x > dir/x", **more)

    def test_nobody_else_is(self):
        for words in [["pool", "create"], ["run", "--at", "dir", "--", "true"], ["pool", "info"]]:
            self.assertNotIn("warning", self.cairn(*words).err)
        self.assertEqual(self.json("pool", "create", "second")["warnings"], [])
        self.assertNotIn("lifetime", [
            each["topic"]
            for each in self.json("doctor", expect=None)["findings"] if each["level"] == "warning"
        ])

    def test_pool_create(self):
        made = self.cairn("pool", "create", env=self.login)
        self.assertIn(f"cairn: warning: {self.pools}/default is removed when you log out", made.err)
        self.assertEqual(len(made.err.splitlines()), 1, made.err)
        made = self.json("pool", "create", "second", env=self.login)
        self.assertEqual(len(made["warnings"]), 1)
        self.assertIn(f"{self.pools}/second is removed when you log out", made["warnings"][0])
        self.assertEqual(
            self.cairn("pool", "create", "third", "--log-level", "error", env=self.login).err, "")

    def test_doctor(self):
        found = [
            each for each in self.json("doctor", env=self.login, expect=None)["findings"]
            if each["topic"] == "lifetime"
        ]
        self.assertIn(("warning", f"{self.pools}/default is removed when you log out"),
                      [(each["level"], each["text"].split(":")[0]) for each in found])

    def test_run(self):
        run = self.run_at(env=self.login)
        self.assertEqual(run.err.count("is removed when you log out"), 1, run.err)
        self.assertIn(f"cairn: warning: {self.pools}/default", run.err)
        run = self.run_at("--json", env=self.login)
        report = json.loads(run.err)  # and nothing else
        self.assertIn("is removed when you log out", report["warnings"][0])
        self.assertTrue(report["ok"])

    def test_where_the_results_go(self):
        job = self.pools + "-4711"
        os.rename(self.pools, job)
        self.pools = job
        os.mkdir(os.path.join(job, "results"))
        run = self.cairn("run", "--at", os.path.join(job, "results"), "--", "true",
                         env=self.job(job) | {"CAIRN_POOL_DIR": self.scratch})
        self.assertIn(f"cairn: warning: {job}/results lies in TMPDIR of job 4711", run.err)
        self.assertEqual(len(run.err.splitlines()), 1, run.err)
        os.rename(job, job[:-5])
        self.pools = job[:-5]

    def test_ranks_say_it_once(self):
        rank = self.login | {"PMI_RANK": "0", "PMI_SIZE": "1", "PMI_FD": "0"}
        first = self.run_at("--drain", "never", env=rank)
        self.assertIn("is removed when you log out", first.err)
        self.assertNotIn("is removed", self.run_at("--drain", "never", env=rank).err)
        self.assertIn("is removed", self.run_at("--drain", "never", env=self.login).err)
        self.cairn("drain", "dir")


if __name__ == "__main__":
    cairn_case.main()
