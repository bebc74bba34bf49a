"""A run waits for its own processes only: who names its cover in his environment does not hold it
up (docs/design/trust.md)."""

import contextlib
import os
import shutil
import subprocess
import sys
import time

import trust_case
from trust_case import MALLORY, ROOT, TrustCase, in_every_world

# One that other users can start, too.
SYSTEM_PYTHON = shutil.which("python3", path="/usr/bin:/bin") or sys.executable


class ForgedEnvironment(TrustCase):
    def preload(self):
        return os.path.join(self.install, "lib", "libcairn_posix.so")

    @contextlib.contextmanager
    def process(self, world, uid, environment, program=("sleep", "100")):
        """A process of this user with that environment, for as long as the block lasts."""
        with subprocess.Popen([
                "setpriv", f"--reuid={uid}", f"--regid={uid}", "--clear-groups", "env",
                *(f"{name}={value}" for name, value in environment.items()), *program
        ], cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as child:
            try:
                deadline = time.monotonic() + 20
                name = os.path.basename(program[0]).encode()
                while time.monotonic() < deadline:
                    with open(f"/proc/{child.pid}/cmdline", "rb") as file:
                        if os.path.basename(file.read().split(b"\0")[0]) == name:
                            break
                    time.sleep(0.01)
                time.sleep(0.2)  # its libraries
                self.assertIsNone(child.poll(), "it could not be started")
                yield child
            finally:
                child.kill()

    def cover_of(self, world, **more):
        return {
            "CAIRN_COVER": world.dir, "CAIRN_POOL": os.path.join(world.home(world.runner),
                                                                 "default"),
            "LD_PRELOAD": self.preload(), **more
        }

    def run_ends(self, world):
        started = time.monotonic()
        run = world.run_at("sh", "-c", f"echo kept > {world.dir}/file", timeout=30)
        self.assertLess(time.monotonic() - started, 10)
        self.assertNotIn("waiting for processes", run.err)
        self.assertEqual(os.listdir(world.dir), ["file"])
        os.unlink(os.path.join(world.dir, "file"))

    @in_every_world
    def test_of_another_user(self, world):
        with self.process(world, MALLORY, self.cover_of(world)):
            self.run_ends(world)

    @in_every_world
    def test_of_another_user_whose_processes_are_shown_as_roots(self, world):
        undumpable = "import ctypes, time; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); time.sleep(100)"
        with self.process(world, MALLORY, self.cover_of(world),
                          (SYSTEM_PYTHON, "-c", undumpable)) as child:
            self.assertEqual(os.stat(f"/proc/{child.pid}/environ").st_uid, ROOT)
            self.run_ends(world)

    @in_every_world
    def test_of_a_program_that_has_not_loaded_the_library(self, world):
        with self.process(world, world.runner,
                          self.cover_of(world, LD_PRELOAD="/nowhere/libcairn_posix.so")):
            self.run_ends(world)

    @in_every_world
    def test_of_a_run_with_another_pool(self, world):
        other = os.path.join(world.home(world.runner), "other")
        world.cairn("pool", "create", other, "--size", "16M")
        with self.process(world, world.runner, self.cover_of(world, CAIRN_POOL=other)):
            self.run_ends(world)

    @in_every_world
    def test_a_process_that_may_attach_is_waited_for(self, world):
        with self.process(world, world.runner, self.cover_of(world)) as child:
            with self.assertRaises(subprocess.TimeoutExpired) as waited:
                world.run_at("sh", "-c", f"echo kept > {world.dir}/file", timeout=4)
            self.assertIn(
                f"waiting for processes that still use {world.dir}: {child.pid} (sleep, started by"
                " a run there, has not used it yet)",
                waited.exception.stderr.decode(),
            )
        world.cairn("drain", world.dir)
        self.assertEqual(os.listdir(world.dir), ["file"])


if __name__ == "__main__":
    trust_case.main()
