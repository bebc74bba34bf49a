"""Files that are only in a pool: `rm` outside a run does not reach them, `cairn status` says so,
`cairn rm --at DIR` does."""

import os

import cairn_case
from cover_case import CoverCase

KEEP = ("--drain", "never")


class PoolOnly(CoverCase):
    def setUp(self):
        super().setUp()
        self.write("dir/before", "lower\n")

    def test_status_says_what_is_only_in_the_pool(self):
        self.shell("echo changed > before; echo new > made", *KEEP)
        with self.assertRaises(FileNotFoundError):
            os.unlink(os.path.join(self.dir, "made"))
        out = self.cairn("status").out
        self.assertIn(f"covers {self.dir}: 12 B in 2 files not drained\n", out)
        self.assertIn("    newer in the pool: before, 8 B\n", out)
        self.assertIn("    only in the pool: made, 4 B\n", out)
        self.assertIn(
            f"    outside a run, `rm` does not reach what is in the pool: `cairn rm --at {self.dir}"
            " FILE` does\n",
            out,
        )
        self.cairn("drain", "--keep", self.dir)
        self.assertNotIn("in the pool:", self.cairn("status").out)

    def test_status_names_some_of_many(self):
        self.shell("mkdir d; for i in $(seq 20); do echo > d/$i; done; : > empty", *KEEP)
        out = self.cairn("status").out
        self.assertEqual(out.count("    only in the pool: "), 8)
        self.assertIn("    ... and 13 more\n", out)
        self.assertRegex(out, r"only in the pool: (d/\d+, 1 B|empty, 0 B)\n")

    def test_names_are_shown_without_control_characters(self):
        self.shell("echo x > \"$(printf 'a\\033[2Jb')\"", *KEEP)
        self.assertIn("only in the pool: a\\x1b[2Jb, 2 B\n", self.cairn("status").out)

    def test_rm_at_removes_what_is_only_in_the_pool(self):
        self.shell("echo new > made; echo other > other", *KEEP)
        self.cairn("rm", "--at", self.dir, "made")
        out = self.cairn("status").out
        self.assertNotIn("made", out)
        self.assertIn("only in the pool: other", out)
        self.cairn("drain", self.dir)
        self.assertEqual(self.names(), ["before", "other"])

    def test_rm_at_removes_what_the_directory_has_as_well_when_it_is_drained(self):
        self.write("dir/d/e", "lower\n")
        self.shell("echo changed > before; echo new > d/f", *KEEP)
        self.refused("rm", "--at", self.dir, "d", code=1, says=["is a directory"])
        self.assertEqual(
            self.json("rm", "-r", "--at", self.dir, os.path.join(self.dir, "before"), "d/"),
            {"removed": 4})
        self.assertEqual(self.names(), [".cairn-claim", "before", "d"])
        self.assertEqual(self.shell("ls").out, "")
        self.assertEqual(self.names(), [])

    def test_rm_at_takes_what_is_in_the_directory_only(self):
        self.write("secret", "keep\n")
        self.shell("echo new > made; ln -s .. up", *KEEP)
        self.refused("rm", "--at", self.dir, "../secret", code=2, says=["'..'"])
        self.refused("rm", "--at", self.dir, self.path("secret"), code=2, says=["is not below"])
        self.refused("rm", "--at", self.dir, "made/../../secret", code=2, says=["'..'"])
        self.refused("rm", "--at", self.dir, self.dir, code=2, says=["is not below"])
        self.refused("rm", "--at", self.dir, "none", code=1, says=[os.path.join(self.dir, "none")])
        self.cairn("rm", "-f", "--at", self.dir, "none")
        # By a link of the pool's it would reach what the pool holds besides: the covers.
        self.refused("rm", "-f", "--at", self.dir, "up/secret", code=1,
                     says=["up/secret", "Not a directory"])
        self.assertTrue(os.path.exists(self.path("secret")))
        self.refused("rm", "--at", self.path(), "x", code=1,
                     says=["not covered by any of your pools"])


if __name__ == "__main__":
    cairn_case.main()
