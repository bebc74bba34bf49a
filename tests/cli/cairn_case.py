"""What the command's tests share: a scratch directory in memory, a clean environment, and
`cairn`."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest

BIN = pathlib.Path(os.environ.get("CAIRN_BIN_DIR", "build/release/bin")).resolve()
CAIRN = str(BIN / "cairn")
SKIPPED = 77  # the exit code that ctest shows as "skipped"
# What programs of a sanitized build need besides.
OF_SANITIZERS = ("LD_PRELOAD", "ASAN_OPTIONS") if "CAIRN_PRELOAD_FIRST" in os.environ else ()
# AddressSanitizer calls dlopen in the program's place: whose search path counts is lost.
not_where_dlopen_is_the_sanitizers = unittest.skipIf(
    "address" in os.environ.get("CAIRN_SANITIZE", ""), "AddressSanitizer calls dlopen")

# Its shadow memory is as large as the address space.
HAS_SHADOW = "address" in os.environ.get("CAIRN_SANITIZE", "")


def limited(kind, size):
    """The words in front of a command that may take so much memory (prlimit's --as or --data)."""
    return [] if HAS_SHADOW else ["prlimit", f"--{kind}={size}"]


def preload():
    return BIN.parent / "lib" / "libcairn_posix.so"


class CairnCase(unittest.TestCase):
    """Each test has a pool directory of its own, so that tests may run side by side."""

    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.pools = tempfile.mkdtemp(prefix="cairn-cli-", dir=memory)
        self.scratch = tempfile.mkdtemp(prefix="cairn-cli-")
        self.addCleanup(shutil.rmtree, self.pools, ignore_errors=True)
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("CAIRN_", "SLURM_", "PBS_", "LSB_", "FLUX_",
                                 "XDG_")) and k != "LD_PRELOAD"
        }
        # pool.size stays small: many tests run at once.
        self.env = dict(kept, HOME=self.scratch, CAIRN_POOL_DIR=self.pools, CAIRN_POOL_SIZE="64M",
                        LC_ALL="C.UTF-8")
        # a sanitized build: its runtime comes before our library
        if "CAIRN_PRELOAD_FIRST" in os.environ:
            self.env["LD_PRELOAD"] = os.environ["CAIRN_PRELOAD_FIRST"]

    def path(self, *parts):
        return os.path.join(self.scratch, *parts)

    def write(self, name, data):
        target = self.path(name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with open(target, "wb") as file:
            file.write(data if isinstance(data, bytes) else data.encode())
        return target

    def cairn(self, *words, expect=0, env=None, timeout=60, **more):
        """Runs the command; `expect` is its exit code (None: any). Returns the finished process."""
        run = subprocess.run([CAIRN, *words], env=dict(self.env, **(env or {})),
                             cwd=more.pop("cwd", self.scratch),
                             stdin=more.pop("stdin", subprocess.DEVNULL), capture_output=True,
                             timeout=timeout, check=False, **more)
        run.out = run.stdout.decode(errors="surrogateescape")
        run.err = run.stderr.decode(errors="surrogateescape")
        if expect is not None:
            self.assertEqual(run.returncode, expect, f"cairn {' '.join(words)}\n{run.out}{run.err}")
        return run

    def json(self, *words, **more):
        return json.loads(self.cairn(*words, "--json", **more).out)

    def refused(self, *words, code, says, **more):
        """The command fails with one line on stderr that holds each of the texts."""
        run = self.cairn(*words, expect=code, **more)
        lines = run.err.strip().split("\n")
        self.assertEqual(len(lines), 1, f"not one line: {run.err}")
        self.assertTrue(lines[0].startswith("cairn"), lines[0])
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, lines[0])
        return run


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    if not os.access(CAIRN, os.X_OK):
        print(f"{CAIRN} is not built")
        raise SystemExit(SKIPPED)
    # What killed ranks of MPI programs left on this machine, `cairn pool clean` would tell of
    # wherever pools lie.
    with tempfile.TemporaryDirectory() as nowhere:
        subprocess.run([CAIRN, "pool", "clean", "--pool-dir", nowhere], stdout=subprocess.DEVNULL,
                       check=False)
    unittest.main(verbosity=2)
