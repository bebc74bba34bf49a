"""A context of checkpoints."""

from __future__ import annotations

import contextlib
import ctypes
import enum
import errno as errors
import os
import warnings
from typing import Any, Callable, Iterable, Optional, Sequence, Union

from . import _distributions, _library
from ._arrays import Counted, Memory
from ._attributes import Attributes
from ._distributions import Darray, Kind
from ._info import Info, Level, Progress, Variable, info_of, progress_of, variable_of
from ._library import Error
from ._types import Type


class Owner(enum.IntEnum):
    """Whose elements count where boxes overlap."""

    LOWEST_RANK = 1
    HIGHEST_RANK = 2


def _communicator(communicator: Any) -> int:
    if communicator is None:
        return _library.NO_COMMUNICATOR
    to_fortran = getattr(communicator, "py2f", None)  # of mpi4py
    return to_fortran() if to_fortran is not None else int(communicator)


def _ns(seconds: float) -> int:
    return round(seconds * 1e9)


def _pairs(halo: Iterable[Union[int, tuple[int, int]]]) -> list[tuple[int, int]]:
    return [(width, width) if isinstance(width, int) else (width[0], width[1]) for width in halo]


class Handle:
    """A version that is being written."""

    def __init__(self, checkpoint: Checkpoint, number: int):
        self._checkpoint = checkpoint
        self._number = number

    def test(self, level: Level = Level.LOCAL) -> bool:
        """Is the level reached? Does not wait."""
        return self._checkpoint._call("test", self._number, level, None) == 1

    def wait(self, level: Level = Level.LOCAL, timeout: Optional[float] = None) -> None:
        """Waits until the level is reached; `timeout`: seconds, for LOCAL."""
        self._checkpoint._call("wait", self._number, level,
                               0 if timeout is None else max(1, round(timeout * 1e3)))

    def progress(self) -> Progress:
        c = _library.made(_library.Progress)
        self._checkpoint._call("test", self._number, Level.STAGED, ctypes.byref(c))
        return progress_of(c)


