"""Tensors of PyTorch as variables of a checkpoint. Does not import torch."""

from __future__ import annotations

import hashlib
import math
import pickle
import re
from typing import Any, Optional

from ._types import Type


class Memory:
    """Where a tensor's elements are, as the bindings ask for it; without a tensor those of a rank
    that holds nothing."""

    def __init__(self, tensor: Any, shape: Any, strides: Any, size: int):
        self._keeps = tensor
        address = tensor.data_ptr() if tensor is not None else 0
        self.__array_interface__ = {
            "data": (address, False), "shape": tuple(shape), "strides": strides,
            "typestr": f"|V{size}"
        }


def memory_of(tensor: Any) -> Memory:
    """On the host: elsewhere it is a copy."""
    tensor = tensor.cpu().resolve_conj().resolve_neg()
    tensor = tensor.reshape(1) if tensor.dim() == 0 else tensor
    size = tensor.element_size()
    return Memory(tensor, tensor.shape, tuple(stride * size for stride in tensor.stride()), size)


def type_of(dtype: Any) -> Type:
    name = str(dtype).split(".")[-1].upper()
    return Type.LOGICAL8 if name == "BOOL" else Type.__members__.get(name, Type.OPAQUE)


def numbers_of(given: Any, of_a_scalar: int) -> tuple[int, ...]:
    """A scalar becomes an array of one element, as only one rank may have it."""
    return tuple(given or ()) or (of_a_scalar,)


def variable_of(tensor: str, offset: Optional[tuple[int, ...]] = None) -> str:
    """The variable of a tensor, or of its piece that begins at `offset`."""
    if len(tensor.encode()) > 128 or not tensor.isprintable() or re.search(
            r"^[.~]|[/@]|^$", tensor):
        tensor = "~" + hashlib.sha256(tensor.encode()).hexdigest()[:32]
    return tensor if offset is None else f"{tensor}@{','.join(map(str, offset))}"


def number_of(checkpoint_id: Any) -> int:
    """The number of a version: all of the text, or what "step-100" ends in."""
    digits = re.search(r"[0-9]+$", str(checkpoint_id))
    if digits is None:
        raise ValueError(
            f"checkpoint_id '{checkpoint_id}': expected a text that ends in a number, as 'step-100'"
        )
    return int(digits.group())


def piece_of(item: Any, data: Any) -> tuple[Any, ...]:
    """What other ranks have to know of a tensor to be written: name, type, global shape, offset,
    sizes."""
    chunk, dtype = item.tensor_data.chunk, item.tensor_data.properties.dtype
    if data.dtype != dtype or data.shape != chunk.sizes:
        raise ValueError(
            f"tensor '{item.index.fqn}': is {data.dtype} of {list(data.shape)}; the plan has"
            f" {dtype} of {list(chunk.sizes)}"
        )
    return (item.index.fqn, (type_of(dtype), data.element_size()),
            numbers_of(item.tensor_data.size, 1), numbers_of(chunk.offsets,
                                                             0), numbers_of(chunk.sizes, 1))


def row_of(plan: Any, planner: Any, is_coordinator: bool) -> tuple[dict[Any, Memory], bytes]:
    """A rank's tensors, by what other ranks have to know of them, and the pickle of the rest."""
    tensors, objects = {}, {}
    metadata = getattr(planner, "metadata", None) if is_coordinator else None
    if is_coordinator and metadata is None:
        raise TypeError(
            f"planner {type(planner).__name__}: has no `metadata` after create_global_plan();"
            " derive it from DefaultSavePlanner, or set that there"
        )
    for item in plan.items:
        data = planner.resolve_data(item)
        if item.type.name == "BYTE_IO":
            objects[item.index] = data.getvalue()
        elif data.numel() > 0:
            tensors[piece_of(item, data)] = memory_of(data.detach())
    return tensors, pickle.dumps((metadata, objects), protocol=4)


def objects_of(rows: Any, room: int) -> tuple[Any, dict[Any, bytes]]:
    """The metadata and what is not a tensor, from the pickles of all ranks."""
    found, all_objects = None, {}
    for at in range(0, len(rows), room):
        metadata, objects = pickle.loads(rows[at:at + room])
        all_objects.update(objects)
        found = metadata or found
    return found, all_objects


def place_of(item: Any, shapes: dict[str, Any]) -> tuple[str, tuple[int, ...]]:
    """The variable that has the elements to be read, and where in it they begin. `shapes`: of the
    variables that there are."""
    index = item.storage_index
    name, piece, offset = variable_of(index.fqn), numbers_of(index.offset, 0), numbers_of(
        item.storage_offsets, 0)
    if name in shapes:
        return name, tuple(map(sum, zip(piece, offset)))
    return variable_of(index.fqn, piece), offset


def definitions_of(pieces_of_ranks: list[list[Any]]) -> dict[str, Any]:
    """What each variable is: type, global shape, and by rank the offset and the sizes of its box. A
    tensor is one variable; where a rank has several pieces of it, each piece is one."""
    pieces_of: dict[str, list[Any]] = {}
    for rank, pieces in enumerate(pieces_of_ranks):
        for name, *piece in pieces:
            pieces_of.setdefault(name, []).append((rank, *piece))
    found = {}
    for name, pieces in sorted(pieces_of.items()):
        _, kind, shape, _, _ = pieces[0]
        boxes = {rank: (offset, sizes) for rank, _, _, offset, sizes in pieces}
        if len(boxes) == len(pieces) and sum(math.prod(sizes)
                                             for _, sizes in boxes.values()) == math.prod(shape):
            found[variable_of(name)] = (kind, shape, boxes)
        else:
            found.update(
                (variable_of(name, offset), (kind, sizes, {rank: ((0, ) * len(sizes), sizes)}))
                for rank, _, _, offset, sizes in pieces)
    return found
