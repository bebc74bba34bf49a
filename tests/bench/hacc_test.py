"""The kernel hacc: HACC-IO's files byte by byte, the header counted once, and the check."""

import struct

from bench_case import BenchCase, INVALID, MPIS, main

HEADER = 24 << 20
PARTICLES = 1000


def expected_data(rank):
    numbers = range(PARTICLES)
    floats = struct.pack(f"<{PARTICLES}f", *numbers)
    return (
        floats * 7 + struct.pack(f"<{PARTICLES}q", *numbers) + struct.pack("<H", rank) * PARTICLES
    )


class Hacc(BenchCase):
    def test_layout_of_the_shared_file(self):
        for mpi in MPIS:
            for api in ("POSIX", "MPIIO"):
                self.kernel(mpi, "hacc", "-w", "--keep", "-a", api, PARTICLES, "h")
                path = self.scratch / "h-Part00000000-of-00000001.data"
                data = path.read_bytes()
                path.unlink()
                self.assertEqual(HEADER + 38 * 2 * PARTICLES, len(data))
                words = struct.unpack_from("<20q", data)
                # Words of this part, header bytes, record, particles here and in all, ranks, files,
                # this file; counts; ranks.
                self.assertEqual(
                    (0, 16, HEADER, 38, 2000, 2000, 2, 1, 0) + (0,) * 7 + (1000, 1000, 0, 1), words
                )
                self.assertEqual(b"\0" * (HEADER - 160), data[160:HEADER])
                self.assertEqual(expected_data(0) + expected_data(1), data[HEADER:])

    def test_layout_of_a_file_of_each_process(self):
        self.kernel(MPIS[0], "hacc", "-w", "-F", "--keep", PARTICLES, "h")
        for rank in range(2):
            data = (self.scratch / f"h-Part{rank:08}-of-00000002.data").read_bytes()
            self.assertEqual(
                (0, 16, HEADER, 38, 1000, 2000, 1, 2, rank) + (0,) * 7 + (1000, rank),
                struct.unpack_from("<18q", data),
            )
            self.assertEqual(expected_data(rank), data[HEADER:])

    def test_bytes_count_the_header_once(self):
        for words, files in (([], 1), (["-F"], 2)):
            found = self.measured(MPIS[0], "hacc", *words, PARTICLES, "h")
            self.assertEqual(
                [files * HEADER + 2 * 38 * PARTICLES] * 2,
                [each["bytes"] for each in found["accesses"]],
            )
            self.assertEqual(found["accesses"][0]["bytes"], found["checks"][0]["bytes"])
            self.assertEqual(
                {"MaxTime[sec]"}, {each["original_name"] for each in found["accesses"]}
            )
            self.assertIn("allocate", found["accesses"][1]["phases_s"])
            self.assertEqual([], list(self.scratch.glob("h*")), "files are left")

    def test_lines_of_hacc_io(self):
        text = self.kernel(MPIS[-1], "hacc", "-F", PARTICLES, "h").stdout
        self.assertRegex(
            text,
            r"-------- Aggregate Performance --------\n"
            r" WRITE Checkpoint Perf: [0-9.e+]+ BW\[MiB/s\] "
            r"\d+ Bytes [0-9.e-]+ MaxTime\[sec\] \n",
        )
        self.assertRegex(text, r"(?m)^ READ Restart Perf: ")
        self.assertIn(" CONTENTS VERIFIED... Success \n", text)

    def test_a_wrong_byte_is_found(self):
        for mpi in MPIS:
            for offset in (HEADER + 12345, HEADER - 7):
                found = self.kernel(
                    mpi, "hacc", "--corrupt", offset, PARTICLES, "h", expect=INVALID
                )
                self.assertIn(f"byte {offset} is", found.stderr)

    def test_another_number_of_ranks(self):
        self.kernel(MPIS[0], "hacc", "-w", "--keep", PARTICLES, "h")
        found = self.kernel(MPIS[0], "hacc", "-r", PARTICLES, "h", ranks=3, expect=None)
        self.assertNotEqual(0, found.returncode)
        self.assertIn("another number of ranks", found.stderr)


if __name__ == "__main__":
    main()