class Checkpoint:
    """A set of versions, opened by all ranks. One thread at a time may use it.

    `communicator`: of mpi4py, a Fortran handle, or None without MPI. Times are seconds; what is 0
    or empty has the default of the C API. `fresh` begins a new line of versions; copies
    of the line before stay in `lower`, unless `drop_copies` is set. `partner` copies
    each version to nodes of other failure domains. `cyclic`: where a variable's global array is
    larger than the stored one, `read` repeats that. `background` copies versions to `lower` while
    the program goes on, those whose number is a multiple of `lower_multiple`. `signals`,
    `halt_file`, `end_time` (since 1970) and `exit_margin` are for `should_exit`. `look` only looks
    at versions, while another run may use the set: `versions`, `variables`, `read_var`, `dataset`.
    """

    def __init__(self, name: str, communicator: Any = None, *, fresh: bool = False,
                 look: bool = False, partner: bool = False, cyclic: bool = False,
                 background: bool = False, code_version: str = "", keep: int = 0,
                 keep_multiple: int = 0, keep_period: float = 0, interval: float = 0,
                 max_attempts: int = 0, block_size: int = 0, rank: int = 0, ranks: int = 0,
                 job: str = "", timeout: float = 0, lower: Union[str, os.PathLike, None] = None,
                 lower_keep: int = 0, lower_multiple: int = 0, drop_copies: bool = False,
                 signals: bool = False,
                 halt_file: Union[str, os.PathLike,
                                  None] = None, end_time: float = 0, exit_margin: float = 0):
        self._handle = ctypes.c_void_p()
        self._memories: dict[str, list[Any]] = {}  # what the library holds pointers to
        self._collected: dict[str, list[Any]] = {}  # the same of a version that was begun
        self._observer: Any = None
        self._raised: Optional[BaseException] = None
        options = _library.made(
            _library.Options,
            flags=((_library.FRESH if fresh else 0) | (_library.LOOK if look else 0)
                   | (_library.PARTNER if partner else 0) | (_library.CYCLIC if cyclic else 0)
                   | (_library.SIGNALS if signals else 0)
                   | (_library.BACKGROUND if background else 0)
                   | (_library.DROP_COPIES if drop_copies else 0)),
            code_version=code_version.encode() or None, rank=rank, ranks=ranks,
            job=job.encode() or None, timeout_ms=round(timeout * 1e3), keep=keep,
            keep_multiple=keep_multiple, keep_period_ns=_ns(keep_period),
            interval_ns=_ns(interval), max_attempts=max_attempts,
            block_size=block_size, lower=None if lower is None else os.fsencode(lower),
            lower_keep=lower_keep, lower_multiple=lower_multiple,
            halt_file=None if halt_file is None else os.fsencode(halt_file),
            end_time_ns=_ns(end_time), exit_margin_ns=_ns(exit_margin))
        self._check(_library.library().cairn_checkpoint_init(name.encode(),
                                                             _communicator(communicator),
                                                             ctypes.byref(options),
                                                             ctypes.byref(self._handle)))
        self._owner = os.getpid()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            self.close()
        else:  # the error that is under way says more
            with contextlib.suppress(Error):
                self.close()

    def close(self) -> None:
        """Collective. Waits until the last version is committed or has failed. Versions stay."""
        if not self._handle:
            return
        handle, self._handle = self._handle, ctypes.c_void_p()
        if os.getpid() == self._owner:  # a child of fork() has no context
            try:
                self._check(_library.library().cairn_checkpoint_finalize(handle))
            finally:
                self._memories.clear()
                self._collected.clear()

    def define(self, name: str, array: Any, *, shape: Optional[Sequence[int]] = None,
               offset: Optional[Sequence[int]] = None,
               halo: Optional[Sequence[Union[int, tuple[int, int]]]] = None,
               axis: Optional[Sequence[int]] = None, owner: Optional[Owner] = None,
               type: Optional[Type] = None, optional: bool = False, aliases: Sequence[str] = (),
               default: Any = None, attributes: Optional[dict[str, Any]] = None,
               kind: Optional[Kind] = None, over: Optional[str] = None, key: Optional[str] = None,
               darray: Optional[Darray] = None) -> None:
        """Registers a variable. Without `shape` all ranks hold the same; with it, `array` is the
        box at `offset` of a global array of that shape, `halo` elements around it left out (one
        number, or those before and behind, for each dimension). `axis`: for each dimension of the
        array that of the global array along which it runs.

        `array`: of numpy, or any writable buffer, or a function that returns the array when Cairn
        asks. `default`: an array of one element, for `optional` variables that a version lacks.
        `attributes`: texts and numbers, as "units"; "dimensions" names those of the global array.

        `kind`: each rank has any number of elements; `array` is a Counted, or a function that is
        called with None to write and with a number of elements to fill. `over`, `key`: names of
        variables, as cairn/checkpoint.h says.

        `darray`: the global array of `shape` is dealt out in blocks, and `array` is what this rank
        is dealt. It has no `offset`, `halo` and `owner`."""
        self._memories[name] = self._register("define", name, array, shape, offset, halo, axis,
                                              owner, type, optional, aliases, default, attributes,
                                              kind, over, key, darray)

    def _register(self, call: str, name: str, array: Any, shape: Optional[Sequence[int]],
                  offset: Optional[Sequence[int]], halo: Optional[Sequence[Union[int, tuple[int,
                                                                                            int]]]],
                  axis: Optional[Sequence[int]], owner: Optional[Owner], type: Optional[Type],
                  optional: bool, aliases: Sequence[str], default: Any,
                  attributes: Optional[dict[str, Any]], kind: Optional[Kind], over: Optional[str],
                  key: Optional[str], darray: Optional[Darray]) -> list[Any]:
        """What the library holds pointers to from now on."""
        if isinstance(array, Counted):
            array = array.resized
            if kind is None:
                raise ValueError(f"variable '{name}': a Counted needs a kind")
        asks = kind is not None
        get = array if callable(array) else None
        try:
            memory = Memory(array if get is None else get(None) if asks else get(), type)
        except TypeError as error:
            raise TypeError(f"variable '{name}': expected an array: {error}") from error
        where = _library.made(_distributions.Distribution, kind=_distributions.REPLICATED)
        if kind is not None:
            if any(given is not None for given in (shape, offset, halo, axis, owner, darray)):
                raise ValueError(
                    f"variable '{name}': an array with a kind has no shape, offset, halo, axis,"
                    " owner or darray"
                )
            where.kind = kind
            where.over = None if over is None else over.encode()
            where.key = None if key is None else key.encode()
        elif over is not None or key is not None:
            raise ValueError(f"variable '{name}': over and key need a kind")
        elif shape is not None:
            self._place(where, memory, shape, offset, halo, axis, owner)
            if darray is not None:
                darray.store(where, len(memory.shape))
        elif any(given is not None for given in (offset, halo, axis, owner, darray)):
            raise ValueError("offset, halo, axis, owner and darray need a shape")
        texts = [alias.encode() for alias in aliases]
        more = _library.made(_library.Definition, flags=_library.OPTIONAL if optional else 0,
                             alias_count=len(texts))
        if texts:
            more.aliases = (ctypes.c_char_p * len(texts))(*texts)
        default_memory = None
        if default is not None:
            default_memory = Memory(default)
            if default_memory.type != memory.type or default_memory.size != memory.size:
                raise TypeError(
                    f"variable '{name}': default: expected one element of the array's type")
            more.default_value = default_memory.address
        try:
            noted = Attributes(attributes or {})
        except TypeError as error:
            raise TypeError(f"variable '{name}': {error}") from error
        more.attributes = noted.array
        more.attribute_count = noted.count
        kept = [memory, default_memory]
        if get is not None:
            more.getter = self._getter(get, type, kept, asks)
            kept.append(more.getter)
        described = memory.described()
        self._call(call, name.encode(), ctypes.byref(described), ctypes.byref(where),
                   ctypes.byref(more))
        said = _library.last_error()
        if said.startswith("warning: "):
            warnings.warn(said[len("warning: "):], RuntimeWarning, stacklevel=3)
        return kept

    @staticmethod
    def _place(where: _distributions.Distribution, memory: Memory, shape: Sequence[int],
               offset: Optional[Sequence[int]], halo: Optional[Sequence[Union[int, tuple[int,
                                                                                         int]]]],
               axis: Optional[Sequence[int]], owner: Optional[Owner]) -> None:
        dimensions = len(memory.shape)
        given = {"shape": shape, "offset": offset, "halo": halo, "axis": axis}
        for word, values in given.items():
            if values is not None and len(values) != dimensions:
                raise ValueError(
                    f"{word}: expected {dimensions} numbers, one for each dimension of the array")
        where.kind = _distributions.BLOCK
        where.owner = owner or 0
        for k in range(dimensions):
            getattr(where, "global")[k] = shape[k]
            where.offset[k] = offset[k] if offset is not None else 0
            where.axis[k] = axis[k] if axis is not None else k
        for k, (low, high) in enumerate(_pairs(halo or ())):
            where.halo_low[k], where.halo_high[k] = low, high

    def _getter(self, get: Callable[..., Any], element_type: Optional[Type], kept: list[Any],
                asks: bool) -> Any:
        def answer(_context: Any, purpose: int, array: Any) -> int:
            try:
                count = array.contents.extent[0] if purpose == _library.TO_FILL else None
                memory = Memory(get(count) if asks else get(), element_type)
                kept[0] = memory
                memory.store(array.contents)
                return 0
            except BaseException as error:  # through C it cannot go
                self._raised = error
                return -errors.ECANCELED

        return _library.Getter(answer)

    def undefine(self, name: str) -> None:
        self._call("undefine", name.encode())
        self._memories.pop(name, None)

    def set_attributes(self, attributes: dict[str, Any]) -> None:
        """What is noted of each version from now on; the same on all ranks."""
        noted = Attributes(attributes)
        self._call("set_attributes", noted.array, noted.count)

    def begin(self, version: int) -> None:
        """Begins a version of what is defined and what `write_var` adds. `commit` writes it."""
        self._collected.clear()
        self._call("begin", version)

    def write_var(self, name: str, array: Any, *, shape: Optional[Sequence[int]] = None,
                  offset: Optional[Sequence[int]] = None,
                  halo: Optional[Sequence[Union[int, tuple[int, int]]]] = None,
                  axis: Optional[Sequence[int]] = None, owner: Optional[Owner] = None,
                  type: Optional[Type] = None, attributes: Optional[dict[str, Any]] = None,
                  kind: Optional[Kind] = None, over: Optional[str] = None,
                  key: Optional[str] = None, darray: Optional[Darray] = None) -> None:
        """A variable of the version that was begun, as of `define`: the array stays as it is until
        `commit`. All ranks call it for the same names."""
        self._collected[name] = self._register("write_var", name, array, shape, offset, halo, axis,
                                               owner, type, False, (), None, attributes, kind, over,
                                               key, darray)

    def commit(self) -> None:
        """Collective. Waits until the version that was begun is committed."""
        try:
            self._call("commit")
        finally:
            self._collected.clear()

    def drop(self, version: int, *, last: bool = False) -> None:
        """Collective in a run. Drops a version. `last`, of a context that looks: even the last one
        that is whole."""
        self._call("drop", version, _library.DROP_LAST if last else 0)

    def observe(self, observer: Optional[Callable[[int, Progress], None]]) -> None:
        """`observer` is called with the number of a version and its progress when that has reached
        a level or failed: inside the calls that write, test and wait, and `close`. It must not use
        the checkpoint."""
        if observer is None:
            self._call("observe", _library.Observer(), None)
            self._observer = None
            return

        def tell(_context: Any, _handle: int, number: int, progress: Any) -> None:
            try:
                observer(number, progress_of(progress.contents))
            except BaseException as error:  # through C it cannot go
                self._raised = error

        told = _library.Observer(tell)
        self._call("observe", told, None)
        self._observer = told

    def write(self, version: int) -> None:
        """Collective. Waits until the version is committed."""
        self._call("write", version)

    def iwrite(self, version: int) -> Handle:
        """Collective. On return the arrays may change; the handle says when the version is
        committed."""
        number = ctypes.c_uint64()
        self._call("iwrite", version, ctypes.byref(number))
        return Handle(self, number.value)

    def restart_test(self, version: Optional[int] = None) -> Optional[Info]:
        """Collective. The version (the newest, if none is named) if it can be read into what is
        defined, else None."""
        c = _library.made(_library.Info)
        found = self._call("restart_test", _library.LATEST if version is None else version,
                           ctypes.byref(c))
        return info_of(c) if found else None

    def read(self, version: Optional[int] = None, *, halo: bool = False, cyclic: bool = False,
             verify_all: bool = False) -> Info:
        """Collective. Reads all that is defined from a version, the newest if none is named.
        `halo`: also elements around this rank's boxes, where they lie inside the global arrays.
        `cyclic`: as of the Checkpoint. `verify_all`: also bytes of variables that are not defined
        are compared with their checksums."""
        c = _library.made(_library.Info)
        flags = ((_library.READ_HALO if halo else 0) | (_library.READ_CYCLIC if cyclic else 0)
                 | (_library.READ_VERIFY_ALL if verify_all else 0))
        self._call("read", _library.LATEST if version is None else version, flags, ctypes.byref(c))
        return info_of(c)

    def read_var(self, name: str, out: Any = None, *, version: Optional[int] = None,
                 offset: Optional[Sequence[int]] = None, type: Optional[Type] = None) -> Any:
        """Reads one stored variable into `out`: all of it, or the box at `offset` that has the
        shape of `out`. On one host no other rank takes part; on several hosts all ranks call it,
        and an empty `out` asks for nothing. Returns `out`, which is a new array of numpy if none is
        given."""
        if out is None:
            import numpy

            found = next((one for one in self.variables(version) if one.name == name), None)
            if found is None:
                raise Error(errors.ENOENT, f"variable '{name}': the version has none of this name")
            out = numpy.empty(found.shape, found.dtype)
            type = found.type if type is None else type
        array = Memory(out, type).described()
        box = None
        if offset is not None:
            if len(offset) != array.dimensions:
                raise ValueError(
                    f"offset: expected {array.dimensions} numbers, one for each dimension of the"
                    " array"
                )
            box = (ctypes.c_int64 * _library.MAX_DIMENSIONS)(*offset)
        self._call("read_var", _library.LATEST if version is None else version, name.encode(), box,
                   array.extent if box is not None else None, ctypes.byref(array))
        return out

    def variables(self, version: Optional[int] = None) -> list[Variable]:
        """What a version holds, by name; the newest, if none is named. On several hosts
        collective."""
        found: list[Variable] = []

        def note(_context: Any, variable: Any) -> int:
            found.append(variable_of(variable.contents))
            return 0

        self._call("variables", _library.LATEST if version is None else version,
                   _library.VariableVisit(note), None)
        return found

    def counts(self, name: str, version: Optional[int] = None) -> list[int]:
        """How many elements of a variable with a kind each rank that wrote the version had."""
        ranks = next(
            (one.ranks for one in self.versions() if version is None or one.number == version), 1)
        counts = (ctypes.c_uint64 * ranks)()
        self._call("counts", _library.LATEST if version is None else version, name.encode(), counts,
                   ranks)
        return list(counts)

    def dataset(self, version: Optional[int] = None, names: Optional[Sequence[str]] = None) -> Any:
        """A Dataset of xarray with all variables of a version, or with those named."""
        import xarray

        arrays = {}
        for variable in self.variables(version):
            if names is None or variable.name in names:
                noted = {
                    key: value
                    for key, value in variable.attributes.items() if key != "dimensions"
                }
                arrays[variable.name] = xarray.DataArray(
                    self.read_var(variable.name, version=version, type=variable.type),
                    dims=variable.dimensions, attrs=noted)
        if version is None:
            version = max(self.versions(), key=lambda one: (not one.abandoned, one.sequence)).number
        info = next(one for one in self.versions() if one.number == version)
        return xarray.Dataset(arrays,
                              attrs={**info.attributes, "version": info.number, "step": info.step})

    def versions(self) -> list[Info]:
        """The committed versions, newest first."""
        found: list[Info] = []

        def note(_context: Any, info: Any) -> int:
            found.append(info_of(info.contents))
            return 0

        self._call("list", _library.Visit(note), None)
        return found

    def verify(self, version: Optional[int] = None) -> None:
        """Compares all bytes of a version, the newest if none is named, with their checksums. Error
        with errno EUCLEAN: they differ. No other rank takes part."""
        self._call("verify", _library.LATEST if version is None else version, None)

    def need(self, step: int) -> bool:
        """Is a checkpoint due at this step? The same answer on all ranks."""
        return self._call("need", step) == 1

    def should_exit(self) -> str:
        """Collective. Should the run write a last checkpoint and end? Why, or an empty text."""
        outlook = _library.made(_library.Outlook)
        exits = self._call("should_exit", ctypes.byref(outlook)) == 1
        return outlook.text.decode(errors="replace") if exits else ""

    def _call(self, name: str, *arguments: Any) -> int:
        if not self._handle:
            raise ValueError("the checkpoint is closed")
        if os.getpid() != self._owner:
            raise ValueError("the checkpoint was opened by the parent of this process")
        return self._check(
            getattr(_library.library(), f"cairn_checkpoint_{name}")(self._handle, *arguments))

    def _check(self, result: int) -> int:
        raised, self._raised = self._raised, None
        if raised is not None:
            raise raised
        if result < 0:
            raise Error(-result, _library.last_error())
        return result
