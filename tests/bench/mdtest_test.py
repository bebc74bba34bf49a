"""The kernel mdtest: names and counts of the easy pattern; a wrong name or byte is found."""

from bench_case import BenchCase, INVALID, MPIS, main


class Mdtest(BenchCase):
    def test_all_phases(self):
        for mpi in MPIS:
            for words in (
                [],
                ["-u"],
                ["-u", "-N", 1, "-F", "-L"],
                ["-u", "-w", 3901, "-e", 3901, "-y"],
            ):
                with self.subTest(mpi=mpi, words=words):
                    found = self.measured(mpi, "mdtest", "-n", 50, *words, "-d", ".")
                    self.assertTrue(found["valid"])
                    self.assertEqual(
                        ["create", "stat", "read", "remove"],
                        [each["access"] for each in found["accesses"]],
                    )
                    for each in found["accesses"]:
                        self.assertEqual(("ops/s", 100), (each["unit"], each["calls"]))
                        self.assertAlmostEqual(100 / each["seconds"], each["rate"], delta=0.01)
                    size = 3901 if "-w" in words else 0
                    self.assertEqual(100 * size, found["accesses"][0]["bytes"])
                    # Names and sizes count, then the contents.
                    self.assertGreater(found["checks"][0]["bytes"], 100 * size + 100 * 15)
                    self.assertEqual([], list(self.scratch.glob("test-dir*")), "files are left")

    def test_names(self):
        self.kernel(MPIS[0], "mdtest", "-n", 3, "-u", "-w", 10, "--keep", "-d", ".")
        found = sorted(str(path.relative_to(self.scratch)) for path in self.scratch.rglob("file.*"))
        self.assertEqual(
            [
                f"test-dir.0-0/mdtest_tree.{rank}.0/file.mdtest.{rank}.{number}"
                for rank in range(2)
                for number in range(3)
            ],
            found,
        )
        self.assertEqual({10}, {(self.scratch / name).stat().st_size for name in found})

    def test_a_wrong_byte_is_found(self):
        found = self.kernel(
            MPIS[-1],
            "mdtest",
            "-n",
            5,
            "-u",
            "-w",
            3901,
            "--corrupt",
            3900,
            "-d",
            ".",
            expect=INVALID,
        )
        self.assertIn("mdtest_tree.0.0/file.mdtest.0.0: byte 3900 is", found.stderr)
        self.assertIn("[INVALID]", found.stdout)

    def test_lines_of_mdtest(self):
        text = self.kernel(MPIS[0], "mdtest", "-n", 20, "-u", "-i", 2, "-d", ".").stdout
        self.assertIn("SUMMARY rate (in ops/sec): (of 2 iterations)\n", text)
        for name in ("File creation", "File stat", "File read", "File removal"):
            self.assertRegex(
                text, rf"(?m)^   {name} +\d+\.\d{{3}} +\d+\.\d{{3}} +\d+\.\d{{3}} +\d+\.\d{{3}}$"
            )

    def test_mistakes(self):
        for words, text in (
            (["-d", ".", "--corrupt", 1], "--corrupt: the files are empty"),
            (["-d", ".", "-e", 8], "-e: invalid size 8"),
            (["-d", "gone"], "gone/test-dir.0-0: mkdir failed"),
            ([], "-d: missing directory"),
        ):
            found = self.kernel(MPIS[0], "mdtest", *words, ranks=1, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)


class Phases(BenchCase):
    def test_the_end_is_after_the_barrier(self):
        found = self.measured(MPIS[0], "mdtest", "-u", "-n", 50, "-d", ".")
        for access in found["accesses"]:
            self.assertGreaterEqual(access["seconds"], access["last_done_s"])
            self.assertLessEqual(access["first_done_s"], access["last_done_s"])
            self.assertEqual(access["calls"] / access["seconds"], access["rate"])


if __name__ == "__main__":
    main()
