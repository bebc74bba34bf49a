"""`cairn ckpt export` and `import` in a directory that others can write to (docs/design/trust.md).

Mallory puts links and files under the names of the file and of its temporary one. No other file of
the victim's is written to, and no file of Mallory's gets the name without an error. """

import os
import shutil
import stat
import time

import trust_case
from planted_fuzz import end_racing, start_racing
from trust_case import MALLORY, ROOT, VICTIM, TrustCase, in_every_world

import cairn_case

WRITER = os.path.join(
    os.environ.get("CAIRN_TEST_DIR", str(cairn_case.BIN.parent / "tests")),
    "cli/ckpt/write_ckpt_program")
RACE_S = 2.5
HDF5 = b"\x89HDF\r\n\x1a\n"


class ExportedFile(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.writer = shutil.copy(WRITER, os.path.join(cls.install, "writer"))

    def make_set(self, world):
        world.cairn("pool", "create", "--size", "64M")
        world.as_user(world.runner, self.writer, "field", "2")

    def export(self, world, *more, expect=None):
        run = world.cairn("ckpt", "export", "field", os.path.join(world.dir, "out.nc"), *more,
                          expect=None)
        if "libhdf5 is missing" in run.err:
            self.skipTest("no libhdf5")
        if expect is not None:
            self.assertEqual(run.returncode, expect, run.err)
        return run

    def check_file(self, world):
        path = os.path.join(world.dir, "out.nc")
        st = os.lstat(path)
        self.assertTrue(stat.S_ISREG(st.st_mode))
        self.assertEqual(st.st_uid, world.runner)
        with open(path, "rb") as file:
            self.assertEqual(file.read(len(HDF5)), HDF5)

    @in_every_world
    def test_export_among_others(self, world):
        self.make_set(world)
        with self.unharmed(world):
            self.export(world, expect=0)
        self.check_file(world)
        self.assertEqual([name for name in os.listdir(world.dir) if "part" in name], [])
        mode = os.stat(os.path.join(world.dir, "out.nc")).st_mode & 0o777
        mask = os.umask(0)
        os.umask(mask)
        self.assertEqual(mode, 0o666 & ~mask)
        world.cairn("ckpt", "import", os.path.join(world.dir, "out.nc"), "again")

    @in_every_world
    def test_a_directory_that_cannot_be_listed(self, world):
        """Mode 1733, as of a directory for deliveries: it could not be opened."""
        self.make_set(world)
        os.chmod(world.dir, 0o1733)
        self.export(world, expect=0)
        self.check_file(world)

    @in_every_world
    def test_link_under_the_name(self, world):
        self.make_set(world)
        name = "of_root" if world.runner == ROOT else "of_victim"
        for leads_to in "secret", "new":
            target = os.path.join(world.outside, name, leads_to)
            world.plant("if os.path.lexists('out.nc'): os.unlink('out.nc')\n"
                        f"os.symlink('{target}', 'out.nc')")
            with self.unharmed(world):
                self.assertIn("exists already", self.export(world, expect=1).err)
                self.assertIn("is not a file", self.export(world, "--force", expect=1).err)

    @in_every_world
    def test_import_of_a_pipe_does_not_wait(self, world):
        self.make_set(world)
        world.plant("os.mkfifo('out.nc', 0o666)")
        run = world.cairn("ckpt", "import", os.path.join(world.dir, "out.nc"), "again", expect=1)
        self.assertIn("is not a file", run.err)

    def race(self, world, exchange):
        """Mallory calls exchange(name) for each temporary file while the victim exports."""
        self.make_set(world)

        def step():
            for name in os.listdir("."):
                if name.endswith(".part") and os.lstat(name).st_uid != MALLORY:
                    exchange(name)

        mallory = start_racing(world.dir, step)
        codes = []
        try:
            begin = time.monotonic()
            while time.monotonic() < begin + (RACE_S if 1 in codes else 10 * RACE_S):
                run = self.export(world, "--force")
                codes.append(run.returncode)
                if run.returncode == 0:
                    self.check_file(world)
                else:
                    self.assertIn("out.nc", run.err)
        finally:
            end_racing(mallory)
        self.assertIn(1, codes, "Mallory was too slow")

    def test_link_in_place_of_the_temporary_file(self):
        for runner in VICTIM, ROOT:
            with self.subTest(runner=runner), self.world(False, runner) as world:
                secret = os.path.join(world.outside,
                                      "of_root" if runner == ROOT else "of_victim", "secret")

                def exchange(name, target=secret):
                    os.symlink(target, "planted")
                    os.replace("planted", name)

                with self.unharmed(world):
                    self.race(world, exchange)

    def test_file_in_place_of_the_temporary_file(self):
        """An export that says nothing has given the victim's own file the name."""
        with self.world(False, VICTIM) as world:

            def exchange(name):
                with open("planted", "wb") as file:
                    file.write(HDF5 + b"of mallory")
                os.replace("planted", name)

            with self.unharmed(world):
                self.race(world, exchange)


if __name__ == "__main__":
    trust_case.main()
