"""Arrays of Python as the library sees them: numpy's, and whatever else has a buffer."""

from __future__ import annotations

import ctypes
from array import array as array_of_python
from ctypes import POINTER, Structure, c_char_p, c_int, c_ssize_t, c_void_p, py_object
from typing import Any, Optional

from . import _library
from ._types import Type, of_format, of_typestr


class _Buffer(Structure):
    _fields_ = [("buf", c_void_p), ("obj", py_object), ("len", c_ssize_t), ("itemsize", c_ssize_t),
                ("readonly", c_int), ("ndim", c_int), ("format", c_char_p),
                ("shape", POINTER(c_ssize_t)), ("strides", POINTER(c_ssize_t)),
                ("suboffsets", POINTER(c_ssize_t)), ("internal", c_void_p)]


_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes = [py_object, POINTER(_Buffer), c_int]
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes = [POINTER(_Buffer)]
_release.restype = None
_WRITABLE = 0x1
_RECORDS = 0x8 | 0x10 | 0x4  # PyBUF_ND, STRIDES, FORMAT


class Memory:
    """Keeps an array, so that its memory stays where it is, and describes it."""

    def __init__(self, array, element_type=None, is_read_only=False):
        self._is_read_only = is_read_only
        self._buffer = None
        self.keeps = array
        interface = getattr(array, "__array_interface__", None)
        if interface is not None:
            self._read_interface(array, interface)
        else:
            self._read_buffer(array)
        if element_type is not None:
            self.type = Type(element_type)

    def _read_interface(self, array, interface):
        self.address, is_readonly = interface["data"]
        if is_readonly and not self._is_read_only:
            raise ValueError("the array is read-only: a restart stores to it")
        self.shape = tuple(interface["shape"])
        dtype = getattr(array, "dtype", None)
        self.type = of_typestr(interface["typestr"], getattr(dtype, "name", ""))
        self.size = dtype.itemsize if dtype is not None else int(interface["typestr"][2:])
        self.strides = interface.get("strides") or _contiguous(self.shape, self.size)

    def _read_buffer(self, array):
        buffer = _Buffer()
        try:
            _get(array, ctypes.byref(buffer), _RECORDS | (0 if self._is_read_only else _WRITABLE))
        except BufferError as error:
            raise ValueError(f"{type(array).__name__}: {error}: a restart stores to it") from error
        self._buffer = buffer
        self.address = buffer.buf
        self.shape = tuple(buffer.shape[:buffer.ndim])
        self.strides = tuple(buffer.strides[:buffer.ndim])
        self.size = buffer.itemsize
        self.type = of_format((buffer.format or b"B").decode(), self.size)

    def __del__(self):
        if self._buffer is not None:
            _release(ctypes.byref(self._buffer))

    def store(self, to):
        """Into a structure of C."""
        if len(self.shape) > _library.MAX_DIMENSIONS:
            raise ValueError(
                f"array of {len(self.shape)} dimensions: at most {_library.MAX_DIMENSIONS}")
        to.type = self.type
        to.element_size = self.size
        to.dimensions = len(self.shape)
        to.base = self.address
        for k, (extent, stride) in enumerate(zip(self.shape, self.strides)):
            to.extent[k] = extent
            to.stride[k] = stride

    def described(self):
        array = _library.made(_library.Array)
        self.store(array)
        return array


def is_contiguous(memory):
    return tuple(memory.strides) == _contiguous(memory.shape, memory.size)


def _contiguous(shape, size):
    strides = []
    for extent in reversed(shape):
        strides.append(size)
        size *= max(extent, 1)
    return tuple(reversed(strides))


class Counted:
    """An array of one dimension whose length changes: of numpy, or an array.array. `array` is the
    one that is written. A restart puts a new one there, of the length that this rank gets."""

    def __init__(self, array: Any):
        self.array = array

    def resized(self, count: Optional[int]) -> Any:
        if count is not None and len(self.array) != count:
            if isinstance(self.array, array_of_python):
                self.array = array_of_python(self.array.typecode,
                                             bytes(count * self.array.itemsize))
            else:
                import numpy

                self.array = numpy.empty(count, self.array.dtype)
        return self.array
