"""`KERNEL --check-only` judges a command line without MPI and names every mistake in it."""

import unittest

import bench_case
from bench_case import BenchCase, KERNELS, MPIS

bench_case.use_package()
from cairn_bench.plan import descriptions, kernels  # noqa: E402

USAGE = 2
# Words of the kernels that the runner itself starts.
OF_RUNNER = {
    "limits": ["-b", "64k", "-t", "8k", "f"],
    "device": ["-b", "64k", "-t", "8k", "f"],
    "network": ["-b", "64k", "-t", "8k"],
    "drop": ["."],
}
# Values that are right one by one and wrong together, or for three ranks; and what is said of them.
WRONG = {
    "bdcats": (["-f", "f", "--write-only"], "--write-only: needs --make"),
    "device": (["-b", "4k", "-t", "8k", "f"], "-b: invalid size 4096: expected at least -t"),
    "drop": (["a", "b"], "one argument too many: b"),  # its only operand
    "hacc": ([1 << 50, "f"], "PARTICLES: 1125899906842624 is too large"),
    "ior": (["-b", "1m", "-t", "3k"], "-b: invalid block size 1048576: expected a multiple of the"),
    "limits": (["-b", "4k", "-t", "8k", "f"], "-b: invalid size 4096: expected at least -t"),
    "llmckpt": (["--scale", 1e-12, "-o", "f"], "--scale: too small"),
    "loop": (["-b", "1m", "-t", "3k", "-o", "f"], "-b: invalid size 1048576: expected a multiple"),
    "mdtest": (["-d", "d", "-w", 10, "-e", 20], "-e: invalid size 20: expected at most -w, 10"),
    "network": (["-b", "4k", "-t", "8k"], "-b: invalid size 4096: expected at least -t"),
    "palm": (["-o", "d", "--back-end", "cairn", "--corrupt", 1], "--corrupt: a version of cairn"),
    "rdbench": (["-L", 128], "-L: invalid length 128: expected a multiple of 1 and 3"),
    "sedov": (["-s", 2, "-o", "d"], "-s: 2 elements cannot be divided among 3 ranks"),
    "vpic": (["-a", "MPIIO", "--particles", 1 << 40, "f"], "--particles: too large: one call of"),
}


