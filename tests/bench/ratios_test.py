"""Statistics of cairn bench: quantiles, intervals, and how often they call equal systems different.
verdicts_test.py has the tables."""

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
        # Of a family of 50: P = 0.999.
        self.assertAlmostEqual(4.7809, ratios.student(1 - 0.05 / 50, 9), places=4)
        self.assertAlmostEqual(31.5991, ratios.student(1 - 0.05 / 50, 2), places=4)

    def test_interval(self):
        # Logarithms of the ratios: log 2 exactly, so the interval has no width.
        found = ratios.paired({1: 200, 2: 400, 3: 100}, {1: 100, 2: 200, 3: 50})
        self.assertAlmostEqual(2, found.ratio)
        self.assertAlmostEqual(2, found.low)
        self.assertTrue(found.excludes_1)
        # By hand: logarithms of the ratios -1, 0 and 1, so the standard error is 1 / sqrt(3).
        rates = {each: math.exp(each) for each in (-1, 0, 1)}
        found = ratios.paired(rates, dict.fromkeys(rates, 1))
        self.assertAlmostEqual(1, found.ratio)
        self.assertAlmostEqual(4.3027 / math.sqrt(3), found.half, places=4)
        self.assertAlmostEqual(31.5991 / math.sqrt(3), found.among(50).half, places=4)
        self.assertFalse(found.excludes_1)

    def test_no_interval_below_three_rounds(self):
        found = ratios.paired({1: 2, 2: 8}, {1: 1, 2: 1})
        self.assertAlmostEqual(4, found.ratio)
        self.assertEqual((None, None, None), (found.half, found.low, found.high))
        self.assertFalse(found.excludes_1)
        self.assertIsNone(ratios.interval([1.0, 2.0]))
        found = ratios.two_samples([1.0, 2.0], [1.0, 2.0, 3.0])
        self.assertEqual((2, None), (found.pairs, found.low))
        self.assertIsNone(ratios.two_samples([], [1.0]))

    def test_only_common_rounds_count(self):
        self.assertIsNone(ratios.paired({1: 1}, {2: 1, 3: 1}))
        found = ratios.paired({1: 1, 2: 1, 3: 9}, {1: 1, 2: 1})
        self.assertEqual((2, True), (found.pairs, found.uneven))
        self.assertFalse(ratios.paired({1: 1, 2: 1}, {1: 1, 2: 1}).uneven)
        self.assertEqual(1, ratios.paired({1: 1, 2: 0}, {1: 1, 2: 1}).pairs)  # 0 has no logarithm

    def test_the_ratio_is_that_of_the_geometric_means(self):
        draw = random.Random(5)
        for _ in range(100):
            one, other = same(draw, spread=1)
            means = [ratios.geometric_mean(each.values()) for each in (one, other)]
            found = ratios.paired(one, other)
            self.assertAlmostEqual(1, found.ratio / (means[0] / means[1]))
            self.assertTrue(found.low <= found.ratio <= found.high)
        self.assertEqual((0.0, None), (ratios.geometric_mean([0, 1]), ratios.geometric_mean([])))

    def test_two_runs(self):
        # By hand: means of the logarithms 1 and 0, variances 0.5 and 2, three values each.
        ours = [math.exp(1 + step * math.sqrt(0.5)) for step in (-1, 0, 1)]
        base = [math.exp(step * math.sqrt(2)) for step in (-1, 0, 1)]
        found = ratios.two_samples(ours, base)
        half = 2.7764 * math.sqrt(0.5 / 3 + 2 / 3)
        self.assertAlmostEqual(math.e, found.ratio)
        self.assertAlmostEqual(math.exp(1 - half), found.low, places=4)
        self.assertFalse(found.paired)
        self.assertIsNone(ratios.two_samples([1.0], [1.0, 2.0]).low)

    def test_equal_systems_differ_in_five_percent(self):
        low, high = binomial_interval(TRIALS, ratios.LEVEL, 0.99)
        for seed in SEEDS:
            draw = random.Random(seed)
            in_pairs = in_runs = 0
            for _ in range(TRIALS):
                one, other = same(draw)
                in_pairs += ratios.paired(one, other).excludes_1
                in_runs += ratios.two_samples(
                    list(one.values()), list(other.values())
                ).excludes_1
            self.assertTrue(low <= in_pairs <= high, f"seed {seed}: {in_pairs} not {low}..{high}")
            self.assertTrue(low <= in_runs <= high, f"seed {seed}: {in_runs} not {low}..{high}")

    def test_how_many_equal_pairs_may_differ(self):
        for count in (1, 20, 40, 200):
            chances = [math.comb(count, k) * 0.05**k * 0.95**(count - k) for k in range(count + 1)]
            most = ratios.most_wrong(count)
            self.assertGreaterEqual(sum(chances[: most + 1]), 0.975)
            self.assertLess(sum(chances[:most]), 0.975)
        self.assertEqual((3, 5), (ratios.most_wrong(20), ratios.most_wrong(40)))

    def test_rounds_that_a_pilot_asks_for(self):
        self.assertEqual(5, ratios.rounds_for(0.0, 0.05, 5, 20))
        self.assertEqual(20, ratios.rounds_for(1.0, 0.05, 5, 20))
        count = ratios.rounds_for(0.05, 0.05, 2, 100)
        half = ratios.student(0.95, count - 1) * 0.05 / math.sqrt(count)
        self.assertLessEqual(half, math.log(1.05))
        fewer = count - 1
        half = ratios.student(0.95, fewer - 1) * 0.05 / math.sqrt(fewer)
        self.assertGreater(half, math.log(1.05))
        # An interval that holds for more comparisons needs more rounds; none has fewer than three.
        self.assertGreater(ratios.rounds_for(0.05, 0.05, 2, 100, comparisons=20), count)
        self.assertEqual(3, ratios.rounds_for(0.0, 0.05, 1, 20))

    def test_drift(self):
        self.assertAlmostEqual(1, ratios.rank_correlation([1, 2, 5, 9]))
        self.assertAlmostEqual(-1, ratios.rank_correlation([9, 5, 2, 1]))
        self.assertAlmostEqual(0.8, ratios.rank_correlation([1, 3, 2, 4]))
        self.assertIsNone(ratios.rank_correlation([2, 2, 2]))


if __name__ == "__main__":
    unittest.main()
