"""cairn bench: the sizes that a trial chooses: least_s, target_each_s, target_s, what fits."""

import json
import types
import unittest

import bench_case
from bench_case import BenchCase, CAIRN, MPIS, PACKAGE

bench_case.use_package()
import jsonschema  # noqa: E402
from cairn_bench.plan import fit, sizing  # noqa: E402

SCHEMA = json.loads((PACKAGE / "cairn_bench/schema/record.json").read_text(encoding="utf-8"))


def entry(*cells, grows=True):
    """cells: (system, seconds at no scale, seconds a scale of 1 adds, shares of it that are
    timed)."""
    found = sizing.Entry(grows)
    for system, fixed, slope, timed in cells:
        cell = types.SimpleNamespace(name=system, system=system)
        for scale in sizing.SMALL if grows else sizing.SMALL[:1]:
            seconds = {name: slope * scale * share for name, share in timed.items()}
            found.add(cell, sizing.Point(scale, fixed + slope * scale, seconds))
    return found


def everything_fits(_scales):
    return []


class Choice(unittest.TestCase):
    def choice(self, entries, rounds=6, limits_s=0, misfits=everything_fits, **wanted):
        return sizing.Choice(entries, wanted, rounds, limits_s, misfits)

    def test_a_target_for_all(self):
        # 1 s and 8 s at full size; 2 s and no growth.
        entries = {"a": entry(("x", 1, 8, {})), "b": entry(("x", 2, 0, {}))}
        for target, scale, predicted in ((66, 1, 66), (60, 0.75, 54), (1, 1 / 16, 21)):
            found = self.choice(entries, target_s=target).record()
            self.assertEqual((scale, predicted, 66.0),
                             (found["scale"], found["predicted_s"], found["at_full_size_s"]))
        # A part of the time is that of limits, which have one size.
        self.assertEqual(0.5, self.choice(entries, limits_s=2, target_s=54).record()["scale"])

    def test_noise_is_no_growth(self):
        noisy = sizing.Entry(True)
        for system, walls in (("x", (2.0, 1.0)), ("y", (1.0, 2.0))):
            cell = types.SimpleNamespace(name=system, system=system)
            for scale, wall in zip(sizing.SMALL, walls):
                noisy.add(cell, sizing.Point(scale, wall, {}))
        self.assertEqual((3.0, 0.0), noisy.line())
        self.assertEqual(3.0, noisy.wall_s(100))

    def test_each_access_is_timed_for_so_long(self):
        fast, slow = {"write": 0.5, "read": 0.25}, {"write": 0.5, "read": 0.5}
        # The shortest access takes 0.25 s, 4 s and 2 s at full size.
        entries = {
            "short": entry(("memory", 0.5, 1, fast), ("disk", 0.5, 4, slow)),
            "long": entry(("memory", 0.5, 16, fast)),
            "fixed": entry(("memory", 0.5, 1, fast), grows=False),
        }
        choice = self.choice(entries, least_s=1)
        self.assertEqual({"short": 4, "long": 1, "fixed": 1}, choice.scales)
        self.assertEqual({"short": "least_s", "long": "matrix", "fixed": "matrix"}, choice.bounds)
        found = choice.record()
        short = found["entries"]["short"]
        self.assertEqual((1.0, "read on memory", 21.0),
                         (short["shortest_s"], short["shortest"], short["predicted_s"]))
        self.assertNotIn("scale", found)
        # A target shrinks first what is longer than it must be, then the rest.
        for target, scales in ((6 * 30, {"short": 4, "long": 0.375}),
                               (6 * 12, {"short": 1.5, "long": 0.09375})):
            choice = self.choice(entries, least_s=1, target_s=target)
            self.assertEqual({**scales, "fixed": 1}, choice.scales)
            self.assertLessEqual(choice.record()["predicted_s"], target)
        said = sizing.lines(choice.record())
        self.assertIn("short: 1.5 of its size; read on memory is timed for about 0.38 s and not "
                      "for 1 s; bounded by target_s", said)
        self.assertIn("an access is timed for less than 1 s in short, long",
                      sizing.text(choice.record()))

    def test_each_benchmark_takes_so_long(self):
        entries = {
            "small": entry(("memory", 0.5, 1, {}), ("disk", 0.5, 5, {})),
            "large": entry(("disk", 0.5, 300, {}), ("memory", 0.5, 30, {})),
            "none": entry(("memory", 0.5, 0, {})),
        }
        choice = self.choice(entries, target_each_s=30)
        self.assertEqual({"small": 6, "large": 0.09375, "none": 1}, choice.scales)
        self.assertEqual([False, False, True], [choice.is_unknown(name) for name in entries])
        found = choice.record()["entries"]
        self.assertEqual(("disk", "disk"), (found["small"]["slowest"], found["large"]["slowest"]))
        self.assertIn("small: 6 of its size; bounded by target_each_s; slowest on disk",
                      sizing.lines(choice.record()))

    def test_what_does_not_fit_shrinks(self):
        entries = {name: entry(("memory", 0.5, 1, {"write": 0.1})) for name in ("a", "b")}

        def misfits(scales):
            return ["a"] if scales["a"] > 2 else []

        choice = self.choice(entries, misfits=misfits, least_s=1)
        self.assertEqual(({"a": 2, "b": 12}, "space"), (choice.scales, choice.bounds["a"]))
        self.assertIn("a: 2 of its size; write on memory is timed for about 0.2 s and not for 1 s; "
                      "bounded by what fits", sizing.lines(choice.record()))
        # An entry that cannot shrink ends the search.
        entries["a"].grows = False
        self.assertEqual(1, self.choice(entries, misfits=lambda _: ["a"], least_s=1).scales["a"])

    def test_entries_that_are_too_short_to_judge(self):
        short = entry(("memory", 0.5, 1, {"write": 0.5}))
        for wanted, expected in (({"least_s": 1.1}, True), ({"least_s": 0.9}, False),
                                 ({"target_each_s": 30}, True), ({"target_each_s": 0.5}, False),
                                 ({"least_s": 2}, True),
                                 ({"target_s": 1000}, False)):
            self.assertEqual(expected, sizing.too_short(short, wanted), wanted)
        self.assertFalse(sizing.too_short(sizing.Entry(True), {"least_s": 1}))  # all runs failed

    def test_which_entry_has_to_shrink(self):
        """Also the one that the pool of a kept system is made for."""
        size = {"large": 4 << 50, "small": 1 << 50}
        all_cells = [types.SimpleNamespace(name=name, kernel=name, system="kept", parameters={})
                     for name in size]
        kept = types.SimpleNamespace(cairn="kept", medium="/dev/shm", directory="/",
                                     pool_size=lambda cell: size[cell.name])
        before = fit.cells.file_bytes, fit.cells.memory_bytes
        self.addCleanup(
            lambda: vars(fit.cells).update(file_bytes=before[0], memory_bytes=before[1])
        )
        fit.cells.file_bytes, fit.cells.memory_bytes = lambda cell: size[cell.name], lambda _: 0
        self.assertEqual(["large", "small"], fit.to_shrink(all_cells, {"kept": kept}))
        size.update(large=1 << 20, small=1 << 10)
        self.assertEqual([], fit.to_shrink(all_cells, {"kept": kept}))


