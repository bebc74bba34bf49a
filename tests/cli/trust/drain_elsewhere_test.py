"""`cairn drain DIR --to ELSEWHERE` gives nobody more than the pool says, whatever others have made
in ELSEWHERE before."""

import os

import trust_case
from trust_case import MALLORY, ROOT, TrustCase, in_every_world


class DrainElsewhere(TrustCase):
    def elsewhere(self, world):
        """A shared directory that is not the covered one; the covered one is gone."""
        path = os.path.join(world.top, "elsewhere")
        os.mkdir(path)
        os.chmod(path, os.stat(world.dir).st_mode & 0o7777)
        return path

    def keep(self, world, script):
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir}; {script}")

    @in_every_world
    def test_a_directory_that_others_made(self, world):
        self.keep(
            world,
            "umask 077; mkdir run own; echo secret > run/file; echo kept > own/file; chmod 644"
            " run/file",
        )
        elsewhere = self.elsewhere(world)
        world.plant("os.mkdir('run'); os.chmod('run', 0o777)", cwd=elsewhere)
        own = os.path.join(elsewhere, "own")
        os.mkdir(own)
        os.chown(own, world.runner, world.runner)
        with self.unharmed(world):
            drain = world.cairn("drain", world.dir, "--to", elsewhere, expect=1)
        self.assertIn("run: something else is there already", drain.err)
        self.assertEqual(os.listdir(os.path.join(elsewhere, "run")), [])
        # One that the user has made is his to write to.
        self.assertEqual(os.listdir(own), ["file"])
        os.rmdir(os.path.join(elsewhere, "run"))
        world.cairn("drain", world.dir, "--to", elsewhere)
        self.assertEqual(os.stat(os.path.join(elsewhere, "run")).st_mode & 0o7777, 0o700)
        self.assertEqual(os.listdir(os.path.join(elsewhere, "run")), ["file"])

    @in_every_world
    def test_a_directory_that_a_killed_drain_left(self, world):
        self.keep(world, "mkdir run; chmod 755 run; echo kept > run/file; echo more > run/more")
        elsewhere = self.elsewhere(world)
        run = os.path.join(elsewhere, "run")
        world.as_user(world.runner, "sh", "-c",
                      f"mkdir {run}; chmod 1700 {run}; echo kept > {run}/file")
        world.cairn("drain", world.dir, "--to", elsewhere)
        self.assertEqual(os.stat(run).st_mode & 0o7777, 0o755)
        self.assertEqual(sorted(os.listdir(run)), ["file", "more"])

    @in_every_world
    def test_another_name_of_a_file_that_others_made(self, world):
        self.keep(world, "umask 022; echo same > name; mkdir -m 700 private; ln name private/name")
        elsewhere = self.elsewhere(world)
        world.plant("open('name', 'w').write('same\\n'); os.chmod('name', 0o666)", cwd=elsewhere)
        # Mallory can write other bytes into it when the pool has let go of these.
        drain = world.cairn("drain", world.dir, "--to", elsewhere, expect=1)
        self.assertIn("/name: something else is there already", drain.err)
        private = os.stat(os.path.join(elsewhere, "private", "name"))
        self.assertEqual((private.st_uid, private.st_nlink, private.st_mode & 0o7777),
                         (world.runner, 1, 0o644))
        self.assertEqual(os.stat(os.path.join(elsewhere, "name")).st_uid, MALLORY)

    @in_every_world
    def test_names_of_one_file_stay_that(self, world):
        self.keep(
            world,
            "umask 022; echo same > name; mkdir -m 700 private; ln name private/name; mkfifo pipe;"
            " ln pipe private/pipe",
        )
        elsewhere = self.elsewhere(world)
        if world.runner != ROOT:  # what an interrupted drain has left
            world.as_user(world.runner, "sh", "-c", "umask 022; echo same > name", cwd=elsewhere)
        world.cairn("drain", world.dir, "--to", elsewhere)
        for name in ("name", "pipe"):
            self.assertTrue(
                os.path.samefile(os.path.join(elsewhere, name),
                                 os.path.join(elsewhere, "private", name)))


if __name__ == "__main__":
    trust_case.main()
