"""VersionReader reads the tensors of one version for torch.distributed.checkpoint (DCP)."""

from __future__ import annotations

import errno as errors
import io
from typing import Any, Literal, Optional, Union

import torch
from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner

from ._checkpoint import Checkpoint
from ._choice import Gather, in_one_order, tell
from ._library import Error
from ._tensors import memory_of, objects_of, place_of, type_of

OBJECTS = "@torch"  # the variable with a row for each rank: a pickle, and zeros


class VersionReader:
    """`gather`: of ranks on several hosts, which read together; False where each rank reads by
    itself."""

    def __init__(self, name: str, checkpoint: Checkpoint, version: int,
                 gather: Union[Gather, Literal[False]]):
        self._name, self._checkpoint, self._version = name, checkpoint, version
        self._gather = gather
        self._shapes = {one.name: one.shape for one in checkpoint.variables(version)}
        if OBJECTS not in self._shapes:
            raise Error(errors.ENODATA,
                        f"version {version} of '{name}': was not written by cairn.torch")
        ranks, room = self._shapes[OBJECTS]
        rows = memoryview(bytearray(ranks * room))
        checkpoint.read_var(OBJECTS, rows.cast("B", (ranks, room)), version=version)
        self.metadata, self._objects = objects_of(rows, room)

    def read(self, plan: LoadPlan, planner: LoadPlanner) -> None:
        """Stores into the planner's tensors what the plan wants of the version."""
        wanted: dict[str, list[Any]] = {}  # by variable
        order = in_one_order(self._gather, self._name, wanted,
                             lambda: self._resolve(plan, planner, wanted))
        failure: Optional[Exception] = None
        for name, dtype, count in order:
            pieces = wanted.get(name, [])
            for piece in pieces + [None] * (count - len(pieces)):
                try:
                    self._read_piece(planner, name, dtype, piece)
                except Error:  # of all ranks
                    raise
                except Exception as error:  # the others go on reading, so this one takes part
                    failure = failure or error
        tell(self._gather, self._name, failure)

    def _resolve(self, plan: LoadPlan, planner: LoadPlanner,
                 wanted: dict[str, list[Any]]) -> None:
        for item in plan.items:
            if item.type.name == "BYTE_IO":
                planner.load_bytes(item, io.BytesIO(self._objects[item.storage_index]))
                continue
            properties = self.metadata.state_dict_metadata[item.storage_index.fqn].properties
            name, offset = place_of(item, self._shapes)
            target = planner.resolve_tensor(item).detach()
            wanted.setdefault(name, []).append((properties.dtype, item, target, offset))

    def _read_piece(self, planner: LoadPlanner, name: str, dtype: torch.dtype,
                    piece: Any) -> None:
        """Reads a piece of a variable; None: nothing, beside ranks that read some."""
        nothing = (0,) * len(self._shapes[name])
        _, item, target, offset = piece or (dtype, None, torch.empty(nothing, dtype=dtype), nothing)
        is_direct = (target.device.type == "cpu" and target.dtype == dtype
                     and not target.is_conj() and not target.is_neg())
        to = target if is_direct else torch.empty(target.shape, dtype=dtype)
        if target.numel() > 0 or self._gather:
            self._checkpoint.read_var(name, memory_of(to), version=self._version, offset=offset,
                                      type=type_of(dtype))
        if not is_direct:
            target.copy_(to)
        if item is not None:
            planner.commit_tensor(item, target)
