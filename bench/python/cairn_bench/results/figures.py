"""Figures from records: the rates of each kernel, access and system, and whether they count."""

import dataclasses
import math
import statistics

from ..errors import telling_line
from ..plan import limits as limits_module
from ..plan.cells import AGAIN
from . import ratios, verdicts

SHORT_S = 1.0  # an access that is timed over less is marked


@dataclasses.dataclass
class Series:
    """One access of one cell over the rounds; warm-up rounds are left out.

    `rate` and `timed_for_s` are geometric means over the rounds. So the quotient of two rates is
    the geometric mean of the ratios of the rounds, and rate times time gives the bytes.
    """

    kernel: str
    access: str
    system: str
    ranks: int
    rates: dict = dataclasses.field(default_factory=dict)  # round: MiB/s
    seconds: dict = dataclasses.field(default_factory=dict)  # round: the original's, where known
    amounts: dict = dataclasses.field(default_factory=dict)  # round: (weight, amount)
    first_done: dict = dataclasses.field(default_factory=dict)
    phases: dict = dataclasses.field(default_factory=dict)  # round: {phase: {least, most}}
    latency: dict = dataclasses.field(default_factory=dict)  # round: {p50: nanoseconds}
    imbalance: dict = dataclasses.field(default_factory=dict)  # round: slowest rank / median rank
    bytes: int = 0
    transfer_bytes: int = 0
    original_name: str = ""
    unit: str = "MiB/s"

    def add(self, number, access):
        """Several repetitions in one job are one round: their times are added up."""
        self.unit = access.get("unit", "MiB/s")
        rate = access.get("rate", access["rate_mib_s"])
        weight = access["seconds"] or 1.0
        before, amount = self.amounts.get(number, (0.0, 0.0))
        self.amounts[number] = (before + weight, amount + rate * weight)
        self.rates[number] = (amount + rate * weight) / (before + weight)
        if access["seconds"]:
            self.seconds[number] = self.seconds.get(number, 0.0) + access["seconds"]
        if access["first_done_s"] is not None:
            self.first_done[number] = access["first_done_s"]
        self.bytes, self.original_name = access["bytes"] or 0, access["original_name"]
        self.transfer_bytes = access["transfer_bytes"] or 0
        self.phases[number] = access["phases_s"]
        spent = seconds_of_ranks(access["phases_s"])
        if spent:
            self.imbalance[number] = max(spent) / statistics.median(spent)
        if access.get("latency_ns"):
            self.latency[number] = access["latency_ns"]

    @property
    def interval(self):
        """95 % interval of the rate, of this series alone; None below three rounds."""
        return ratios.interval(list(self.rates.values()))

    @property
    def rate(self):
        """Geometric mean over the rounds."""
        return ratios.geometric_mean(self.rates.values())

    @property
    def timed_for_s(self):
        """Seconds of the access in one round, as a geometric mean; None where they are not
        known."""
        return ratios.geometric_mean(self.seconds.values())

    @property
    def is_short(self):
        """Whether the access is timed over less than 1 s."""
        return self.timed_for_s is not None and self.timed_for_s < SHORT_S

    @property
    def drift(self):
        """Rank correlation of the rates with time, or None."""
        return ratios.rank_correlation([self.rates[each] for each in sorted(self.rates)])

    @property
    def median(self):
        return statistics.median(self.rates.values()) if self.rates else None

    @property
    def lowest(self):
        return min(self.rates.values())

    @property
    def highest(self):
        return max(self.rates.values())


def seconds_of_ranks(phases):
    """Each rank's seconds in all phases of an access; empty where they are not known."""
    known = [phase["ranks"] for phase in phases.values() if phase.get("ranks")]
    spent = [sum(each) for each in zip(*known)]
    return spent if len(spent) > 1 and statistics.median(spent) > 0 else []


