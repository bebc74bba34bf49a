"""PALM's 280 variables: the kernel `palm`, and the program of bench_palm, whose back ends give
back what they were given, on several numbers of ranks."""

import re
import shutil

from bench_case import BUILD, BenchCase, INVALID, MPIS, main

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
        self.assertRegex(output, r"palm: rank \d: ADIOS2: .*libadios2_c")


# A checkpoint of one level, 16 x 16 x 1 points, as in the program.
ONE_LEVEL = 907 + 57 * 33 * 8 + 16 * 16 * (75 + 60) + 8 * 8 * 58 * 128 * 8


class Kernel(BenchCase):
    def back_ends(self, mpi):
        run = self.kernel(mpi, "palm", "--back-end", "hdf5", "-o", "p", ranks=1, expect=None)
        return ["mpi-io", "stream", "cairn"] + (["hdf5"] if run.returncode == 0 else [])

    def test_each_back_end_is_right(self):
        for back_end in self.back_ends(MPIS[-1]):
            with self.subTest(back_end=back_end):
                words = ["-s", 1, "-n", 3, "-r", 2, "--back-end", back_end, "-o", "p"]
                found = self.measured(MPIS[-1], "palm", *words)
                self.assertTrue(found["valid"])
                self.assertEqual((280, ONE_LEVEL), (found["parameters"]["variables"],
                                                    found["parameters"]["checkpoint_bytes"]))
                self.assertEqual(
                    [("write-first", ONE_LEVEL), ("write", 2 * ONE_LEVEL), ("read", 2 * ONE_LEVEL)],
                    [(each["access"], each["bytes"]) for each in found["accesses"]])
                # Every rank compares what all ranks hold.
                replicated = 907 + 8 * 8 * 58 * 128 * 8
                self.assertEqual(ONE_LEVEL + replicated, found["checks"][0]["bytes"])
                self.assertEqual([], list(self.scratch.glob("p*")), "files are left")

    def test_read_by_a_later_command_and_by_another_rank(self):
        for mpi, back_end in ((MPIS[-1], "mpi-io"), (MPIS[0], "stream"), (MPIS[-1], "cairn")):
            with self.subTest(back_end=back_end):
                words = [mpi, "palm", "-s", 1, "-n", 2, "--back-end", back_end, "-o", "p"]
                self.kernel(*words, "--write-only", "--keep")
                self.kernel(*words, "--read-only", "--readers", "next-rank")
                self.assertEqual([], list(self.scratch.glob("p*")), "files are left")

    def test_a_wrong_byte_is_found(self):
        for back_end, offset in (("mpi-io", 4000), ("stream", 300)):
            words = ["-s", 1, "-n", 2, "--back-end", back_end, "--corrupt", offset, "-o", "p"]
            found = self.kernel(MPIS[-1], "palm", *words, expect=INVALID)
            self.assertRegex(found.stderr, r"palm: INVALID: \d+ of \d+ bytes are wrong: \w+: byte")

    def test_mistakes(self):
        for words, text in (
            (["-o", "p", "--back-end", "tape"], "--back-end: unknown name 'tape'"),
            (["-o", "p", "--back-end", "cairn", "--corrupt", 1], "--corrupt: a version of cairn"),
            ([], "-o: missing directory"),
        ):
            found = self.kernel(MPIS[0], "palm", *words, ranks=1, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)


if __name__ == "__main__":
    main()
