"""A trial: every cell runs once at small scales, from which the sizes of the run are chosen."""

import dataclasses
import math
import time

from ..plan import cells as cells_module
from ..plan import fit, kernels, pilot, sizing
from ..terminal import tell
from . import rounds

FURTHER = 4  # larger scales at most, for entries whose times are too short to judge
SHARE = 0.1  # of target_s, after which no larger scale begins


def with_scales(matrix, scales):
    """The matrix with its entries' sizes times `scales`: {entry: factor}."""
    entries = {
        name: {**entry, "scale": entry.get("scale", 1) * scales[name]} if name in scales else entry
        for name, entry in matrix["kernels"].items()
    }
    return {**matrix, "kernels": entries}


def rescaled(matrix, cells, scales):
    """The same cells with other sizes; those of entries that `scales` lacks are left out."""
    names = {cell.name for cell in cells if cell.kernel in scales}
    systems = list(dict.fromkeys(cell.system for cell in cells))
    found = cells_module.expand(with_scales(matrix, scales), systems)
    return [cell for cell in found if cell.name in names]


class Trial:
    def __init__(self, matrix, digest, work, results):
        """results: an open Store, for what the trial makes."""
        self.matrix, self.digest, self.work, self.results = matrix, digest, work, results
        self.wanted = sizing.settings(matrix)
        self.begin = time.monotonic()
        self.entries = {
            cell.kernel: sizing.Entry(kernels.of(cell.kind).grows) for cell in work.cells
        }

    def choice(self):
        """The sizing.Choice; None if the trial was interrupted."""
        scales = dict.fromkeys(self.entries, sizing.SMALL[0])
        whole = self._tried(scales)
        growing = {name: sizing.SMALL[1] for name, entry in self.entries.items() if entry.grows}
        whole = whole and self._tried(growing)
        of_limits = self._limits_s() if whole else None
        for _ in range(FURTHER):
            if of_limits is None:
                break
            choice = self._choice_of(of_limits)
            larger = self._larger(choice)
            if not larger:
                return choice
            of_limits = of_limits if self._tried(larger) else None
        if of_limits is None:
            tell("interrupted before the first round")
            return None
        return self._choice_of(of_limits)

    def _choice_of(self, of_limits):
        wanted = pilot.settings(self.matrix)
        count = wanted["rounds"] + wanted["most"] if wanted else self.matrix["rounds"]
        count += self.matrix["warmup"]
        return sizing.Choice(self.entries, self.wanted, count, of_limits, self._misfits)

    def _misfits(self, scales):
        found = rescaled(self.matrix, self.work.cells, scales)
        return fit.to_shrink(found, self.work.systems)

    def _larger(self, choice):
        """{entry: scale} of those that are too short to judge, towards what is chosen so far."""
        if time.monotonic() - self.begin > SHARE * self.wanted.get("target_s", math.inf):
            return {}
        found = {}
        for name, entry in self.entries.items():
            if not sizing.too_short(entry, self.wanted):
                continue
            most = entry.largest * sizing.LONGEST_STEP
            scale = most if choice.is_unknown(name) else min(choice.scales[name] / 2, most)
            if scale > entry.largest:
                found[name] = sizing.rounded_down(scale)
        while found and (names := self._misfits(found)):
            del found[names[0]]
        return found

    def _tried(self, scales):
        """Runs each cell of these entries once; whether nobody interrupted it."""
        if not scales:
            return True
        texts = [f"{each:g}" for each in sorted(set(scales.values()))]
        tell(f"trying {', '.join(texts)} of the sizes")
        small = rescaled(self.matrix, self.work.cells, scales)
        runner = self._runner(small)
        records = runner.once(small, self.results)
        for cell in small:
            if cell.key in records:
                record = records[cell.key]
                point = sizing.Point(
                    scales[cell.kernel], rounds.seconds_of(record), timed(record["output"])
                )
                self.entries[cell.kernel].add(cell, point)
        return runner.reason == "complete"

    def _limits_s(self):
        """Seconds of all limits in a round; None if that was interrupted."""
        if not self.work.limits:
            return 0.0
        scales = dict.fromkeys(self.entries, sizing.SMALL[0])
        runner = self._runner(rescaled(self.matrix, self.work.cells, scales))
        records = runner.once(self.work.limits, self.results)
        if runner.reason != "complete":
            return None
        return sum(record["wall_s"] for record in records.values())

    def _runner(self, cells):
        names = dict.fromkeys(cell.system for cell in cells)
        systems = {name: self.work.systems[name] for name in names}
        work = dataclasses.replace(self.work, cells=cells, systems=systems)
        return rounds.Runner(self.matrix, self.digest, work)


def timed(output):
    """{access: seconds} of a cell's output, summed over its repetitions."""
    found = {}
    for access in output["accesses"]:
        found[access["access"]] = found.get(access["access"], 0) + (access["seconds"] or 0)
    return found
