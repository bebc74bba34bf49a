"""cairn bench compare: two runs, or two systems of one run, cell by cell."""

import dataclasses
import operator
import pathlib
import re

from ..errors import Mistake
from . import figures as figures_module
from . import ratios, store

RULE = re.compile(r"\s*ratio\s*(<|>)\s*([0-9]*\.?[0-9]+)\s*")
SIGNS = {"<": operator.lt, ">": operator.gt}


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
        return row.differs and SIGNS[self.sign](row.ratio.ratio, self.bound)


@dataclasses.dataclass
class Row:
    kernel: str
    access: str
    ranks: int
    system: str  # "a" or "a : b"
    unit: str
    medians: tuple
    ratio: ratios.Ratio | None
    why_not: str = ""
    differs: bool = False  # after Holm, over all rows

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
    counted = [row for row in found if row.ratio is not None]
    for row, is_finding in zip(counted, ratios.holm([row.ratio.p for row in counted])):
        row.differs = is_finding
    return found


def _row(where, ours, system, base, theirs, name, same_run):
    mine = ours.counted(*where, system)
    other = base.counted(*where, theirs)
    unit = ours.series[(*where, system)].unit
    medians = (mine.median if mine else None, other.median if other else None)
    if mine is None or other is None:
        return Row(*where, name, unit, medians, None, "a side is void")
    key, other_key = ours.keys[where[0], where[2], system], base.keys[where[0], where[2], theirs]
    if (system == theirs and key != other_key) or mine.bytes != other.bytes:
        return Row(*where, name, unit, medians, None, "other work: sizes, options or hints differ")
    if same_run:
        ratio = ratios.paired(mine.rates, other.rates)
    else:
        ratio = ratios.two_samples(list(mine.rates.values()), list(other.rates.values()))
    return Row(*where, name, unit, medians, ratio, "" if ratio else "fewer than two rounds")


def verdict(row):
    if row.ratio is None:
        return f"not compared: {row.why_not}"
    if not row.differs:
        return "no difference shown"
    return "higher" if row.ratio.ratio > 1 else "lower"


def table(found):
    lines = [["kernel", "access", "ranks", "system", "A", "B", "unit", "A / B", "95 %", "verdict"]]
    for row in found:
        ratio = row.ratio
        lines.append(
            [
                row.kernel,
                row.access,
                str(row.ranks),
                row.system,
                *("-" if each is None else f"{each:.0f}" for each in row.medians),
                row.unit,
                f"{ratio.ratio:.3f}" if ratio else "",
                f"{ratio.low:.3f}..{ratio.high:.3f}" if ratio else "",
                verdict(row),
            ]
        )
    return lines


def notes(one, other, found):
    compared = sum(row.ratio is not None for row in found)
    kind = (
        "paired by rounds: one run"
        if one.results.run["run"] == other.results.run["run"]
        else "two samples: two runs, whatever changed between them included"
    )
    return [
        f"Ratios: {kind}. Each interval holds for its own row. Verdicts are adjusted after Holm "
        f"over {compared} rows."
    ]
