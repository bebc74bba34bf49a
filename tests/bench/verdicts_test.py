"""Verdicts of cairn bench over simulated tables: never against their printed interval, at most one
family of equal systems in twenty with a wrong one."""

import math
import random
import re
import unittest

import bench_case

bench_case.use_package()
from cairn_bench import digits  # noqa: E402
from cairn_bench.results import ratios, verdicts  # noqa: E402

NUMBER = r"(\d+(?:\.\d+)?|inf)"
SHOWN = re.compile(rf"x{NUMBER} \({NUMBER}\.\.{NUMBER}\)")
NOT_SHOWN = re.compile(
    rf"(no difference shown|too few rounds|too few rounds: can show x{NUMBER} or more) "
    rf"\({NUMBER}\.\.{NUMBER}\)"
)
TOO_FEW = re.compile(r"too few rounds: [012]")


def sides(draw, rounds, spread, ratio):
    """Rates of two systems, of which the first is `ratio` times as fast."""
    base = {each: draw.lognormvariate(7, spread) for each in range(rounds)}
    return {each: ratio * draw.lognormvariate(7, spread) for each in range(rounds)}, base


def table(draw, rows, rounds, spread, true_ratios=(1,)):
    """({row: true ratio}, {row: Verdict}) of one system against its baseline."""
    truth = {row: true_ratios[row % len(true_ratios)] for row in range(rows)}
    found = {row: ratios.paired(*sides(draw, rounds, spread, truth[row])) for row in truth}
    return truth, verdicts.of_family(found)


def least_count(trials, part):
    """What a binomial count of such a probability falls below once in a million (normal)."""
    return trials * part - 4.8 * math.sqrt(trials * part * (1 - part))


class SimulatedTables(unittest.TestCase):
    def contradicts(self, verdict):
        """Checks the printed text by itself, as a reader would."""
        shown = SHOWN.fullmatch(verdict.text)
        if shown:
            ratio, low, high = map(float, shown.groups())
            self.assertTrue(low <= ratio <= high, verdict.text)
            self.assertFalse(low <= 1 <= high, verdict.text)
            self.assertTrue(verdict.shown)
            return
        self.assertFalse(verdict.shown, verdict.text)
        if TOO_FEW.fullmatch(verdict.text):
            self.assertEqual("", verdict.interval)
            return
        other = NOT_SHOWN.fullmatch(verdict.text)
        self.assertIsNotNone(other, verdict.text)
        *_, low, high = other.groups()
        self.assertTrue(float(low) <= 1 <= float(high), verdict.text)

    def test_no_verdict_contradicts_its_interval(self):
        seed = 11
        draw = random.Random(seed)
        kinds = set()
        for _ in range(3000):
            true_ratios = draw.choice([(1,), (1, 6), (1 / 6, 200), (1, 1.02, 0.98, 1.1)])
            spread = draw.choice([0.001, 0.01, 0.05, 0.2, 1.0, 5.0])
            rounds = draw.choice([1, 2, 3, 4, 5, 10, 20])
            _, found = table(draw, draw.choice([1, 2, 5, 12, 25]), rounds, spread, true_ratios)
            for verdict in found.values():
                self.contradicts(verdict)
                kinds.add(re.sub(r"[\d.]+", "N", verdict.words))
        self.assertEqual(
            {"higher", "lower", "no difference shown", "too few rounds: N", "too few rounds",
             "too few rounds: can show xN or more"}, kinds, f"seed {seed}")

    def test_tables_of_equal_systems(self):
        """A wrong verdict in at most 5 % of the families, whatever their size."""
        tables = 1000
        for seed, rows, rounds, spread in ((1, 1, 5, 0.2), (2, 12, 5, 0.2), (3, 12, 10, 0.05),
                                           (4, 30, 3, 0.5)):
            draw = random.Random(seed)
            found = [table(draw, rows, rounds, spread)[1].values() for _ in range(tables)]
            right = sum(not any(each.shown for each in one) for one in found)
            self.assertGreater(right, least_count(tables, 0.95), (seed, right))
            if rows >= 12:  # what the simultaneous intervals are for
                alone = sum(
                    any(each.ratio.among(1).excludes_1 for each in one) for one in found
                )
                self.assertGreater(alone, tables * 0.4)

    def test_coverage(self):
        """All intervals of a family contain their true ratios in 95 % of the tables."""
        tables = 1000
        for seed, rows, rounds, spread in ((5, 12, 10, 0.05), (6, 5, 3, 0.3), (7, 20, 5, 1.0)):
            draw = random.Random(seed)
            covered = printed = 0
            for _ in range(tables):
                truth, found = table(draw, rows, rounds, spread, (1, 6, 1 / 200, 0.9))
                covered += all(
                    found[row].ratio.low <= truth[row] <= found[row].ratio.high for row in truth
                )
                printed += all(
                    float(found[row].ends[0]) <= truth[row] <= float(found[row].ends[1])
                    for row in truth
                )
            self.assertGreater(covered, least_count(tables, 0.95), (seed, covered))
            self.assertLess(tables - covered, tables * 0.05 * 1.5)
            self.assertGreaterEqual(printed, covered)

    def test_large_differences_are_shown(self):
        draw = random.Random(8)
        for rows, rounds, spread, ratio in ((50, 10, 0.05, 6), (50, 10, 0.05, 1 / 6),
                                            (12, 3, 0.05, 200), (46, 5, 0.2, 200)):
            for _ in range(100):
                _, found = table(draw, rows, rounds, spread, (ratio,))
                self.assertTrue(all(each.shown for each in found.values()))
                wanted = {"better" if ratio > 1 else "worse"}
                self.assertEqual(wanted, {each.kind for each in found.values()})


