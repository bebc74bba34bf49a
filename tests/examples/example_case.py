"""What the tests of examples/ share: each MPI's programs, a scratch directory, and how programs are
started."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "scripts/demo"))
from places import kill_tree  # noqa: E402, F401

CAIRN = str(pathlib.Path(os.environ["CAIRN_BIN_DIR"]) / "cairn")
BUILT = pathlib.Path(os.environ["CAIRN_BUILD_DIR"]) / "examples"
SOURCES = SOURCE / "examples"
MPIS = sorted(path.parent.name for path in BUILT.glob("*/field"))
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}


class ExampleCase(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-examples-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        # A killed Open MPI leaves its shared memory behind: in here it is removed with the rest.
        self.environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": str(self.scratch / "pools"),
            "OMPI_MCA_btl_vader_backing_directory": str(self.scratch),
            "OMPI_MCA_orte_tmpdir_base": str(self.scratch)
        }
        # a sanitized build: its runtime comes before our library
        if "CAIRN_PRELOAD_FIRST" in os.environ:
            self.environment["LD_PRELOAD"] = os.environ["CAIRN_PRELOAD_FIRST"]

    def directory(self, name):
        path = self.scratch / name
        path.mkdir()
        return path

    def start(self, command, cover=None):
        if cover:
            command = [CAIRN, "run", "--at", cover, "--pool-size", "128MiB", "--", *command]
        return subprocess.Popen(list(map(str, command)), env=self.environment,
                                stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, errors="replace")

    def run_to_end(self, command, cover=None):
        process = self.start(command, cover)
        output, _ = process.communicate(timeout=200)
        self.assertEqual(0, process.returncode, output)
        return output

    @staticmethod
    def mpi_command(mpi, ranks, program, *words):
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        return [launcher, "-n", ranks, BUILT / mpi / program, *words]


def main():
    if not MPIS:
        print("no MPI was found when this was built")
        sys.exit(77)
    unittest.main(verbosity=2)
