"""What the tests of `cairn bench` share: a scratch directory, each MPI's kernels, and `cairn`."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ.get("CAIRN_BUILD_DIR", "build/release")).resolve()
CAIRN = str(pathlib.Path(os.environ.get("CAIRN_BIN_DIR", BUILD / "bin")) / "cairn")
KERNELS = BUILD / "lib/cairn/bench"
PACKAGE = (
    pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
    / "bench/python"
)
SKIPPED = 77  # the exit code that ctest shows as "skipped"
MPIS = sorted(path.parent.name for path in KERNELS.glob("*/ior"))
# As root Open MPI wants to be asked twice; ranks that share a processor must not spin on it.
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_btl": "self,vader",
}
INVALID = 3


def plain(page):
    """The page without the names of columns that its cells have for narrow screens."""
    return re.sub(r' data-label="[^"]*"', "", page)


def section(page, title):
    """A section of the page, as plain() makes it."""
    return plain(page).split(f"<h2>{title}</h2>")[1].split("<h2>")[0]


def use_package():
    """Lets a test import cairn_bench itself, in a Python that has what it needs."""
    sys.path.insert(0, str(PACKAGE))
    os.environ.setdefault("CAIRN_BENCH_LIB", str(BUILD / "lib/cairn"))
    needed = "import yaml, jsonschema"
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", needed], capture_output=True, check=False).returncode == 0:
            if python != sys.executable:
                os.execv(python, [python, "-B", *sys.argv])
            return
    print("no PyYAML and jsonschema here")
    sys.exit(SKIPPED)


def main():
    if not MPIS:
        print("no kernels: no MPI was found, or CAIRN_BENCH is OFF")
        sys.exit(SKIPPED)
    unittest.main()


class BenchCase(unittest.TestCase):
    def setUp(self):
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-bench-test-", dir=memory))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("CAIRN_", "OMPI_"))
        }
        # A killed Open MPI leaves its shared memory behind: in here it is removed with the rest.
        self.environment = {
            **kept,
            **OPEN_MPI,
            "OMPI_MCA_btl_vader_backing_directory": str(self.scratch),
            "OMPI_MCA_orte_tmpdir_base": str(self.scratch),
            "LC_ALL": "C.UTF-8",
        }
        if (
            "CAIRN_PRELOAD_FIRST" in os.environ
        ):  # a sanitized build: its runtime comes before our library
            self.environment["LD_PRELOAD"] = os.environ["CAIRN_PRELOAD_FIRST"]

    def run_words(self, words, expect=0, timeout=60, **more):
        run = subprocess.run(
            list(map(str, words)),
            env=self.environment,
            cwd=self.scratch,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            check=False,
            **more,
        )
        if expect is not None:
            self.assertEqual(expect, run.returncode, f"{words}\n{run.stdout}{run.stderr}")
        return run

    def kernel(self, mpi, name, *words, ranks=2, expect=0):
        """Runs a kernel; returns the finished process."""
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        return self.run_words([launcher, "-n", ranks, KERNELS / mpi / name, *words], expect=expect)

    def measured(self, mpi, name, *words, **more):
        """The kernel's JSON object."""
        run = self.kernel(mpi, name, "--format", "json", *words, **more)
        lines = [line for line in run.stdout.split("\n") if line.startswith("{")]
        self.assertEqual(1, len(lines), run.stdout + run.stderr)
        return json.loads(lines[0])
