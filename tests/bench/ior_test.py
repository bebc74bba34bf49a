"""The kernel ior: IOR's offsets, options and lines; every byte verified; a wrong byte is found."""

import json
import re
import shutil
import struct

from bench_case import BenchCase, INVALID, KERNELS, MPIS, main

STAMP = 4096


class Ior(BenchCase):
    def test_all_layouts_are_right(self):
        for mpi in MPIS:
            for words in (
                [],
                ["-F"],
                ["-a", "MPIIO"],
                ["-a", "MPIIO", "-c"],
                ["-a", "MPIIO", "-F"],
                ["-C", "-e", "-g", "-z"],
                ["-t", 47008, "-b", 94016],
                ["-t", 256, "-b", "4k"],
            ):
                with self.subTest(mpi=mpi, words=words):
                    sizes = [] if "-t" in words else ["-t", "8k", "-b", "64k"]
                    found = self.measured(mpi, "ior", *words, *sizes, "-s", 2, "-i", 2, "-o", "f")
                    self.assertTrue(found["valid"])
                    self.assertEqual(
                        ["write", "read"] * 2, [each["access"] for each in found["accesses"]]
                    )
                    size = found["accesses"][0]["bytes"]
                    self.assertEqual(size, 2 * 2 * found["parameters"]["block_bytes"])
                    self.assertEqual([size, size], [check["bytes"] for check in found["checks"]])
                    self.assertEqual([], list(self.scratch.glob("f*")), "files are left")

    def test_hdf5(self):
        for mpi in MPIS:
            if b"H5Fcreate" not in (KERNELS / mpi / "ior").read_bytes():
                continue
            for words in ([], ["-c"], ["-F", "-e"]):
                with self.subTest(mpi=mpi, words=words):
                    found = self.measured(
                        mpi, "ior", "-a", "HDF5", *words, "-t", "8k", "-b", "64k", "-o", "f"
                    )
                    self.assertTrue(found["valid"])
                    self.assertEqual("HDF5", found["api"])
                    self.assertEqual(2 * 65536, found["checks"][0]["bytes"])
                    self.assertEqual([], list(self.scratch.glob("f*")), "files are left")
            # HDF5's own bytes are at the start of the file.
            self.kernel(
                mpi,
                "ior",
                "-a",
                "HDF5",
                "-b",
                "256k",
                "--corrupt",
                300000,
                "-o",
                "f",
                expect=INVALID,
            )

    def test_offsets_of_the_shared_file(self):
        # segment * ranks * block + rank * block + k * transfer
        mpi = MPIS[0]
        self.kernel(mpi, "ior", "-w", "-k", "-t", "8k", "-b", "16k", "-s", 2, "-o", "f")
        data = (self.scratch / "f").read_bytes()
        self.assertEqual(2 * 2 * 16384, len(data))
        for segment in range(2):
            for rank in range(2):
                for transfer in range(2):
                    at = (segment * 2 + rank) * 16384 + transfer * 8192
                    for word in (1, 511, 513, 1023):  # words that carry no stamp
                        self.assertEqual(
                            (rank << 32) + word, struct.unpack_from("<Q", data, at + word * 8)[0]
                        )

    def test_offsets_of_the_files_of_processes(self):
        self.kernel(MPIS[0], "ior", "-w", "-k", "-F", "-t", "8k", "-b", "16k", "-s", 3, "-o", "f")
        for rank in range(2):
            data = (self.scratch / f"f.{rank:08}").read_bytes()
            self.assertEqual(3 * 16384, len(data))
            self.assertEqual(
                {rank},
                {struct.unpack_from("<I", data, at + 12)[0] for at in range(0, len(data), STAMP)},
            )

    def test_every_wrong_byte_is_found(self):
        for mpi in MPIS:
            for offset in (0, STAMP, 8 * 1024 + 5, 64 * 1024 - 1):
                found = self.kernel(
                    mpi,
                    "ior",
                    "-t",
                    "8k",
                    "-b",
                    "32k",
                    "-o",
                    "f",
                    "--corrupt",
                    offset,
                    expect=INVALID,
                )
                self.assertIn(f"f: byte {offset} is", found.stderr)
                self.assertIn("[INVALID]", found.stdout)

    def test_a_file_that_was_changed_afterwards(self):
        mpi = MPIS[-1]
        self.kernel(mpi, "ior", "-w", "-k", "-t", "4k", "-b", "64k", "-o", "f")
        with open(self.scratch / "f", "r+b") as file:
            file.seek(70000)
            file.write(b"\xff")
        found = self.kernel(
            mpi, "ior", "-r", "-k", "-t", "4k", "-b", "64k", "-o", "f", expect=INVALID
        )
        self.assertIn(
            f"1 of 131072 bytes are wrong: {self.scratch}/f: byte 70000 is 255", found.stderr
        )
        # Blocks that have changed places hold words that fit there, all but the stamps.
        data = bytearray((self.scratch / "f").read_bytes())
        data[0:STAMP], data[STAMP : 2 * STAMP] = data[STAMP : 2 * STAMP], data[0:STAMP]
        (self.scratch / "f").write_bytes(data)
        self.kernel(mpi, "ior", "-r", "-k", "-t", "4k", "-b", "64k", "-o", "f", expect=INVALID)

    def test_stonewall(self):
        # So many calls of eight bytes take longer than a second everywhere.
        for more in ([], ["-O", "stoneWallingWearOut=1"]):
            words = ["-t", 8, "-b", "64m", "-D", 1, *more, "-o", "f"]
            found = self.measured(MPIS[0], "ior", *words)
            self.assertTrue(found["valid"])
            write, read = found["accesses"]
            self.assertLess(write["bytes"], 2 * 64 << 20)
            self.assertEqual(write["bytes"], read["bytes"])
            self.assertEqual(write["bytes"], found["checks"][0]["bytes"])
            if more:  # all ranks made as many calls
                self.assertEqual(0, write["calls"] % 2)

    def test_lines_of_ior(self):
        text = self.kernel(
            MPIS[0], "ior", "-F", "-t", "64k", "-b", "128k", "-i", 2, "-o", "f"
        ).stdout
        self.assertIn("access              : file-per-process\n", text)
        self.assertIn("xfersize            : 64 KiB\n", text)
        self.assertIn("aggregate filesize  : 256 KiB\n", text)
        self.assertIn(
            "access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)", text
        )
        self.assertRegex(text, r"(?m)^write +[0-9.]+ +[0-9.]+ +0\.\d{6}    128        64\.00 ")
        self.assertRegex(text, r"(?m)^Operation +Max\(MiB\) +Min\(MiB\) +Mean\(MiB\) +StdDev")
        lines = self.kernel(
            MPIS[0], "ior", "--format", "csv", "-t", "64k", "-b", "128k", "-o", "f"
        ).stdout.split("\n")
        self.assertTrue(
            lines[0].startswith(
                "access,bw(MiB/s),IOPS,Latency,block(KiB),xfer(KiB),open(s),wr/rd(s),close(s),"
                "total(s)"
            )
        )
        self.assertEqual(["write", "read"], [line.split(",")[0] for line in lines[1:3]])

    def test_mistakes(self):
        for words, text in (
            (["-t", "3k", "-b", "4k"], "-b: invalid block size"),
            (["-t", "4q"], "-t: invalid size '4q'"),
            (["-a", "POSX"], "unknown API 'POSX'"),
            (["--fromat", "x"], "--fromat"),
            (["-c"], "-c: needs -a MPIIO or HDF5"),
            (["-i", "0"], "-i: invalid number '0'"),
        ):
            found = self.kernel(MPIS[0], "ior", *words, ranks=1, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)

    def test_calls(self):
        strace = shutil.which("strace")
        if strace is None:
            self.skipTest("no strace here")
        words = ["-t", "64k", "-b", "256k", "--no-check", "-o", "f"]
        for more, wanted in (
            ([], {"lseek", "write", "read"}),
            (["--lseek"], {"lseek", "write", "read"}),
            (["--pwrite"], {"pwrite64", "pread64"}),
        ):
            start = [strace, "-f", "-e", "trace=lseek,write,read,pwrite64,pread64", "-P",
                     self.scratch / "f", "-o", "calls"]
            self.run_words([*start, KERNELS / MPIS[-1] / "ior", *words, *more])
            calls = (self.scratch / "calls").read_text(encoding="utf-8")
            found = re.findall(r"(?m)^\d+ +(\w+)\(", calls)
            self.assertEqual(wanted, set(found))
            self.assertEqual(8, sum(found.count(name) for name in wanted - {"lseek"}))

    def test_options_without_effect_are_named(self):
        words = ["-t", "64k", "-b", "128k", "-o", "f"]
        found = self.measured(MPIS[0], "ior", *words)
        self.assertEqual([], found["ignored_options"])
        found = self.measured(MPIS[0], "ior", "-v", "-l", "random", "-v", *words)
        self.assertEqual(["-v", "-l"], found["ignored_options"])
        shown = self.run_words([KERNELS / MPIS[0] / "ior", "--help"]).stdout
        self.assertRegex(shown, r"(?m)^  -v +ignored: more lines$")
        wrong = self.kernel(MPIS[0], "ior", "-l", "zeros", *words, ranks=1, expect=None)
        self.assertIn("-l: unknown type 'zeros': expected offset", wrong.stderr)

    def test_a_sync_after_each_write(self):
        for api in ("POSIX", "MPIIO"):
            found = self.measured(MPIS[0], "ior", "-a", api, "-Y", "-t", "64k", "-b", "256k", "-o",
                                  "f")
            self.assertTrue(found["valid"])
            self.assertEqual(1, found["parameters"]["fsync_each"])

    def test_summary_as_ior_is_told(self):
        words = ["-t", "64k", "-b", "128k", "-o", "f"]
        said = self.kernel(MPIS[0], "ior", *words, "-O", "summaryFormat=CSV").stdout
        self.assertTrue(said.startswith("access,bw(MiB/s),IOPS,"), said)
        said = self.kernel(MPIS[0], "ior", *words, "-G", -5, "-O",
                           "SummaryFormat=json,summaryFile=s.json").stdout
        self.assertEqual(f"Writing output to {self.scratch}/s.json\n", said)
        summary = json.loads((self.scratch / "s.json").read_text(encoding="utf-8"))
        self.assertTrue(summary["valid"])
        self.assertEqual(-5, summary["parameters"]["seed"])
        for text in ("summaryFormat=XML", "checkRead=1", "summaryFile="):
            wrong = self.kernel(MPIS[0], "ior", *words, "-O", text, ranks=1, expect=None)
            self.assertNotEqual(0, wrong.returncode)
            self.assertIn("-O: unknown s", wrong.stderr)

    def test_two_clocks(self):
        write = self.measured(MPIS[0], "ior", "-e", "-t", "64k", "-b", "1m", "-o", "f")["accesses"][
            0
        ]
        self.assertLessEqual(write["first_done_s"], write["last_done_s"])
        self.assertEqual(write["seconds"], write["last_done_s"])
        self.assertEqual(["open", "transfer", "sync", "close"], list(write["phases_s"]))
        self.assertAlmostEqual(
            write["rate_mib_s"], write["bytes"] / 2**20 / write["seconds"], places=6
        )


if __name__ == "__main__":
    main()
