"""cairn bench compare: verdicts, rules and their exit codes; UMAMI's percentiles and colours."""

import json
import unittest

import bench_case
from bench_case import BenchCase, CAIRN

bench_case.use_package()
from cairn_bench.page import umami  # noqa: E402
from cairn_bench.results import compare  # noqa: E402
from cairn_bench.errors import Mistake  # noqa: E402

ROUNDS = 6


def records(run, rates, status="ok"):
    """A run with one kernel; rates: {system: [MiB/s of each round]}."""
    yield {
        "record": "run",
        "schema": 1,
        "run": run,
        "started": "2026-11-01T00:00:00+00:00",
        "matrix": {"name": "t", "kernels": {"k": {}}, "systems": dict.fromkeys(rates, {})},
        "systems": {name: {"given": {}, "mpi_version": ""} for name in rates},
        "environment": {
            "host": "h",
            "cairn": "cairn 1",
            "processor": "p",
            "processors": 2,
            "system": "s",
        },
        "rounds": ROUNDS,
        "warmup": 0,
    }
    for system, values in rates.items():
        for number, rate in enumerate(values):
            access = {
                "access": "write",
                "bytes": 1 << 20,
                "calls": 1,
                "transfer_bytes": 4096,
                "seconds": 1 / rate,
                "rate": rate,
                "rate_mib_s": rate,
                "unit": "MiB/s",
                "original_name": "",
                "first_done_s": 0.1,
                "phases_s": {},
            }
            yield {
                "record": "result",
                "cell": f"{sum(map(ord, system)):016x}",
                "system": system,
                "kernel": "k",
                "ranks": 2,
                "round": number,
                "warmup": False,
                "status": status,
                "errors": "",
                "wall_s": 1.0,
                "command": [],
                "environment": {},
                "output": {
                    "api": "POSIX",
                    "parameters": {},
                    "hints": {},
                    "checks": [],
                    "accesses": [access],
                },
            }


def around(middle, part=0.01):
    return [middle * (1 + part * step) for step in (-1, 1, -0.5, 0.5, 0.2, -0.2)]


