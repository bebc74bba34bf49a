"""Statistics: intervals of ratios, verdicts over a table, and how many rounds a pilot asks for.

Two systems of one run are compared round by round: the logarithm of the ratio of their rates, its
mean, and Student's interval of that mean. Two runs have no rounds in common: there it is Student's
interval for two samples of logarithms. The number of rounds is fixed before the run; nothing is
repeated until it is significant.
Each interval holds for its own comparison. Over a table, `holm` adjusts the verdicts.
"""

import dataclasses
import functools
import math
import statistics

CONFIDENCE = 0.95
LEVEL = 1 - CONFIDENCE


@dataclasses.dataclass(frozen=True)
class Ratio:
    ratio: float
    low: float
    high: float
    pairs: int  # of two runs: rounds of the shorter one
    p: float = 1.0  # two-sided, that the ratio is 1
    paired: bool = True

    @property
    def shows_difference(self):
        """By itself, without regard to other comparisons."""
        return not self.low <= 1 <= self.high


def paired(ours, base):
    """{round: rate} of two systems: Ratio of ours to base, or None below two common rounds."""
    rounds = sorted(set(ours) & set(base))
    if len(rounds) < 2:
        return None
    logs = [math.log(ours[each] / base[each]) for each in rounds]
    mean, variance = _moments(logs)
    return _ratio(mean, math.sqrt(variance / len(logs)), len(logs) - 1, len(logs), True)


def two_samples(ours, base):
    """Rates of two runs: Ratio of their geometric means, or None below two rounds in either.

    The spread of both is pooled where they have as many rounds, which is exact for equal spreads.
    Otherwise it is Welch's interval, with its degrees of freedom rounded down.
    """
    if min(len(ours), len(base)) < 2:
        return None
    counts = (len(ours), len(base))
    found = [_moments([math.log(rate) for rate in rates]) for rates in (ours, base)]
    difference = found[0][0] - found[1][0]
    parts = [variance / count for (_, variance), count in zip(found, counts)]
    degrees = sum(counts) - 2
    if counts[0] != counts[1] and sum(parts) > 0:
        weights = sum(part**2 / (count - 1) for part, count in zip(parts, counts))
        degrees = max(1, math.floor(sum(parts) ** 2 / weights))
    return _ratio(difference, math.sqrt(sum(parts)), degrees, min(counts), False)


def _moments(values):
    """Mean and variance."""
    mean = math.fsum(values) / len(values)
    return mean, math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _ratio(mean, error, degrees, count, is_paired):
    half = student(CONFIDENCE, degrees) * error
    if error > 0:
        p = 1 - inside(abs(mean) / error, degrees)
    else:
        p = 0.0 if mean != 0 else 1.0
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), count, p, is_paired)


def interval(rates):
    """Student's interval of the geometric mean of one system's rates, or None below two."""
    if len(rates) < 2:
        return None
    mean, variance = _moments([math.log(rate) for rate in rates])
    half = student(CONFIDENCE, len(rates) - 1) * math.sqrt(variance / len(rates))
    return math.exp(mean - half), math.exp(mean + half)


def holm(ps, level=LEVEL):
    """For each p whether it is a finding: together they are wrong with probability `level`."""
    found = [False] * len(ps)
    order = sorted(range(len(ps)), key=ps.__getitem__)
    for place, index in enumerate(order):
        if ps[index] > level / (len(ps) - place):
            break
        found[index] = True
    return found


def most_wrong(count, level=LEVEL):
    """How many of `count` equal pairs an interval of this level may call different: of 100 tables
    of such pairs, some 97 have no more (binomial distribution, its 0.975 quantile)."""
    below, number = (1 - level) ** count, 0
    while below < 0.975:
        number += 1
        below += math.comb(count, number) * level**number * (1 - level) ** (count - number)
    return number


def rounds_for(deviation, precision, least, most):
    """The fewest rounds whose interval is expected to reach `precision` (0.05: 5 % to each side).

    deviation: standard deviation of the logarithms of ratios, as a pilot found it.
    """
    wanted = math.log(1 + precision)
    for count in range(max(least, 2), most):
        if student(CONFIDENCE, count - 1) * deviation / math.sqrt(count) <= wanted:
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
