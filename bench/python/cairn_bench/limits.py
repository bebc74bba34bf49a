"""Limits: what a medium gives without a file system, measured in the rounds of the run.

A limit is a copy between the ranks' buffers and a warm mapping of the same medium, by as many ranks
as the cell has, in pieces of its transfers. It takes its turn in each round like a cell.
"""

import dataclasses
import hashlib
import os

from . import cells as cells_module
from . import installation

LARGEST_PIECE = 1 << 20  # larger copies are not faster
REGION = 64 << 20  # of each rank: more than the caches of one processor hold
PASSES = 4

# Names of the accesses of the kernel `limits`, as the page shows them.
NAMES = {"write": "copy", "write-nt": "copy past the cache", "read": "copy out"}


@dataclasses.dataclass(frozen=True)
class Limit:
    medium: str  # a directory on it
    systems: tuple  # names of those whose data lie there
    mpi: str
    ranks: int
    transfer: int
    launcher: str | None = None

    @property
    def name(self):
        return f"limit of {self.medium}, {self.ranks} ranks, {self.transfer} bytes"

    @property
    def key(self):
        parts = repr((self.medium, self.mpi, self.ranks, self.transfer))
        return hashlib.sha256(parts.encode()).hexdigest()[:16]

    @property
    def bytes(self):
        return REGION * self.ranks

    def words(self, directory):
        return [
            *installation.launch_words(self.mpi, self.ranks, self.launcher),
            str(installation.kernel(self.mpi, "limits")),
            "--format",
            "json",
            "-b",
            str(REGION),
            "-t",
            str(self.transfer),
            "-p",
            str(PASSES),
            f"{directory}/limit",
        ]


def rank_counts(most):
    """1, 2, 4 ... and `most`: how the medium's speed grows with the ranks."""
    found = {1, most}
    number = 2
    while number < most:
        found.add(number)
        number *= 2
    return found


def needed(cells, systems):
    """The limits of the cells, each medium's once."""
    media = {}  # device: (directory, [systems])
    for name, system in systems.items():
        device = os.stat(system.medium).st_dev
        media.setdefault(device, (str(system.medium), []))[1].append(name)
    found = {}
    for directory, names in media.values():
        mine = [cell for cell in cells if cell.system in names]
        wanted = {(cell.ranks, piece) for cell in mine if (piece := piece_of(cell)) is not None}
        if wanted:
            largest = max(piece for _, piece in wanted)
            wanted |= {(ranks, largest) for ranks in rank_counts(max(ranks for ranks, _ in wanted))}
        first = next((systems[cell.system] for cell in mine), None)
        for ranks, piece in sorted(wanted):
            limit = Limit(directory, tuple(names), first.mpi, ranks, piece, first.launcher)
            found[limit.key] = limit
    return list(found.values())


def piece_of(cell):
    """Bytes of one copy for a cell; None for cells that move no data."""
    transfer = cells_module.transfer_bytes(cell)
    return None if transfer is None else max(8, min(transfer, LARGEST_PIECE) // 8 * 8)
