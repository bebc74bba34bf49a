"""The programs of examples/, with every MPI that was found: what they write under `cairn run` is
what they write without it, also when they are killed in between and go on with other ranks."""

import os
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from example_case import CAIRN, BUILT, ENVIRONMENT, MPIS, SOURCES, ExampleCase, kill_tree, main

# The distribution's numpy may belong to another interpreter than the one that is first in PATH.
NUMPY = next(
    (python for python in [sys.executable, "/usr/bin/python3"]
     if os.path.exists(python) and subprocess.run(
         [python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0),
    None)


def mpi_of_python():
    """The MPI that mpi4py of that interpreter uses, or None."""
    source = "from mpi4py import MPI; print(MPI.Get_library_version())"
    run = subprocess.run([NUMPY or sys.executable, "-c", source], capture_output=True, text=True,
                         check=False, env={**os.environ, **ENVIRONMENT})
    return "openmpi" if "Open MPI" in run.stdout else "mpich" if "MPICH" in run.stdout else None


class Examples(ExampleCase):
    def field(self, mpi, ranks, steps, directory):
        return self.mpi_command(mpi, ranks, "field", "--size", 40, "--steps", steps, "--every", 4,
                                "--directory", directory)

    def test_field_goes_on_where_it_was_killed(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                plain, covered = self.directory(f"plain-{mpi}"), self.directory(f"covered-{mpi}")
                process = self.start(self.field(mpi, 2, 1000000, covered), covered)
                steps = 0
                while steps < 3:
                    line = process.stdout.readline()
                    self.assertNotEqual("", line, "the program ended by itself")
                    steps += line.startswith("step")
                kill_tree(process)
                process.stdout.close()

                # The kill may come at any later step.
                output = self.run_to_end(self.field(mpi, 3, 0, covered), covered)
                self.assertIn("restarted at step ", output)
                reached = int(output.split("restarted at step ")[1].split(":")[0])
                self.assertGreaterEqual(reached, 12)
                self.run_to_end(self.field(mpi, 3, reached + 10, covered), covered)
                self.run_to_end(self.field(mpi, 2, 4, plain))
                self.run_to_end(self.field(mpi, 1, reached + 10, plain))
                self.assertEqual((plain / "field.checkpoint").read_bytes(),
                                 (covered / "field.checkpoint").read_bytes())

    def test_field_refuses_what_is_not_its_checkpoint(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                directory = self.directory(f"other-{mpi}")
                (directory / "field.checkpoint").write_bytes(b"something else" * 1000)
                # MPICH's launcher may lose what a program says right before it aborts.
                output, tries = "", 0
                while not output and tries < 5:
                    process = self.start(self.field(mpi, 2, 8, directory), directory)
                    output, _ = process.communicate(timeout=200)
                    self.assertNotEqual(0, process.returncode)
                    tries += 1
                self.assertIn("not a checkpoint", output)

    @unittest.skipUnless(NUMPY, "numpy is missing")
    def test_reader_reads_during_the_run_and_after_it(self):
        mpi = MPIS[0]
        directory = self.directory("read")
        reader = f"{NUMPY} -B {SOURCES / 'read_field.py'} {directory}/field.checkpoint"
        field = " ".join(map(str, self.field(mpi, 2, 8, directory)))
        during = self.run_to_end(["sh", "-c", f"{field} && {reader}"], directory).splitlines()[-1]
        after = self.run_to_end(reader.split()).splitlines()[-1]
        self.assertRegex(during, r"^step 8: 40\^3 cells, ")
        self.assertEqual(during, after)

    def test_mpiio(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                plain, covered = self.directory(f"plain-{mpi}"), self.directory(f"covered-{mpi}")
                self.run_to_end(self.mpi_command(mpi, 3, "mpiio", plain / "lines"))
                output = self.run_to_end(self.mpi_command(mpi, 3, "mpiio", covered / "lines"),
                                         covered)
                self.assertIn("3 ranks: all read their neighbours' lines", output)
                self.assertEqual((plain / "lines").read_bytes(), (covered / "lines").read_bytes())

    def heat(self, mpi, ranks, steps):
        return self.mpi_command(mpi, ranks, "heat", steps, 10, 60)

    def result_of(self, output):
        return output.split(" steps: ")[1].split()[0]

    def test_heat_goes_on_from_its_checkpoints(self):
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                self.environment.update(CAIRN_POOL_SIZE="64MiB", CAIRN_POOL_NAME=f"reference-{mpi}")
                expected = self.result_of(self.run_to_end(self.heat(mpi, 1, 80)))
                self.environment["CAIRN_POOL_NAME"] = f"heat-{mpi}"
                self.run_to_end(self.heat(mpi, 4, 30))
                process = self.start(self.heat(mpi, 3, 100_000_000))
                self.assertEqual("goes on after step 30\n", process.stdout.readline())
                time.sleep(0.3)
                kill_tree(process)
                process.stdout.close()
                output = self.run_to_end(self.heat(mpi, 2, 0))
                self.assertGreaterEqual(int(output.split("goes on after step ")[1].split()[0]), 30)

                # What a run's own pool holds of checkpoints stays when the run has ended.
                directory = self.directory(f"heat-{mpi}")
                self.environment["CAIRN_POOL_NAME"] = f"run-{mpi}"
                self.run_to_end(self.heat(mpi, 3, 40), directory)
                output = self.run_to_end(self.heat(mpi, 4, 80), directory)
                self.assertIn("goes on after step 40\n", output)
                self.assertEqual(expected, self.result_of(output))
                refused = self.start([CAIRN, "pool", "remove", f"run-{mpi}"])
                self.assertIn("holds checkpoints", refused.communicate(timeout=200)[0])
                self.run_to_end([CAIRN, "pool", "clean"])
                self.run_to_end([CAIRN, "pool", "check", f"run-{mpi}"])
                self.run_to_end([CAIRN, "pool", "remove", "--force", f"run-{mpi}"])

    def heat_in(self, language, mpi, ranks, steps):
        """A run of heat, and where it says that it went on."""
        if language == "py":
            command = [NUMPY, "-B", SOURCES / "heat.py", steps, 10, 60]
            if mpi == self.python_mpi:
                command = [shutil.which(f"mpirun.{mpi}") or "mpirun", "-n", ranks, *command]
        else:
            command = self.mpi_command(mpi, ranks, f"heat{language}", steps, 10, 60)
        return self.run_to_end(command)

    def test_each_language_goes_on_from_checkpoints_of_each(self):
        self.python_mpi = mpi_of_python()
        self.environment.update(
            PYTHONPATH=str(SOURCES.parent / "bindings/python"), CAIRN_POOL_SIZE="64MiB",
            CAIRN_LIBRARY=str(pathlib.Path(os.environ["CAIRN_LIB_DIR"]) / "libcairn.so"))
        for mpi in MPIS:
            with self.subTest(mpi=mpi):
                languages = [
                    "", *(one for one in ("_f90", "_cc") if (BUILT / mpi / f"heat{one}").exists())
                ]
                if NUMPY and not os.environ.get("CAIRN_SANITIZE"):
                    languages.append("py")
                # Each follows each other one once; with one MPI, for the time it takes.
                order = [
                    two for one in range(len(languages))
                    for other in range(one + 1, len(languages))
                    for two in (languages[one], languages[other])
                ]
                order = [*(order if mpi == MPIS[0] else languages), ""]
                self.environment["CAIRN_POOL_NAME"] = f"languages-{mpi}"
                for number, language in enumerate(order):
                    output = self.heat_in(language, mpi, 1 + number % 3, 10 * (number + 1))
                    if number > 0:
                        self.assertIn(f"goes on after step {10 * number}\n", output)
                self.environment["CAIRN_POOL_NAME"] = f"language-{mpi}"
                self.assertEqual(
                    self.result_of(self.run_to_end(self.heat(mpi, 1, 10 * len(order)))),
                    self.result_of(output))

    def test_hello_finds_its_file_again(self):
        pool = self.scratch / "hello-pool"
        self.assertIn("greeting had 0 bytes", self.run_to_end([BUILT / "hello", pool]))
        self.assertIn("greeting had 21 bytes", self.run_to_end([BUILT / "hello", pool]))
        self.run_to_end([CAIRN, "pool", "check", pool])
        self.run_to_end([CAIRN, "pool", "remove", pool])

    def test_tiers_moves_a_file_to_and_fro(self):
        directory = self.directory("tiers")
        output = self.run_to_end([BUILT / "tiers", directory / "checkpoint"], directory)
        size = 8 << 20
        lines = output.splitlines()
        self.assertEqual([int(word) for line in lines for word in line.split()
                          if word.isdigit()][1::3], [0, 0, size, 0], output)
        for line, (when, undrained) in zip(lines, [("written", size), ("drained", 0),
                                                   ("evicted", 0), ("staged", 0)]):
            self.assertRegex(line, rf"^{when}: \d+ bytes in the pool, .* {undrained} undrained$")
        self.assertTrue(lines[2].startswith("evicted: 0 bytes in the pool"), output)
        self.assertGreaterEqual(int(lines[3].split()[1]), size)
        self.assertEqual(b"c" * size, (directory / "checkpoint").read_bytes())


if __name__ == "__main__":
    main()
