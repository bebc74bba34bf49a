"""`cairn cp` from a pool to a directory that others can write to follows no link there
(docs/design/trust.md)."""

import os
import time

import trust_case
from planted_fuzz import end_racing, start_racing
from trust_case import ROOT, VICTIM, TrustCase, in_every_world

RACE_S = 1.5


class CopiedFiles(TrustCase):
    def make_tree(self, world):
        """`:/tree` with a file and a directory with another one."""
        source = world.private(os.path.join(world.top, "tree"), world.runner)
        os.rename(os.path.join(source, "sub", "secret"), os.path.join(source, "sub", "new"))
        world.cairn("pool", "create", "--size", "32M")
        world.cairn("cp", "-r", source, ":/tree")

    @staticmethod
    def target_of(world):
        return os.path.join(world.outside, "of_root" if world.runner == ROOT else "of_victim")

    @in_every_world
    def test_link_in_the_destination(self, world):
        self.make_tree(world)
        target = self.target_of(world)
        for planted, path in ("tree/secret", f"{target}/secret"), ("tree/sub", target):
            with self.subTest(planted=planted):
                world.plant("import shutil\nshutil.rmtree('tree', ignore_errors=True)\n"
                            "os.mkdir('tree'); os.chmod('tree', 0o777)\n"
                            f"os.symlink('{path}', '{planted}')")
                with self.unharmed(world):
                    runs = [world.cairn("cp", "-r", "-p", ":/tree", world.dir + more, expect=None)
                            for more in ("", "//", "/.", "//tree//", "/./tree/")]
                for run in runs:
                    self.assertEqual(run.returncode, 1, run.err)
                    self.assertIn(planted.removeprefix("tree/"), run.err)
                world.as_user(ROOT, "rm", "-rf", os.path.join(world.dir, "tree"))

    def test_exchanged_directory(self):
        for runner in VICTIM, ROOT:
            with self.subTest(runner=runner), self.world(False, runner) as world:
                self.make_tree(world)
                target = self.target_of(world)

                def step(target=target):
                    os.rename("tree", f"moved-{os.urandom(8).hex()}")
                    os.symlink(target, "tree")
                    time.sleep(0.0005)
                    os.unlink("tree")

                mallory = start_racing(world.dir, step)
                try:
                    with self.unharmed(world):
                        end = time.monotonic() + RACE_S
                        while time.monotonic() < end:
                            world.cairn("cp", "-r", "-p", ":/tree", world.dir, expect=None)
                finally:
                    end_racing(mallory)


if __name__ == "__main__":
    trust_case.main()
