"""What a run shows of Cairn, from its figures: how many times each other system, and what part of
the limit. Every ratio has its interval; where no difference is shown, the text says that instead.

The rates are those of the page's first chart. A system that has none there, or another MPI whose
MPI-IO that kernel does not use, is compared in the first kernel that serves.
"""

from ..results.moved import PAGE_CACHE, medium_of, memory_before_write, met

ACCESSES = ("write", "read")


class Claims:
    def __init__(self, top):
        """top: the page's Headline, which has chosen the kernel of the chart."""
        self.found, self.run = top.found, top.run
        self.chosen = (top.kernel, top.ranks)

    def systems(self):
        """Those of Cairn that ran the kernel of the chart."""
        return [name for name in self.found.systems() if self.is_cairn(name, *self.chosen)]

    def is_cairn(self, name, kernel, ranks):
        return name in self.found.cairn and self.found.state(kernel, ranks, name) is not None

    def others(self, system):
        """{other system: (kernel, ranks) in which it is compared}"""
        known = {
            name: self.where(system, name)
            for name in self.found.systems()
            if name not in self.found.cairn and name != self.found.again
        }
        return {name: where for name, where in known.items() if where}

    def where(self, system, other):
        """(kernel, ranks) in which both ran, or None."""
        both = [
            (kernel, ranks)
            for kernel, ranks in [self.chosen, *self.kernels()]
            if self.found.state(kernel, ranks, system) and self.found.state(kernel, ranks, other)
        ]
        if self.run["systems"][system].get("mpi") != self.run["systems"][other].get("mpi"):
            both.sort(key=lambda where: not self.uses_mpi_io(*where, system))
        return next(iter(both), None)

    def kernels(self):
        """(kernel, ranks) of all kernels that write and read data, with their most ranks."""
        rows = [key for key, one in self.found.series.items() if one.unit == "MiB/s"]
        for kernel in self.found.kernel_order:
            if set(ACCESSES) <= {key[1] for key in rows if key[0] == kernel}:
                yield kernel, max(key[2] for key in rows if key[0] == kernel)

    def uses_mpi_io(self, kernel, ranks, system):
        return self.found.state(kernel, ranks, system).api not in ("", "POSIX")

    def against(self, system, other, access, kernel, ranks):
        """The verdict, or None where a side has no such access."""
        if self.found.counted(kernel, access, ranks, system) is None:
            return None
        return self.found.verdict(kernel, access, ranks, system, other)

    def is_short(self, access, kernel, ranks, *systems):
        """Whether a side is timed for less than 1 s."""
        found = [self.found.counted(kernel, access, ranks, each) for each in systems]
        return any(series is not None and series.is_short for series in found)

    def source(self, other, access, kernel, ranks):
        """page cache, or "" """
        state = self.found.state(kernel, ranks, other)
        return PAGE_CACHE if met(access, state, medium_of(self.run, other)) else ""

    def all_rows(self, system, other):
        """faster in 9, slower in 1 of 14"""
        verdicts = [one for one in self.found.family(system, other).values() if one.ratio]
        if not verdicts:
            return ""
        kinds = [one.kind for one in verdicts]
        return (
            f"faster in {kinds.count('better')}, slower in {kinds.count('worse')} of "
            f"{len(verdicts)}"
        )

    def share(self, system, access):
        kernel, ranks = self.chosen
        return self.found.share(kernel, access, ranks, system)

    def about(self, system, other, kernel, ranks):
        """tmpfs, new memory, in ior-shared"""
        found = [about(self.run, other, system)]
        if (kernel, ranks) != self.chosen:
            found.append(f"in {kernel}")
        return ", ".join(filter(None, found))


def about(run, system, cairn=None):
    """tmpfs, used memory, as cairn"""
    found = run["systems"][system]
    where = found.get("directory", {}).get("type", "")
    if "pool_directory" in found:
        where = f"pool in {found['pool_directory'].get('type', '?')} over {where}"
    memory = memory_before_write(run, system)
    named = f"{memory} memory" if memory and memory != PAGE_CACHE else ""
    same = f"as {cairn}" if named and cairn and memory == memory_before_write(run, cairn) else ""
    return ", ".join(filter(None, [where, named, same]))
