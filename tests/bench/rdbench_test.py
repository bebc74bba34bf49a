"""The kernel rdbench: its three ways to write, files byte by byte, restarts on other ranks."""

import json
import struct

from bench_case import BenchCase, INVALID, MPIS, main

# Two ranks side by side: blocks of 12 columns and 24 rows, so that rows are no contiguous runs.
WORDS = ["-L", 24, "-s", 4, "-i", 2, "--xnp", 2, "--ynp", 1]
LENGTH, WIDTH = 24, 12


def points(path):
    return struct.unpack(f"<{LENGTH * LENGTH}d", path.read_bytes())


class Rdbench(BenchCase):
    def test_all_ways_are_right(self):
        for mpi in MPIS:
            for kind in ("view", "manual", "chunk"):
                for more in ([], ["-c"], ["--nosync"]):
                    with self.subTest(mpi=mpi, kind=kind, more=more):
                        found = self.measured(
                            mpi, "rdbench", *WORDS, "--iotype", kind, *more, "-o", "o_"
                        )
                        self.assertTrue(found["valid"])
                        write, read = found["accesses"]
                        size = LENGTH * LENGTH * 8
                        self.assertEqual((3 * size, size), (write["bytes"], read["bytes"]))
                        self.assertEqual([size] * 3, [check["bytes"] for check in found["checks"]])
                        self.assertEqual("writeTimeSec", write["original_name"])
                        self.assertEqual(
                            0 if "--nosync" in more else 1, found["parameters"]["fsync"]
                        )
                        self.assertEqual([], list(self.scratch.glob("o_*")), "files are left")

    def test_files(self):
        # One rank's square is the reference.
        self.kernel(MPIS[0], "rdbench", "-L", 24, "-s", 4, "-i", 2, "--keep", "-o", "one_", ranks=1)
        whole = points(self.scratch / "one_24x24-24x24-000004.bin")
        self.assertGreater(len(set(whole)), 20)
        self.assertNotEqual(whole, points(self.scratch / "one_24x24-24x24-000002.bin"))
        self.assertEqual(3, len(list(self.scratch.glob("one_*"))))
        for mpi in MPIS:
            for kind in ("view", "manual", "chunk"):
                self.kernel(
                    mpi, "rdbench", *WORDS, "--iotype", kind, "--keep", "-o", f"{mpi}-{kind}_"
                )
                got = points(self.scratch / f"{mpi}-{kind}_24x24-12x24-000004.bin")
                if kind != "chunk":
                    self.assertEqual(whole, got)
                    continue
                blocks = [
                    whole[y * LENGTH + begin + x]
                    for begin in (0, WIDTH)
                    for y in range(LENGTH)
                    for x in range(WIDTH)
                ]
                self.assertEqual(tuple(blocks), got)

    def test_restart_on_another_number_of_ranks(self):
        for kind in ("view", "chunk"):
            self.kernel(MPIS[0], "rdbench", *WORDS, "--iotype", kind, "--keep", "-o", f"{kind}_")
            name = f"{kind}_24x24-12x24-000004.bin"
            for ranks in (1, 3):
                found = self.measured(
                    MPIS[-1], "rdbench", "-L", 24, "--iotype", kind, "--restart", name, ranks=ranks
                )
                self.assertTrue(found["valid"])
                self.assertEqual(["read"], [each["access"] for each in found["accesses"]])
                self.assertEqual(LENGTH * LENGTH * 8, found["checks"][0]["bytes"])
            with open(self.scratch / name, "r+b") as file:
                file.seek(3000)
                file.write(b"\x7f")
            self.kernel(
                MPIS[0],
                "rdbench",
                "-L",
                24,
                "--iotype",
                kind,
                "--restart",
                name,
                ranks=2,
                expect=INVALID,
            )

    def test_a_wrong_byte_is_found(self):
        for mpi in MPIS:
            found = self.kernel(
                mpi, "rdbench", *WORDS, "--corrupt", 1000, "-o", "o_", expect=INVALID
            )
            self.assertIn("o_24x24-12x24-000000.bin: block of rank", found.stderr)
            self.assertIn('"valid":false', found.stdout)

    def test_line_of_rdbench(self):
        text = self.kernel(MPIS[0], "rdbench", *WORDS, "--iotype", "manual", "-o", "o_").stdout
        found = json.loads(text)
        self.assertEqual(
            (24, 2, "manual", True), (found["L"], found["nprocs"], found["iotype"], found["sync"])
        )
        self.assertEqual(
            (3, 4608, 13824), (found["nfiles"], found["fileSize"], found["totalWriteSizeByte"])
        )
        self.assertAlmostEqual(
            found["totalWriteSizeByte"] / found["writeTimeSec"],
            found["writeBandwidthByte"],
            delta=1e6,
        )
        self.assertEqual(3 * LENGTH * LENGTH, found["valuesVerified"])

    def test_long_options(self):
        found = self.measured(
            MPIS[0], "rdbench", "--length", LENGTH, "--steps", 4, "--interval", 2, "--output", "o_",
            "--disable-initial-output", "--nomkdir", "--prettify", "--collective", "--keep")
        self.assertTrue(found["valid"])
        self.assertEqual(["--nomkdir", "--prettify"], found["ignored_options"])
        self.assertEqual(2 * 8 * LENGTH * LENGTH, found["accesses"][0]["bytes"])
        self.assertEqual(1, found["parameters"]["collective"])
        self.assertEqual(["000002", "000004"],
                         sorted(path.stem[-6:] for path in self.scratch.glob("o_*")))
        found = self.measured(MPIS[0], "rdbench", "--length", LENGTH, "--steps", 2, "--interval",
                              2, "--novalidate", "--output", "o_")
        self.assertEqual([], found["checks"])

    def test_mistakes(self):
        for words, text in (
            (["-L", 25], "-L: invalid length 25"),
            (["--iotype", "rows"], "--iotype: unknown type 'rows'"),
            (["--xnp", 3], "not a multiple"),
            (["--restart", "x.bin"], "not a name of rdbench"),
        ):
            found = self.kernel(MPIS[0], "rdbench", *words, ranks=2, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)


if __name__ == "__main__":
    main()
