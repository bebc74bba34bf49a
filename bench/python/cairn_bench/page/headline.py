"""The page at a glance: what readers of papers on storage look for, one column for each system.

Rates, times and scaling are those of one kernel: the first of the matrix that writes and reads
data. """

import statistics

from .. import sizes
from ..digits import three
from ..results import summary
from ..results.moved import PAGE_CACHE, UNKNOWN, medium_of, memory_before_write, met, moved

SMALL_CALL = 4096
OPERATIONS = ("create", "stat", "remove")


class Headline:
    def __init__(self, found, run):
        self.found = found
        self.run = run
        self.kernel, self.ranks = self._kernel()

    def _kernel(self):
        """(kernel, ranks) of the rates: its most ranks. (None, 0) if no kernel moves data."""
        keys = [key for key, one in self.found.series.items() if one.unit == "MiB/s"]
        for kernel in self.found.kernel_order:
            accesses = {key[1] for key in keys if key[0] == kernel}
            if {"write", "read"} <= accesses:
                return kernel, max(key[2] for key in keys if key[0] == kernel)
        return None, 0

    def rows(self):
        """[(what, {system: text})]; rows without any text are left out."""
        rows = []
        if self.kernel is not None:
            rows += [
                ("write", self.rate, "write"),
                ("read", self.rate, "read"),
                ("write, against the best baseline", self.against_best, "write"),
                ("read, against the best baseline", self.against_best, "read"),
                ("application goes on after", self.goes_on),
                ("data are durable after", self.durable),
                ("restart has read them after", self.restarted),
                ("its reads", self.reads),
                ("memory before the write", self.before_write),
                ("parallel efficiency, write", self.scaling),
                ("slowest rank / median rank, write", self.imbalance),
            ]
        rows += [
            ("4 KiB call, p50 / p99 / p99.9", self.latency),
            ("create / stat / unlink", self.operations),
            ("start-up", self.times, "startups"),
            ("finalize, with Cairn's drain", self.times, "finals"),
            ("memory of a node, median", self.memory),
            ("verified", self.verified),
            ("cells that failed", self.failed),
            ("medium", self.medium),
            ("MPI", self.mpi),
        ]
        found = []
        for what, texts, *more in rows:
            by_system = {system: texts(system, *more) for system in self.found.systems()}
            if any(by_system.values()):
                found.append((what, by_system))
        return found

    def series(self, access, system):
        return self.found.counted(self.kernel, access, self.ranks, system)

    def state(self, system):
        return self.found.state(self.kernel, self.ranks, system)

    def rate(self, system, access):
        series = self.series(access, system)
        if series is None:
            return ""
        nodes = self.state(system).nodes
        total = rate_text(series.rate)
        if nodes > 1:
            total += f" ({rate_text(series.rate / nodes)} a node)"
        shares = self.found.shares(self.kernel, access, self.ranks, system)
        return "; ".join([total, *map(summary.share_text, shares)])

    def against_best(self, system, access):
        """Paired with the fastest system that is not Cairn's, or with the next one to it.

        Of the others, those count whose writes meet the same memory, if there are any. A disk
        behind its page cache is the best one only where nothing else was measured."""
        mine = self.series(access, system)
        others = [
            other
            for other in self.found.systems()
            if other != system and other not in self.found.cairn and self.series(access, other)
        ]
        if mine is None or not others or (system not in self.found.cairn and self.found.cairn):
            return ""
        others = [other for other in others if not self.is_cached(other, access)] or others
        memory = self.before_write(system)
        others = [other for other in others if self.before_write(other) == memory] or others
        best = max(others, key=lambda other: self.series(access, other).rate)
        verdict = self.found.verdict(self.kernel, access, self.ranks, system, best)
        about = ""
        if self.is_cached(best, access):
            about = f" ({PAGE_CACHE})"
        elif memory and memory == self.before_write(best):
            about = f" ({memory} memory, too)"
        return f"{verdict.text}; of {best}{about}, n = {verdict.rounds}"

    def is_cached(self, system, access):
        """Whether the writes of a system end in a page cache, or its reads come from there."""
        return met(access, self.state(system), self.medium_of(system))

    def medium_of(self, system):
        return medium_of(self.run, system)

    def before_write(self, system):
        return memory_before_write(self.run, system)

    def goes_on(self, system):
        series = self.series("write", system)
        return seconds_text(series)

    def durable(self, system):
        series, state = self.series("write", system), self.state(system)
        if series is None or not series.seconds:
            return ""
        seconds = statistics.median(series.seconds.values())
        if system in self.found.cairn:
            finals = state.finals
            if state.reads.get("after"):
                if self.run["matrix"]["systems"][system]["cairn"] == "kept":
                    return "not measured: the reads come before the drain"
                finals = state.drains
            elif not self.run["matrix"]["kernels"][self.kernel].get("keep"):
                return "not measured: the kernel removes its files"
            if not finals:
                return ""
            return f"{three(seconds + statistics.median(finals))} s, when it has drained"
        if self.medium_of(system).volatile:
            return "never: in memory"
        if state.fsync is None:
            return UNKNOWN
        return f"{three(seconds)} s" if state.fsync else "some time later: not synced"

    def restarted(self, system):
        series = self.series("read", system)
        return seconds_text(series)

    def reads(self, system):
        if self.series("read", system) is None:
            return ""
        state = self.state(system)
        found = moved("read", state, self.medium_of(system))
        return "; ".join(filter(None, [found, state.reads.get("how")]))

    def scaling(self, system):
        points = {
            key[2]: one.rate
            for key, one in self.found.series.items()
            if key[:2] == (self.kernel, "write")
            and key[3] == system
            and self.found.counted(*key) is not None
        }
        if len(points) < 2:
            return ""
        few, many = min(points), max(points)
        part = points[many] / points[few] * few / many
        return f"{part * 100:.0f} % of the ideal, {few} to {summary.of_ranks(many)}"

    def imbalance(self, system):
        series = self.series("write", system)
        if series is None or not series.imbalance:
            return ""
        return f"x{statistics.median(series.imbalance.values()):.2f}"

    def latency(self, system):
        """Of the first kernel that times calls of at most 4 KiB, its writes before its reads."""
        texts = []
        for key, one in self.found.series.items():
            kernel, access, ranks, name = key
            if name != system or not one.latency or one.transfer_bytes > SMALL_CALL:
                continue
            if self.found.counted(*key) is None or texts and kernel != texts[0][0]:
                continue
            values = [percentile(one, part) for part in ("p50", "p99", "p99.9")]
            if None not in values:
                shown = " / ".join(three(value / 1e3) for value in values)
                texts.append((kernel, access, ranks, f"{access} {shown} µs"))
        most = max((ranks for _, _, ranks, _ in texts), default=0)
        return "; ".join(text for _, _, ranks, text in texts if ranks == most)

    def operations(self, system):
        for key in self.found.series:
            kernel, _, ranks, name = key
            if ranks != max(each[2] for each in self.found.series if each[0] == kernel):
                continue
            found = [self.found.counted(kernel, each, ranks, name) for each in OPERATIONS]
            if name == system and all(found) and found[0].unit == "ops/s":
                return " / ".join(three(one.rate / 1e3) for one in found) + " k/s"
        return ""

    def times(self, system, what):
        found = self.found.of_all_cells(system, what)
        return f"{three(statistics.median(found))} s" if found else ""

    def memory(self, system):
        found = self.found.of_all_cells(system, "memory")
        if not found:
            return ""
        middle = sizes.show(round(statistics.median(found)))
        return f"{middle} (most {sizes.show(max(found))})"

    def states(self, system):
        return [state for (_, _, name), state in self.found.states.items() if name == system]

    def verified(self, system):
        total = sum(state.verified for state in self.states(system))
        without = sum(not state.checked for state in self.states(system))
        text = sizes.show(total) if total else ""
        if without:
            cells = "1 cell" if without == 1 else f"{without} cells"
            text += f"{', ' if text else ''}{cells} not verified"
        return text

    def failed(self, system):
        states = self.states(system)
        wrong = [state.status for state in states if state.status != "ok"]
        marks = ", ".join(
            f"{wrong.count(each)} {summary.MARKS.get(each, each)}" for each in dict.fromkeys(wrong)
        )
        return f"{marks} of {len(states)}" if wrong else f"none of {len(states)}"

    def medium(self, system):
        found = self.run["systems"][system]
        where = found.get("directory", {}).get("type", "")
        if "pool_directory" in found:
            return f"{found['pool_directory'].get('type', '?')}, drains to {where}"
        return where

    def mpi(self, system):
        return self.run["systems"][system].get("mpi", "")


def rate_text(rate):
    return f"{three(rate / 1024)} GiB/s" if rate >= 1024 else f"{three(rate)} MiB/s"


def seconds_text(series):
    if series is None or not series.seconds:
        return ""
    return f"{three(statistics.median(series.seconds.values()))} s"


def percentile(series, part):
    """The median over the rounds, in nanoseconds; None if it is not known."""
    known = [one[part] for one in series.latency.values() if part in one]
    return statistics.median(known) if known else None
