"""The program of bench_palm: each back end gives back what it was given, on several numbers of
ranks."""

import re
import shutil

from bench_case import BUILD, BenchCase, MPIS, main

PROGRAMS = BUILD / "bench/mpi"
NAMES = {
    "Cairn", "MPI-IO", "stream files", "stream files with CRC", "copying",
    "copying with CRC, 64 KiB", "copying with CRC, 256 KiB", "copying with CRC, 1024 KiB"
}


class Palm(BenchCase):
    def palm(self, mpi, ranks, *words):
        self.environment.update(CAIRN_POOL_DIR=str(self.scratch / "pools"), CAIRN_POOL_SIZE="64MiB",
                                CAIRN_POOL_NAME=f"{mpi}-{ranks}")
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        run = self.run_words([launcher, "-n", ranks, PROGRAMS / mpi / "palm", *words], expect=None,
                             timeout=300)
        return run.returncode, run.stdout + run.stderr

    def test_each_back_end_reads_what_it_has_written(self):
        for mpi, ranks in [(MPIS[0], 1), *((mpi, 2) for mpi in MPIS)]:
            with self.subTest(mpi=mpi, ranks=ranks):
                (self.scratch / f"{mpi}-{ranks}").mkdir()
                status, output = self.palm(mpi, ranks, self.scratch / f"{mpi}-{ranks}", 2, 1, 1)
                self.assertEqual(0, status, output)
                for what in "first", "create", "restore":
                    names = set(re.findall(rf"^(.*)\t{what}\t\d+$", output, re.M))
                    self.assertEqual(NAMES, names - {"HDF5"}, output)
                # 32 x 32 x 2 points: 907 B, 57 x 133 x 8 B, 75 B and 120 B for each column, and the
                # table.
                self.assertIn(
                    f"bytes\t{907 + 57 * 133 * 8 + 32 * 32 * (75 + 120) + 8 * 8 * 58 * 128 * 8}\n",
                    output)

    def test_one_back_end_alone(self):
        status, output = self.palm(MPIS[-1], 3, self.scratch, 2, 1, 1, "MPI-IO")
        self.assertEqual(0, status, output)
        self.assertEqual({"MPI-IO"}, set(re.findall(r"^(.*)\tcreate\t\d+$", output, re.M)))
        status, output = self.palm(MPIS[0], 1, self.scratch, 2, 1, 1, "tape")
        self.assertNotEqual(0, status)
        self.assertIn("unknown back end 'tape'", output)
        self.environment["CAIRN_ADIOS2"] = str(self.scratch)
        status, output = self.palm(MPIS[0], 1, self.scratch, 2, 1, 1, "ADIOS2")
        self.assertNotEqual(0, status)
        self.assertRegex(output, "palm: ADIOS2: .*libadios2_c")


if __name__ == "__main__":
    main()
