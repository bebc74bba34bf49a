"""cairn bench compare: two runs, or two systems of one run, cell by cell."""

import dataclasses
import operator
import pathlib
import re

from ..digits import three
from ..errors import Mistake
from . import figures as figures_module
from . import ratios, store, verdicts

RULE = re.compile(r"\s*ratio\s*(<|>)\s*([0-9]*\.?[0-9]+)\s*")
SIGNS = {"<": operator.lt, ">": operator.gt}
LEFT = {0, 1, 3, 6, 10}  # columns that begin at the left


@dataclasses.dataclass(frozen=True)
class Side:
    """Results, and the one system that is meant, or None for all."""

    text: str
    results: store.Results
    system: str | None


@dataclasses.dataclass(frozen=True)
class Rule:
    sign: str
    bound: float

    def broken_by(self, row):
        return row.verdict.shown and SIGNS[self.sign](row.verdict.ratio.ratio, self.bound)


@dataclasses.dataclass
class Row:
    kernel: str
    access: str
    ranks: int
    system: str  # "a" or "a : b"
    unit: str
    rates: tuple  # geometric means over the rounds that the ratio is of
    rounds: str = ""  # 10, or those of each run: 10 : 9
    ratio: ratios.Ratio | None = None
    verdict: verdicts.Verdict = verdicts.Verdict(None)

    @property
    def name(self):
        return f"{self.kernel} {self.access}, {self.ranks} ranks, {self.system}"


def side(text):
    """RESULTS or RESULTS:SYSTEM."""
    path, system = pathlib.Path(text), None
    if not path.exists() and ":" in text:
        before, _, system = text.rpartition(":")
        path = pathlib.Path(before)
    found = store.load(path / "results.jsonl" if path.is_dir() else path)
    if system is not None and system not in found.run["systems"]:
        known = ", ".join(found.run["systems"])
        raise Mistake(f"{text}: no system {system} in these results: {known}")
    return Side(text, found, system)


def rule(text):
    match = RULE.fullmatch(text)
    if not match:
        raise Mistake(f"--fail-if: invalid rule '{text}': expected 'ratio<0.9' or 'ratio>1.1'")
    return Rule(match.group(1), float(match.group(2)))


def rows(one, other):
    """A Row for each access that both sides have; `one` is compared with `other`."""
    if (one.system is None) != (other.system is None):
        raise Mistake("compare: name a system on both sides or on none: RESULTS:SYSTEM")
    ours = figures_module.Figures(one.results)
    base = figures_module.Figures(other.results)
    same_run = one.results.run["run"] == other.results.run["run"]
    found = []
    for kernel, access, ranks, system in ours.series:
        if one.system not in (None, system):
            continue
        theirs = other.system or system
        if (kernel, access, ranks, theirs) not in base.series:
            continue
        name = system if system == theirs else f"{system} : {theirs}"
        found.append(_row((kernel, access, ranks), ours, system, base, theirs, name, same_run))
    for name in dict.fromkeys(row.system for row in found):
        family = {
            place: row.ratio
            for place, row in enumerate(found)
            if row.system == name and not row.verdict.why_not
        }
        for place, verdict in verdicts.of_family(family).items():
            found[place].verdict = verdict
    return found


def _row(where, ours, system, base, theirs, name, same_run):
    mine = ours.counted(*where, system)
    other = base.counted(*where, theirs)
    unit = ours.series[(*where, system)].unit
    means = (mine.rate if mine else None, other.rate if other else None)

    def without_ratio(why_not):
        return Row(*where, name, unit, means, verdict=verdicts.Verdict(None, why_not))

    if mine is None or other is None:
        return without_ratio("a side is void")
    key, other_key = ours.keys[where[0], where[2], system], base.keys[where[0], where[2], theirs]
    if (system == theirs and key != other_key) or mine.bytes != other.bytes:
        return without_ratio("other work: sizes, options or hints differ")
    if not same_run:
        sides = (list(mine.rates.values()), list(other.rates.values()))
        rounds = " : ".join(dict.fromkeys(str(len(each)) for each in sides))
        return Row(*where, name, unit, means, rounds, ratios.two_samples(*sides))
    ratio = ratios.paired(mine.rates, other.rates)
    if ratio and ratio.uneven:
        common = ratios.common_rounds(mine.rates, other.rates)
        means = tuple(
            ratios.geometric_mean(side.rates[each] for each in common) for side in (mine, other)
        )
    return Row(*where, name, unit, means, str(ratio.pairs if ratio else 0), ratio)


def words(verdict):
    if verdict.ratio and verdict.ratio.uneven:
        return f"{verdict.words}; only the rounds that both have"
    return verdict.words


def table(found):
    heads = ["kernel", "access", "ranks", "system", "A", "B", "unit", "n", "A / B", "interval"]
    lines = [[*heads, "verdict"]]
    for row in found:
        lines.append(
            [
                row.kernel,
                row.access,
                str(row.ranks),
                row.system,
                *("-" if each is None else three(each) for each in row.rates),
                row.unit,
                row.rounds,
                row.verdict.factor,
                row.verdict.interval,
                words(row.verdict),
            ]
        )
    return lines


def notes(one, other, found):
    kind = (
        "paired by rounds: one run"
        if one.results.run["run"] == other.results.run["run"]
        else "two samples: two runs, whatever changed between them included"
    )
    counted = [row.system for row in found if row.verdict.has_interval]
    families = ", ".join(f"{counted.count(name)} of {name}" for name in dict.fromkeys(counted))
    of_families = f" ({families})" if families else ""
    return [
        f"Ratios: {kind}. A and B are geometric means over the n rounds.",
        f"Intervals: 95 % for all rows of a system together{of_families}. A difference is shown if "
        "its interval excludes 1.",
    ]
