"""What the library says of versions and variables."""

from __future__ import annotations

import dataclasses
import enum
from typing import Any, Optional

from . import _library
from ._attributes import attributes_of
from ._distributions import Kind
from ._types import Type, dtype_text


class Level(enum.IntEnum):
    """By the event that a version survives."""

    STAGED = 1  # this rank's bytes are copied: its arrays may change
    LOCAL = 2  # committed: all processes of the job may die
    PARTNER = 3  # and copied to nodes of other failure domains: a node may be lost
    GLOBAL = 4  # copied to `lower` and read back: the pool may be lost


class Survives(enum.IntFlag):
    PROCESSES = 1
    POWER = 2
    NODE = 4
    POOLS = 8


@dataclasses.dataclass(frozen=True)
class Info:
    """A version."""

    number: int
    step: int
    sequence: int
    parent: int
    begun_ns: int
    bytes: int
    ranks: int
    level: int
    survives: Survives
    attempts: int
    abandoned: bool
    skipped: int
    missing: int
    code_version: str
    run: str
    why: str
    attributes: dict[str, Any]
    verified_ns: int
    copies: int
    from_copies: int


@dataclasses.dataclass(frozen=True)
class Variable:
    """What a version holds under a name."""

    name: str
    type: Type
    size: int  # bytes of an element
    shape: tuple[int, ...]  # of the global array
    optional: bool
    attributes: dict[str, Any]
    kind: Optional[Kind] = None  # None: replicated, or parts of a global array
    over: str = ""
    key: str = ""

    @property
    def dtype(self) -> str:
        """Numpy's name of the type; 'V' and a size for what numpy does not have."""
        return dtype_text(self.type, self.size)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """Names of the dimensions: those of the attribute, else made from the variable's name."""
        named = tuple(str(self.attributes.get("dimensions", "")).split())
        return named if len(named) == len(self.shape) else tuple(f"{self.name}_{k}"
                                                                 for k in range(len(self.shape)))


@dataclasses.dataclass(frozen=True)
class Progress:
    level: int
    survives: Survives
    bytes: int
    error: int
    level_ns: tuple[int, ...]


def info_of(c: _library.Info) -> Info:
    return Info(number=c.number, step=c.step, sequence=c.sequence, parent=c.parent,
                begun_ns=c.begun_ns, bytes=c.bytes, ranks=c.ranks, level=c.level,
                survives=Survives(c.survives), attempts=c.attempts, abandoned=bool(c.is_abandoned),
                skipped=c.skipped, missing=c.missing, code_version=c.code_version.decode(),
                run=c.run.decode(), why=c.why.decode(errors="replace"),
                attributes=attributes_of(c.attributes, c.attribute_count),
                verified_ns=c.verified_ns, copies=c.copies, from_copies=c.from_copies)


def progress_of(c: _library.Progress) -> Progress:
    return Progress(level=c.level, survives=Survives(c.survives), bytes=c.bytes, error=c.error,
                    level_ns=tuple(c.level_ns))


def variable_of(c: _library.Variable) -> Variable:
    return Variable(name=c.name.decode(), type=Type(c.type), size=c.element_size,
                    shape=tuple(getattr(c, "global")[:c.dimensions]),
                    optional=bool(c.flags & _library.OPTIONAL),
                    attributes=attributes_of(c.attributes, c.attribute_count),
                    kind=Kind(c.kind) if c.kind in list(Kind) else None,
                    over=(c.over or b"").decode(), key=(c.key or b"").decode())
