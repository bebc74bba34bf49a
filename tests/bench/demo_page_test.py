"""The page that make demo ends with: its figures are results of cairn bench."""

import json
import pathlib
import sys
import types
import unittest

import bench_case
from bench_case import PACKAGE, SKIPPED, BenchCase, CAIRN

bench_case.use_package()
import jsonschema  # noqa: E402

DEMO = PACKAGE.parents[1] / "scripts/demo"
sys.path.insert(0, str(DEMO))
import bench_page  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))
MIB = 1 << 20


def sample(checkpoint, restart, ending):
    checkpoints = [checkpoint * 3, checkpoint, checkpoint]
    return types.SimpleNamespace(checkpoints=checkpoints, restart=restart, ending=ending)


class DemoPage(BenchCase):
    def figures(self):
        figures = bench_page.Figures()
        samples = {
            "disk, fsync": [sample(0.2, 0.3, 0.1), sample(0.22, 0.3, 0.1)],
            "disk": [sample(0.1, 0.3, 0.1), sample(0.11, 0.3, 0.1)],
            "tmpfs": [sample(0.08, 0.2, 0.1), sample(0.09, 0.2, 0.1)],
            "Cairn": [sample(0.02, 0.1, 0.5), sample(0.03, 0.1, 0.5)],
        }
        field = types.SimpleNamespace(mib=128.0, ranks=2, ranks_after=3, samples=samples)
        bench_page.add_field(figures, field)
        bench_page.add_heat(figures, "heat", 2, 64 * MIB, [0.5, 0.1, 0.1, 0.1])
        speeds = {"fio read 1 MiB": {"disk": [100.0, 110.0], "Cairn": [1000.0, 1100.0]}}
        bench_page.add_fio(figures, speeds, 512 * MIB)
        return figures

    def test_the_page_and_its_data(self):
        told = self.figures().write(self.scratch / "demo.html", pathlib.Path("/proc"), self.scratch)
        self.assertIn("demo.jsonl", told)
        lines = (self.scratch / "demo.jsonl").read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines]
        for record in records:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        self.assertEqual(("run", "end"), (records[0]["record"], records[-1]["record"]))
        self.assertEqual(2, records[0]["rounds"])
        page = (self.scratch / "demo.html").read_text(encoding="utf-8")
        glance = bench_case.section(page, "At a glance")
        self.assertRegex(glance, r"write</th><td>610 MiB/s")
        # The write of 0.025 s, and the drain.
        self.assertRegex(glance, r"durable after.*never: in memory</td><td>0\.525 s, when it has")
        self.assertIn("some time later: not synced", glance)
        self.assertIn("heat write", page)
        # The command makes the same page from the same data.
        shown = self.run_words([CAIRN, "bench", "report", "demo.jsonl", "--output", "again.html"])
        self.assertRegex(shown.stdout, r"field +write +2 +Cairn +5\d\d\d")
        self.assertEqual(page, (self.scratch / "again.html").read_text(encoding="utf-8"))

    def test_the_names_of_the_figures_are_those_of_the_demo(self):
        for name, text in (("field", "add_field"), ("checkpoint", "add_heat"), ("known",
                                                                                "add_fio")):
            self.assertIn(text, (DEMO / f"{name}.py").read_text(encoding="utf-8"))


if __name__ == "__main__":
    if not pathlib.Path(CAIRN).exists():
        print("no cairn command was built")
        sys.exit(SKIPPED)
    unittest.main()
