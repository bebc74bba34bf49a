"""Sizes of the kernels in a matrix, chosen from a trial at small scales.

Three keys ask for it, which go together:
  least_s        each kernel grows until each of its accesses on each system is timed for so long
  target_each_s  each kernel gets the size at which its slowest cell takes so long
  target_s       all rounds together take at most so long: the kernels shrink, first those that
                 least_s does not hold
A kernel that does not fit into the memory or on a medium shrinks, too. Scales are rounded, so that
later runs on the same machine mostly do the same work.
"""

import dataclasses
import math

SMALL = (1 / 16, 1 / 4)  # of the trial's first two runs
STEPS = (1, 3 / 4, 1 / 2, 3 / 8, 1 / 4, 3 / 16, 1 / 8, 3 / 32, 1 / 16)
GRID = sorted(2.0**power * part for power in range(-10, 13) for part in (1, 1.5))
KEYS = ("least_s", "target_each_s", "target_s")
QUICK_ROUNDS, QUICK_S = 5, 300  # of `run --quick`
ENOUGH = 1 / 8  # of a wanted time, from which the trial may judge; twice that of a whole command
LONGEST_STEP = 16  # from one scale of the trial to the next
LIMITS = {
    "least_s": "least_s", "target_each_s": "target_each_s", "target_s": "target_s",
    "space": "what fits", "matrix": "the matrix",
}


@dataclasses.dataclass
class Point:
    """One run of a cell in the trial."""

    scale: float  # times the matrix's sizes
    wall_s: float
    timed: dict  # {access: seconds}


@dataclasses.dataclass
class Entry:
    """What the trial has found of one kernel of the matrix."""

    grows: bool  # whether its amounts of data have a scale
    cells: dict = dataclasses.field(default_factory=dict)  # {name: (system, [Point])}

    def add(self, cell, point):
        self.cells.setdefault(cell.name, (cell.system, []))[1].append(point)

    @property
    def tried(self):
        return [points for _, points in self.cells.values()]

    @property
    def largest(self):
        """The largest scale that was tried."""
        return max((points[-1].scale for points in self.tried), default=0)

    def line(self):
        """(constant, growing part) of a round, from the sums over the cells at the two largest
        scales that all of them were tried at. Noise of one cell mostly cancels out."""
        scales = [{point.scale: point.wall_s for point in points} for points in self.tried]
        common = sorted(set.intersection(*map(set, scales))) if scales else []
        sums = [(scale, sum(each[scale] for each in scales)) for scale in common[-2:]]
        return line(sums)

    def wall_s(self, scale):
        """Seconds of a round at a scale, as predicted."""
        fixed, slope = self.line()
        least = sum(min(point.wall_s for point in points) for points in self.tried)
        return max(fixed + slope * scale, least) if self.tried else 0.0

    def slowest(self, seconds):
        """(scale, system): where the slowest cell takes so many seconds."""
        found = []
        for system, points in self.cells.values():
            fixed, slope = line([(point.scale, point.wall_s) for point in points])
            if slope > 0 and seconds > fixed:
                found.append(((seconds - fixed) / slope, system))
        return min(found, default=(math.inf, ""))

    def slowest_at(self, scale):
        """The system whose cell takes longest at a scale; "" if none was tried."""
        walls = []
        for system, points in self.cells.values():
            fixed, slope = line([(point.scale, point.wall_s) for point in points])
            walls.append((fixed + slope * scale, system))
        return max(walls, default=(0, ""))[1]

    def needed(self, seconds):
        """(scale, name) where the shortest access is timed for so many seconds. A time is taken to
        grow with the data, from the largest scale that was tried."""
        found = [
            (points[-1].scale * seconds / timed, f"{access} on {system}")
            for system, points in self.cells.values()
            for access, timed in points[-1].timed.items() if timed > 0
        ]
        return max(found, default=(0.0, ""))

    def shortest(self, scale):
        """(seconds, name) of the shortest access at a scale; None if nothing is timed."""
        needed, name = self.needed(1.0)
        return ((scale if self.grows else self.largest) / needed, name) if needed else None


def line(points):
    """(constant, growing part) through the first and the last of [(scale, value)]."""
    if not points:
        return 0.0, 0.0
    (first, low), (last, high) = points[0], points[-1]
    slope = (high - low) / (last - first) if last > first else 0.0
    return low - slope * first, slope


def rounded_up(scale):
    """The next scale of the grid, which may be 5 % too small."""
    return next((step for step in GRID if step * 1.05 >= scale), GRID[-1])


def rounded_down(scale):
    return next((step for step in reversed(GRID) if step <= scale * 1.05), GRID[0])


def settings(matrix):
    """{key: seconds} of what the matrix asks for."""
    return {key: matrix[key] for key in KEYS if matrix.get(key)}


def make_quick(matrix):
    """Fewer rounds, and sizes by which they take at most QUICK_S together."""
    has_pilot = matrix.pop("pilot", None) is not None
    for key in ("least_s", "target_each_s"):
        matrix.pop(key, None)
    matrix["rounds"] = QUICK_ROUNDS if has_pilot else min(matrix["rounds"], QUICK_ROUNDS)
    matrix["target_s"] = min(matrix.get("target_s", QUICK_S), QUICK_S)
    matrix["quick"] = True


def too_short(entry, wanted):
    """Whether the trial has to go on with a larger scale to judge an entry."""
    if not entry.grows or not entry.tried:
        return False
    least, each = wanted.get("least_s", 0), wanted.get("target_each_s", 0)
    timed = entry.shortest(entry.largest)
    slowest = max(points[-1].wall_s for points in entry.tried)
    return bool(
        (least and timed and timed[0] < least * ENOUGH) or (each and slowest < each * ENOUGH * 2)
    )


