"""What other packages make of results of cairn bench: DuckDB reads them by the query of the
documentation, and vl-convert draws the figures as SVG, PNG and PDF.

The packages come from PyPI, into a virtual environment in the build folder."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "bench"))
import bench_case  # noqa: E402
from bench_case import BUILD, BenchCase, CAIRN, MPIS  # noqa: E402

bench_case.use_package()
from cairn_bench.results import figures, store  # noqa: E402

SOURCE = pathlib.Path(os.environ["CAIRN_SOURCE_DIR"])
VENV = BUILD / "bench-extras"
PACKAGES = ("duckdb>=1.3", "vl-convert-python>=1.7", "PyYAML", "jsonschema")
QUERY = re.compile(r"```sql\n(SELECT.*?)```", re.S)
READ = """import json, sys, duckdb
for line in duckdb.sql(sys.stdin.read()).fetchall():
    print(json.dumps(line))
"""
BEGINNINGS = {".svg": b"<svg", ".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-"}


def environment():
    """bin/ of the virtual environment, made at the first run."""
    if not (VENV / "complete").exists():
        shutil.rmtree(VENV, ignore_errors=True)
        for command in ([sys.executable, "-m", "venv", VENV],
                        [VENV / "bin/pip", "install", "-q", *PACKAGES]):
            done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
            if done.returncode != 0:
                sys.exit(f"{command}: failed (PyPI must be reachable for this test)\n"
                         f"{done.stdout[-2000:]}{done.stderr[-2000:]}")
        (VENV / "complete").touch()
    return VENV / "bin"


class Extras(BenchCase):
    def setUp(self):
        super().setUp()
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: extras\nrounds: 3\nwarmup: 1\nranks: [1, 2]\nbaseline: one\n"
            "systems:\n  one: {directory: .}\n  other: {directory: ., reads: {by: next-rank}}\n"
            "kernels:\n  shared: {kernel: ior, block: 64KiB, transfer: 8KiB, latency: true}\n"
            "  wrong: {kernel: ior, block: 64KiB, transfer: 8KiB, options: [--corrupt, 9]}\n"
            "  names: {kernel: mdtest, files: 20}\n", encoding="utf-8")
        for number in range(2):
            self.run_words([CAIRN, "bench", "run", path, "--output", f"runs/{number}"], expect=1,
                           timeout=600)

    def rows(self, directory):
        """What DuckDB finds in a directory's results, by the documented query."""
        text = (SOURCE / "docs/user/bench-results.md").read_text(encoding="utf-8")
        run = subprocess.run([environment() / "python", "-c", READ], cwd=directory,
                             input=QUERY.search(text).group(1), capture_output=True, text=True,
                             timeout=300, check=False)
        self.assertEqual(0, run.returncode, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_duckdb_finds_the_same_rates(self):
        for directory in (self.scratch / "runs/1", SOURCE / "docs/results/example"):
            with self.subTest(directory=directory.name):
                found = {tuple(row[:4]): row[5:9] for row in self.rows(directory)}
                series = figures.Figures(store.load(directory / "results.jsonl"))
                wanted = {(kernel, ranks, system, access): one
                          for (kernel, access, ranks, system), one in series.series.items()
                          if series.counted(kernel, access, ranks, system)}
                self.assertGreater(len(wanted), 10)
                self.assertEqual(set(wanted), set(found))
                for key, one in wanted.items():
                    rounds, *rates = found[key]
                    self.assertEqual(len(one.rates), rounds)
                    for rate, expected in zip(rates, (one.rate, one.lowest, one.highest)):
                        self.assertAlmostEqual(1, rate / expected, 6)

    def test_figures_as_pictures(self):
        self.environment["PATH"] = f"{environment()}:{self.environment['PATH']}"
        run = self.run_words([CAIRN, "bench", "report", "runs/1", "--figures", "figures"],
                             expect=1, timeout=600)
        self.assertNotIn("no vl-convert-python", run.stderr)
        drawn = sorted((self.scratch / "figures").glob("*.vl.json"))
        stems = {path.name.removesuffix(".vl.json") for path in drawn}
        for kind in ("heat-map", "scaling-", "ranks-", "latency-", "history-"):
            self.assertTrue(any(stem.startswith(kind) for stem in stems), kind)
        for stem in stems:
            for suffix, beginning in BEGINNINGS.items():
                picture = (self.scratch / "figures" / f"{stem}{suffix}").read_bytes()
                self.assertTrue(picture.startswith(beginning), f"{stem}{suffix}")
                self.assertGreater(len(picture), 2000, f"{stem}{suffix}")


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