class CheckOnly(BenchCase):
    def check(self, mpi, kernel, *words, ranks=3, expect=0):
        """Runs the kernel itself, without a launcher, and sees that it has written nothing."""
        run = self.run_words(
            [KERNELS / mpi / kernel, "--check-only", "--ranks", ranks, *words], expect=expect
        )
        self.assertEqual("", run.stdout)
        self.assertEqual([], list(self.scratch.iterdir()))
        return run.stderr

    def test_what_matrices_give_is_right(self):
        words = dict(OF_RUNNER)
        for name, kernel in kernels.known().items():
            words[name] = kernel.words(kernel.normal({"kernel": name}), self.scratch / "gone")
        for mpi in MPIS:
            self.assertEqual(set(descriptions.of_mpi(mpi)), set(words))
            for kernel, given in words.items():
                with self.subTest(mpi=mpi, kernel=kernel):
                    for ranks in (1, 4):
                        self.assertEqual("", self.check(mpi, kernel, *given, ranks=ranks))

    def test_each_kernel_judges_its_values_together(self):
        for mpi in MPIS:
            self.assertEqual(set(descriptions.of_mpi(mpi)), set(WRONG))
            for kernel, (words, text) in WRONG.items():
                with self.subTest(mpi=mpi, kernel=kernel):
                    said = self.check(mpi, kernel, *words, expect=USAGE)
                    self.assertTrue(said.startswith(f"{kernel}: {text}"), said)

    def test_a_run_says_the_same(self):
        for kernel, (words, _) in WRONG.items():
            with self.subTest(kernel=kernel):
                wanted = self.check(MPIS[0], kernel, *words, expect=USAGE)
                run = self.kernel(MPIS[0], kernel, *words, ranks=3, expect=None)
                self.assertNotEqual(0, run.returncode)
                self.assertIn(wanted, run.stderr)
                self.assertEqual([], list(self.scratch.glob("[!o]*")))

    def test_all_mistakes_are_named(self):
        said = self.check(
            MPIS[0], "ior", "-t", "4q", "-i", 0, "-a", "POSX", "--fromat", "x", expect=USAGE
        )
        for text in ("-t: invalid size '4q'", "-i: invalid number '0'", "unknown API 'POSX'",
                     "unknown option --fromat"):
            self.assertIn(f"ior: {text}" if text[0] != "u" else text, said)
        self.assertEqual(4, said.count("\n"))
        said = self.check(MPIS[0], "ior", "-t", 12, "-c", "-C", "--readers", "next-rank",
                          expect=USAGE)
        self.assertEqual(3, said.count("\n"), said)
        self.assertIn("ior: -t: missing size\n", self.check(MPIS[0], "ior", "-t", expect=USAGE))
        self.assertIn("ior: unknown option -q;", self.check(MPIS[0], "ior", "-wq", expect=USAGE))

    def test_sizes(self):
        for text in ("1048576", "1024k", "1m", "1M", "1024K", "1MiB", "1024KiB", "1048576B"):
            words = ["-b", "1m", "-t", text]
            self.assertEqual("", self.check(MPIS[0], "ior", *words))
            # A multiple of 1 MiB, and not of less.
            self.assertIn("expected a multiple of the transfer size, 1048576",
                          self.check(MPIS[0], "ior", "-b", "1536k", "-t", text, expect=USAGE))
        for text in ("1g", "1G", "1GiB", "1024MiB"):
            self.assertEqual("", self.check(MPIS[0], "ior", "-b", "1t", "-t", text))
        for text in ("", "m", "-1", "1.5m", "1q", "1kB", "1 k", "1mib", "0x10", "1kk"):
            said = self.check(MPIS[0], "ior", "-t", text, expect=USAGE)
            self.assertEqual(
                f"ior: -t: invalid size '{text}': expected bytes, or a number with k, m, g or t, "
                "or with KiB, MiB, GiB or TiB\n", said)
        for text in ("8388608t", "99999999999999999999", "9999999999999g"):
            said = self.check(MPIS[0], "ior", "-t", text, expect=USAGE)
            self.assertEqual(f"ior: -t: invalid size '{text}': expected less than 2^63 bytes\n",
                             said)

    def test_command_lines_of_studies(self):
        for kernel, text in (
            ("ior", "-a POSIX -F -C -e -g -b 4m -t 4m -s 1638 -o f -v"),
            ("ior", "-w -r -o f -t 1m -b 128m -F -e -Y -C -O summaryFormat=CSV"),
            ("ior", "-w -k -o f -t 1m -b 128m -F -e -Y -O summaryFormat=CSV"),
            ("ior", "-a MPIIO -l timestamp -g -G -1401473791 -k -e -i 1 -s 1 -b 21474836480"
                    " -t 32768 -o f -O summaryFormat=JSON -O summaryFile=s.json -w"),
            ("ior", "-a MPIIO -l timestamp -g -G -1401473791 -k -e -i 1 -s 1 -b 21474836480"
                    " -t 32768 -o f -O summaryFormat=JSON,summaryFile=s.json -r -C -Q 1"),
            ("ior", "-H -k -w -o f -s 256 -b 4m -t 4m -e -g -i 1 -v"),
            ("rdbench", "--length 32768 --output o_2 --nomkdir --iotype view --steps 640"
                        " --interval 64 --novalidate --disable-initial-output --prettify --xnp 4"
                        " --nosync"),
            ("mdtest", "-n 1000 -u -F -i 3 -d ."),
            ("mdtest", "-a POSIX -u -L -F -N 1 -n 10 -w 3901 -e 3901 -X -v -P -d ."),
            ("hacc", "20971520 hacc.dat"),
            ("vpic", "vpic.hdf5 32"),
            ("bdcats", "-f v.h5part -d /Step#0/x -d /Step#0/y -d /Step#0/z -d /Step#0/px"
                       " -d /Step#0/py -d /Step#0/pz"),
        ):
            with self.subTest(kernel=kernel, text=text):
                self.assertEqual("", self.check(MPIS[0], kernel, *text.split(), ranks=8))

    def test_nodes(self):
        words = ["--readers", "next-node"]
        self.assertEqual("", self.check(MPIS[0], "ior", *words))
        self.assertEqual("", self.check(MPIS[0], "ior", *words, "--nodes", 2))
        self.assertIn("this job has one node only",
                      self.check(MPIS[0], "ior", *words, "--nodes", 1, expect=USAGE))
        self.assertIn("this job has one rank only",
                      self.check(MPIS[0], "ior", *words, ranks=1, expect=USAGE))

    def test_ranks_belong_to_the_launcher(self):
        run = self.kernel(MPIS[0], "ior", "--ranks", 3, ranks=1, expect=None)
        self.assertNotEqual(0, run.returncode)
        self.assertIn("--ranks, --nodes: need --check-only", run.stderr)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
