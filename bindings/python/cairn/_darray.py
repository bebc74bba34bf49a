"""Global arrays that are dealt out in blocks to a grid of processes."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Optional, Sequence


class Distribute(enum.IntEnum):
    """How a dimension is dealt out. The length of a block, if it is 0:"""

    BLOCK = 1  # one block each, of extent / processes elements, rounded up
    CYCLIC = 2  # blocks in turn, of one element
    NONE = 3  # not at all


@dataclasses.dataclass(frozen=True)
class Darray:
    """A grid of all ranks and the blocks that it is dealt, as in ScaLAPACK. The array is what this
    rank is dealt, as many elements as NUMROC says. `processes`: of the grid, along each dimension
    of the global array; `block`: elements of a block. `by_columns`: in the grid the first
    coordinate of the ranks moves fastest, as in BLACS's column-major ones."""

    processes: Sequence[int]
    block: Optional[Sequence[int]] = None
    distribute: Optional[Sequence[Distribute]] = None  # None: CYCLIC
    by_columns: bool = False

    def store(self, where: Any, dimensions: int) -> None:
        """Into the structure of C."""
        for word in ("processes", "block", "distribute"):
            values = getattr(self, word)
            if values is not None and len(values) != dimensions:
                raise ValueError(f"darray: {word}: expected {dimensions} numbers, one for each"
                                 " dimension of the array")
        where.rank_order = 1 if self.by_columns else 0
        for k in range(dimensions):
            where.processes[k] = self.processes[k]
            where.block[k] = 0 if self.block is None else self.block[k]
            where.distribute[k] = (Distribute.CYCLIC
                                   if self.distribute is None else self.distribute[k])