class Verdicts(unittest.TestCase):
    def of(self, ours, base, rows=1):
        found = ratios.paired(dict(enumerate(ours)), dict(enumerate(base)))
        return verdicts.Verdict(found and found.among(rows))

    def test_texts(self):
        base = [100] * 5
        for ours, text in (
            ([129, 131, 127, 128, 130], "x1.29 (1.27..1.31)"),
            ([100, 101, 99, 102, 98], "no difference shown (0.980..1.02)"),
            ([100, 150, 70, 90, 60], "too few rounds: can show x1.56 or more (0.575..1.39)"),
            ([100, 100, 100, 100, 100], "no difference shown (1.00..1.00)"),
            ([200, 200, 200, 200, 200], "x2.00 (2.00..2.00)"),
            ([1230, 1230, 1240, 1220, 1230], "x12.3 (12.2..12.4)"),
        ):
            self.assertEqual(text, self.of(ours, base).text)
        self.assertEqual("too few rounds: 2", self.of([1, 2], [1, 2]).text)
        self.assertEqual("too few rounds: 1", self.of([1], [9]).text)
        self.assertEqual("too few rounds: 0", verdicts.Verdict(None).text)
        self.assertEqual("not compared: a side is void",
                         verdicts.Verdict(None, "a side is void").text)

    def test_a_difference_that_rounding_hides_is_not_shown(self):
        """x1.004 (1.003..1.005) would be printed as x1.00 (1.00..1.01)."""
        found = self.of([1004, 1004.5, 1003.5, 1004.2], [1000] * 4)
        self.assertGreater(found.ratio.low, 1)
        self.assertEqual("no difference shown (1.00..1.01)", found.text)

    def test_three_rounds_are_the_fewest(self):
        for rounds, has in ((1, False), (2, False), (3, True)):
            found = self.of([200.0, 210.0, 190.0][:rounds], [1.0] * rounds)
            self.assertEqual(has, found.has_interval)
            self.assertEqual(has, found.shown)
            self.assertEqual(has, ratios.interval([1.0, 2.0, 3.0][:rounds]) is not None)

    def test_a_family_of_one_row_has_the_interval_of_a_single_comparison(self):
        one = ratios.paired(*sides(random.Random(9), 6, 0.1, 1.2))
        (found,) = verdicts.of_family({"row": one}).values()
        self.assertEqual((one.low, one.high), (found.ratio.low, found.ratio.high))

    def test_rows_without_an_interval_do_not_widen_the_others(self):
        draw = random.Random(10)
        one = ratios.paired(*sides(draw, 6, 0.1, 1.2))
        few = ratios.paired(*sides(draw, 2, 0.1, 1.2))
        found = verdicts.of_family({"a": one, "b": few, "c": None})
        self.assertEqual(one.high, found["a"].ratio.high)
        self.assertEqual("too few rounds: 2", found["b"].text)
        self.assertEqual("too few rounds: 0", found["c"].text)

    def test_three_digits(self):
        for value, text in ((640, "640"), (4149, "4150"), (12.34, "12.3"), (0.087, "0.0870"),
                            (9.996, "10.0"), (999.6, "1000"), (123456.0, "123000"), (0.0, "0"),
                            (1.0, "1.00"), (0.00012345, "0.000123"), (1e15, "1" + "0" * 15)):
            self.assertEqual(text, digits.three(value))
        self.assertEqual(("1.20", "1.38"), digits.outward(1.2 + 1e-15, 1.371))
        self.assertEqual(("0", "inf"), digits.outward(1e-9, 1e9))


if __name__ == "__main__":
    unittest.main()
