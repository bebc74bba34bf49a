"""What a table says of two sides: a ratio, no difference, or that the rounds are too few.

A family is one question: one system against another one, over all rows of a table. The intervals
that are shown hold for all rows of a family together, and a difference is shown exactly if the
interval as it is printed excludes 1. So no verdict contradicts its interval, and in a table of
equal systems each family has a wrong verdict with a probability of at most 5 %.
"""

import dataclasses
import functools

from .. import digits
from . import ratios

NARROW = 1.10  # an interval that could not have shown this ratio says so


@dataclasses.dataclass(frozen=True)
class Verdict:
    ratio: ratios.Ratio | None  # with the interval of its family; None: no round in common
    why_not: str = ""  # why the sides are not compared

    @property
    def rounds(self):
        return self.ratio.pairs if self.ratio else 0

    @property
    def has_interval(self):
        return self.rounds >= ratios.LEAST_ROUNDS

    @functools.cached_property
    def ends(self):
        """Both ends of the interval as they are printed, or None."""
        return digits.outward(self.ratio.low, self.ratio.high) if self.has_interval else None

    @functools.cached_property
    def shown(self):
        """Whether a difference is shown."""
        return self.ends is not None and not float(self.ends[0]) <= 1 <= float(self.ends[1])

    @property
    def kind(self):
        """better or worse, of rates; "" if no difference is shown"""
        if not self.shown:
            return ""
        return "better" if self.ratio.mean > 0 else "worse"

    @property
    def words(self):
        """higher, lower, no difference shown, too few rounds ..."""
        if self.why_not:
            return f"not compared: {self.why_not}"
        if self.shown:
            return "higher" if self.ratio.mean > 0 else "lower"
        if not self.has_interval:
            return f"too few rounds: {self.rounds}"
        least = ratios.exp(self.ratio.half)
        if least <= NARROW:
            return "no difference shown"
        if least > digits.LARGEST:
            return "too few rounds"
        return f"too few rounds: can show x{digits.up(least)} or more"

    @property
    def factor(self):
        """x1.29, or "" if no difference is shown"""
        return f"x{digits.three(self.ratio.ratio)}" if self.shown else ""

    @property
    def interval(self):
        """1.21..1.38, or "" """
        return "..".join(self.ends) if self.ends else ""

    @property
    def text(self):
        """x1.29 (1.21..1.38)"""
        found = self.factor or self.words
        if self.interval:
            found += f" ({self.interval})"
        if self.ratio and self.ratio.uneven:
            found += f", rounds in common: {self.rounds}"
        return found


def of_family(found):
    """{key: Ratio or None}, the rows of one family: {key: Verdict}."""
    counted = sum(one is not None and one.half is not None for one in found.values())
    return {key: Verdict(one and one.among(max(counted, 1))) for key, one in found.items()}
