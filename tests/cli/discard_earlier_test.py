"""`cairn run --fresh`: what an earlier run left in the pool is discarded by the run that begins
anew, and by no other."""

import os
import subprocess

import cairn_case
from cairn_case import CAIRN
from cover_case import CoverCase

KEY = "OMPI_MCA_orte_precondition_transports"  # of Open MPI's launcher, another one in each call
KEEP = ("--drain", "never")


class DiscardEarlier(CoverCase):
    def leave(self, script, **env):
        self.shell(script, *KEEP, env=env)

    def discards(self, what):
        return (
            f"cairn run: --fresh: discarding what an earlier run left for {self.dir}: {what} not"
            " drained\n"
        )

    def test_what_an_earlier_run_left_is_discarded_and_said(self):
        self.write("dir/before", "lower\n")
        self.leave("echo old > a; mkdir d; echo older > d/b; echo changed > before")
        run = self.shell("ls; cat before; echo new > c", "--fresh", *KEEP)
        self.assertEqual((run.out, run.err), ("before\nlower\n", self.discards("18 B in 3 files")))
        self.cairn("drain", self.dir)
        self.assertEqual((self.names(), self.read("before"), self.read("c")),
                         (["before", "c"], "lower\n", "new\n"))
        self.assertEqual(self.json("status"), [])

    def test_a_removal_that_an_earlier_run_left_is_discarded_too(self):
        self.write("dir/before", "lower\n")
        self.leave("rm before")
        self.assertEqual(
            self.shell("cat before", "--fresh").err,
            f"cairn run: --fresh: discarding what an earlier run left for {self.dir}: names or"
            " attributes not drained\n",
        )
        self.assertEqual(self.read("before"), "lower\n")

    def test_where_nothing_is_left_nothing_is_said(self):
        self.assertEqual(self.shell("echo x > x", "--fresh").err, "")
        self.leave("echo y > y")
        self.cairn("drain", "--keep", self.dir)
        self.assertEqual(self.shell("cat x y", "--fresh").err, "")
        self.assertEqual(self.names(), ["x", "y"])

    def test_without_it_the_next_run_goes_on(self):
        self.leave("echo old > a")
        self.assertEqual(self.shell("cat a").out, "old\n")

    def test_a_run_that_joins_another_discards_nothing(self):
        with subprocess.Popen([
                CAIRN, "run", "--at", self.dir, *KEEP, "--", "sh", "-c",
                f"echo one > {self.dir}/a; echo; read x"
        ], env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
            other.stdout.readline()
            run = self.shell("cat a", "--fresh", *KEEP)
            self.assertEqual(run.out, "one\n")
            self.assertEqual(
                run.err,
                f"cairn run: --fresh: other runs or processes use {self.dir}, so nothing there is"
                " discarded\n",
            )
            other.communicate(b"\n", timeout=30)
        self.assertEqual(self.shell("cat a").out, "one\n")

    def test_inside_a_run_it_discards_nothing(self):
        self.leave("echo old > a")
        self.shell(f"echo new > b; {CAIRN} run --fresh --at {self.dir} -- cat a b", "--fresh",
                   *KEEP, expect=1)
        self.assertEqual(self.shell("cat b").out, "new\n")

    def test_of_the_ranks_of_one_launch_one_discards(self):
        """A rank may begin when others have ended already: what these wrote is none of an earlier
        run's."""
        self.leave("echo old > old", **{KEY: "first", "SLURM_JOB_ID": "7"})

        def start(rank):
            rank_env = {
                KEY: "second", "SLURM_JOB_ID": "7", "OMPI_COMM_WORLD_SIZE": "7",
                "OMPI_COMM_WORLD_RANK": str(rank)
            }
            return subprocess.Popen([
                CAIRN, "run", "--at", self.dir, "--fresh", *KEEP, "--", "sh", "-c",
                f"echo {rank} > {self.dir}/{rank}"
            ], env={**self.env, **rank_env}, stderr=subprocess.PIPE, text=True)

        said = []
        for together in range(6), [6]:
            for run in [start(rank) for rank in together]:
                said.append(run.communicate(timeout=60)[1])
                self.assertEqual(run.returncode, 0, said[-1])
        self.assertEqual("".join(said), self.discards("4 B in 1 file"))
        self.cairn("drain", self.dir)
        self.assertEqual(self.names(), list("0123456"))

    def test_the_next_launch_of_the_same_batch_job_begins_anew(self):
        self.leave("echo old > old", **{KEY: "first", "SLURM_JOB_ID": "7"})
        self.shell("echo new > new", "--fresh", *KEEP, env={KEY: "second", "SLURM_JOB_ID": "7"})
        self.assertEqual(self.shell("ls", env={KEY: "third", "SLURM_JOB_ID": "7"}).out, "new\n")

    def test_who_looks_into_it_between_two_ranks_changes_nothing(self):
        self.shell("echo 0 > 0", "--fresh", *KEEP, env={KEY: "one"})
        self.shell("ls", *KEEP)
        self.shell("echo 1 > 1", "--fresh", *KEEP, env={KEY: "one"})
        self.assertEqual(self.shell("ls").out, "0\n1\n")

    def test_its_claim_stays_while_it_begins_anew(self):
        """Who waited for the directory would get it between the two."""
        self.leave("echo old > old")
        claim = os.stat(os.path.join(self.dir, ".cairn-claim"))
        self.shell("echo new > new", "--fresh", *KEEP)
        now = os.stat(os.path.join(self.dir, ".cairn-claim"))
        self.assertEqual((now.st_ino, now.st_mtime_ns), (claim.st_ino, claim.st_mtime_ns))
        # Another job's data are not ours to discard.
        self.cairn("discard", self.dir)
        self.leave("echo theirs > theirs", CAIRN_POOL_NAME="other", SLURM_JOB_ID="8")
        self.refused("run", "--fresh", "--at", self.dir, "--", "true", code=1,
                     says=["covered by job 8"])
        self.assertEqual(self.shell("cat theirs", env={"CAIRN_POOL_NAME": "other"}).out, "theirs\n")

    def test_a_full_pool_can_be_begun_anew(self):
        self.shell("cat /dev/zero > full 2> /dev/null", *KEEP, "--pool-size", "16M", expect=1)
        run = self.shell("echo new > new; ls", "--fresh")
        self.assertEqual(run.out, "new\n")
        self.assertIn("in 1 file not drained", run.err)


if __name__ == "__main__":
    cairn_case.main()
