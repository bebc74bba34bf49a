"""Fortran's modules: every kind and rank, sections and pointers, each call, and PALM's calls on
several numbers of ranks with every MPI that was found."""

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

SOURCES = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
BUILT = pathlib.Path(os.environ["CAIRN_TEST_DIR"]) / "fortran"
# As root Open MPI wants to be asked twice; ranks that have to share a processor must not spin on
# it.
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_btl": "self,vader"}
MPIS = sorted(path.parent.name for path in BUILT.glob("*/palm_program"))


class Fortran(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="cairn-fortran-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.environment = {
            **os.environ, **ENVIRONMENT, "CAIRN_POOL_DIR": str(self.scratch / "pools"),
            "CAIRN_POOL_SIZE": "64MiB", "PYTHONPATH": str(SOURCES / "bindings/python"),
            "CAIRN_LIBRARY": f"{os.environ['CAIRN_LIB_DIR']}/libcairn.so",
            "OMPI_MCA_btl_vader_backing_directory": str(self.scratch),
            "OMPI_MCA_orte_tmpdir_base": str(self.scratch)
        }

    def run_to_end(self, *command):
        run = subprocess.run(list(map(str, command)), env=self.environment,
                             stdin=subprocess.DEVNULL, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, errors="replace", timeout=200, check=False)
        self.assertEqual(0, run.returncode, run.stdout)
        return run.stdout

    def test_every_kind_in_every_rank(self):
        self.assertIn("all kinds and ranks are right", self.run_to_end(BUILT / "kinds_program"))

    def test_arrays_and_calls(self):
        lower = self.scratch / "lower"
        lower.mkdir()
        self.environment["CAIRN_TEST_LOWER"] = str(lower)
        self.assertIn("all arrays and calls are right", self.run_to_end(BUILT / "arrays_program"))

    def test_lists(self):
        lower = self.scratch / "lower"
        lower.mkdir()
        self.environment["CAIRN_TEST_LOWER"] = str(lower)
        right = "all lists are right\n"
        self.assertEqual(right, self.run_to_end(BUILT / "lists_program", "calls"))
        # What each language writes, all read.
        programs = [[BUILT / "lists_program"], [BUILT / "lists_cpp_program"],
                    [sys.executable, "-B", SOURCES / "tests/fortran/lists.py"]]
        for writer in programs:
            self.environment["CAIRN_POOL_NAME"] = pathlib.Path(writer[-1]).name
            self.assertEqual(right, self.run_to_end(*writer, "write"))
            for reader in programs:
                with self.subTest(writer=writer, reader=reader):
                    self.assertEqual(right, self.run_to_end(*reader, "read"))

    def run_ranks(self, program, what, rows, columns, *words):
        """One process for each of a grid."""
        ranks = [
            subprocess.Popen(list(map(str, [*program, what, rank, rows, columns, *words])),
                             env=self.environment, stdin=subprocess.DEVNULL, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            for rank in range(rows * columns)
        ]
        for process in ranks:
            said, _ = process.communicate(timeout=200)
            self.assertEqual("the matrix is right\n", said)

    def test_a_matrix_that_is_dealt_out(self):
        fortran = [BUILT / "darray_program"]
        python = [sys.executable, "-B", SOURCES / "tests/fortran/darray.py"]
        for writer, other in (fortran, python), (python, fortran):
            self.environment["CAIRN_POOL_NAME"] = writer[-1].name
            self.run_ranks(writer, "write", 2, 3)
            self.run_ranks(writer, "read", 3, 2)
            self.run_ranks(other, "read", 2, 2, "by_columns")
            self.run_ranks(writer, "read", 1, 1)

    def palm(self, mpi, ranks, *words):
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        return self.run_to_end(launcher, "-n", ranks, BUILT / mpi / "palm_program", *words)

    @unittest.skipUnless(MPIS, "no MPI has modules of this Fortran compiler")
    def test_palm_goes_on_with_other_numbers_of_ranks(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.environment["CAIRN_POOL_NAME"] = f"palm-{mpi}"
                self.assertEqual("created step 10\n", self.palm(mpi, 2, "create", 10))
                step = 11  # `create` writes two versions
                for ranks in 4, 6, 3, 1:
                    self.assertEqual(f"restored step {step}\n",
                                     self.palm(mpi, ranks, "restore", step))
                    self.assertEqual(f"restored step {step}\ncreated step {step + 9}\n",
                                     self.palm(mpi, ranks, "create", step + 9))
                    step += 10
                self.assertEqual(f"restored step {step}\n", self.palm(mpi, 4, "restore", step))

    @unittest.skipUnless(MPIS, "no MPI has modules of this Fortran compiler")
    def test_palm_takes_the_version_before_a_damaged_one(self):
        self.palm(MPIS[-1], 2, "create", 10)  # and 11
        damaged = struct.pack("=d", 3e9 + 11e6 + 1e4 + 304)  # u(1, 3, 4)
        places = 0
        for path in filter(pathlib.Path.is_file, (self.scratch / "pools").rglob("*")):
            with open(path, "r+b") as file:
                content = file.read()
                at = content.find(damaged)
                while at >= 0:
                    places += 1
                    file.seek(at)
                    file.write(bytes([damaged[0] ^ 1]))
                    at = content.find(damaged, at + 1)
        self.assertEqual(1, places)
        self.assertEqual("restored step 10\n", self.palm(MPIS[-1], 3, "restore", 10))


if __name__ == "__main__":
    if not (BUILT / "kinds_program").exists():
        print("no Fortran compiler was found when this was built")
        sys.exit(77)
    unittest.main(verbosity=2)