@dataclasses.dataclass
class CellState:
    """What befell a cell."""

    status: str = "ok"  # the worst of its rounds
    errors: str = ""
    reason: str = ""  # of a void cell: the line that says most
    verified: int = 0  # bytes that were compared and equal, warm-up included
    checked: bool = False
    walls: list = dataclasses.field(default_factory=list)
    startups: list = dataclasses.field(default_factory=list)
    finals: list = dataclasses.field(default_factory=list)
    drains: list = dataclasses.field(default_factory=list)  # finalize of writes before the reads
    memory: list = dataclasses.field(default_factory=list)  # bytes of the fullest node
    command: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    fsync: bool | None = False  # None: of a program of others that does not say
    direct: bool = False  # past the page cache
    nodes: int = 1
    hints: dict = dataclasses.field(default_factory=dict)
    api: str = ""
    reads: dict = dataclasses.field(default_factory=dict)  # a system's own
    before: list = dataclasses.field(default_factory=list)  # commands before the last one


def reason_of(record):
    """Why a cell is void, in one line."""
    said = telling_line(record["errors"])
    checks = record["output"]["checks"] if record["output"] else []
    wrong = next((check["first_wrong"] for check in checks if check["first_wrong"]), "")
    if wrong and wrong not in said:
        return wrong
    return said or f"exit code {record.get('exit_code')}"


def equal_bytes(output):
    """Bytes that were compared and equal. A program of others does not say how many are wrong, so
    a check of it counts as a whole or not at all."""
    outside = output.get("outside")
    return sum(
        max(check["bytes"] - check["wrong"], 0)
        for check in output["checks"]
        if not (outside and check["wrong"])
    )


@dataclasses.dataclass
class LimitSeries:
    """One access of one limit over the rounds."""

    kind: str
    access: str
    tool: str
    medium: str
    systems: list
    drains: list  # systems whose data go there at the end
    ranks: int
    transfer_bytes: int
    nodes: int = 1
    rates: dict = dataclasses.field(default_factory=dict)  # round: MiB/s

    @property
    def short(self):
        """copy, device write by fio, one-sided read between nodes"""
        name = limits_module.NAMES.get(self.access, self.access)
        if self.kind == "device":
            return f"{name} by {self.tool}"
        if self.kind == "network":
            return f"{name} {'between nodes' if self.nodes > 1 else 'within the node'}"
        return name

    @property
    def name(self):
        """copy by 2 ranks"""
        if self.kind == "device":
            return self.short
        return f"{self.short} by {'1 rank' if self.ranks == 1 else f'{self.ranks} ranks'}"

    @property
    def rate(self):
        """Geometric mean over the rounds."""
        return ratios.geometric_mean(self.rates.values())


@dataclasses.dataclass(frozen=True)
class Share:
    """What part of a limit a series reaches: `ratio`, paired by rounds, with an interval of its
    own from three rounds on."""

    ratio: ratios.Ratio
    limit: LimitSeries


