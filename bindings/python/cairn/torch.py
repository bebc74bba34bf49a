"""Storage of torch.distributed.checkpoint (DCP) in Cairn's pool.

    import torch.distributed.checkpoint as dcp
    from cairn.torch import Storage

    with Storage("model") as storage:  # all ranks
        if storage.versions():
            dcp.load(state, storage_reader=storage)  # the newest whole one, on any number of ranks
        dcp.save(state, storage_writer=storage, checkpoint_id="step-100")
        saved = dcp.async_save(state, storage_writer=storage, checkpoint_id="step-200")

A tensor is a variable with its name, type and global shape. What DCP stores as bytes, and its
metadata, are in the variable "@torch". A version exists once all ranks have handed over theirs, or
not at all. docs/user/checkpoints.md says how to use it.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import errno as errors
import functools
import os
import socket
import threading
from typing import Any, Optional, Union

try:
    import torch
    import torch.distributed as dist
    from torch.distributed.checkpoint.metadata import Metadata
    from torch.distributed.checkpoint.planner import LoadPlan, LoadPlanner, SavePlan, SavePlanner
    from torch.distributed.checkpoint.staging import AsyncStager
    from torch.distributed.checkpoint.storage import StorageReader, StorageWriter, WriteResult
except ImportError as missing:
    raise ImportError(f"cairn.torch: needs PyTorch 2.6 or later with torch.distributed: {missing}; "
                      "install it for this Python, as python3-torch of Debian 13 or with "
                      "`pip install torch`") from missing

from ._checkpoint import Checkpoint, Handle
from ._choice import choose, together
from ._info import Info, Level
from ._library import Error
from ._tensors import Memory, definitions_of, number_of, row_of, variable_of
from ._torch_reader import OBJECTS, VersionReader
from ._types import Type

__all__ = ["Storage"]


def _done(value: Any) -> torch.futures.Future:
    future: torch.futures.Future = torch.futures.Future()
    future.set_result(value)
    return future


class Storage(StorageWriter, StorageReader, AsyncStager):
    """A set of versions, for `dcp.save`, `dcp.async_save` and `dcp.load`. All ranks together make
    it and close it.

    `process_group`: of these ranks, with a CPU backend, which nothing else uses; by default a new
    one of all ranks. `communicator`: of mpi4py, of the same processes; ranks on several hosts need
    it, and MPI with MPI_THREAD_MULTIPLE. `verify`: a load first compares all bytes with their
    checksums; where they differ it warns, and takes the version before. `look`: only loads, also
    while another job saves, what there is by then. Other options: as of cairn.Checkpoint.
    """

    def __init__(self, name: str, *, process_group: Any = None, communicator: Any = None,
                 verify: bool = True, look: bool = False, **options: Any):
        self._name, self._verifies, self._looks = name, verify, look
        self._reads_together = communicator is not None and not look  # as on several hosts
        self._group = (dist.new_group(backend="gloo")
                       if process_group is None and dist.is_initialized() else process_group)
        self._rank = dist.get_rank(self._group) if self._group is not None else 0
        hosts, jobs = zip(*self._gather((socket.gethostname(), os.urandom(16).hex())))
        if len(set(hosts)) > 1 and not self._reads_together:
            raise Error(errors.ENOSYS,
                        f"storage '{name}': its ranks are on {len(set(hosts))} hosts; "
                        + ("look=True needs ranks of one host" if look
                           else "pass a communicator of mpi4py"))
        alone = ({"look": True} if look
                 else {"communicator": communicator} if communicator is not None
                 else {"rank": self._rank, "ranks": len(hosts), "job": jobs[0]})
        self._open = functools.partial(Checkpoint, name, **alone, **options)
        self._checkpoint = self._open()
        self._lock = threading.RLock()  # one thread at a time
        self._waiting = concurrent.futures.ThreadPoolExecutor(1, "cairn-level")
        # Collective, so they end before what follows on all ranks.
        self._pending: list[concurrent.futures.Future] = []
        self._handle: Optional[Handle] = None
        self._number: Optional[int] = None  # that was asked for
        self._pieces: Any = None  # of this rank, as all ranks know them
        self._defined: dict[str, Any] = {}  # the same on all ranks
        self._now: dict[str, Any] = {}  # during a save: where this rank has a part of a variable
        # Both are set by the thread of async_save().
        self._begun, self._staged = threading.Event(), threading.Event()

    def __enter__(self) -> Storage:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        with contextlib.suppress(*[Error] if kind else []):  # the error that is under way says more
            self.close()

    def close(self) -> None:
        """Collective. Waits for the last version; versions stay."""
        self._waiting.shutdown()
        with self._lock:
            self._checkpoint.close()

    def versions(self) -> list[Info]:
        """The committed versions, newest first; with `look` those that the last load saw."""
        with self._lock:
            return self._checkpoint.versions()

    def wait(self, level: int = Level.LOCAL, timeout: Optional[float] = None) -> None:
        """Waits until the version that was saved last has reached a level; collective for
        GLOBAL."""
        concurrent.futures.wait(self._pending)
        self._wait(self._last(), level, timeout)

    def future(self, level: int = Level.LOCAL) -> concurrent.futures.Future:
        """Waits for a level in the background. A save, load or wait that follows begins when this
        has ended."""
        future = self._waiting.submit(self._wait, self._last(), level, None)
        self._pending = [*(one for one in self._pending if not one.done()), future]
        return future

    def _last(self) -> Handle:
        if self._handle is None:
            raise ValueError(f"storage '{self._name}': nothing was saved yet")
        return self._handle

    def _wait(self, handle: Handle, level: int, timeout: Optional[float]) -> None:
        with self._lock:
            handle.wait(level, timeout)

    def reset(self, checkpoint_id: Union[str, os.PathLike, None] = None) -> None:
        self._number = None if checkpoint_id is None else number_of(checkpoint_id)

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id: Union[str, os.PathLike]) -> bool:
        return str(checkpoint_id)[-1:].isdecimal()

    def prepare_local_plan(self, plan: Any) -> Any:
        return plan

    prepare_global_plan = prepare_local_plan

    def finish(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is left to do: a version is committed with its last bytes, and read_metadata()
        sets up the reader."""

    set_up_storage_reader = finish

    def _gather(self, said: Any) -> list[Any]:
        heard = [said] * (dist.get_world_size(self._group) if self._group is not None else 1)
        if self._group is not None:
            dist.all_gather_object(heard, said, group=self._group)
        return heard

    # ---- writing ---------------------------------------------------------------------------------

    def stage(self, state_dict: Any) -> Any:
        """Copies nothing: write_data() copies into the pool, and synchronize_staging() waits for
        it."""
        self._staged.clear()
        self._begun.clear()
        return state_dict

    def synchronize_staging(self) -> None:
        """Returns when the tensors may change, or the thread that saves has ended without that: its
        future says why."""
        if not self._begun.wait(60):
            raise Error(errors.ETIMEDOUT,
                        f"storage '{self._name}': no thread began to save within 60 s")
        while not self._staged.wait(0.1) and self._saver.is_alive():
            pass

    def storage_meta(self) -> None:  # the first that DCP asks for, in the thread that saves
        self._saver = threading.current_thread()
        self._begun.set()

    def set_up_storage_writer(self, is_coordinator: bool, *args: Any, **kwargs: Any) -> None:
        if not kwargs.get("use_collectives", True):
            raise ValueError(f"storage '{self._name}': use_collectives is False; "
                             "expected ranks that save together")
        self._is_coordinator = is_coordinator

    def write_data(self, plan: SavePlan, planner: SavePlanner) -> torch.futures.Future:
        """Copies this rank's tensors into the pool; the last rank to come commits the version."""
        concurrent.futures.wait(self._pending)
        with self._lock:
            try:
                number = self._prepare(plan, planner)
                self._handle = self._checkpoint.iwrite(number)
            finally:  # nothing of the program's is kept
                self._now.clear()
                for kept in self._checkpoint._memories.values():
                    kept[0] = None
                self._staged.set()
            self._handle.wait(Level.LOCAL)
        return _done([WriteResult(item.index, 0, None) for item in plan.items])

    def _prepare(self, plan: SavePlan, planner: SavePlanner) -> int:
        """Settles with the other ranks what they write, and the version's number. If one cannot,
        none does."""
        text, failed, tensors, row = None, None, {}, b""
        number, self._number = self._number, None
        try:
            tensors, row = row_of(plan, planner, self._is_coordinator)
        except Exception as error:  # told to the others, which would wait for this rank
            failed, text = error, f"{type(error).__name__}: {error}"
        texts, lengths, differ, numbers = zip(
            *self._gather((text, len(row), list(tensors) != self._pieces, number)))
        if failed is not None:
            raise failed
        for rank, text in enumerate(texts):
            if text is not None:
                raise RuntimeError(f"storage '{self._name}': nothing is written, as rank {rank} "
                                   f"cannot: {text}")
        if any(differ):
            wanted = definitions_of(self._gather(list(tensors)))
            for name in [one for one in self._defined if one not in wanted and one != OBJECTS]:
                self._undefine(name)
            for name, definition in wanted.items():
                self._define(name, *definition)
            self._pieces = list(tensors)
        # A power of two, so that few saves need another layout.
        room = max(4096, 1 << (max(lengths) - 1).bit_length())
        self._now[OBJECTS] = memoryview(bytearray(row.ljust(room, b"\0"))).cast("B", (1, room))
        self._define(OBJECTS, (Type.UINT8, 1), (len(lengths), room),
                     {k: ((k, 0), (1, room)) for k in range(len(lengths))})
        for (name, _, _, offset, _), memory in tensors.items():
            is_whole = variable_of(name) in self._defined
            self._now[variable_of(name) if is_whole else variable_of(name, offset)] = memory
        if numbers[0] is not None:
            return numbers[0]
        return max((one.number for one in self._checkpoint.versions()), default=0) + 1

    def _define(self, name: str, kind: tuple[Type, int], shape: tuple[int, ...],
                boxes: dict[int, Any]) -> None:
        if self._defined.get(name) == (kind, shape, boxes):
            return
        if name in self._defined:
            self._undefine(name)
        offset, sizes = boxes.get(self._rank, ((0,) * len(shape),) * 2)
        described = Memory(None, sizes, None, kind[1])  # of a rank that holds nothing of it
        self._checkpoint.define(name, lambda: self._now.get(name, described), shape=shape,
                                offset=offset, type=kind[0])
        self._defined[name] = (kind, shape, boxes)

    def _undefine(self, name: str) -> None:
        del self._defined[name]
        self._checkpoint.undefine(name)

    # ---- reading ---------------------------------------------------------------------------------

    def read_metadata(self, *args: Any, **kwargs: Any) -> Metadata:
        """Collective. Chooses the version."""
        concurrent.futures.wait(self._pending)
        with self._lock:
            asked, self._number = self._number, None
            self._forget()
            verifies = self._verifies and (self._rank == 0 or self._reads_together)
            version = choose(self._gather, self._name, self._checkpoint, asked, self._looks,
                             verifies, self._reads_together)
            self._reader = VersionReader(self._name, self._checkpoint, version,
                                         self._reads_together and self._gather)
        return self._reader.metadata

    def _forget(self) -> None:
        """Forgets what was defined. A looker opens its context anew, rank 0 first: the other ranks
        then see what it saw, or something newer."""
        for name in list(self._defined):
            self._undefine(name)
        self._pieces = None
        for has_turn in (self._rank == 0, self._rank != 0) if self._looks else ():
            together(self._gather, self._look_again if has_turn else lambda: None)

    def _look_again(self) -> None:
        before, self._checkpoint = self._checkpoint, self._open()
        before.close()

    def read_data(self, plan: LoadPlan, planner: LoadPlanner) -> torch.futures.Future:
        with self._lock:
            self._reader.read(plan, planner)
        return _done(None)
