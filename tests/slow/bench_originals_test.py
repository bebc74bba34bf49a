"""The kernels ior and mdtest beside the originals, which are in PATH: run in turns, they have the
same rates within a tenth. Skipped where there is no `ior` or no `mdtest`, and where the machine is
too noisy to tell.

docs/user/bench-kernels.md says in what the kernels differ from the originals."""

import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import bench_case  # noqa: E402
from bench_case import BUILD, BenchCase, KERNELS, MPIS  # noqa: E402

bench_case.use_package()
from cairn_bench.plan import outside  # noqa: E402
from cairn_bench.results import ratios  # noqa: E402

RANKS = 2
LEAST_PAIRS, MOST_PAIRS = 10, 40
LOW, HIGH = 0.9, 1.1
# Words of both programs, the directory is added.
IOR = {
    "file per process, 32 KiB": ["-a", "POSIX", "-F", "-w", "-r", "-t", "32k", "-b", "256m"],
    "file per process, 1 MiB": ["-a", "POSIX", "-F", "-w", "-r", "-t", "1m", "-b", "256m"],
    "shared, 1 MiB": ["-a", "POSIX", "-g", "-w", "-r", "-t", "1m", "-b", "256m"],
    "shared by MPI-IO, 1 MiB": ["-a", "MPIIO", "-w", "-r", "-t", "1m", "-b", "256m"],
}
MDTEST = {
    "a directory each, 32 KiB": ["-u", "-F", "-n", 2000, "-w", 32768, "-e", 32768],
}


def mpi_of(program):
    """The MPI that a program was built with, of those whose kernels are here; None: another one."""
    needed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for mpi, library in (("openmpi", r"libmpi\.so"), ("mpich", r"libmpich\.so")):
        if mpi in MPIS and re.search(library, needed):
            return mpi
    return None


def is_inside(ratio):
    return LOW <= ratio.low and ratio.high <= HIGH


class Originals(BenchCase):
    def rates(self, mpi, program, words, parse=None):
        """{access: rate} of one command; parse: what reads the original's lines."""
        launcher = shutil.which(f"mpirun.{mpi}") or "mpirun"
        start = [launcher, "-n", RANKS, program, *words]
        if parse is None:
            start += ["--no-check", "--format", "json"]
            run = self.run_words(start, timeout=600)
            line = next(each for each in run.stdout.split("\n") if each.startswith("{"))
            found = outside.files.parse_json(line)["accesses"]
        else:
            found = parse(self.run_words(start, timeout=600).stdout, RANKS).accesses
        return {each["access"]: each["rate"] for each in found}

    def compare(self, name, words, parse):
        """Runs kernel and original in turns until each interval is inside the limits, or cannot
        be."""
        program = shutil.which(name)
        if program is None:
            self.skipTest(f"no {name} in PATH")
        mpi = mpi_of(program)
        if mpi is None:
            self.skipTest(f"{program} was built with another MPI than the kernels")
        of_kernel, of_original = {}, {}
        found = {}
        for pair in range(MOST_PAIRS):
            sides = [(of_kernel, KERNELS / mpi / name, None), (of_original, program, parse)]
            random.shuffle(sides)
            for rates, command, reader in sides:
                for access, rate in self.rates(mpi, command, words, reader).items():
                    rates.setdefault(access, {})[pair] = rate
            if pair + 1 < LEAST_PAIRS:
                continue
            found = {access: ratios.paired(of_kernel[access], of_original[access])
                     for access in of_kernel}
            # Noise makes an interval wide, and more pairs make it narrow. One that is beside the
            # limits stays there.
            if all(map(is_inside, found.values())) or any(
                each.high < LOW or each.low > HIGH for each in found.values()):
                break
        for access, each in found.items():
            print(f"{access}: kernel / {name} {each.ratio:.3f} "
                  f"({each.low:.3f}..{each.high:.3f}), {each.pairs} pairs", flush=True)
        wide = [f"{access}: {each}" for access, each in found.items() if not is_inside(each)]
        self.assertEqual([], [f"{access}: {each}" for access, each in found.items()
                              if not is_inside(each) and each.shows_difference])
        if wide:
            self.skipTest(f"too noisy here to tell: {wide}")

    def compare_on_media(self, name, all_words, option, file, parse):
        disk = pathlib.Path(tempfile.mkdtemp(prefix="originals-", dir=BUILD))
        self.addCleanup(shutil.rmtree, disk, ignore_errors=True)
        print("seed", seed := int.from_bytes(os.urandom(4), "big"))
        random.seed(seed)
        for medium, directory in (("tmpfs", self.scratch), ("disk", disk)):
            for about, words in all_words.items():
                with self.subTest(medium=medium, pattern=about):
                    print(f"{name}, {medium}, {about}:", flush=True)
                    self.compare(name, [*words, option, directory / file], parse)

    def test_ior(self):
        self.compare_on_media("ior", IOR, "-o", "f", outside.ior)

    def test_mdtest(self):
        self.compare_on_media("mdtest", MDTEST, "-d", "", outside.mdtest)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    if not any(map(shutil.which, ("ior", "mdtest"))):
        print("no ior and no mdtest in PATH")
        sys.exit(bench_case.SKIPPED)
    unittest.main()