class Runs(BenchCase):
    def run_matrix(self, head, *words):
        path = self.scratch / "m.yaml"
        path.write_text(
            f"format: 1\nname: test\nlimits: false\nrounds: 1\nwarmup: 0\n{head}\n"
            "systems: {here: {directory: .}}\nkernels:\n"
            "  tiny: {kernel: ior, block: 64KiB, transfer: 64KiB, segments: 16}\n"
            "  names: {kernel: mdtest, files: 64}\n",
            encoding="utf-8",
        )
        command = [CAIRN, "bench", "run", path, "--output", "out", *words]
        shown = self.run_words(command, timeout=300)
        lines = (self.scratch / "out/results.jsonl").read_text(encoding="utf-8").splitlines()
        found = [json.loads(line) for line in lines]
        for record in found:
            jsonschema.Draft202012Validator(SCHEMA).validate(record)
        self.assertEqual([], list(self.scratch.glob("cairn-bench-*")), "files are left")
        return found, shown

    def test_sizes_grow(self):
        found, shown = self.run_matrix("least_s: 0.05")
        run, results = found[0], [each for each in found if each["record"] == "result"]
        sizing_record = run["sizing"]
        self.assertEqual({"tiny", "names"}, set(sizing_record["entries"]))
        scale = sizing_record["entries"]["tiny"]["scale"]
        self.assertGreater(scale, 1)
        self.assertEqual(scale, run["matrix"]["kernels"]["tiny"]["scale"])
        self.assertIn(f"tiny: {scale:g} of its size; bounded by least_s", shown.stderr)
        for each in results:
            self.assertEqual("ok", each["status"])
            if each["kernel"] == "tiny":
                self.assertEqual(16 * scale, each["output"]["parameters"]["segments"])
            for access in each["output"]["accesses"]:
                self.assertGreater(access["seconds"], 0.01, access["access"])

    def test_quick(self):
        found, shown = self.run_matrix("least_s: 1000\npilot: {least: 5}\ntarget_s: 900", "--quick")
        run = found[0]
        self.assertEqual((True, 5), (run["quick"], run["rounds"]))
        self.assertEqual(300, run["sizing"]["target_s"])
        self.assertNotIn("least_s", run["sizing"])
        self.assertIn("A quick run: fewer rounds", shown.stdout)
        page = (self.scratch / "out/report.html").read_text(encoding="utf-8")
        self.assertIn("A quick run", page)


if __name__ == "__main__":
    if not MPIS:
        bench_case.main()
    unittest.main()
