"""--existing: a kernel writes over the files of an earlier command, in place, and says so."""

import unittest

import bench_case
from bench_case import BenchCase, KERNELS, MPIS

bench_case.use_package()
from cairn_bench.plan import descriptions, formula, kernels  # noqa: E402

MARK = b"behind the data"
# Words of each kernel that has --existing, for each of its ways to files.
WORDS = {
    "hacc": [[*words, 1000, "f"] for words in ([], ["-F"], ["-a", "MPIIO"])],
    "ior": [
        [*words, "-t", "8k", "-b", "64k", "-o", "f"]
        for words in ([], ["-F"], ["-a", "MPIIO"], ["-a", "MPIIO", "-F"])
    ],
    "loop": [
        [*words, "-t", "8k", "-b", "64k", "-m", 0, "-o", "f"] for words in ([], ["-F"])
    ],
    "palm": [
        ["-s", 1, "-n", 2, "--back-end", name, "-o", "d"] for name in ("mpi-io", "stream")
    ],
    "rdbench": [
        ["-L", 32, "-s", 4, "-i", 2, "--iotype", name, "-o", "f"] for name in ("view", "chunk")
    ],
    "vpic": [["-a", "MPIIO", "--particles", 1000, "f"]],
}
WITH_HDF5 = {
    "ior": [[*words, "-a", "HDF5", "-t", "8k", "-b", "64k", "-o", "f"] for words in ([], ["-F"])],
    "vpic": [["-a", "HDF5", "--particles", 1000, "f"]],
}


class Existing(BenchCase):
    def files(self):
        """{path: inode}"""
        return {
            path: path.stat().st_ino for path in self.scratch.rglob("[fdms]*") if path.is_file()
        }

    def run_twice(self, mpi, kernel, *words, marks=True):
        for path in self.files():  # of a way that has failed
            path.unlink()
        first = self.measured(mpi, kernel, *words, "--keep")
        self.assertEqual(0, first["parameters"]["existing"])
        made = self.files()
        self.assertTrue(made)
        if marks:  # a file that was cut, or made anew, has lost it
            for path in made:
                with path.open("ab") as file:
                    file.write(MARK)
        second = self.measured(mpi, kernel, *words, "--keep", "--existing")
        self.assertTrue(second["valid"])
        self.assertEqual(1, second["parameters"]["existing"])
        self.assertEqual(made, self.files())
        if marks:
            for path in made:
                self.assertTrue(path.read_bytes().endswith(MARK), path)
        third = self.measured(mpi, kernel, *words, "--existing")
        self.assertEqual(1, third["parameters"]["existing"])
        self.assertEqual({}, self.files(), "files are left")

    def test_files_stay_what_they_are(self):
        for mpi in MPIS:
            for kernel, ways in WORDS.items():
                for words in ways:
                    with self.subTest(mpi=mpi, kernel=kernel, words=words):
                        # HACC-IO sets the size of a file that is there.
                        self.run_twice(mpi, kernel, *words, marks=kernel != "hacc")

    def test_hdf5(self):
        for mpi in MPIS:
            if not descriptions.of_mpi(mpi)["vpic"]["hdf5"]:
                continue
            for kernel, ways in WITH_HDF5.items():
                for words in ways:
                    with self.subTest(mpi=mpi, kernel=kernel, words=words):
                        self.run_twice(mpi, kernel, *words, marks=False)
            self.kernel(mpi, "vpic", "--particles", 2000, "--keep", "f")
            other = self.kernel(mpi, "vpic", "--particles", 1000, "--existing", "f", expect=None)
            self.assertNotEqual(0, other.returncode)
            self.assertIn("has 4000 particles, and not 2000: remove it", other.stderr)
            (self.scratch / "f").unlink()

    def test_without_files_they_are_made(self):
        for kernel, ways in WORDS.items():
            with self.subTest(kernel=kernel):
                found = self.measured(MPIS[0], kernel, *ways[0], "--existing")
                self.assertTrue(found["valid"])
                self.assertEqual(0, found["parameters"]["existing"])

    def test_repetitions_meet_the_files_of_the_one_before(self):
        self.kernel(MPIS[0], "ior", "-o", "f", "-w", "-k")
        before = self.files()
        found = self.measured(MPIS[0], "ior", "-o", "f", "-i", 3, "-E", "-k")
        self.assertEqual(1, found["parameters"]["existing"])
        self.assertEqual(before, self.files())

    def test_descriptions_say_who_has_it(self):
        for mpi in MPIS:
            for name, described in descriptions.of_mpi(mpi).items():
                with self.subTest(kernel=name):
                    has_it = any(each["name"] == "--existing" for each in described["options"])
                    self.assertEqual(has_it, described["existing"] is not None)
                    self.assertEqual(has_it, name in WORDS)

    def test_conditions(self):
        for name, words, wanted in (
            ("loop", {"way": "rename"}, 0), ("loop", {}, 1), ("palm", {"back_end": "hdf5"}, 0),
            ("palm", {"back_end": "stream"}, 1), ("palm", {}, 1), ("ior", {}, 1)):
            kernel = kernels.of(name)
            given = kernel.normal({"kernel": name, **words})
            self.assertEqual(wanted, formula.value(kernel.description["existing"], given), name)
            line = kernel.words(given, self.scratch)
            run = self.run_words([KERNELS / MPIS[0] / name, "--check-only", "--existing", *line],
                                 expect=0 if wanted else 2)
            self.assertEqual(not wanted, "--existing: needs" in run.stderr)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
