"""The structures of cairn/checkpoint.h, and the library that serves them."""

import ctypes
import os
import pathlib
from ctypes import (POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_uint32,
                    c_uint64, c_void_p)

from ._distributions import MAX_DIMENSIONS, Distribution

NO_COMMUNICATOR = -2**31
LATEST = -2**63
FRESH = 1
LOOK = 2
SIGNALS = 4
PARTNER = 8
CYCLIC = 16
BACKGROUND = 32
DROP_COPIES = 64
OPTIONAL = 1
READ_HALO, READ_CYCLIC, READ_VERIFY_ALL = 1, 2, 4
DROP_LAST = 1
TO_FILL = 2


class Options(Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("pool", c_void_p),
                ("code_version", c_char_p), ("rank", c_uint32), ("ranks", c_uint32),
                ("job", c_char_p), ("timeout_ms", c_uint32), ("keep", c_uint32),
                ("keep_multiple", c_uint64), ("keep_period_ns", c_uint64),
                ("interval_ns", c_uint64), ("max_attempts", c_uint32), ("block_size", c_uint32),
                ("lower", c_char_p), ("lower_keep", c_uint32), ("lower_multiple", c_uint32),
                ("halt_file", c_char_p), ("end_time_ns", c_uint64), ("exit_margin_ns", c_uint64),
                ("mtbf_ns", c_uint64)]


class Array(Structure):
    _fields_ = [("struct_size", c_uint32), ("type", c_uint32), ("element_size", c_uint64),
                ("dimensions", c_uint32), ("flags", c_uint32), ("base", c_void_p),
                ("extent", c_int64 * MAX_DIMENSIONS), ("stride", c_int64 * MAX_DIMENSIONS)]


Getter = ctypes.CFUNCTYPE(c_int, c_void_p, c_int, POINTER(Array))


class Attribute(Structure):
    _fields_ = [("key", c_char_p), ("type", c_uint32), ("count", c_uint32), ("values", c_void_p)]


class Definition(Structure):
    _fields_ = [("struct_size", c_uint32), ("flags", c_uint32), ("getter", Getter),
                ("context", c_void_p), ("aliases", POINTER(c_char_p)), ("alias_count", c_uint32),
                ("reserved", c_uint32), ("default_value", c_void_p),
                ("attributes", POINTER(Attribute)), ("attribute_count", c_uint32),
                ("reserved2", c_uint32)]


class Progress(Structure):
    _fields_ = [("struct_size", c_uint32), ("level", c_uint32), ("survives", c_uint32),
                ("error", c_int32), ("bytes", c_uint64), ("level_ns", c_uint64 * 5)]


class Outlook(Structure):
    _fields_ = [("struct_size", c_uint32), ("reason", c_uint32), ("signal", c_uint32),
                ("reserved", c_uint32), ("left_ns", c_uint64), ("cost_ns", c_uint64),
                ("interval_ns", c_uint64), ("text", c_char * 256)]


class Info(Structure):
    _fields_ = [("struct_size", c_uint32), ("level", c_uint32), ("survives", c_uint32),
                ("attempts", c_uint32), ("number", c_int64), ("step", c_int64),
                ("sequence", c_uint64), ("parent", c_uint64), ("begun_ns", c_uint64),
                ("bytes", c_uint64), ("ranks", c_uint32), ("is_abandoned", c_uint32),
                ("skipped", c_uint32), ("missing", c_uint32), ("code_version", c_char * 64),
                ("run", c_char * 37), ("why", c_char * 256), ("attributes", POINTER(Attribute)),
                ("attribute_count", c_uint32), ("reserved", c_uint32), ("verified_ns", c_uint64),
                ("copies", c_uint32), ("from_copies", c_uint32)]


