"""Statistics of cairn bench: quantiles, intervals, verdicts, the rate of false findings."""

import math
import random
import unittest

import bench_case

bench_case.use_package()
from cairn_bench.results import ratios  # noqa: E402

# Two-sided 95 %, from the usual tables.
TABLE = {
    1: 12.7062,
    2: 4.3027,
    3: 3.1824,
    4: 2.7764,
    5: 2.5706,
    7: 2.3646,
    9: 2.2622,
    14: 2.1448,
    29: 2.0452,
    120: 1.9799,
}
TRIALS = 10000
SEEDS = (1, 2, 3)


def binomial_interval(trials, part, confidence):
    """The smallest and largest count that are not in a tail of the binomial distribution."""
    tail = (1 - confidence) / 2
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(count + 1)
        - math.lgamma(trials - count + 1)
        + count * math.log(part)
        + (trials - count) * math.log(1 - part)
        for count in range(trials + 1)
    ]
    total, low, high = 0.0, None, None
    for count, log in enumerate(logs):
        total += math.exp(log)
        if low is None and total > tail:
            low = count
        if high is None and total >= 1 - tail:
            high = count
    return low, high


def same(draw, rounds=5, spread=0.2):
    """Rates of two systems that are the same."""
    return ({each: draw.lognormvariate(7, spread) for each in range(rounds)} for _ in range(2))


class Ratios(unittest.TestCase):
    def test_quantiles(self):
        for degrees, expected in TABLE.items():
            self.assertAlmostEqual(expected, ratios.student(0.95, degrees), places=4)
        self.assertAlmostEqual(4.6041, ratios.student(0.99, 4), places=4)

    def test_interval(self):
        # Logarithms of the ratios: log 2 exactly, so the interval has no width.
        found = ratios.paired({1: 200, 2: 400, 3: 100}, {1: 100, 2: 200, 3: 50})
        self.assertAlmostEqual(2, found.ratio)
        self.assertAlmostEqual(2, found.low)
        self.assertTrue(found.shows_difference)
        self.assertEqual(0, found.p)
        found = ratios.paired({1: 1, 2: 4}, {1: 2, 2: 2})
        self.assertAlmostEqual(1, found.ratio)
        self.assertAlmostEqual(1, found.p)
        self.assertFalse(found.shows_difference)

    def test_only_common_rounds_count(self):
        self.assertIsNone(ratios.paired({1: 1, 2: 1}, {2: 1, 3: 1}))
        self.assertEqual(2, ratios.paired({1: 1, 2: 1, 3: 9}, {1: 1, 2: 1}).pairs)

    def test_interval_and_p_agree(self):
        draw = random.Random(5)
        for _ in range(300):
            one, other = same(draw)
            for found in (
                ratios.paired(one, other),
                ratios.two_samples(list(one.values()), list(other.values())[:4]),
            ):
                self.assertEqual(found.shows_difference, found.p < ratios.LEVEL)
                self.assertTrue(found.low <= found.ratio <= found.high)

    def test_two_runs(self):
        # By hand: means of the logarithms 1 and 0, variances 0.5 and 2, three values each.
        ours = [math.exp(1 + step * math.sqrt(0.5)) for step in (-1, 0, 1)]
        base = [math.exp(step * math.sqrt(2)) for step in (-1, 0, 1)]
        found = ratios.two_samples(ours, base)
        half = 2.7764 * math.sqrt(0.5 / 3 + 2 / 3)
        self.assertAlmostEqual(math.e, found.ratio)
        self.assertAlmostEqual(math.exp(1 - half), found.low, places=4)
        self.assertFalse(found.paired)
        self.assertIsNone(ratios.two_samples([1.0], [1.0, 2.0]))

    def test_equal_systems_differ_in_five_percent(self):
        low, high = binomial_interval(TRIALS, ratios.LEVEL, 0.99)
        for seed in SEEDS:
            draw = random.Random(seed)
            in_pairs = in_runs = 0
            for _ in range(TRIALS):
                one, other = same(draw)
                in_pairs += ratios.paired(one, other).shows_difference
                in_runs += ratios.two_samples(
                    list(one.values()), list(other.values())
                ).shows_difference
            self.assertTrue(low <= in_pairs <= high, f"seed {seed}: {in_pairs} not {low}..{high}")
            self.assertTrue(low <= in_runs <= high, f"seed {seed}: {in_runs} not {low}..{high}")

    def test_a_table_of_equal_systems_is_wrong_in_five_percent(self):
        tables, rows = 2000, 12
        low, high = binomial_interval(tables, ratios.LEVEL, 0.99)
        for seed in SEEDS[:2]:
            draw = random.Random(100 + seed)
            found = alone = 0
            for _ in range(tables):
                ps = [ratios.paired(*same(draw)).p for _ in range(rows)]
                found += any(ratios.holm(ps))
                alone += any(p < ratios.LEVEL for p in ps)
            self.assertTrue(low <= found <= high, f"seed {seed}: {found} not {low}..{high}")
            self.assertGreater(alone, tables * 0.4)  # what Holm is for

    def test_how_many_equal_pairs_may_differ(self):
        for count in (1, 20, 40, 200):
            chances = [math.comb(count, k) * 0.05**k * 0.95**(count - k) for k in range(count + 1)]
            most = ratios.most_wrong(count)
            self.assertGreaterEqual(sum(chances[: most + 1]), 0.975)
            self.assertLess(sum(chances[:most]), 0.975)
        self.assertEqual((3, 5), (ratios.most_wrong(20), ratios.most_wrong(40)))

    def test_holm(self):
        self.assertEqual([True, False, True], ratios.holm([0.001, 0.06, 0.02]))
        # 0.03 is above 0.05 / 2, so 0.04 is not looked at.
        self.assertEqual([False, False, True], ratios.holm([0.03, 0.04, 0.001]))
        self.assertEqual([], ratios.holm([]))

    def test_rounds_that_a_pilot_asks_for(self):
        self.assertEqual(5, ratios.rounds_for(0.0, 0.05, 5, 20))
        self.assertEqual(20, ratios.rounds_for(1.0, 0.05, 5, 20))
        count = ratios.rounds_for(0.05, 0.05, 2, 100)
        half = ratios.student(0.95, count - 1) * 0.05 / math.sqrt(count)
        self.assertLessEqual(half, math.log(1.05))
        fewer = count - 1
        half = ratios.student(0.95, fewer - 1) * 0.05 / math.sqrt(fewer)
        self.assertGreater(half, math.log(1.05))

    def test_drift(self):
        self.assertAlmostEqual(1, ratios.rank_correlation([1, 2, 5, 9]))
        self.assertAlmostEqual(-1, ratios.rank_correlation([9, 5, 2, 1]))
        self.assertAlmostEqual(0.8, ratios.rank_correlation([1, 3, 2, 4]))
        self.assertIsNone(ratios.rank_correlation([2, 2, 2]))


if __name__ == "__main__":
    unittest.main()
