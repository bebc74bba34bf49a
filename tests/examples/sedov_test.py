"""examples/sedov with every MPI: its physics on coarse meshes, the same bits on any number of
ranks, and restarts."""

import random
import re
import time

from example_case import MPIS, ExampleCase, kill_tree, main


class Sedov(ExampleCase):
    def sedov(self, mpi, ranks, *words):
        return self.mpi_command(mpi, ranks, "sedov", *words)

    def outcome(self, command):
        """The figures of a whole run, by name."""
        output = self.run_to_end(command)
        return dict(re.findall(r"(?m)([a-z ]+): ([0-9a-f.e+-]+)(?:,|$)", output))

    def test_physics(self):
        errors = {}
        for size in (8, 16):
            found = self.outcome(self.sedov(MPIS[0], 2, "--size", size, "--every", 0))
            self.assertEqual("1", found[" time"])
            # Energy is paid for: only rounding is left. Exactly 0 would mean that nothing moved.
            self.assertLess(abs(float(found[" relative error"])), 1e-13)
            self.assertAlmostEqual(0.851072 / 8, float(found["total energy"]), delta=1e-14)
            self.assertLess(float(found["asymmetry"]), 1e-12)
            errors[size] = abs(float(found["front"]) - float(found[" similarity solution"]))
            # The shock is about an element ahead of the similarity solution, at most 1.2.
            self.assertLess(errors[size], 1.2 * 1.2 / size)  # the cube is 1.2 wide
        self.assertLess(errors[16], 0.8 * errors[8])

    def test_all_numbers_of_ranks_give_the_same_bits(self):
        for mpi in MPIS:
            words = ("--size", 7, "--every", 0, "--cycles", 40)  # 7: boxes of different sizes
            reference = self.outcome(self.sedov(mpi, 1, *words))
            for ranks in (2, 3, 8):
                with self.subTest(mpi=mpi, ranks=ranks):
                    found = self.outcome(self.sedov(mpi, ranks, *words))
                    for key in ("state", "energy at the origin", "total energy", "front"):
                        self.assertEqual(reference[key], found[key])

    def test_goes_on_with_other_ranks_where_it_was_killed(self):
        for mpi in MPIS:
            words = ("--size", 12, "--time", "1e9")  # which no run reaches before it is killed
            self.environment.update(CAIRN_POOL_SIZE="64MiB", CAIRN_POOL_NAME=f"sedov-{mpi}")
            reached = 0
            for ranks in (4, 1, 8, 2):
                with self.subTest(mpi=mpi, ranks=ranks):
                    process = self.start(self.sedov(mpi, ranks, *words, "--every", 1, "--report",
                                                    1))
                    line = process.stdout.readline()
                    if reached:
                        self.assertRegex(line, r"^goes on after cycle \d+$")
                        self.assertGreaterEqual(int(line.split()[-1]), reached)
                        line = process.stdout.readline()
                    # the checkpoint of this cycle is written
                    self.assertRegex(line, r"^cycle \d+: ")
                    reached = int(line.split()[1].rstrip(":"))
                    time.sleep(random.random() / 10)
                    kill_tree(process)
                    process.stdout.close()
            # The kill came at any later cycle.
            reached = int(self.outcome(self.sedov(mpi, 4, *words, "--cycles", 0))["cycles"])
            found = self.outcome(self.sedov(mpi, 3, *words, "--cycles", reached + 5))
            reference = self.outcome(
                self.sedov(mpi, 1, *words, "--every", 0, "--cycles", reached + 5)
            )
            self.assertEqual(str(reached + 5), found["cycles"])
            for key in ("state", "energy at the origin", "total energy"):
                self.assertEqual(reference[key], found[key])

    def test_words_it_does_not_know(self):
        for words, text in (
            (["--size", "none"], "--size: invalid value 'none'"),
            (["--speed", 1], "--speed: unknown option"),
            (["--size", 2, "--every", 0], "2 elements cannot be divided among 3 ranks"),
        ):
            process = self.start(self.sedov(MPIS[0], 3, *words))
            output, _ = process.communicate(timeout=200)
            self.assertNotEqual(0, process.returncode)
            self.assertIn(f"sedov: {text}" if "--" in text else text, output)


if __name__ == "__main__":
    main()