class Variable(Structure):
    _fields_ = [("struct_size", c_uint32), ("type", c_uint32), ("element_size", c_uint64),
                ("dimensions", c_uint32), ("flags", c_uint32), ("kind", c_uint32),
                ("attribute_count", c_uint32), ("global", c_int64 * MAX_DIMENSIONS),
                ("name", c_char_p), ("attributes", POINTER(Attribute)), ("over", c_char_p),
                ("key", c_char_p)]


Visit = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Info))
VariableVisit = ctypes.CFUNCTYPE(c_int, c_void_p, POINTER(Variable))
Observer = ctypes.CFUNCTYPE(None, c_void_p, c_uint64, c_int64, POINTER(Progress))

# By their names in C; a test compares offsets with the header.
STRUCTURES = {
    "cairn_checkpoint_options": Options, "cairn_array": Array, "cairn_distribution": Distribution,
    "cairn_definition": Definition, "cairn_checkpoint_progress": Progress,
    "cairn_checkpoint_info": Info, "cairn_attribute": Attribute,
    "cairn_checkpoint_outlook": Outlook, "cairn_checkpoint_variable": Variable
}

_handle, _text, _number = c_void_p, c_char_p, c_int64
CALLS = {
    "init": [_text, c_int, POINTER(Options), POINTER(c_void_p)],
    "finalize": [_handle],
    "define": [_handle, _text, POINTER(Array), POINTER(Distribution), POINTER(Definition)],
    "undefine": [_handle, _text],
    "begin": [_handle, _number],
    "write_var": [_handle, _text, POINTER(Array), POINTER(Distribution), POINTER(Definition)],
    "commit": [_handle],
    "drop": [_handle, _number, c_uint32],
    "counts": [_handle, _number, _text, POINTER(c_uint64), c_uint32],
    "observe": [_handle, Observer, c_void_p],
    "write": [_handle, _number],
    "iwrite": [_handle, _number, POINTER(c_uint64)],
    "test": [_handle, c_uint64, c_uint32, POINTER(Progress)],
    "wait": [_handle, c_uint64, c_uint32, c_uint32],
    "restart_test": [_handle, _number, POINTER(Info)],
    "read": [_handle, _number, c_uint32, POINTER(Info)],
    "read_var": [_handle, _number, _text, POINTER(c_int64), POINTER(c_int64), POINTER(Array)],
    "list": [_handle, Visit, c_void_p],
    "verify": [_handle, _number, c_void_p],
    "variables": [_handle, _number, VariableVisit, c_void_p],
    "set_attributes": [_handle, POINTER(Attribute), c_uint32],
    "need": [_handle, _number],
    "should_exit": [_handle, POINTER(Outlook)],
}


def made(structure, **values):
    """A structure of this kind whose size is set."""
    return structure(struct_size=ctypes.sizeof(structure), **values)


def _find():
    """A wheel has the library in the package; an installation has it at PREFIX/lib, with us in
    lib/cairn/python/cairn."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("CAIRN_LIBRARY")
    for path in [named
                 ] if named else [here / "lib/libcairn.so.0", here.parents[2] / "libcairn.so.0"]:
        if named or os.path.exists(path):
            return str(path)
    return "libcairn.so.0"


def _load():
    # A CDLL lets other threads of Python run while a call waits.
    library = ctypes.CDLL(_find())
    for name, arguments in CALLS.items():
        call = getattr(library, f"cairn_checkpoint_{name}")
        call.argtypes = arguments
        call.restype = c_int
    library.cairn_last_error.argtypes = []
    library.cairn_last_error.restype = c_char_p
    library.cairn_version.argtypes = []
    library.cairn_version.restype = c_char_p
    return library


_library = None


def library():
    # loaded by the first call, not by the import: a test or a tool may look at the package alone
    global _library
    if _library is None:
        _library = _load()
    return _library


def last_error():
    return library().cairn_last_error().decode(errors="replace")


class Error(OSError):
    """What a call refused: `errno` as of the C API, and the library's text with variable and
    ranks."""

    def __init__(self, number: int, text: str):
        super().__init__(number, text)
