"""Which version ranks load together. Does not import torch."""

from __future__ import annotations

import errno as errors
import warnings
from typing import Any, Callable, Literal, Optional, Union

from ._checkpoint import Checkpoint
from ._info import Info
from ._library import Error

_OF_DAMAGE = (errors.EUCLEAN, errors.EIO)
Gather = Callable[[Any], list[Any]]  # what each rank says, by rank


def together(gather: Gather, call: Callable[..., Any], *given: Any) -> list[Any]:
    """What `call` gives on each rank. All ranks raise the Error of the first rank that has one."""
    found, failure = None, None
    try:
        found = call(*given)
    except Error as error:
        failure = error.errno, error.strerror
    heard = gather((found, failure))
    for _, failure in heard:
        if failure is not None:
            raise Error(*failure)
    return [found for found, _ in heard]


def choose(gather: Gather, name: str, checkpoint: Checkpoint, asked: Optional[int], looks: bool,
           verifies: bool, on_several_hosts: bool = False) -> int:
    """Returns the version asked for, or the newest whose bytes are right.

    `looks`: the contexts only look; else the run continues that version. `verifies`: this rank
    compares bytes with their checksums, which only rank 0 need do. `on_several_hosts`: each host
    compares those of its part, and takes them from a copy on another node if they differ.
    """
    if on_several_hosts:
        info = checkpoint.read(asked, verify_all=verifies)
        if info.skipped > 0:
            warnings.warn(f"storage '{name}': a newer version than {info.number} is damaged or "
                          f"incomplete: {info.why}")
        return info.number
    number, damage, damaged = asked, (0, ""), set()
    while True:
        info = _look_for(gather, name, checkpoint, number) if looks else checkpoint.read(number)
        # Its number stands twice in the line, and reads take the newer one.
        if info.sequence in damaged:
            raise Error(*damage)
        found = together(gather, _damage_of, checkpoint, info if verifies else None)[0]
        if found is None:
            return info.number
        *damage, number = found
        if asked is not None or number is None:
            raise Error(*damage)
        damaged.add(info.sequence)
        warnings.warn(f"storage '{name}': version {info.number} is damaged: {damage[1]}; "
                      f"version {number} is tried instead")


def _damage_of(checkpoint: Checkpoint,
               info: Optional[Info]) -> Optional[tuple[int, str, Optional[int]]]:
    """Returns what is damaged in a version, and the number of the version before."""
    try:
        if info is not None:
            checkpoint.verify(info.number)
    except Error as error:
        if error.errno not in _OF_DAMAGE:
            raise
        before = next((one.number for one in checkpoint.versions()
                       if one.sequence == info.parent and one.level > 0), None)
        return error.errno, error.strerror, before
    return None


def _look_for(gather: Gather, name: str, checkpoint: Checkpoint, asked: Optional[int]) -> Info:
    """Finds one version on all ranks, whose contexts only look: the one that rank 0 finds."""
    number = together(gather, _find, name, checkpoint, asked)[0].number if asked is None else asked
    found = together(gather, _find, name, checkpoint, number)
    for rank, info in enumerate(found):
        if info.sequence != found[0].sequence:
            raise Error(errors.ESTALE,
                        f"storage '{name}': rank {rank} has another version {number} than rank 0, "
                        "as a job saves meanwhile; load again")
    return found[0]


def _find(name: str, checkpoint: Checkpoint, number: Optional[int]) -> Info:
    found = [one for one in checkpoint.versions()
             if one.level > 0
             and (one.number == number if number is not None else not one.abandoned)]
    if not found:
        which = "" if number is None else f" {number}"
        raise Error(errors.ENOENT, f"storage '{name}': has no version{which}")
    info = min(found, key=lambda one: (one.abandoned, -one.sequence))
    checkpoint.variables(info.number)  # from now on it is not overwritten
    return info


def tell(gather: Union[Gather, Literal[False]], name: str, failure: Optional[Exception],
         said: Any = None) -> list[Any]:
    """What each rank says. If one has failed, all raise: it what it has met, the others that.

    `gather`: False where each rank is by itself.
    """
    own = (repr(failure) if failure is not None else None, said)
    heard = gather(own) if gather else [own]
    if failure is not None:
        raise failure
    for rank, (text, _) in enumerate(heard):
        if text is not None:
            raise RuntimeError(f"storage '{name}': rank {rank} cannot read: {text}")
    return [each for _, each in heard]


def in_one_order(gather: Union[Gather, Literal[False]], name: str, wanted: dict[str, list[Any]],
                 resolve: Callable[[], None]) -> list[tuple[str, Any, int]]:
    """Variables that ranks read together, in one order on all: their name, their type, and the most
    pieces of them that any rank wants.

    `resolve` fills in what this rank wants: for each variable its pieces, the type first in each.
    If it fails on one rank, none reads. """
    failure, own = None, {}
    try:
        resolve()
        own = {variable: (pieces[0][0], len(pieces)) for variable, pieces in wanted.items()}
    except Exception as error:  # told to the others, which would wait for this rank
        failure = error
    most: dict[str, tuple[Any, int]] = {}
    for of_rank in tell(gather, name, failure, own):
        for variable, (kind, count) in of_rank.items():
            most[variable] = (kind, max(count, most.get(variable, (kind, 0))[1]))
    return [(variable, *found) for variable, found in sorted(most.items())]
