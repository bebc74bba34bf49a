"""The types of elements, and which of them an array of Python has."""

import enum
import re


class Type(enum.IntEnum):
    """enum cairn_type."""

    # begin: made from types.def by make_constants.py
    INT8 = 1
    INT16 = 2
    INT32 = 3
    INT64 = 4
    UINT8 = 5
    UINT16 = 6
    UINT32 = 7
    UINT64 = 8
    FLOAT16 = 9
    BFLOAT16 = 10
    FLOAT32 = 11
    FLOAT64 = 12
    FLOAT80 = 13
    FLOAT128 = 14
    COMPLEX64 = 17
    COMPLEX128 = 18
    COMPLEX_FLOAT80 = 19
    COMPLEX_FLOAT128 = 20
    LOGICAL8 = 24
    LOGICAL16 = 25
    LOGICAL32 = 26
    LOGICAL64 = 27
    CHARACTER = 28
    OPAQUE = 29
    # end: made from types.def


# By numpy's kind and size. Its long double is the x87's, where it has 16 bytes.
_NUMPY = {
    "i1": Type.INT8, "i2": Type.INT16, "i4": Type.INT32, "i8": Type.INT64,
    "u1": Type.UINT8, "u2": Type.UINT16, "u4": Type.UINT32, "u8": Type.UINT64,
    "f2": Type.FLOAT16, "f4": Type.FLOAT32, "f8": Type.FLOAT64, "f16": Type.FLOAT80,
    "c8": Type.COMPLEX64, "c16": Type.COMPLEX128, "c32": Type.COMPLEX_FLOAT80, "b1": Type.LOGICAL8,
}
# What numpy has no type for is read as bytes.
DTYPES = {
    **{one: name
       for name, one in _NUMPY.items()}, Type.LOGICAL16: "i2", Type.LOGICAL32: "i4",
    Type.LOGICAL64: "i8"
}


def dtype_text(element_type, size):
    """Numpy's name of a type."""
    if element_type == Type.CHARACTER:
        return f"S{size}"
    return DTYPES.get(element_type, f"V{size}")


# Of the module struct, by what a code means.
_KINDS = {
    **dict.fromkeys("bhilqn", "i"), **dict.fromkeys("BHILQN", "u"),
    **dict.fromkeys("efdg", "f"), "?": "b", **dict.fromkeys(["Zf", "Zd", "Zg"], "c"), "c": "S",
    "s": "S", "w": "U"
}


def of_typestr(typestr, name=""):
    """Of numpy's `typestr`, as '<f8'; `name` is the dtype's own name."""
    order, kind = typestr[:2]
    size = re.match(r"\d*", typestr[2:]).group()  # a date has a unit behind it
    if order == ">":
        raise TypeError(
            f"array of {typestr}: big-endian; convert it with astype, or give its memory another"
            " dtype"
        )
    if kind == "O":
        raise TypeError("array of Python objects: expected elements of a fixed size")
    if name == "bfloat16":
        return Type.BFLOAT16
    if kind in "SU":
        return Type.CHARACTER
    return _NUMPY.get(f"{kind}{size}", Type.OPAQUE)


def of_format(code, size):
    """Of a buffer's format, as 'd' or '<i'."""
    match = re.fullmatch(r"([@=<>!]?)(\d*)(Z?[A-Za-z?])", code)
    if match is None:
        return Type.OPAQUE
    if match.group(1) in ("!", ">") and size > 1:
        raise TypeError(f"buffer of format {code}: big-endian")
    kind = _KINDS.get(match.group(3))
    if kind in ("S", "U"):
        return Type.CHARACTER
    return _NUMPY.get(f"{kind}{size}", Type.OPAQUE) if not match.group(2) else Type.OPAQUE