class Compare(BenchCase):
    def results(self, name, rates, run=None, **more):
        directory = self.scratch / name
        directory.mkdir()
        lines = [json.dumps(record) for record in records(run or name, rates, **more)]
        (directory / "results.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        return directory

    def compare(self, *words, expect=0):
        return self.run_words([CAIRN, "bench", "compare", *words], expect=expect)

    def test_two_runs(self):
        self.results("old", {"a": around(100), "b": around(50)})
        self.results("new", {"a": around(70), "b": around(50.1)})
        shown = self.compare("new", "old")
        self.assertRegex(
            shown.stdout,
            r"k +write +2 +a +70\.0 +100 +MiB/s +6 +x0\.700 +0\.69\d\.\.0\.70\d +lower",
        )
        self.assertRegex(shown.stdout, r"k +write +2 +b .* no difference shown")
        self.assertIn("two samples: two runs", shown.stdout)
        self.assertIn("all rows of a system together (1 of a, 1 of b)", shown.stdout)

    def test_rules(self):
        self.results("old", {"a": around(100), "b": around(50)})
        self.results("new", {"a": around(70), "b": around(50.1)})
        shown = self.compare("new", "old", "--fail-if", "ratio<0.9", expect=1)
        self.assertIn("k write, 2 ranks, a: ratio 0.700 < 0.9", shown.stderr)
        self.compare("new", "old", "--fail-if", "ratio<0.6")
        self.compare("old", "new", "--fail-if", "ratio>1.2", expect=1)
        self.assertIn(
            "invalid rule 'ratio=1'",
            self.compare("new", "old", "--fail-if", "ratio=1", expect=2).stderr,
        )

    def test_a_rule_needs_a_difference_that_is_shown(self):
        self.results("old", {"a": around(100, 0.9)})
        self.results("new", {"a": around(70, 0.9)})
        self.compare("new", "old", "--fail-if", "ratio<0.9")

    def test_two_systems_of_one_run(self):
        directory = self.results("one", {"a": around(100), "b": around(50)})
        shown = self.compare(f"{directory}:a", f"{directory}:b")
        self.assertRegex(
            shown.stdout, r"a : b +100 +50\.0 +MiB/s +6 +x2\.00 +2\.00\.\.2\.00 +higher"
        )
        self.assertIn("paired by rounds", shown.stdout)
        for words, text in (
            ([f"{directory}:c", f"{directory}:b"], "no system c in these results: a, b"),
            ([f"{directory}:a", directory], "name a system on both sides or on none"),
            (["gone", directory], "gone: No such file"),
        ):
            self.assertIn(text, self.compare(*words, expect=2).stderr)

    def test_few_rounds_say_what_they_can_show(self):
        self.results("old", {"a": around(100, 0.5)})
        self.results("new", {"a": around(120, 0.5)})
        shown = self.compare("new", "old", "--fail-if", "ratio>1.1").stdout
        self.assertRegex(shown, r" 6 +0\.\d+\.\.\d\.\d+ +too few rounds: can show x\d\.\d\d or")

    def test_rounds_that_one_side_lacks(self):
        directory = self.results("one", {"a": around(100), "b": around(50)[:4]})
        shown = self.compare(f"{directory}:a", f"{directory}:b").stdout
        self.assertRegex(shown, r" +4 +x2\.00 .* higher; only the rounds that both have")

    def test_what_is_not_compared(self):
        self.results("old", {"a": around(100)})
        self.results("void", {"a": around(100)}, status="invalid")
        self.assertIn("not compared: a side is void", self.compare("old", "void").stdout)
        self.results("short", {"a": [100.0]})
        self.assertIn("too few rounds: 1", self.compare("old", "short").stdout)
        self.results("other", {"b": around(1)})
        self.assertIn("no cell in common", self.compare("old", "other", expect=1).stderr)

    def test_figures_for_papers(self):
        self.results("one", {"a": around(100), "b": around(50)})
        run = self.run_words([CAIRN, "bench", "report", "one", "--figures", "figures"])
        drawn = json.loads((self.scratch / "figures/k-write-2.vl.json").read_text("utf-8"))
        rows = drawn["data"]["values"]
        self.assertEqual(["a", "b"], [row["system"] for row in rows])
        self.assertLess(rows[0]["low"], 100)
        self.assertGreater(rows[0]["high"], 100)
        heat = json.loads((self.scratch / "figures/heat-map.vl.json").read_text("utf-8"))
        texts = [one["text"] for one in heat["data"]["values"]]
        self.assertEqual(["100 MiB/s", "50.0 MiB/s"], texts)
        suffixes = {path.suffix for path in (self.scratch / "figures").iterdir()}
        if "Vega-Lite files only" in run.stderr:
            self.assertEqual({".json"}, suffixes)
        else:
            self.assertEqual({".json", ".svg", ".png", ".pdf"}, suffixes)

    def earlier_runs(self, count):
        """Lines of so many runs of the same work before the one that is there."""
        log = self.scratch / "runs/history.jsonl"
        lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
        before = [{**line, "run": f"before-{day}", "started": f"2026-01-0{day}T00:00:00"}
                  for day in range(1, count + 1) for line in lines]
        text = "".join(json.dumps(line) + "\n" for line in [*before, *lines])
        log.write_text(text, encoding="utf-8")

    def test_every_chart_has_a_specification(self):
        """Ranks, scaling, latency and history; each is one that Vega-Lite draws."""
        path = self.scratch / "m.yaml"
        path.write_text(
            "format: 1\nname: t\nlimits: false\nrounds: 2\nwarmup: 0\nranks: [1, 2]\n"
            "systems: {a: {directory: .}}\n"
            "kernels: {k: {kernel: ior, block: 64KiB, transfer: 4KiB, latency: true}}\n",
            encoding="utf-8",
        )
        self.run_words([CAIRN, "bench", "run", path, "--output", "runs/0"])
        self.earlier_runs(8)
        self.run_words([CAIRN, "bench", "report", "runs/0", "--figures", "figures"])
        drawn = {
            path.name.removesuffix(".vl.json"): json.loads(path.read_text("utf-8"))
            for path in (self.scratch / "figures").glob("*.vl.json")
        }
        kinds = {"k-write-2", "heat-map", "scaling-k-write", "ranks-k-write-2", "latency-k-read-1"}
        self.assertLessEqual(kinds | {"history-k-write-2-a"}, set(drawn))
        ranks = drawn["ranks-k-write-2"]["data"]["values"]
        self.assertEqual({0, 1}, {row["rank"] for row in ranks})
        self.assertLessEqual({"open", "transfer", "close"}, {row["phase"] for row in ranks})
        by_ranks = {row["ranks"]: row for row in drawn["scaling-k-write"]["data"]["values"]}
        self.assertAlmostEqual(2 * by_ranks[1]["rate"], by_ranks[2]["ideal"])
        parts = [row["part"] for row in drawn["latency-k-read-1"]["data"]["values"]]
        self.assertEqual((17, 0.01, 0.9999), (len(parts), parts[0], round(parts[-1], 6)))
        series, box = drawn["history-k-write-2-a"]["hconcat"]
        newest = [row["newest"] for row in series["data"]["values"]]
        self.assertEqual([*[False] * 8, True], newest)
        self.assertEqual({"p5", "p25", "p50", "p75", "p95"}, set(box["data"]["values"][0]))

    def test_rule(self):
        self.assertEqual(compare.Rule("<", 0.9), compare.rule(" ratio < 0.9 "))
        self.assertRaises(Mistake, compare.rule, "mean<2")


class Umami(unittest.TestCase):
    # pytokio: percentiles of all but the newest; the first that the newest does not exceed.
    def test_quarters(self):
        before = [10, 20, 30, 40, 50]
        for newest, expected in (
            (5, 0),
            (20, 0),
            (20.1, 1),
            (30, 1),
            (40, 2),
            (41, 3),
            (50, 3),
            (60, 3),
        ):
            self.assertEqual(expected, umami.quarter([*before, newest]), newest)

    def test_percentiles(self):
        self.assertEqual(20, umami.percentile([50, 10, 30, 20, 40], 25))
        self.assertAlmostEqual(17.5, umami.percentile([10, 20, 30, 40], 25))
        self.assertEqual(7, umami.percentile([7], 95))

    def test_colours(self):
        self.assertEqual(
            ["#DA0017", "#FD6A07", "#40A43A", "#2C69A9"], [umami.colour(i) for i in range(4)]
        )
        self.assertEqual(
            ["#2C69A9", "#40A43A", "#FD6A07", "#DA0017"], [umami.colour(i, False) for i in range(4)]
        )

    def test_strip(self):
        text = umami.strip("k write", [10, 20, 30, 40, 15], "MiB/s")
        self.assertIn("15.0 MiB/s, in the lowest quarter of 4 earlier runs", text)
        self.assertEqual(4, text.count("<circle"))
        self.assertIn('stroke-dasharray="4 3"', text)
        umami.strip("all the same", [3, 3, 3], "MiB/s")

    def test_strip_without_quarters(self):
        text = umami.strip("k write", [10, 20, 15], "MiB/s", has_quarters=False)
        self.assertIn("15.0 MiB/s, after 2 earlier runs", text)
        self.assertIn(umami.NEUTRAL, text)
        for absent in ("quarter", 'class="box"', *umami.COLOURS):
            self.assertNotIn(absent, text)


if __name__ == "__main__":
    unittest.main()
