"""Orbax, JAX's checkpoint library (from PyPI, into a virtual environment below the build
directory): an unchanged program saves in the background under `cairn run`, is killed, goes on, and
what was drained is read without Cairn."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

CAIRN = pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn"
VENV = pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "orbax"
PACKAGES = ["jax>=0.4,<1", "orbax-checkpoint>=0.6,<1"]
SEED = int(os.environ.get("CAIRN_SEED", str(time.time_ns() % 1_000_000)))
KILLS = 6
SECONDS = 300
PROGRAM = """
import pathlib, sys
import jax, jax.numpy as jnp, numpy as np, orbax.checkpoint as ocp

def state(step):
    key = jax.random.PRNGKey(step)
    return {"w": jax.random.normal(key, (512, 512)),
            "b": jnp.arange(1000, dtype=jnp.bfloat16) + step, "step": step,
            "moments": [jnp.ones((7, 3, 5)) * step, jnp.zeros(())]}

def check_same(a, b):
    np.testing.assert_array_equal(np.asarray(a), np.asarray(b))

folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
options = ocp.CheckpointManagerOptions(max_to_keep=3, enable_async_checkpointing=True)
with ocp.CheckpointManager(folder, options=options) as manager:
    first = (manager.latest_step() or 0) + 1
    for step in range(first, first + steps):
        manager.save(step, args=ocp.args.StandardSave(state(step)))
        print("saving", step, flush=True)
    manager.wait_until_finished()
    latest = manager.latest_step()
    for step in manager.all_steps():
        found = manager.restore(step, args=ocp.args.StandardRestore(state(step)))
        jax.tree.map(check_same, found, state(step))
    print("latest", latest, flush=True)
"""


def environment():
    """Python of the virtual environment with JAX and Orbax, made at the first run."""
    if not (VENV / "complete").exists():
        shutil.rmtree(VENV, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv",
                         VENV], [VENV / "bin/pip", "install", "-q", *PACKAGES]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            if done.returncode != 0:
                sys.exit(
                    f"{command}: failed (PyPI must be reachable for this"
                    f" test)\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
                )
        (VENV / "complete").touch()
    return VENV / "bin/python"


PYTHON = environment()


class Orbax(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="cairn-orbax-", dir="/dev/shm")
        self.addCleanup(scratch.cleanup)
        self.place = pathlib.Path(scratch.name)
        (self.place / "lower").mkdir()
        (self.place / "program.py").write_text(PROGRAM)
        self.environment = {
            **os.environ, "CAIRN_POOL_DIR": str(self.place / "pools"), "CAIRN_POOL_SIZE": "512MiB",
            "JAX_PLATFORMS": "cpu"
        }

    def command(self, steps, *prefix):
        return [
            str(word) for word in (*prefix, PYTHON, self.place / "program.py",
                                   self.place / "lower/run", steps)
        ]

    def run_program(self, steps, *prefix):
        """The newest step of what is there after `steps` more."""
        done = subprocess.run(self.command(steps, *prefix), env=self.environment,
                              capture_output=True, text=True, timeout=SECONDS, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return int(done.stdout.split("latest ")[1].split()[0])

    def test_what_was_drained_is_read_without_cairn(self):
        covered = [CAIRN, "run", "--at", self.place / "lower", "--"]
        self.assertEqual(self.run_program(4, *covered), 4)
        self.assertEqual(self.run_program(0), 4)
        self.assertEqual(self.run_program(2), 6)
        self.assertEqual(self.run_program(2, *covered), 8)
        self.assertEqual(self.run_program(0), 8)

    def test_files_are_drained_while_the_program_saves(self):
        self.assertEqual(
            self.run_program(6, CAIRN, "run", "--at", self.place / "lower", "--drain", "async",
                             "--"), 6)
        self.assertEqual(self.run_program(0), 6)

    def test_a_killed_program_goes_on_from_a_step_that_is_whole(self):
        chance = random.Random(SEED)
        print("CAIRN_SEED", SEED)
        covered = [CAIRN, "run", "--at", self.place / "lower", "--drain", "never", "--"]
        newest = self.run_program(1, *covered)
        for kill in range(KILLS):
            with subprocess.Popen(self.command(200, *covered), env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  start_new_session=True) as running:
                for _ in range(chance.randint(1, 4)):
                    self.assertIn("saving", running.stdout.readline())
                time.sleep(chance.random() / 5)
                os.killpg(running.pid, signal.SIGKILL)
            now = self.run_program(0, *covered)
            self.assertGreaterEqual(now, newest, f"after kill {kill}")
            newest = now
        self.assertGreater(newest, 1)
        subprocess.run([CAIRN, "drain", self.place / "lower"], env=self.environment, check=True,
                       capture_output=True)
        self.assertEqual(self.run_program(0), newest)


if __name__ == "__main__":
    unittest.main()
