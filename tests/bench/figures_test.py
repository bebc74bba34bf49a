"""Figures of a run and the table that the terminal shows: rates, ratios, times, the order of rows,
void cells and verified bytes."""

import random
import re
import unittest

import bench_case

bench_case.use_package()
from cairn_bench.results import figures, store, summary  # noqa: E402


def results(rates, kernels=("k",), status=None, seconds=2.0, order=None, ranks=(2,)):
    """Results of a run. rates: {system: {round: MiB/s}}; order: of the records."""
    status = status or {}
    records = []
    for kernel in kernels:
        for count in ranks:
            for system, values in rates.items():
                for number, rate in values.items():
                    access = {
                        "bytes": 1 << 20, "calls": 1, "transfer_bytes": 4096, "seconds": seconds,
                        "rate": rate, "rate_mib_s": rate, "unit": "MiB/s", "original_name": "",
                        "first_done_s": None, "phases_s": {},
                    }
                    accesses = [{**access, "access": name} for name in ("write", "read")]
                    output = {
                        "api": "POSIX", "parameters": {}, "hints": {}, "accesses": accesses,
                        "checks": [{"repetition": 0, "bytes": 1000, "wrong": 0,
                                    "first_wrong": ""}],
                    }
                    records.append({
                        "record": "result", "cell": "0" * 16, "system": system, "kernel": kernel,
                        "ranks": count, "round": number, "warmup": False, "wall_s": 1.0,
                        "status": status.get(system, "ok"), "errors": "", "command": [],
                        "environment": {}, "output": output,
                    })
    if order:
        order.shuffle(records)
    run = {
        "run": "r", "environment": {"host": "h"},
        "systems": {name: {"given": {}, "mpi_version": ""} for name in rates},
        "matrix": {"name": "t", "baseline": "base", "kernels": dict.fromkeys(kernels, {}),
                   "systems": dict.fromkeys(rates, {})},
    }
    return store.Results(run, records, [], None)


def around(middle, rounds=range(6)):
    return {each: middle * factor for each, factor in zip(rounds, (1, 1.01, 0.99, 1.02, 0.98, 1))}


class Tables(unittest.TestCase):
    def shown(self, *given, **more):
        return summary.lines(figures.Figures(results(*given, **more)))

    def test_a_ratio_is_the_quotient_of_the_rates(self):
        draw = random.Random(12)
        rates = {name: {each: draw.lognormvariate(7, 0.5) for each in range(10)}
                 for name in ("base", "ours")}
        found = figures.Figures(results(rates))
        base, ours = (found.counted("k", "write", 2, name) for name in rates)
        verdict = found.verdict("k", "write", 2, "ours")
        self.assertAlmostEqual(ours.rate / base.rate, verdict.ratio.ratio)
        self.assertEqual(2, verdict.ratio.comparisons)  # write and read

    def test_the_order_of_the_matrix(self):
        rates = {"base": around(100), "ours": around(150)}
        for seed in range(3):
            found = figures.Figures(results(rates, ("z", "a", "m"), order=random.Random(seed),
                                            ranks=(4, 2)))
            wanted = [(kernel, access, ranks) for kernel in ("z", "a", "m")
                      for access in ("write", "read") for ranks in (2, 4)]
            self.assertEqual(wanted, found.rows())
            self.assertEqual([(*row, system) for row in wanted for system in rates],
                             list(found.series))

    def test_uneven_rounds(self):
        lines = self.shown({"base": around(100), "ours": around(150, range(2, 6))})
        row = next(line for line in lines if "write" in line and "ours" in line)
        self.assertRegex(row, r"x1\.5\d \(1\.\d\d\.\.1\.\d\d\), rounds in common: 4")
        lines = self.shown({"base": around(100, range(3)), "ours": around(150, range(3, 6))})
        self.assertTrue(any("too few rounds: 0" in line for line in lines))

    def test_void_sides(self):
        rates = {"base": around(100), "ours": around(150)}
        lines = self.shown(rates, status={"base": "failed"})
        self.assertTrue(any("not compared: base is void" in line for line in lines))
        self.assertIn("FAILED: k on base, 2 ranks: exit code None", lines)
        lines = self.shown(rates, status={"ours": "invalid"})
        self.assertTrue(any(re.search("ours +INVALID", line) for line in lines))

    def test_timed_for(self):
        rates = {"base": around(100)}
        for seconds, text in ((2.0, " 2.00 s "), (0.0431, " 0.0431 s*"), (None, " ? ")):
            lines = self.shown(rates, seconds=seconds)
            self.assertIn(text, next(line for line in lines if "write" in line))
            self.assertEqual(seconds == 0.0431, summary.ABOUT_SHORT in lines)

    def test_noise_floor(self):
        found = figures.Figures(results({"base": around(100), "base-again": around(103)}))
        self.assertEqual((2, 2), (len(found.noise_floor), len(found.false_findings)))
        line = summary.noise_lines(found)[-1]
        self.assertIn("2 of 2 intervals exclude 1 where each is taken alone", line)
        self.assertIn("Differences shown, which should be none: 2.", line)


class VerifiedBytes(unittest.TestCase):
    def state(self, checks, errors="", **output):
        found = results({"base": {0: 100.0}}, status={"base": "invalid"})
        found.results[0]["output"].update(checks=checks, **output)
        found.results[0].update(errors=errors)
        return figures.Figures(found).state("k", 2, "base")

    def check(self, size, wrong, first=""):
        return {"repetition": 0, "bytes": size, "wrong": wrong, "first_wrong": first}

    def test_only_equal_bytes_count(self):
        checks = [self.check(1000, 0), self.check(1000, 3, "f: byte 5 is 1, expected 2")]
        self.assertEqual(1997, self.state(checks).verified)
        # A program of others does not say how many of its bytes are wrong.
        self.assertEqual(1000, self.state(checks, outside=True).verified)

    def test_the_reason(self):
        first = "f: byte 5 is 1, expected 2"
        checks = [self.check(1000, 3, first)]
        self.assertEqual(first, self.state(checks).reason)
        self.assertEqual(first, self.state(checks, "mpirun was started\n").reason)
        line = f"ior: INVALID: 3 of 1000 bytes are wrong: {first}"
        self.assertEqual(line, self.state(checks, f"---\n{line}\n").reason)
        self.assertEqual("no luck", self.state([], "no luck\n").reason)


if __name__ == "__main__":
    unittest.main()
