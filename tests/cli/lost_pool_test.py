"""A directory whose pool is gone: what the refusals say, and `cairn discard`."""

import os
import shutil

import cairn_case
from cover_case import CoverCase


class Lost(CoverCase):
    """The pool that the claim names is not there: whoever follows the messages gets out."""

    def setUp(self):
        super().setUp()
        self.place = self.path("place")
        os.mkdir(self.place, 0o700)
        self.env["CAIRN_POOL_DIR"] = self.place
        self.write("dir/kept", "kept\n")
        self.shell("echo lost > a", "--drain", "never")
        self.assertEqual(self.names(), [".cairn-claim", "kept"])

    def assert_free(self):
        self.assertEqual(self.names(), ["kept"])
        self.assertEqual(self.shell("cat kept").out, "kept\n")
        self.assertEqual(self.names(), ["kept"])

    def forced(self):
        """Refused by everybody, until one says that the pool is gone."""
        told = f"`cairn discard --force {self.dir}`"
        self.refused("run", "--at", self.dir, "--", "true", code=1, says=["is covered by", told])
        self.refused("drain", self.dir, code=1, says=told)
        self.refused("discard", self.dir, code=1, says=["is covered by", told])
        self.assertIn(".cairn-claim", self.names())
        self.assertIn("is lost with its pool", self.cairn("discard", "--force", self.dir).out)
        self.assert_free()

    def test_a_job_of_several_hosts(self):
        """One of whose hosts is met here by nothing but its claim: what is said names them all, and
        how to go on."""
        shutil.rmtree(os.path.join(self.place, "default"))
        for name, host, pool in (".cairn-claim", "node0", "0"), (".cairn-claim-of-" + "1" * 32,
                                                                 "node1", "1"):
            self.write(
                f"dir/{name}", f"cairn claim 1\nhost {host}\nmachine m{pool}\nboot b{pool}\n"
                f"pool /dev/shm/cairn-0/default\nplace 1 1\nuuid {pool * 32}\njob 7\ntime 1\n")
        says = [
            "a job on 2 hosts (node0, node1)", "start on all of them",
            f"mpirun -n 2 ... cairn drain {self.dir}"
        ]
        self.refused("run", "--at", self.dir, "--", "true", code=1, says=says)
        self.refused("drain", self.dir, code=1, says=says)

    def test_removed(self):
        shutil.rmtree(os.path.join(self.place, "default"))
        self.refused("drain", self.dir, code=1, says="cairn discard")
        self.assertEqual(self.json("discard", self.dir), {"directory": self.dir, "lost": True})
        self.assert_free()
        self.refused("discard", self.dir, code=1, says="not covered by any of your pools")

    def test_the_next_run_tells_it(self):
        shutil.rmtree(os.path.join(self.place, "default"))
        run = self.shell("cat kept")
        self.assertEqual(run.out, "kept\n")
        self.assertIn("is gone, and with it what was not drained", run.err)
        self.assertNotIn("is gone", self.shell("cat kept").err)

    def test_removed_with_its_directory(self):
        gone = self.path("gone")
        os.rename(self.place, gone)
        self.refused("discard", self.dir, code=1, says="cairn discard --force")
        os.mkdir(self.place, 0o700)
        # not before: the new one would get its inode, and be taken for the same place
        shutil.rmtree(gone)
        self.forced()

    def test_removed_with_its_directory_during_the_run(self):
        self.cairn("drain", self.dir)
        run = self.cairn("run", "--at", self.dir, "--", "sh", "-c",
                         f"echo x > {self.dir}/x; rm -r {self.place}", expect=1)
        self.assertIn("is lost", run.err)
        shutil.rmtree(self.place, ignore_errors=True)
        self.cairn("discard", "--force", self.dir)
        self.assertEqual([name for name in self.names() if name.startswith(".cairn")], [])

    def test_on_another_host(self):
        claim = os.path.join(self.dir, ".cairn-claim")
        text = self.read(".cairn-claim").replace(f"\nhost {os.uname().nodename}\n",
                                                 "\nhost elsewhere\n")
        with open(claim, "w", encoding="utf-8") as file:
            file.write(text)
        shutil.rmtree(os.path.join(self.place, "default"))
        self.forced()

    def test_one_that_is_here_is_not_lost(self):
        """Where it lies, the claim says."""
        self.env["CAIRN_POOL_DIR"] = self.pools
        self.refused("run", "--at", self.dir, "--", "true", code=1, says=self.place)
        self.cairn("drain", self.dir)
        self.assertEqual((self.names(), self.read("a")), (["a", "kept"], "lost\n"))

    def test_what_is_no_claim(self):
        """Not "covered by job (none) on host  with pool "."""
        os.remove(os.path.join(self.dir, ".cairn-claim"))
        other = self.path("other")
        os.mkdir(other)
        self.write("other/.cairn-claim", "notes of mine\n")
        says = [
            f"{other}/.cairn-claim: has the name of a Cairn claim, but is not one",
            f"then {other} can be covered"
        ]
        self.refused("run", "--at", other, "--", "true", code=1, says=says)
        self.refused("discard", other, code=1, says=says)
        self.refused("discard", "--force", other, code=1, says=says)
        os.rename(os.path.join(other, ".cairn-claim"), self.path("notes"))
        self.cairn("run", "--at", other, "--", "true")

    def test_one_that_cannot_be_read_is_not_lost(self):
        os.truncate(os.path.join(self.place, "default", "segment.0"), 4096)
        self.refused("discard", "--force", self.dir, code=1,
                     says=["is covered by", self.place, "that pool exists"])
        self.assertIn(".cairn-claim", self.names())


if __name__ == "__main__":
    cairn_case.main()
