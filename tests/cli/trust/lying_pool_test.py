"""A pool whose owner has made it lie: names that lead out of the covered directory, directories
without an end (docs/design/trust.md).

`forge_program` writes the lies. Then the owner and root look at the pool, drain it and drop it:
each command ends, says what is wrong, and touches nothing outside. """

import os
import shutil

import trust_case
from trust_case import ROOT, VICTIM, TrustCase

NAMES = ("../outside/new", "../outside/of_root/secret", "..", "%00secret", "a/b")


class LyingPool(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.forge = os.path.join(cls.install, "bin", "forge_program")
        shutil.copy(os.path.join(os.environ["CAIRN_TEST_DIR"], "cli", "trust", "forge_program"),
                    cls.forge)

    def in_both_worlds(self, test, **shown):
        """test(world), with a pool of an ordinary user's and with one of root's."""
        for runner in (VICTIM, ROOT):
            with self.subTest(owner="root" if runner == ROOT else "user",
                              **shown), self.world(True, runner) as world:
                before = sorted(os.listdir(world.top))
                with self.unharmed(world):
                    test(world)
                self.assertEqual(sorted(os.listdir(world.top)), before)

    def pool(self, world):
        home = world.home(world.runner)
        return next(
            os.path.join(home, name) for name in os.listdir(home) if not name.startswith("."))

    def lie(self, world, *words):
        world.as_user(world.runner, self.forge, self.pool(world), *words)

    def top(self, world):
        """The directory of the pool that stands for the covered one."""
        names = world.cairn("ls", "-a", f"{self.pool(world)}:/.covers").out.split()
        return "/.covers/" + next(name[:-1] for name in names if name.endswith("/"))

    def by_all(self, world, *words, expect=1):
        """By the owner, whose run is given; and before him by root, who may be refused another
        user's pool, but comes to an end, too."""
        for uid in (ROOT, world.runner):
            done = world.as_user(uid, "env", "CAIRN_POOL_DIR=" + world.home(world.runner),
                                 self.cairn_copy, *words, expect=None, timeout=30)
        if expect is not None:
            self.assertEqual(done.returncode, expect, f"{words}\n{done.out}{done.err}")
        return done

    def run_undrained(self, world, script):
        world.cairn("run", "--drain", "never", "--at", world.dir, "--", "sh", "-c", script)

    def files(self, world):
        return sorted(
            os.path.relpath(os.path.join(path, name), world.dir)
            for path, _, names in os.walk(world.dir) for name in names
            if not name.startswith(".cairn"))

    def test_names_that_lead_out(self):
        for name in NAMES:
            def in_it(world, name=name):
                self.run_undrained(
                    world,
                    "mkdir sub; for f in a placeholder_with_a_long_name z sub/b; do echo mine > $f;"
                    " done",
                )
                self.lie(world, "name", self.top(world), "placeholder_with_a_long_name", name)
                place = f"{self.pool(world)}:{self.top(world)}"
                self.assertIn("not drained", world.cairn("status").out)
                listed = self.by_all(world, "ls", "-R", place)
                self.assertEqual(listed.out.split()[1:5],
                                 ["a", "sub/", "z", f"{self.top(world)}/sub:"],
                                 listed.out + listed.err)
                self.assertIn("slot", listed.err)
                self.assertIn(self.top(world) + "/sub", self.by_all(world, "du", place).out)
                checked = self.by_all(world, "pool", "check", self.pool(world))
                self.assertIn("is not a valid file name", checked.out + checked.err)
                drained = world.cairn("drain", world.dir, expect=1, timeout=30)
                self.assertIn("is not a valid file name", drained.err)
                self.assertEqual(self.files(world), ["a", "sub/b", "z"])
                self.by_all(world, "drain", world.dir)
                world.cairn("discard", world.dir, timeout=30)
            self.in_both_worlds(in_it, name=name)

    def test_a_copy_says_what_it_leaves_out(self):
        def in_it(world):
            self.run_undrained(
                world,
                "mkdir sub; for f in a placeholder_with_a_long_name z sub/b; do echo mine > $f;"
                " done",
            )
            self.lie(world, "name", self.top(world), "placeholder_with_a_long_name",
                     "../outside/new")
            place = f"{self.pool(world)}:{self.top(world)}"
            copied = world.cairn("cp", "-r", place, os.path.join(world.home(world.runner), "copy"),
                                 expect=1, timeout=30)
            self.assertIn("slot", copied.err)
            copy = os.path.join(world.home(world.runner), "copy")
            self.assertEqual(sorted(os.listdir(copy)), ["a", "sub", "z"])
            self.assertEqual(os.listdir(os.path.join(copy, "sub")), ["b"])
            shutil.rmtree(copy)
        self.in_both_worlds(in_it)

    def test_a_removed_name_that_leads_out(self):
        def in_it(world):
            world.as_user(world.runner, "sh", "-c", "echo mine > placeholder_with_a_long_name")
            self.run_undrained(world, "rm placeholder_with_a_long_name; echo mine > a")
            self.lie(world, "name", self.top(world), "placeholder_with_a_long_name",
                     "../outside/of_root/secret")
            drained = world.cairn("drain", world.dir, expect=1, timeout=30)
            self.assertIn("removed name", drained.err)
            self.by_all(world, "drain", world.dir)
            world.cairn("discard", world.dir, timeout=30)
        self.in_both_worlds(in_it)

    def test_directories_without_an_end(self):
        for target in ("", "/d"):
            def in_it(world, target=target):
                self.run_undrained(world, "mkdir -p d/e/f; echo mine > d/e/file; echo mine > z")
                top = self.top(world)
                self.lie(world, "to", f"{top}/d/e", "f", top + target)
                place = f"{self.pool(world)}:{top}"
                for words in (("status", ), ("ls", "-R", place), ("du", place), ("pool", "check",
                                                                                 self.pool(world))):
                    self.by_all(world, *words, expect=0 if words[0] == "status" else 1)
                copied = world.cairn("cp", "-r", place,
                                     os.path.join(world.home(world.runner), "copy"), expect=1,
                                     timeout=30)
                self.assertIn("skipped", copied.err)
                shutil.rmtree(os.path.join(world.home(world.runner), "copy"))
                drained = world.cairn("drain", world.dir, expect=1, timeout=30)
                self.assertIn("slot", drained.err)
                self.assertEqual(self.files(world), ["d/e/file", "z"])
                world.cairn("pool", "clean", expect=None, timeout=30)
                again = world.cairn("run", "--at", world.dir, "--", "sh", "-c", "echo more > y",
                                    expect=None, timeout=30)
                self.assertNotEqual(again.returncode, 0)
                self.assertEqual(self.files(world), ["d/e/file", "y", "z"])
                world.cairn("discard", world.dir, timeout=30)
            self.in_both_worlds(in_it, target=target)

    def test_rm_ends(self):
        def in_it(world):
            self.run_undrained(world, "mkdir -p d/e/f; echo mine > d/e/file; echo mine > z")
            self.lie(world, "to", f"{self.top(world)}/d/e", "f", self.top(world) + "/d")
            removed = world.cairn("rm", "-r", "--at", world.dir, os.path.join(world.dir, "d"),
                                  expect=1, timeout=30)
            self.assertIn("lies below itself", removed.err)
            self.assertEqual(
                world.cairn("rm", "--at", world.dir, os.path.join(world.dir, "z")).err, "")
        self.in_both_worlds(in_it)


if __name__ == "__main__":
    trust_case.main()
