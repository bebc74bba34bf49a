"""A file system gives the number of what was removed to what is made next. The owner tells them
apart (docs/design/trust.md).

These tests give what lies there another owner: to Cairn that is another directory or file with the
same number. """

import os
import shutil

import trust_case
from trust_case import MALLORY, ROOT, THIRD, TrustCase, in_every_world


class NumbersUsedAgain(TrustCase):
    def keep(self, world, script):
        world.cairn("run", "--at", world.dir, "--drain", "never", "--", "sh", "-c",
                    f"cd {world.dir}; {script}")

    @in_every_world
    def test_a_directory(self, world):
        if world.runner == ROOT:
            return  # gives directories to other users itself
        out = world.private(os.path.join(world.dir, "out"), world.runner)
        before = world.look(out)
        self.keep(world, "echo new > out/file; rm out/secret")
        os.chown(out, MALLORY, MALLORY)
        os.chmod(out, 0o777)
        for _ in range(2):
            drain = world.cairn("drain", world.dir, expect=1)
            self.assertIn("its directory was replaced", drain.err)
        self.assertEqual(sorted(os.listdir(out)), ["secret", "sub"])
        os.chown(out, world.runner, world.runner)
        os.chmod(out, 0o700)
        world.cairn("drain", world.dir)
        self.assertEqual(sorted(os.listdir(out)), ["file", "sub"])
        self.assertEqual(len(world.look(out)), len(before))

    @in_every_world
    def test_a_directory_of_a_colleague(self, world):
        project = os.path.join(world.dir, "results")
        os.mkdir(project)
        os.chown(project, THIRD, world.runner)
        os.chmod(project, 0o2770)
        for run in range(2):
            world.run_at(
                "sh",
                "-c",
                f"echo {run} > {project}/file{run}; mkdir {project}/sub{run}; echo x >"
                f" {project}/sub{run}/file",
            )
            self.keep(world,
                      f"echo later > results/later{run}; mv results/sub{run} results/moved{run}")
            world.cairn("drain", world.dir)
        self.assertEqual(sorted(os.listdir(project)),
                         ["file0", "file1", "later0", "later1", "moved0", "moved1"])
        self.assertEqual((os.stat(project).st_uid, os.stat(project).st_mode & 0o7777),
                         (THIRD, 0o2770))

    @in_every_world
    def test_a_file_with_a_name_in_a_private_directory(self, world):
        name = os.path.join(world.dir, "name")
        self.keep(world, "umask 022; echo same > name; mkdir -m 700 private; ln name private/name")
        # One name is drained, and the other one waits.
        world.plant("os.mkdir('private'); open('private/of_mallory', 'w')")
        world.cairn("drain", world.dir, expect=1)
        st = os.stat(name)
        self.assertEqual(st.st_uid, world.runner)
        os.chown(name, MALLORY, MALLORY)
        os.chmod(name, 0o666)
        os.utime(name, ns=(st.st_atime_ns, st.st_mtime_ns))
        shutil.rmtree(os.path.join(world.dir, "private"))
        world.cairn("drain", world.dir, expect=None)
        private = os.stat(os.path.join(world.dir, "private", "name"))
        self.assertEqual((private.st_uid, private.st_nlink, private.st_mode & 0o777),
                         (world.runner, 1, 0o644))

    @in_every_world
    def test_a_file_whose_bytes_are_still_there(self, world):
        name = os.path.join(world.dir, "name")
        world.as_user(world.runner, "sh", "-c", "echo mine > name")
        self.keep(world, "stat name")
        st = os.stat(name)
        os.chown(name, MALLORY, MALLORY)
        os.utime(name, ns=(st.st_atime_ns, st.st_mtime_ns))
        read = world.run_at("cat", name, expect=1)
        self.assertEqual(read.out, "")
        self.assertIn("Stale file handle", read.err)


if __name__ == "__main__":
    trust_case.main()
