"""Names of jobs as long as an environment allows: the claim that they give is one that Cairn knows
again."""

import os

from cover_case import CoverCase, cairn_case

LONG = "j" * 70000  # more than a claim may be large


class LongJobName(CoverCase):
    def claim(self):
        return self.read(".cairn-claim")

    def test_a_run_and_a_second_one_of_the_same_job(self):
        for name in ("SLURM_JOB_ID", "PMIX_NAMESPACE"):
            env = {name: LONG}
            self.shell("echo one >f", "--drain", "never", env=env)
            self.assertLess(len(self.claim()), 4096)
            self.shell("echo two >>f", env=env)
            self.assertEqual("one\ntwo\n", self.read("f"))
            self.assertEqual(["f"], self.names())

    def test_the_claim_is_recognised(self):
        self.shell("echo one >f", "--drain", "never", env={"SLURM_JOB_ID": LONG})
        other = {"CAIRN_POOL_NAME": "other", "SLURM_JOB_ID": LONG + "k"}
        self.refused("run", "--at", self.dir, "--", "true", code=1, says="is covered by job",
                     env=other)
        self.assertEqual(1, len(self.json("status")))
        self.cairn("discard", self.dir)
        self.assertEqual([], self.names())
        self.assertEqual([], self.json("status"))

    def test_another_pool_joins_the_claim_of_the_same_job(self):
        self.shell("echo one >f", "--drain", "never", env={"SLURM_JOB_ID": LONG})
        self.shell("echo two >g", env={"SLURM_JOB_ID": LONG, "CAIRN_POOL_NAME": "other"})
        self.assertEqual("two\n", self.read("g"))
        self.cairn("drain", self.dir)
        self.assertEqual(["f", "g"], self.names())

    def test_a_launch(self):
        env = {"PMIX_NAMESPACE": LONG, "PMIX_SERVER_URI41": LONG}
        self.shell("echo one >f", "--drain", "never", "--fresh", env=env)
        self.shell("echo two >>f", "--fresh", env=env)
        self.assertEqual("one\ntwo\n", self.read("f"))

    def test_a_pool_whose_path_has_a_line_break(self):
        pools = os.path.join(self.pools, "a\nhost elsewhere")
        os.mkdir(pools, 0o700)
        run = self.cairn("run", "--at", self.dir, "--", "true", expect=1,
                         env={"CAIRN_POOL_DIR": pools})
        self.assertIn("a claim cannot name a pool with this path", run.err)
        self.assertEqual([], self.names())


if __name__ == "__main__":
    cairn_case.main()
