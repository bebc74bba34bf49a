"""How the ranks' arrays make up one variable: struct cairn_distribution, and what programs give."""

from __future__ import annotations

import dataclasses
import enum
from ctypes import Structure, c_char_p, c_int64, c_uint8, c_uint16, c_uint32
from typing import Any, Optional, Sequence

__all__ = ["Darray", "Distribute", "Kind"]

MAX_DIMENSIONS = 15

# begin: made from kinds.def by make_constants.py
REPLICATED = 1
BLOCK = 2
DARRAY = 4


class Kind(enum.IntEnum):
    """An array of one dimension of which each rank has any number of elements."""

    # a list of values for each element of the integer variable `over`, in the order in which the
    # rank's memory has those; a rank gets those of its own
    RAGGED = 5
    # on another number of ranks they are dealt out in order of ranks, or with `over` and `key` to
    # the ranks whose block has their cells
    PARTICLES = 6
    # rank r gets those of rank r; further ranks get none
    PER_RANK = 7
# end: made from kinds.def


class Distribution(Structure):
    _fields_ = [("struct_size", c_uint32), ("kind", c_uint32), ("owner", c_uint32),
                ("rank_order", c_uint32), ("global", c_int64 * MAX_DIMENSIONS),
                ("offset", c_int64 * MAX_DIMENSIONS), ("halo_low", c_uint16 * (MAX_DIMENSIONS + 1)),
                ("halo_high", c_uint16 * (MAX_DIMENSIONS + 1)),
                ("axis", c_uint8 * (MAX_DIMENSIONS + 1)), ("over", c_char_p), ("key", c_char_p),
                ("processes", c_uint32 * (MAX_DIMENSIONS + 1)),
                ("distribute", c_uint32 * (MAX_DIMENSIONS + 1)),
                ("block", c_int64 * MAX_DIMENSIONS)]


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
        """Stores kind and arguments into the structure of C."""
        for word in ("processes", "block", "distribute"):
            values = getattr(self, word)
            if values is not None and len(values) != dimensions:
                raise ValueError(f"darray: {word}: expected {dimensions} numbers, one for each"
                                 " dimension of the array")
        where.kind = DARRAY
        where.rank_order = 1 if self.by_columns else 0
        for k in range(dimensions):
            where.processes[k] = self.processes[k]
            where.block[k] = 0 if self.block is None else self.block[k]
            where.distribute[k] = (Distribute.CYCLIC
                                   if self.distribute is None else self.distribute[k])
