"""cairn bench add: judged tables in the store, on their own page and on that of a run beside
them."""

import json
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, PACKAGE, SKIPPED

bench_case.use_package()
import pathlib  # noqa: E402
import sys  # noqa: E402

import jsonschema  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))


def table(percent, microseconds):
    """As bench/harness/report.cc writes it."""
    return {
        "facts": {"cairn": "cairn 1", "machine": "a machine"},
        "rows": [
            {
                **{"group": "overwrite", "what": "4 KiB", "against": "memcpy", "unit": "ratio"},
                **{"median": percent, "low": percent - 0.01, "high": percent + 0.01, "pairs": 20},
                **{"at_least": 0.9, "verdict": "holds" if percent > 0.91 else "short"},
            },
            {
                **{"group": "life", "what": "attach", "against": "", "unit": "us"},
                **{"median": microseconds, "low": 10, "high": 90, "pairs": 20, "note": "a <note>"},
            },
        ],
        "not_measured": [{"group": "huge pages", "what": "4 KiB", "why": "there are none"}],
    }


class Judged(BenchCase):
    def add(self, *words, expect=0):
        return self.run_words([CAIRN, "bench", "add", *words], expect=expect)

    def write(self, name, content):
        (self.scratch / name).write_text(content, encoding="utf-8")

    def records(self):
        lines = (self.scratch / "runs/judged/results.jsonl").read_text("utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        return found

    def test_tables_gather(self):
        for percent, microseconds in ((0.85, 50.0), (0.95, 40.0)):
            self.write("core.json", json.dumps(table(percent, microseconds)))
            self.write("palm.json", json.dumps(table(0.8, 70.0)))
            shown = self.add("runs/judged", "core.json", "palm.json")
        self.assertIn("runs/judged/report.html", shown.stdout)
        names = [record["record"] for record in self.records()]
        self.assertEqual(["run", "end", *["judged"] * 4], names)
        page = bench_case.plain(
            (self.scratch / "runs/judged/report.html").read_text(encoding="utf-8")
        )
        self.assertIn("bench-core: 1 of 1 bars hold", page)
        self.assertIn("bench-palm: 0 of 1 bars hold", page)
        self.assertIn("95.0 %</td><td>94.0 %..96.0 %</td><td>at least 90.0 %", page)
        self.assertIn("a &lt;note&gt;", page)
        self.assertIn("Not measured: huge pages, 4 KiB: there are none", page)
        # A strip against the first time: a time is good when it is small.
        self.assertIn("bench-core overwrite, 4 KiB against memcpy", page)
        strips = page.split("<h2>Against earlier runs")[1].split("<h2>")[0]
        self.assertEqual(4, strips.count('<svg class="umami"'))
        for text in ("What each system gives", "At a glance", "Every round"):
            self.assertNotIn(text, page)

    def test_on_the_page_of_a_run_beside_them(self):
        self.write("core.json", json.dumps(table(0.95, 40.0)))
        self.add("runs/judged", "core.json")
        self.write(
            "m.yaml",
            "format: 1\nname: t\nlimits: false\nrounds: 1\nwarmup: 0\nranks: [1]\n"
            "systems: {here: {directory: .}}\n"
            "kernels: {one: {kernel: ior, block: 64KiB, transfer: 8KiB}}\n",
        )
        self.run_words([CAIRN, "bench", "run", "m.yaml", "--output", "runs/one"])
        page = (self.scratch / "runs/one/report.html").read_text(encoding="utf-8")
        self.assertIn("bench-core: 1 of 1 bars hold", page)
        self.assertIn("one write", page)

    def test_what_is_no_table(self):
        self.write("text.json", "no")
        self.write("other.json", '{"rows": [{"group": "a"}]}')
        for name, text in (
            ("gone.json", "gone.json: No such file"),
            ("text.json", "text.json: not JSON"),
            ("other.json", "other.json: not a judged table: expected what bench_core"),
        ):
            self.assertIn(text, self.add("runs/judged", name, expect=2).stderr)
        self.assertFalse((self.scratch / "runs").exists())


if __name__ == "__main__":
    if not pathlib.Path(CAIRN).exists():
        print("no cairn command was built")
        sys.exit(SKIPPED)
    if not bench_case.MPIS:
        bench_case.main()
    unittest.main()