class Figures:
    def __init__(self, results):
        self.run = results.run
        self.baseline = results.run["matrix"].get("baseline")
        self.series = {}  # (kernel, access, ranks, system): Series
        self.states = {}  # (kernel, ranks, system): CellState
        self.keys = {}  # (kernel, ranks, system): key of the cell
        self.kernel_order = list(results.run["matrix"]["kernels"])
        self.system_order = list(results.run["matrix"]["systems"])
        for record in results.results:
            self._take(record)
        self._sort()
        self.families = {}  # (system, base): {(kernel, access, ranks): Verdict}
        self.cairn = {
            name for name, one in results.run["systems"].items() if one["given"].get("cairn")
        }
        self.limits = {}  # (medium, access, ranks, transfer, key of the limit): LimitSeries
        for record in results.limits:
            if record["status"] == "ok" and not record["warmup"]:
                self._take_limit(record)

    def _sort(self):
        """Into the matrix's order; the records are in the order that was drawn."""

        def of_cell(key):
            kernel, *_, ranks, system = key
            kernels, systems = self.kernel_order, self.system_order
            return kernels.index(kernel), systems.index(system), ranks

        accesses = {}
        for kernel, access, *_ in sorted(self.series, key=of_cell):
            accesses.setdefault(kernel, {}).setdefault(access, len(accesses.get(kernel, {})))

        def of_series(key):
            kernel, system, ranks = of_cell(key)
            return kernel, accesses[key[0]][key[1]], ranks, system

        self.series = {key: self.series[key] for key in sorted(self.series, key=of_series)}
        self.states = {key: self.states[key] for key in sorted(self.states, key=of_cell)}

    def _take_limit(self, record):
        for access in record["output"]["accesses"]:
            ranks, transfer = record["ranks"], record["transfer_bytes"]
            name, medium = access["access"], record["medium"]
            series = self.limits.setdefault(
                (medium, name, ranks, transfer, record["limit"]),
                LimitSeries(
                    *(record.get("kind", "copy"), name, record.get("tool", "copying"), medium),
                    *(record["systems"], record.get("drains", []), ranks, transfer),
                    record["output"].get("nodes") or 1,
                ),
            )
            series.rates[record["round"]] = access["rate_mib_s"]

    def _take(self, record):
        where = (record["kernel"], record["ranks"], record["system"])
        state = self.states.setdefault(where, CellState())
        self.keys[where] = record["cell"]
        state.command, state.environment = record["command"], record["environment"]
        state.reads, state.before = record.get("reads", {}), record.get("before", [])
        if record["status"] != "ok":
            state.status, state.errors = record["status"], record["errors"]
            state.reason = reason_of(record)
        output = record["output"]
        if output is None:
            return
        given = output["parameters"]
        is_told = "fsync" in given or not output.get("outside")
        state.fsync = bool(given.get("fsync")) if is_told else None
        state.direct = bool(given.get("direct"))
        state.nodes = output.get("nodes") or 1
        state.api, state.hints = output["api"], output["hints"] or {}
        state.verified += equal_bytes(output)
        state.checked = state.checked or bool(output["checks"])
        if record["warmup"]:
            return
        state.walls.append(record["wall_s"])
        if "startup_s" in record:
            state.startups.append(record["startup_s"])
        state.drains += [step["finalize_s"] for step in state.before if "finalize_s" in step]
        if "finalize_s" in record:
            state.finals.append(record["finalize_s"])
        if "memory_bytes_per_node" in output:
            state.memory.append(
                output["memory_bytes_per_node"]
                + record.get("shared_bytes", 0)
                + record.get("pool_bytes", 0)
            )
        for access in output["accesses"]:
            key = (record["kernel"], access["access"], record["ranks"], record["system"])
            series = self.series.setdefault(
                key, Series(record["kernel"], access["access"], record["system"], record["ranks"])
            )
            series.add(record["round"], access)

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

        def place(row):
            kernel, access, ranks = row
            return self.kernel_order.index(kernel), access == "-", access == "-" and ranks

        return sorted(found, key=place)

    def systems(self):
        return sorted(dict.fromkeys(key[2] for key in self.states), key=self.system_order.index)

    def state(self, kernel, ranks, system):
        return self.states.get((kernel, ranks, system))

    def of_all_cells(self, system, what):
        """A list of CellState, such as "startups", over all cells of a system that count."""
        return [
            value
            for (_, _, name), state in self.states.items()
            if name == system and state.status == "ok"
            for value in getattr(state, what)
        ]

    def counted(self, kernel, access, ranks, system):
        """The series of a cell, unless the cell is void."""
        state = self.state(kernel, ranks, system)
        if state is None or state.status != "ok":
            return None
        return self.series.get((kernel, access, ranks, system))

    def ratio(self, kernel, access, ranks, system, base=None):
        """Against the baseline or `base`, with the interval of this comparison alone; None for the
        base itself and where a side is void or has no common round."""
        base = base or self.baseline
        if base is None or system == base:
            return None
        ours = self.counted(kernel, access, ranks, system)
        other = self.counted(kernel, access, ranks, base)
        return ratios.paired(ours.rates, other.rates) if ours and other else None

    def family(self, system, base):
        """{(kernel, access, ranks): Verdict}: all rows of a system against another one."""
        if (system, base) not in self.families:
            rows = [
                key[:3]
                for key in self.series
                if key[3] == system and self.counted(*key) and self.counted(*key[:3], base)
            ]
            found = {row: self.ratio(*row, system, base) for row in rows}
            self.families[system, base] = verdicts.of_family(found)
        return self.families[system, base]

    def verdict(self, kernel, access, ranks, system, base=None):
        """Against the baseline or `base`; None for the base itself and for a void cell."""
        base = base or self.baseline
        if base is None or system == base or not self.counted(kernel, access, ranks, system):
            return None
        found = self.family(system, base).get((kernel, access, ranks))
        if found is None:
            state = self.state(kernel, ranks, base)
            is_void = state is not None and state.status != "ok"
            found = verdicts.Verdict(None, f"{base} {'is void' if is_void else 'lacks it'}")
        return found

    @property
    def again(self):
        """The baseline's second self."""
        return f"{self.baseline}{AGAIN}"

    @property
    def noise_floor(self):
        """Ratios of the baseline's second self to the baseline: what no difference looks like.
        Each has the interval of its own comparison."""
        found = [self.ratio(*key) for key in self.series if key[3] == self.again]
        return [ratio for ratio in found if ratio is not None and ratio.half is not None]

    @property
    def false_findings(self):
        """Verdicts that call the baseline different from itself."""
        return [each for each in self.family(self.again, self.baseline).values() if each.shown]

    def copy_limit(self, access, ranks, system, transfer):
        """The copy that bounds an access: of its medium, ranks and nearest transfer size."""
        wanted = ("read",) if access.startswith("read") else ("write", "write-nt")
        near = [
            series
            for series in self.limits.values()
            if series.kind == "copy"
            and system in series.systems
            and series.ranks == ranks
            and series.access in wanted
        ]
        if not near or not transfer:
            return None
        distance = {id(one): abs(math.log(one.transfer_bytes / transfer)) for one in near}
        least = min(distance.values())
        return max((one for one in near if distance[id(one)] == least), key=lambda one: one.rate)

    def limit_of_kind(self, kind, wanted, system):
        """The fastest access of the limit of this kind that bounds a system."""
        return max(
            (
                one
                for one in self.limits.values()
                if one.kind == kind and one.access in wanted and system in one.systems
            ),
            key=lambda one: one.rate,
            default=None,
        )

    def limits_of(self, kernel, access, ranks, system, transfer):
        """The limits that bound an access. The first is the one that it has to be judged by."""
        reads = access.startswith("read")
        state = self.state(kernel, ranks, system)
        copy = self.copy_limit(access, ranks, system, transfer)
        wanted = ("device-read",) if reads else ("device-write",)
        device = self.limit_of_kind("device", wanted, system)
        # Without a sync a write ends in the page cache, and reads come from there.
        past_cache = state.reads.get("after") if reads else state.fsync
        found = [device, copy] if past_cache else [copy, device]
        if reads and state.nodes > 1 and system in self.cairn:
            found.append(self.limit_of_kind("network", ("get", "message"), system))
        return [limit for limit in found if limit is not None]

    def shares(self, kernel, access, ranks, system):
        """What part of its limits a cell reaches; empty where no limit was measured."""
        series = self.counted(kernel, access, ranks, system)
        if series is None or series.unit != "MiB/s":
            return []
        found = []
        for limit in self.limits_of(kernel, access, ranks, system, series.transfer_bytes):
            ratio = ratios.paired(series.rates, limit.rates)
            if ratio:
                found.append(Share(ratio, limit))
        return found

    def share(self, kernel, access, ranks, system):
        """That of the limit that the cell has to be judged by, or None."""
        return next(iter(self.shares(kernel, access, ranks, system)), None)
