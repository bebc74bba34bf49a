"""Statistics: ratios with their intervals, and how many rounds a pilot asks for.

Two systems of one run are compared round by round: the logarithm of the ratio of their rates, its
mean, and Student's interval of that mean. Two runs have no rounds in common: there it is Student's
interval for two samples of logarithms. The number of rounds is fixed before the run; nothing is
repeated until it is significant.
An interval holds for one comparison, or for all comparisons of a family together (`among`).
"""

import dataclasses
import functools
import math
import statistics

CONFIDENCE = 0.95
LEVEL = 1 - CONFIDENCE
LEAST_ROUNDS = 3  # for an interval
EXPONENTS = 700  # beyond these, math.exp has no value


@dataclasses.dataclass(frozen=True)
class Ratio:
    """How many times the one side is the other one."""

    mean: float  # of the logarithms
    error: float  # standard error of the mean
    degrees: int  # of freedom
    pairs: int  # rounds that both sides have; of two runs: rounds of the shorter one
    paired: bool = True
    uneven: bool = False  # paired, and a side has rounds that the other one lacks
    comparisons: int = 1  # that the interval holds for together

    @property
    def ratio(self):
        return exp(self.mean)

    @functools.cached_property
    def half(self):
        """Half the width of the interval, in logarithms; None below LEAST_ROUNDS."""
        if self.pairs < LEAST_ROUNDS:
            return None
        return student(1 - LEVEL / self.comparisons, self.degrees) * self.error

    @property
    def low(self):
        return None if self.half is None else exp(self.mean - self.half)

    @property
    def high(self):
        return None if self.half is None else exp(self.mean + self.half)

    @property
    def excludes_1(self):
        return self.half is not None and not self.low <= 1 <= self.high

    def among(self, comparisons):
        """The ratio with an interval that is one of so many: with a probability of 95 %, all of
        them contain their true ratio (Bonferroni)."""
        return dataclasses.replace(self, comparisons=comparisons)


def paired(ours, base):
    """{round: rate} of two systems: Ratio of ours to base, or None without a common round."""
    rounds = common_rounds(ours, base)
    if not rounds:
        return None
    logs = [math.log(ours[each] / base[each]) for each in rounds]
    mean, variance = _moments(logs)
    error = math.sqrt(variance / len(logs))
    return Ratio(mean, error, len(logs) - 1, len(logs), uneven=set(ours) != set(base))


def common_rounds(ours, base):
    """Rounds in which both sides have a rate."""
    return [each for each in sorted(set(ours) & set(base)) if ours[each] > 0 and base[each] > 0]


def two_samples(ours, base):
    """Rates of two runs: Ratio of their geometric means, or None if a run has none.

    The spread of both is pooled where they have as many rounds, which is exact for equal spreads.
    Otherwise it is Welch's interval, with its degrees of freedom rounded down.
    """
    sides = [[math.log(rate) for rate in rates if rate > 0] for rates in (ours, base)]
    counts = tuple(map(len, sides))
    if not all(counts):
        return None
    found = list(map(_moments, sides))
    parts = [variance / count for (_, variance), count in zip(found, counts)]
    degrees = max(1, sum(counts) - 2)
    if counts[0] != counts[1] and min(counts) > 1 and sum(parts) > 0:
        weights = sum(part**2 / (count - 1) for part, count in zip(parts, counts))
        degrees = max(1, math.floor(sum(parts) ** 2 / weights))
    difference = found[0][0] - found[1][0]
    return Ratio(difference, math.sqrt(sum(parts)), degrees, min(counts), paired=False)


def _moments(values):
    """Mean and variance; the variance of a single value is not known, and is returned as 0."""
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, 0.0
    return mean, math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def exp(exponent):
    return math.exp(max(-EXPONENTS, min(exponent, EXPONENTS)))


def geometric_mean(values):
    """Of positive values; 0 if one of them is not positive, None if there are none."""
    values = list(values)
    if not values:
        return None
    return statistics.geometric_mean(values) if min(values) > 0 else 0.0


def interval(rates):
    """Student's interval of the geometric mean of one system's rates; None below LEAST_ROUNDS."""
    if len(rates) < LEAST_ROUNDS or min(rates) <= 0:
        return None
    mean, variance = _moments([math.log(rate) for rate in rates])
    half = student(CONFIDENCE, len(rates) - 1) * math.sqrt(variance / len(rates))
    return exp(mean - half), exp(mean + half)


def most_wrong(count, level=LEVEL):
    """How many of `count` equal pairs an interval of this level may call different: of 100 tables
    of such pairs, some 97 have no more (binomial distribution, its 0.975 quantile)."""
    below, number = (1 - level) ** count, 0
    while below < 0.975:
        number += 1
        below += math.comb(count, number) * level**number * (1 - level) ** (count - number)
    return number


def rounds_for(deviation, precision, least, most, comparisons=1):
    """The fewest rounds whose interval is expected to reach `precision` (0.05: 5 % to each side).

    deviation: standard deviation of the logarithms of ratios, as a pilot found it.
    comparisons: as of Ratio.
    """
    wanted, confidence = math.log(1 + precision), 1 - LEVEL / comparisons
    for count in range(max(least, LEAST_ROUNDS), most):
        if student(confidence, count - 1) * deviation / math.sqrt(count) <= wanted:
            return count
    return most


def rank_correlation(values):
    """Spearman's, of values with their order: a drift over the run. None below three values."""
    if len(values) < 3 or len(set(values)) < 2:
        return None
    ranks = _ranks(values)
    places = list(range(1, len(values) + 1))
    return statistics.correlation(places, ranks)


def _ranks(values):
    """From 1; equal values share the mean of their ranks."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and values[order[last + 1]] == values[order[first]]:
            last += 1
        for place in range(first, last + 1):
            ranks[order[place]] = (first + last) / 2 + 1
        first = last + 1
    return ranks


@functools.cache
def student(confidence, degrees):
    """The quantile t with P(-t < T < t) = confidence."""
    low, high = 0.0, 1.0
    while inside(high, degrees) < confidence:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle, degrees) < confidence else (low, middle)
    return (low + high) / 2


def inside(t, degrees):
    """P(-t < T < t), by the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4."""
    angle = math.atan(t / math.sqrt(degrees))
    cosine, sine = math.cos(angle), math.sin(angle)
    term, total = 1.0, 0.0
    if degrees % 2:
        term = cosine
        for k in range(1, (degrees - 1) // 2 + 1):
            total += term
            term *= cosine * cosine * 2 * k / (2 * k + 1)
        return 2 / math.pi * (angle + sine * total)
    for k in range(1, degrees // 2 + 1):
        total += term
        term *= cosine * cosine * (2 * k - 1) / (2 * k)
    return sine * total
