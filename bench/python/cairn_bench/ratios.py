"""Statistics: the interval of paired ratios, and what stands beside it.

Two systems are compared round by round: the logarithm of the ratio of their rates, its mean, and
Student's interval of that mean. The number of rounds is fixed before the run; nothing is repeated
until it is significant.
Each interval holds for its own comparison, not for a whole table.
"""

import dataclasses
import functools
import math
import statistics

CONFIDENCE = 0.95


@dataclasses.dataclass(frozen=True)
class Ratio:
    ratio: float
    low: float
    high: float
    pairs: int

    @property
    def shows_difference(self):
        return not self.low <= 1 <= self.high


def paired(ours, base):
    """{round: rate} of two systems: Ratio of ours to base, or None below two common rounds."""
    rounds = sorted(set(ours) & set(base))
    if len(rounds) < 2:
        return None
    logs = [math.log(ours[each] / base[each]) for each in rounds]
    mean = statistics.fmean(logs)
    half = student(CONFIDENCE, len(logs) - 1) * statistics.stdev(logs) / math.sqrt(len(logs))
    return Ratio(math.exp(mean), math.exp(mean - half), math.exp(mean + half), len(logs))


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
