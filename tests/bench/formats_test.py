"""Every kernel prints its figures as IOR's table, as CSV and as one JSON object."""

import csv
import io
import re

from bench_case import BenchCase, MPIS, main

KERNELS = {
    "ior": (["-F", "-b", "64k", "-t", "8k", "-o", "f"], ["write", "read"]),
    "hacc": ([100, "f"], ["write", "read"]),
    "vpic": (["-a", "MPIIO", "--particles", 100, "f"], ["write"]),
    "bdcats": (["-a", "MPIIO", "--make", 100, "-f", "f"], ["read", "read+subset"]),
    "loop": (["-b", "64k", "-t", "8k", "-m", 0, "-o", "f"], ["write-first", "write", "read"]),
    "llmckpt": (["--scale", "1e-6", "-n", 2, "-r", 1, "-o", "f"], ["write", "read"]),
    "palm": (["-s", 1, "-n", 2, "-o", "p"], ["write-first", "write", "read"]),
    "rdbench": (["-L", 8, "-s", 2, "-i", 1, "-o", "o_"], ["write", "read"]),
    "mdtest": (["-n", 5, "-u", "-d", "."], ["create", "stat", "read", "remove"]),
    "limits": (["-b", "64k", "-t", "8k", "f"], ["write", "write-nt", "read"]),
}


class Formats(BenchCase):
    def test_csv(self):
        for kernel, (words, names) in KERNELS.items():
            with self.subTest(kernel=kernel):
                text = self.kernel(MPIS[-1], kernel, "--format", "csv", *words).stdout
                rows = list(csv.DictReader(io.StringIO(text)))
                self.assertEqual(names, [row["access"] for row in rows])
                for row in rows:
                    self.assertLessEqual(float(row["first(s)"]), float(row["last(s)"]))
                    self.assertGreater(float(row["total(s)"]), 0)

    def test_table_of_ior(self):
        for kernel, (words, names) in KERNELS.items():
            with self.subTest(kernel=kernel):
                text = self.kernel(MPIS[-1], kernel, "--format", "ior", *words).stdout
                table, summary = text.split("Summary of all tests:")
                for name in names:
                    self.assertRegex(table, rf"(?m)^{re.escape(name)} +[0-9.]+ +[0-9.]+ +")
                    self.assertRegex(summary, rf"(?m)^{re.escape(name)} +[0-9.]+ ")
                self.assertRegex(summary, r"Check +: [0-9.]+ MiB compared, 0 bytes wrong")
                self.assertNotIn("nan", text)
                self.assertNotIn("inf", text)


if __name__ == "__main__":
    main()
