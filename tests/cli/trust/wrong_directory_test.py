"""A drain writes to the directory that was covered, and to no other one that has its path by
then."""

import ctypes
import os
import shutil
import subprocess
import time

import trust_case
from trust_case import TrustCase, in_every_world

CLONE_NEWNS = 0x20000


def can_mount():
    """Whether a process here may mount in a namespace of its own."""
    return subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"],
                          capture_output=True, check=False).returncode == 0


class WrongDirectory(TrustCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not can_mount():
            raise cls.skipTest("nothing can be mounted here")
        libc = ctypes.CDLL(None, use_errno=True)
        # What is mounted here, nobody else sees.
        if libc.unshare(CLONE_NEWNS) != 0:
            raise OSError(ctypes.get_errno(), "unshare")
        subprocess.run(["mount", "--make-rprivate", "/"], check=True)

    def run_while(self, world, happens):
        """A run that writes, during which root does something to the directory; the finished
        run."""
        ready, go = os.path.join(world.memory, "ready"), os.path.join(world.memory, "go")
        for path in (ready, go):
            if os.path.exists(path):
                os.unlink(path)
        script = (
            f"cd {world.dir} && echo kept > file && mkdir sub && echo below > sub/file && echo more"
            f" >> notes && cd / && touch {ready} && while [ ! -e {go} ]; do sleep 0.05; done"
        )
        with subprocess.Popen([
                "setpriv", f"--reuid={world.runner}", f"--regid={world.runner}", "--clear-groups",
                self.cairn_copy, "run", "--at", world.dir, "--", "sh", "-c", script
        ], env=dict(self.env, HOME=world.home(world.runner),
                    CAIRN_POOL_DIR=world.home(world.runner)), cwd="/", stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
            deadline = time.monotonic() + 30
            while not os.path.exists(ready):
                self.assertIsNone(child.poll(), "the run ended early")
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.02)
            happens()
            with open(go, "w", encoding="utf-8"):
                pass
            _, child.err = child.communicate(timeout=60)
        return child

    def notes(self, world):
        with open(os.path.join(world.dir, "notes"), "w", encoding="utf-8") as file:
            file.write("notes\n")
        os.chown(file.name, world.runner, world.runner)

    def tree(self, directory):
        found = {}
        for path, _, files in os.walk(directory):
            found[path] = None
            for name in files:
                with open(os.path.join(path, name), encoding="utf-8", errors="replace") as file:
                    found[os.path.join(path, name)] = file.read()
        return found

    def refused(self, world, run, before):
        """The run has said that it wrote nothing there, and how to get at the data; a drain by hand
        does so too."""
        self.assertNotEqual(run.returncode, 0, run.err)
        drain = world.cairn("drain", world.dir, expect=1, cwd="/")
        for text in (run.err, drain.err):
            self.assertIn("this path leads to a directory other than the covered one", text)
            self.assertIn(f"`cairn drain {world.dir} --to ELSEWHERE`", text)
        self.assertEqual(self.tree(world.dir), before)
        self.assertIn("not drained", world.cairn("status", cwd="/").out)

    def drains(self, world):
        """The right directory is back: all comes to it."""
        world.cairn("drain", world.dir, cwd="/")
        self.assertEqual(
            {
                os.path.relpath(path, world.dir): text
                for path, text in self.tree(world.dir).items() if text is not None
            }, {"file": "kept\n", "sub/file": "below\n", "notes": "notes\nmore\n"})
        self.assertIn("nothing is covered", world.cairn("status", cwd="/").out)

    def rescue(self, world):
        """What is kept comes to another directory too."""
        elsewhere = world.private(os.path.join(world.outside, "rescued"), world.runner)
        world.cairn("drain", world.dir, "--to", elsewhere, "--keep", cwd="/")
        with open(os.path.join(elsewhere, "sub", "file"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "below\n")

    def mounted_over(self, world, mount):
        self.notes(world)
        before = {}

        def happens():
            mount()
            os.chmod(world.dir, 0o1777 if world.sticky else 0o777)
            before.update(self.tree(world.dir))

        try:
            run = self.run_while(world, happens)
            self.refused(world, run, before)
            self.rescue(world)
        finally:
            subprocess.run(["umount", world.dir], check=True)
        self.drains(world)

    @in_every_world
    def test_a_file_system_mounted_over_it(self, world):
        self.mounted_over(
            world, lambda: subprocess.run(["mount", "-t", "tmpfs", "none", world.dir], check=True))

    @in_every_world
    def test_another_directory_mounted_over_it(self, world):
        other = os.path.join(world.top, "other")
        os.mkdir(other)
        with open(os.path.join(other, "notes"), "w", encoding="utf-8") as file:
            file.write("of another directory\n")
        self.mounted_over(world,
                          lambda: subprocess.run(["mount", "--bind", other, world.dir], check=True))

    @in_every_world
    def test_its_file_system_unmounted(self, world):
        device = os.path.join(world.top, "device")
        os.mkdir(device)
        mode = os.stat(world.dir).st_mode & 0o7777
        for at in (device, world.dir):
            subprocess.run(
                ["mount", *(["-t", "tmpfs", "none"] if at == device else ["--bind", device]), at],
                check=True)
        os.chmod(world.dir, mode)
        self.notes(world)
        before = {}

        def happens():
            subprocess.run(["umount", "-l", world.dir], check=True)
            before.update(self.tree(world.dir))

        try:
            run = self.run_while(world, happens)
            self.refused(world, run, before)
            self.rescue(world)
            subprocess.run(["mount", "--bind", device, world.dir], check=True)
            self.drains(world)
        finally:
            subprocess.run(["umount", "-l", world.dir], check=False)
            subprocess.run(["umount", "-l", device], check=True)

    def made_anew(self, world, copy):
        self.notes(world)
        moved = os.path.join(world.top, "moved")
        before = {}

        def happens():
            os.rename(world.dir, moved)
            if copy:
                subprocess.run(["cp", "-a", moved, world.dir], check=True)
            else:
                os.mkdir(world.dir)
                os.chmod(world.dir, 0o1777 if world.sticky else 0o777)
            before.update(self.tree(world.dir))

        run = self.run_while(world, happens)
        self.refused(world, run, before)
        self.rescue(world)
        shutil.rmtree(world.dir)
        os.rename(moved, world.dir)
        self.drains(world)

    @in_every_world
    def test_renamed_and_made_anew(self, world):
        self.made_anew(world, copy=False)

    @in_every_world
    def test_renamed_and_copied_with_its_claim(self, world):
        self.made_anew(world, copy=True)

    @in_every_world
    def test_a_copy_takes_its_place_if_somebody_says_so(self, world):
        old = os.path.join(world.top, "old")

        def happens():
            os.rename(world.dir, old)
            subprocess.run(["cp", "-a", old, world.dir], check=True)

        run = self.run_while(world, happens)
        self.assertNotEqual(run.returncode, 0)
        begins = world.run_at(expect=1, cwd="/")
        self.assertIn("with a copy of its claim", begins.err)
        world.cairn("drain", world.dir, "--to", world.dir, "--keep", cwd="/")
        # It is the covered directory from now on.
        world.run_at("sh", "-c", f"echo later > {world.dir}/later", cwd="/")
        self.assertEqual(sorted(os.listdir(world.dir)), ["file", "later", "notes", "sub"])
        self.assertEqual(sorted(os.listdir(old)), [".cairn-claim"])


if __name__ == "__main__":
    trust_case.main()
