"""What the tests of `cairn ckpt` share: a pool with a set in it, and ways to damage it."""

import os
import pathlib
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from cairn_case import BIN, CAIRN, CairnCase, main  # noqa: E402,F401  pylint: disable=unused-import

WRITER = str(
    pathlib.Path(os.environ.get("CAIRN_TEST_DIR", BIN.parent / "tests")) /
    "cli/ckpt/write_ckpt_program")


class CkptCase(CairnCase):
    def setUp(self):
        super().setUp()
        self.cairn("pool", "create", "--size", "128M")

    def writer(self, *words, expect=0):
        run = subprocess.run([WRITER, *map(str, words)], env=self.env, capture_output=True,
                             text=True, timeout=60, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(run.returncode, expect, run.stdout + run.stderr)
        return run

    def hold(self, *words):
        """A run that goes on until the test writes a line to it."""
        process = subprocess.Popen([WRITER, *map(str, words), "hold"], env=self.env,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    @staticmethod
    def let_go(process):
        process.stdin.write("\n")
        process.stdin.close()
        process.wait(timeout=60)

    def damage(self, version):
        """Flips a bit in the values of `u` of a version, wherever the pool has them."""
        values = struct.pack("<24d", *(version * 1000 + i for i in range(24)))
        for file in pathlib.Path(self.pools).rglob("*"):
            if not file.is_file():
                continue
            with open(file, "r+b") as pool:
                at = pool.read().find(values)
                if at < 0:
                    continue
                pool.seek(at + 5)
                byte = pool.read(1)[0]
                pool.seek(at + 5)
                pool.write(bytes([byte ^ 4]))
                return
        self.fail(f"version {version} is not in the pool")
