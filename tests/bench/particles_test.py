"""The kernels vpic and bdcats: layouts, times, other numbers of readers, the check."""

import shutil
import struct

from bench_case import BenchCase, INVALID, KERNELS, MPIS, main

PARTICLES = 2000
WITH_HDF5 = [mpi for mpi in MPIS if b"H5Fcreate" in (KERNELS / mpi / "vpic").read_bytes()]
NAMES = ["x", "y", "z", "id1", "id2", "px", "py", "pz"]


class Particles(BenchCase):
    def apis(self):
        return [
            (mpi, api)
            for mpi in MPIS
            for api in ("MPIIO", "HDF5")
            if api == "MPIIO" or mpi in WITH_HDF5
        ]

    def test_layout_of_the_plain_file(self):
        for mpi in MPIS:
            self.kernel(mpi, "vpic", "-a", "MPIIO", "--keep", "--particles", PARTICLES, "v")
            data = (self.scratch / "v").read_bytes()
            total = 2 * PARTICLES
            self.assertEqual(32 * total, len(data))
            columns = {
                name: struct.unpack_from(
                    f"<{total}{'i' if name.startswith('id') else 'f'}", data, number * 4 * total
                )
                for number, name in enumerate(NAMES)
            }
            self.assertEqual(tuple(range(total)), columns["id1"])
            self.assertEqual(tuple(range(0, 2 * total, 2)), columns["id2"])
            self.assertTrue(all(abs(z - 64 * i / total) < 1e-4 for i, z in enumerate(columns["z"])))
            for name in ("x", "y", "px", "py"):
                self.assertTrue(0 <= min(columns[name]) and max(columns[name]) < 64)
                self.assertGreater(len(set(columns[name])), total * 0.99)

    def test_structure_of_the_hdf5_file(self):
        if not WITH_HDF5 or not shutil.which("h5dump"):
            self.skipTest("no parallel HDF5 or no h5dump")
        self.kernel(WITH_HDF5[0], "vpic", "-a", "HDF5", "--keep", "--particles", PARTICLES, "v.h5")
        text = self.run_words(["h5dump", "-p", "-A", "v.h5"]).stdout
        self.assertIn('GROUP "Step#0"', text)
        for name in NAMES:
            self.assertRegex(
                text,
                rf'DATASET "{name}" {{\s*DATATYPE  H5T_(STD_I32LE|IEEE_F32LE)\s*'
                rf"DATASPACE  SIMPLE {{ \( {2 * PARTICLES} \) / \( {2 * PARTICLES} \) }}\s*"
                r"STORAGE_LAYOUT {\s*CONTIGUOUS",
            )
        self.assertRegex(text, r'ATTRIBUTE "Origin" {\s*DATATYPE  H5T_STRING {\s*STRSIZE 16;')
        self.assertIn('"Tested by Suren"', text)

    def test_readers_of_another_number(self):
        for mpi, api in self.apis():
            with self.subTest(mpi=mpi, api=api):
                self.kernel(mpi, "vpic", "-a", api, "--keep", "--particles", PARTICLES, "v")
                found = self.measured(mpi, "bdcats", "-a", api, "-f", "v", ranks=3)
                self.assertTrue(found["valid"])
                self.assertEqual(2 * PARTICLES * 24, found["accesses"][0]["bytes"])
                self.assertEqual(2 * PARTICLES * 24, found["checks"][0]["bytes"])
                (self.scratch / "v").unlink()

    def test_both_times_of_bdcats(self):
        found = self.measured(
            MPIS[0],
            "bdcats",
            "-a",
            "MPIIO",
            "--make",
            PARTICLES,
            "-f",
            "v",
            "-d",
            "/Step#0/x",
            "-d",
            "/Step#0/pz",
            "-c",
            "/Step#0/id1",
        )
        read, both = found["accesses"]
        self.assertEqual(("read", "read+subset"), (read["access"], both["access"]))
        self.assertEqual("Data read time", both["original_name"])
        self.assertLess(read["seconds"], both["seconds"])
        self.assertEqual(["transfer"], list(read["phases_s"]))
        self.assertEqual(["transfer", "subset"], list(both["phases_s"]))
        self.assertEqual(2 * PARTICLES * 12, read["bytes"])
        self.assertFalse((self.scratch / "v").exists())

    def test_times_of_vpic(self):
        text = self.kernel(MPIS[0], "vpic", "-a", "MPIIO", "--particles", PARTICLES, "v").stdout
        self.assertRegex(text, r"(?m)^\d\.\d{6} seconds elapsed in just writing data$")
        self.assertRegex(text, r"(?m)^\d\.\d{6} seconds elapsed in opening, writing, closing file$")
        write = self.measured(
            MPIS[0], "vpic", "-a", "MPIIO", "--independent", "--particles", PARTICLES, "v"
        )["accesses"][0]
        self.assertEqual(2 * PARTICLES * 32, write["bytes"])
        self.assertEqual(["open", "transfer", "sync", "close"], list(write["phases_s"]))

    def test_a_wrong_byte_is_found(self):
        for mpi, api in self.apis():
            with self.subTest(mpi=mpi, api=api):
                # In the middle of a file of eight equal parts: HDF5's own bytes are at its ends.
                middle = 2 * PARTICLES * 4 * 3 + 8192
                self.kernel(
                    mpi,
                    "vpic",
                    "-a",
                    api,
                    "--corrupt",
                    middle,
                    "--particles",
                    PARTICLES,
                    "v",
                    expect=INVALID,
                )
                self.kernel(
                    mpi,
                    "bdcats",
                    "-a",
                    api,
                    "--corrupt",
                    10000,
                    "--make",
                    PARTICLES,
                    "-f",
                    "v",
                    expect=INVALID,
                )


if __name__ == "__main__":
    main()
