"""Every ready matrix of cairn bench runs, tiny, on tmpfs and on Cairn; its kernels' data are
right."""

import json
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import bench_case  # noqa: E402
from bench_layouts import EVERY_LAYOUT  # noqa: E402
from bench_case import BUILD, PACKAGE, BenchCase, CAIRN, MPIS  # noqa: E402

bench_case.use_package()

# Of the matrix's scale: one segment, some thousand particles, two files of rdbench. Programs of
# others write as much as they are told.
SCALE = 0.002
READY = sorted(path.stem for path in (PACKAGE / "cairn_bench/matrices").glob("*.yaml"))


class Matrices(BenchCase):
    def test_each(self):
        disk = pathlib.Path(tempfile.mkdtemp(prefix="matrices-", dir=BUILD))
        self.addCleanup(shutil.rmtree, disk, ignore_errors=True)
        for name in READY:
            with self.subTest(matrix=name):
                self.run_one(name, disk)

    def test_every_layout(self):
        """On plain tmpfs and on Cairn, with each MPI."""
        pool = "directory: ., pool_directory: ., cairn:"
        systems = "".join(f"  plain-{mpi}: {{directory: ., mpi: {mpi}}}\n"
                          f"  kept-{mpi}: {{{pool} kept, mpi: {mpi}}}\n"
                          f"  fresh-{mpi}: {{{pool} fresh, mpi: {mpi}}}\n" for mpi in MPIS)
        path = self.scratch / "m.yaml"
        path.write_text("format: 1\nname: all\nrounds: 1\nwarmup: 0\nlimits: false\nranks: [2]\n"
                        f"systems:\n{systems}kernels:{EVERY_LAYOUT}", encoding="utf-8")
        self.run_words([CAIRN, "bench", "run", path, "--output", "out"], timeout=1800)
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        results = [record for record in map(json.loads, lines) if record["record"] == "result"]
        self.assertGreaterEqual(len(results), 22 * 3 * len(MPIS))
        for record in results:
            self.assertEqual("ok", record["status"], record["kernel"])
            checked = sum(check["bytes"] for check in record["output"]["checks"])
            self.assertGreater(checked, 0, record["kernel"])

    def run_one(self, name, disk):
        # The disk of the matrices is the directory of the start.
        words = ["sh", "-c", 'cd "$0" && exec "$@"', disk, CAIRN, "bench", "run", name]
        shown = self.run_words(
            [*words, "--rounds", 2, "--scale", SCALE, "--output", self.scratch / name],
            timeout=1800,
        )
        path = self.scratch / name / "results.jsonl"
        records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        run, end = records[0], records[-1]
        self.assertEqual("complete", end["reason"])
        results = [record for record in records if record["record"] == "result"]
        self.assertEqual({"ok"}, {record["status"] for record in results})
        self.assertEqual({"ok"}, {r["status"] for r in records if r["record"] == "limit"} | {"ok"})
        for record in results:
            if "outside" not in record["output"]:
                checked = sum(check["bytes"] for check in record["output"]["checks"])
                self.assertGreater(checked, 0, record["kernel"])
        self.assertEqual(run["cells"], len({record["cell"] for record in results}))
        self.assertIn("MiB/s", shown.stdout)
        page = (self.scratch / name / "report.html").read_text(encoding="utf-8")
        self.assertIn("At a glance", page)
        self.assertIsNone(re.search(r"\b(nan|None)\b", page))
        self.assertEqual([], [each.name for each in disk.glob("cairn-bench-*")], "files are left")


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
