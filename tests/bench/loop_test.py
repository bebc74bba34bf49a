"""The kernels loop and llmckpt: checkpoints one over another; an old or wrong byte is found."""

import struct

from bench_case import BenchCase, INVALID, MPIS, main

SIZE = ["-b", "64k", "-t", "8k"]


class Loop(BenchCase):
    def test_all_ways_are_right(self):
        for mpi in MPIS:
            for words in (
                [],
                ["-F", "-e"],
                ["--way", "truncate"],
                ["--way", "rename", "-F"],
                ["-a", "MPIIO", "-c"],
                ["-a", "MPIIO", "--way", "rename"],
            ):
                with self.subTest(mpi=mpi, words=words):
                    found = self.measured(mpi, "loop", *SIZE, "-n", 3, "-m", 0, *words, "-o", "f")
                    self.assertTrue(found["valid"])
                    first, others, read = found["accesses"]
                    self.assertEqual(
                        ["write-first", "write", "read"],
                        [each["access"] for each in (first, others, read)],
                    )
                    # The first checkpoint stands by itself; the others are added up.
                    self.assertEqual(
                        [2 << 16, 4 << 16, 2 << 16], [each["bytes"] for each in found["accesses"]]
                    )
                    self.assertEqual(2 << 16, found["checks"][0]["bytes"])
                    self.assertEqual([], list(self.scratch.glob("f*")), "files are left")

    def test_compute_is_not_timed(self):
        found = self.measured(MPIS[0], "loop", *SIZE, "-n", 3, "-m", 300, "-o", "f")
        self.assertLess(found["accesses"][1]["seconds"], 0.5)
        self.assertLessEqual(
            found["accesses"][1]["first_done_s"], found["accesses"][1]["last_done_s"]
        )

    def test_the_last_checkpoint_stays(self):
        self.kernel(MPIS[0], "loop", *SIZE, "-n", 4, "-m", 0, "--keep", "-o", "f")
        data = (self.scratch / "f").read_bytes()
        self.assertEqual(2 << 16, len(data))
        for rank in range(2):  # a word that carries no stamp holds rank, checkpoint and its number
            word = struct.unpack_from("<Q", data, (rank << 16) + 8)[0]
            self.assertEqual((rank << 32) + 3 + 1, word)

    def test_a_wrong_byte_is_found(self):
        for offset in (0, 70000):
            found = self.kernel(
                MPIS[-1], "loop", *SIZE, "-m", 0, "--corrupt", offset, "-o", "f", expect=INVALID
            )
            self.assertIn(f"f: byte {offset} is", found.stderr)
            self.assertIn("[INVALID]", found.stdout)

    def test_mistakes(self):
        for words, text in (
            (["-o", "f", "-b", "9k", "-t", "2k"], "-b: invalid size 9216"),
            (["-o", "f", "--way", "write"], "--way: unknown way 'write'"),
            (["-o", "f", "-n", "1"], "-n: invalid number '1'"),
            (["-o", "f", "-c"], "-c: needs -a MPIIO"),
            ([], "-o: missing file"),
        ):
            found = self.kernel(MPIS[0], "loop", *words, ranks=1, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)


class LlmCheckpoints(BenchCase):
    def test_sizes_of_the_models(self):
        for model, parameters, share in (("8b", 8030261248, 1e-6), ("70b", 69882617856, 1e-7)):
            found = self.measured(
                MPIS[0], "llmckpt", "--model", model, "--scale", share, "-n", 2, "-r", 3, "-o", "f"
            )
            self.assertTrue(found["valid"])
            self.assertEqual(parameters, found["parameters"]["parameters"])
            block = found["parameters"]["block_bytes"]
            self.assertLessEqual(abs(2 * block - 14 * parameters * share), 2 * 16)
            write, read = found["accesses"]
            self.assertEqual((4 * block, 6 * block), (write["bytes"], read["bytes"]))
            self.assertEqual(2 * block, found["checks"][0]["bytes"])
            self.assertEqual([], list(self.scratch.glob("f*")), "files are left")

    def test_files(self):
        self.kernel(
            MPIS[0], "llmckpt", "--scale", "1e-6", "-t", "4k", "-n", 3, "-r", 1, "--keep", "-o", "f"
        )
        names = sorted(path.name for path in self.scratch.glob("f*"))
        self.assertEqual(["f-2.00000000", "f-2.00000001"], names)

    def test_a_wrong_byte_is_found(self):
        found = self.kernel(
            MPIS[-1],
            "llmckpt",
            "--scale",
            "1e-6",
            "-n",
            2,
            "--corrupt",
            5000,
            "-o",
            "f",
            expect=INVALID,
        )
        self.assertIn("f-1.00000000: byte 5000 is", found.stderr)

    def test_mistakes(self):
        for words, text in (
            (["-o", "f", "--model", "9b"], "--model: unknown model '9b'"),
            (["-o", "f", "--scale", "0"], "--scale: invalid factor '0'"),
            (["-o", "f", "--scale", "1e-11"], "--scale: too small"),
        ):
            found = self.kernel(MPIS[0], "llmckpt", *words, ranks=1, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)


if __name__ == "__main__":
    main()
