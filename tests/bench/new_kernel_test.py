"""A new kernel is one source: the example of docs/dev/bench-kernel.md, built out of the tree."""

import json
import os
import pathlib
import re
import shutil
import sys
import unittest

import bench_case
from bench_case import BUILD, BenchCase, CAIRN, KERNELS, MPIS, PACKAGE

SOURCE = pathlib.Path(os.environ.get("CAIRN_SOURCE_DIR", pathlib.Path(__file__).parents[2]))
PAGE = SOURCE / "docs/dev/bench-kernel.md"
MATRIX = """format: 1
name: new
rounds: 1
warmup: 0
limits: false
systems:
  one: {directory: .}
"""


class NewKernel(BenchCase):
    def setUp(self):
        super().setUp()
        self.mpi = MPIS[0]
        self.compiler = shutil.which(f"mpicxx.{self.mpi}") or shutil.which("mpicxx")
        if self.compiler is None:
            self.skipTest("no mpicxx here")
        # A lib/cairn with the kernels of the build, and a new one among them.
        self.folder = self.scratch / "lib/cairn/bench" / self.mpi
        self.folder.mkdir(parents=True)
        for path in (KERNELS / self.mpi).iterdir():
            (self.folder / path.name).symlink_to(path)
        self.environment |= {
            "CAIRN_BENCH_LIB": str(self.scratch / "lib/cairn"), "CAIRN_BENCH_COMMAND": CAIRN
        }

    def bench(self, *words, **more):
        start = PACKAGE / "cairn_bench/start.py"
        return self.run_words([sys.executable, "-I", "-B", start, *words], timeout=120, **more)

    def build(self):
        text = PAGE.read_text(encoding="utf-8")
        source = self.scratch / "fill.cc"
        source.write_text(re.search(r"```cpp\n(.*?)```", text, re.S).group(1), encoding="utf-8")
        self.run_words(
            [self.compiler, "-std=c++20", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX", "-I",
             SOURCE / "bench/mpi/kernels", source, "-o", self.folder / "fill",
             BUILD / f"libbench_kernels_{self.mpi}.a"], timeout=300)
        described = self.run_words([self.folder / "fill", "--describe"]).stdout
        (self.folder / "fill.json").write_text(described, encoding="utf-8")
        return re.search(r"```yaml\n(.*?)```", text, re.S).group(1)

    def test_matrix_help_list_and_completion_know_it(self):
        entry = self.build()
        (self.scratch / "m.yaml").write_text(MATRIX + entry, encoding="utf-8")
        self.bench("run", "m.yaml", "--output", "out")
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        result = next(each for each in map(json.loads, lines) if each["record"] == "result")
        self.assertEqual("ok", result["status"])
        self.assertEqual(2 * 4 << 20, result["output"]["checks"][0]["bytes"])
        self.assertIn(["-e", "-b", "4194304", "-o"], [result["command"][-5:-1]])

        scaled = self.bench("run", "m.yaml", "--dry-run", "--scale", 0.5)
        self.assertIn("4.0 MiB on the medium", scaled.stdout)
        self.assertIn("fill", self.bench("complete", "kernels").stdout.split())
        self.assertIn("size: size; default 1 MiB", self.bench("kernels", "fill").stdout)
        self.assertIn("| `size` | `-b SIZE` | size | 1 MiB | bytes of each rank |",
                      self.bench("kernels", "--markdown").stdout)

        (self.scratch / "m.yaml").write_text(MATRIX + entry.replace("fsync", "fsnc"))
        self.assertIn("unknown key fsnc in kernels.fill; did you mean fsync?",
                      self.bench("run", "m.yaml", expect=2).stderr)

    def test_check_finds_a_wrong_byte(self):
        self.build()
        launcher = shutil.which(f"mpirun.{self.mpi}") or "mpirun"
        found = self.run_words(
            [launcher, "-n", 2, self.folder / "fill", "-o", "f", "-b", "4k", "--corrupt", 5],
            expect=bench_case.INVALID)
        self.assertIn("f.0: byte 5 is", found.stderr)

    def test_old_descriptions_are_told(self):
        (self.folder / "old.json").write_text('{"format": 0}', encoding="utf-8")
        self.assertIn("old.json: not a description of format 1",
                      self.bench("kernels", expect=2).stderr)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    bench_case.use_package()
    unittest.main()