class Choice:
    """The scales of all entries, and why each has its own."""

    def __init__(self, entries, wanted, rounds, limits_s, misfits):
        """misfits: {entry: scale} -> entries of which one has to shrink, the largest first."""
        self.entries, self.wanted = entries, wanted
        self.rounds, self.limits_s = rounds, limits_s
        self.floors, self.scales, self.bounds = {}, {}, {}
        for name, entry in entries.items():
            self._begin(name, entry)
        self._fit(misfits)
        self.full_s = self.seconds(self.scales)
        if "target_s" in wanted:
            self._shrink()

    def is_unknown(self, name):
        """Whether the trial has not seen the time of an entry grow, which is to have a size."""
        each = self.wanted.get("target_each_s")
        return each is not None and self.entries[name].slowest(each)[0] == math.inf

    def _begin(self, name, entry):
        """The size that an entry has if there is room and time enough."""
        scale, bound, floor = 1.0, "matrix", 0.0
        if entry.grows and "target_each_s" in self.wanted:
            found, _ = entry.slowest(self.wanted["target_each_s"])
            if found < math.inf:
                scale, bound = rounded_down(found), "target_each_s"
        if entry.grows and "least_s" in self.wanted:
            floor = rounded_up(entry.needed(self.wanted["least_s"])[0])
            if floor > scale:
                scale, bound = floor, "least_s"
        self.scales[name], self.bounds[name] = scale, bound
        self.floors[name] = min(floor, scale) if entry.grows else scale

    def _fit(self, misfits):
        while True:
            names = [name for name in misfits(self.scales)
                     if self.entries[name].grows and self.scales[name] > GRID[0]]
            if not names:
                return
            name = names[0]
            self.scales[name] = rounded_down(self.scales[name] * 0.9)
            self.bounds[name] = "space"
            self.floors[name] = min(self.floors[name], self.scales[name])

    def _shrink(self):
        """Until all rounds take at most the target time: down to what least_s asks for, then
        below."""
        whole = dict(self.scales)
        for keeps_least in (True, False):
            for step in STEPS:
                self.scales = {
                    name: self._shrunk(name, whole[name], step, keeps_least) for name in whole
                }
                if self.seconds(self.scales) <= self.wanted["target_s"]:
                    break
            else:
                continue
            break
        for name, scale in self.scales.items():
            if scale < whole[name]:
                self.bounds[name] = "target_s"

    def _shrunk(self, name, whole, step, keeps_least):
        if not self.entries[name].grows:
            return whole
        smallest = rounded_down(whole * STEPS[-1])
        least = max(self.floors[name], smallest)
        if keeps_least:
            return max(least, rounded_down(whole * step))
        return max(smallest, rounded_down(least * step))

    def seconds(self, scales):
        """What all rounds take, as predicted."""
        walls = (entry.wall_s(scales[name]) for name, entry in self.entries.items())
        return self.rounds * (sum(walls) + self.limits_s)

    def record(self):
        """For the record of the run."""
        same = set(self.scales.values())
        return {
            **self.wanted,
            **({"scale": same.pop()} if len(same) == 1 else {}),
            "predicted_s": round(self.seconds(self.scales), 1),
            "at_full_size_s": round(self.full_s, 1),
            "entries": {name: self._entry(name) for name in self.entries},
        }

    def _entry(self, name):
        entry, scale = self.entries[name], self.scales[name]
        found = {
            "scale": scale, "bound": self.bounds[name], "predicted_s": round(entry.wall_s(scale), 2)
        }
        shortest, slowest = entry.shortest(scale), entry.slowest_at(scale)
        if shortest:
            found |= {"shortest_s": round(shortest[0], 3), "shortest": shortest[1]}
        return found | ({"slowest": slowest} if slowest else {})


def text(choice):
    """Says in a line what was chosen."""
    parts = []
    if "scale" in choice:
        parts.append(f"{choice['scale']:g} of the matrix's")
    else:
        scales = [each["scale"] for each in choice["entries"].values()]
        parts.append(f"{min(scales):g} to {max(scales):g} of the matrix's")
    about = f"about {clock(choice['predicted_s'])}"
    if "target_s" in choice:
        about += f" of {clock(choice['target_s'])}"
        about += f" (full size: about {clock(choice['at_full_size_s'])})"
    parts.append(about)
    short = [name for name, one in choice.get("entries", {}).items() if is_short(one, choice)]
    if short:
        parts.append(f"an access is timed for less than {choice['least_s']:g} s in "
                     f"{', '.join(short)}")
    return f"sizes: {'; '.join(parts)}"


def is_short(one, choice):
    """Whether an access of an entry is timed for less than least_s, as predicted."""
    return one.get("shortest_s", math.inf) < choice.get("least_s", 0) * 0.9


def lines(choice):
    """A line for each entry that does not get what the matrix asks for, or whose size is its
    own."""
    found = []
    for name, one in choice.get("entries", {}).items():
        parts = [f"{name}: {one['scale']:g} of its size"]
        if is_short(one, choice):
            parts.append(
                f"{one['shortest']} is timed for about {one['shortest_s']:.2g} s and not for "
                f"{choice['least_s']:g} s"
            )
        if one["bound"] != "matrix":
            parts.append(f"bounded by {LIMITS[one['bound']]}")
        if "target_each_s" in choice and "slowest" in one:
            parts.append(f"slowest on {one['slowest']}")
        if len(parts) > 1:
            found.append("; ".join(parts))
    return found


def clock(value):
    whole = math.ceil(value)
    return f"{whole // 60}:{whole % 60:02d}"
