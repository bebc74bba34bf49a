"""Statistics of cairn bench: quantiles, intervals of paired ratios, the rate of false findings."""

import random
import unittest

import bench_case

bench_case.use_package()
from cairn_bench import ratios  # noqa: E402

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
        found = ratios.paired({1: 1, 2: 4}, {1: 2, 2: 2})
        self.assertAlmostEqual(1, found.ratio)
        self.assertFalse(found.shows_difference)

    def test_only_common_rounds_count(self):
        self.assertIsNone(ratios.paired({1: 1, 2: 1}, {2: 1, 3: 1}))
        self.assertEqual(2, ratios.paired({1: 1, 2: 1, 3: 9}, {1: 1, 2: 1}).pairs)

    def test_equal_systems_differ_in_five_percent(self):
        # 10,000 pairs with five rounds: 5 % within 3 standard deviations of the binomial.
        for seed in (1, 2):
            draw = random.Random(seed)
            found = 0
            for _ in range(5000):
                one, other = (
                    {each: draw.lognormvariate(7, 0.2) for each in range(5)} for _ in range(2)
                )
                found += ratios.paired(one, other).shows_difference
            self.assertLess(abs(found - 250), 3 * (5000 * 0.05 * 0.95) ** 0.5, f"seed {seed}")


if __name__ == "__main__":
    unittest.main()
