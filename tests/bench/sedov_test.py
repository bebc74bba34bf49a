"""The kernel sedov: all ways write the state that is restored, and a wrong byte is found."""

import os
import shutil
import subprocess
import time

from bench_case import BenchCase, CAIRN, INVALID, KERNELS, MPIS, main

CYCLES = ["-n", 3, "--warmup", 1]
WAYS = ["file", "persist", "drain", "cairn"]


def state_bytes(size):
    return 8 * (6 * (size + 1) ** 3 + 5 * size**3 + 5)


class Sedov(BenchCase):
    def ways(self, found):
        """Those that were measured; a build without libpmem lacks two."""
        names = [each["access"] for each in found["accesses"]]
        self.assertEqual({3}, {names.count(name) for name in names})
        ways = [way for way in WAYS if way in names]
        self.assertIn(ways, (WAYS, ["file", "cairn"]))
        self.assertEqual({*ways, "copy"}, set(names))
        return ways

    def test_all_ways_restore_the_state(self):
        for mpi in MPIS:
            for ranks in (1, 3):  # three boxes of 7 elements are not equal
                with self.subTest(mpi=mpi, ranks=ranks):
                    found = self.measured(
                        mpi, "sedov", "-s", 7, *CYCLES, "-o", "made", ranks=ranks
                    )
                    self.assertTrue(found["valid"])
                    # Ranks that share a face both hold its nodes.
                    held = state_bytes(7) + (ranks - 1) * 8 * (6 * 8 * 8 + 5)
                    self.assertEqual(held, found["parameters"]["state_bytes"])
                    self.assertEqual({held}, {each["bytes"] for each in found["accesses"]})
                    self.assertEqual(
                        [held] * len(self.ways(found)), [each["bytes"] for each in found["checks"]]
                    )
                    self.assertLess(0, found["parameters"]["compute_ns_median"])
                    self.assertFalse((self.scratch / "made").exists(), "files are left")

    def test_one_way_and_its_files(self):
        self.kernel(MPIS[0], "sedov", "-s", 4, *CYCLES, "--way", "file", "--keep", "-o", "made")
        self.assertEqual(["file"], os.listdir(self.scratch / "made"))
        names = sorted(os.listdir(self.scratch / "made/file"))
        variables = sorted("clock e p q ss v x xd y yd z zd".split())
        self.assertEqual([f"{name}.{rank}" for name in variables for rank in (0, 1)], names)
        self.assertEqual(8 * 3 * 5 * 5, (self.scratch / "made/file/x.0").stat().st_size)
        self.assertEqual(8 * 2 * 4 * 4, (self.scratch / "made/file/e.1").stat().st_size)

    def test_under_cairn_run(self):
        self.environment["CAIRN_POOL_DIR"] = str(self.scratch / "pools")
        covered = self.scratch / "covered"
        covered.mkdir()
        kernel = [KERNELS / MPIS[0] / "sedov", "-s", 4, *CYCLES, "-o", "covered/made"]
        start = [shutil.which(f"mpirun.{MPIS[0]}") or "mpirun", "-n", 2]
        run = [CAIRN, "run", "--at", covered, "--pool-size", "64MiB", "--"]
        found = self.run_words([*run, *start, *kernel])
        self.assertEqual(self.lines_verified(found), len(self.lines_of_ways(found)))

    @staticmethod
    def lines_verified(found):
        return found.stdout.count(" bytes verified, 0 wrong\n")

    @staticmethod
    def lines_of_ways(found):
        texts = ("a file per variable", "persist per", "flush per element, one", "Cairn's")
        return [line for line in found.stdout.split("\n") if line.startswith(texts)]

    def test_table(self):
        found = self.kernel(MPIS[-1], "sedov", "-s", 4, *CYCLES, "--whole-mapping", "-o", "made")
        self.assertRegex(found.stdout, r"(?m)^sedov: 4\^3 elements, 2 ranks, 0\.0\d MiB of state")
        self.assertRegex(found.stdout, r"(?m)^compute of a cycle +[0-9.]+ +[0-9.]+ +[0-9.]+$")
        self.assertRegex(found.stdout, r"(?m)^copy with CRC .* 1\.00x .*%  +0\.00%$")
        self.assertIn(len(self.lines_of_ways(found)), (2, 4))

    def test_a_wrong_byte_is_found(self):
        found = self.kernel(
            MPIS[0], "sedov", "-s", 4, *CYCLES, "--corrupt", 100, "-o", "made", expect=INVALID
        )
        self.assertIn("file: x: byte 100 is", found.stderr)
        self.assertIn("[INVALID]", found.stdout)

    def start(self, *words):
        """Starts the kernel alone, so that the process that is killed is the kernel."""
        kernel = [KERNELS / MPIS[-1] / "sedov", "-s", 4, "--way", "cairn", "-o", "made", *words]
        return subprocess.Popen(
            list(map(str, kernel)), env=self.environment, cwd=self.scratch,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def wait_for_pool(self):
        for _ in range(3000):
            if (self.scratch / "made/pool").exists():
                return
            time.sleep(0.01)
        self.fail("no pool after 30 s")

    def test_a_killed_run_can_be_started_again(self):
        for _ in range(2):
            running = self.start("-n", 1000000)
            self.wait_for_pool()
            time.sleep(0.2)
            running.kill()
            running.wait()
            self.assertTrue((self.scratch / "made/pool").exists())
        found = self.measured(MPIS[-1], "sedov", "-s", 4, *CYCLES, "--way", "cairn", "-o", "made",
                              ranks=1)
        self.assertTrue(found["valid"])
        self.assertFalse((self.scratch / "made").exists(), "files are left")

    def test_a_pool_in_use_stays(self):
        running = self.start("-n", 1000000)
        try:
            self.wait_for_pool()
            time.sleep(0.5)
            other = self.kernel(MPIS[-1], "sedov", "-s", 4, *CYCLES, "--way", "cairn", "-o", "made",
                                ranks=1, expect=None)
            self.assertNotEqual(0, other.returncode)
            self.assertIn("removing an earlier run's pool failed", other.stderr)
            self.assertIsNone(running.poll())
        finally:
            running.kill()
            running.wait()

    def test_a_pool_of_others_stays(self):
        pool = self.scratch / "made/pool"
        pool.parent.mkdir()
        self.run_words([CAIRN, "pool", "create", pool, "--size", "64MiB"])
        before = sorted(pool.iterdir())
        found = self.kernel(MPIS[0], "sedov", "-s", 4, *CYCLES, "--way", "cairn", "-o", "made",
                            ranks=1, expect=None)
        self.assertNotEqual(0, found.returncode)
        self.assertIn("made/pool: is there, and not from an earlier run of this", found.stderr)
        self.assertEqual(before, sorted(pool.iterdir()))

    def test_mistakes(self):
        for words, text in (
            (["-o", "made", "--way", "best"], "--way: unknown way 'best'"),
            (["-o", "made", "-s", 0], "-s: invalid number '0'"),
            (["-o", "made", "-s", 2], "-s: 2 elements cannot be divided among 3 ranks"),
            (["-o", "made", "--way", "cairn", "--corrupt", 1], "--corrupt: a version of cairn has"),
            ([], "-o: missing directory"),
        ):
            found = self.kernel(MPIS[0], "sedov", *words, ranks=3, expect=None)
            self.assertNotEqual(0, found.returncode)
            self.assertIn(text, found.stderr)
            self.assertFalse((self.scratch / "made").exists())


if __name__ == "__main__":
    main()
