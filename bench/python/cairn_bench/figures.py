"""Figures from records: the rates of each kernel, access and system, and whether they count."""

import dataclasses
import statistics

from . import ratios


@dataclasses.dataclass
class Series:
    """One access of one cell over the rounds; warm-up rounds are left out."""

    kernel: str
    access: str
    system: str
    ranks: int
    rates: dict = dataclasses.field(default_factory=dict)  # round: MiB/s
    seconds: dict = dataclasses.field(default_factory=dict)  # round: the original's figure
    first_done: dict = dataclasses.field(default_factory=dict)
    bytes: int = 0
    original_name: str = ""

    @property
    def median(self):
        return statistics.median(self.rates.values()) if self.rates else None

    @property
    def lowest(self):
        return min(self.rates.values())

    @property
    def highest(self):
        return max(self.rates.values())


@dataclasses.dataclass
class CellState:
    """What befell a cell."""

    status: str = "ok"  # the worst of its rounds
    errors: str = ""
    verified: int = 0  # bytes, warm-up included
    checked: bool = False
    walls: list = dataclasses.field(default_factory=list)
    command: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    fsync: bool = False
    hints: dict = dataclasses.field(default_factory=dict)
    api: str = ""


class Figures:
    def __init__(self, results):
        self.baseline = results.run["matrix"].get("baseline")
        self.series = {}  # (kernel, access, ranks, system): Series
        self.states = {}  # (kernel, ranks, system): CellState
        self.kernel_order = list(results.run["matrix"]["kernels"])
        self.system_order = list(results.run["matrix"]["systems"])
        for record in results.results:
            self._take(record)

    def _take(self, record):
        where = (record["kernel"], record["ranks"], record["system"])
        state = self.states.setdefault(where, CellState())
        state.command, state.environment = record["command"], record["environment"]
        if record["status"] != "ok":
            state.status, state.errors = record["status"], record["errors"]
        output = record["output"]
        if output is None:
            return
        state.fsync = bool(output["parameters"].get("fsync"))
        state.api, state.hints = output["api"], output["hints"] or {}
        state.verified += sum(check["bytes"] for check in output["checks"])
        state.checked = state.checked or bool(output["checks"])
        if record["warmup"]:
            return
        state.walls.append(record["wall_s"])
        for access in output["accesses"]:
            key = (record["kernel"], access["access"], record["ranks"], record["system"])
            series = self.series.setdefault(
                key, Series(record["kernel"], access["access"], record["system"], record["ranks"])
            )
            # Several repetitions in one job are one round: their times are added up.
            before = series.seconds.get(record["round"], 0), series.rates.get(record["round"])
            amount = before[0] * (before[1] or 0) + access["bytes"] / (1 << 20)
            series.seconds[record["round"]] = before[0] + access["seconds"]
            series.rates[record["round"]] = amount / series.seconds[record["round"]]
            series.first_done[record["round"]] = access["first_done_s"]
            series.bytes, series.original_name = access["bytes"], access["original_name"]

    def rows(self):
        """(kernel, access, ranks) in the matrix's order; access "-" where nothing was measured."""
        found = dict.fromkeys(key[:3] for key in self.series)
        measured = {(kernel, ranks) for kernel, _, ranks in found}
        found.update(
            dict.fromkeys(
                (kernel, "-", ranks)
                for kernel, ranks, _ in self.states
                if (kernel, ranks) not in measured
            )
        )
        return sorted(found, key=lambda key: (self.kernel_order.index(key[0]), key[2]))

    def systems(self):
        return sorted(dict.fromkeys(key[2] for key in self.states), key=self.system_order.index)

    def state(self, kernel, ranks, system):
        return self.states.get((kernel, ranks, system))

    def counted(self, kernel, access, ranks, system):
        """The series of a cell, unless the cell is void."""
        state = self.state(kernel, ranks, system)
        if state is None or state.status != "ok":
            return None
        return self.series.get((kernel, access, ranks, system))

    def ratio(self, kernel, access, ranks, system):
        """Against the baseline; None for the baseline itself and where there is none."""
        if self.baseline is None or system == self.baseline:
            return None
        ours = self.counted(kernel, access, ranks, system)
        base = self.counted(kernel, access, ranks, self.baseline)
        return ratios.paired(ours.rates, base.rates) if ours and base else None
