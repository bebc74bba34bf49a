"""Attributes: texts and numbers noted of variables and versions."""

import ctypes
import struct

from . import _library
from ._arrays import Memory, is_contiguous
from ._types import Type

_FORMATS = {
    Type.INT8: "b", Type.INT16: "h", Type.INT32: "i", Type.INT64: "q", Type.UINT8: "B",
    Type.UINT16: "H", Type.UINT32: "I", Type.UINT64: "Q", Type.FLOAT16: "e", Type.FLOAT32: "f",
    Type.FLOAT64: "d", Type.LOGICAL8: "?"
}


class Attributes:
    """Attributes as C has them, from a dictionary. Values: texts, bytes, numbers, lists of numbers,
    arrays."""

    def __init__(self, values):
        self.count = len(values)
        self.array = (_library.Attribute * max(self.count, 1))()
        self._keeps = []
        for attribute, (key, value) in zip(self.array, values.items()):
            name = key.encode()
            attribute.key = name
            try:
                attribute.type, attribute.count, attribute.values = self._of(key, value)
            except (TypeError, OverflowError, struct.error) as error:
                raise TypeError(
                    f"attribute '{key}': expected a text, bytes, numbers of up to 64 bits or an"
                    f" array, not {value!r}"
                ) from error
            self._keeps.append(name)

    def _of(self, key, value):
        if isinstance(value, (str, bytes)):
            content = value.encode() if isinstance(value, str) else value
            return self._kept(Type.CHARACTER if isinstance(value, str) else Type.OPAQUE,
                              len(content), content)
        numbers = [value] if isinstance(value, (bool, int, float)) else value
        if isinstance(numbers, (list, tuple)):
            one = (Type.LOGICAL8 if all(isinstance(number, bool)
                                        for number in numbers) else Type.INT64 if all(
                                            isinstance(number, int)
                                            for number in numbers) else Type.FLOAT64)
            return self._kept(one, len(numbers),
                              struct.pack(f"={len(numbers)}{_FORMATS[one]}", *numbers))
        memory = Memory(value, is_read_only=True)
        if not is_contiguous(memory):
            raise ValueError(f"attribute '{key}': expected a contiguous array")
        self._keeps.append(memory)
        count = 1
        for extent in memory.shape:
            count *= extent
        is_bytes = memory.type in (Type.CHARACTER, Type.OPAQUE)
        return memory.type, count * memory.size if is_bytes else count, memory.address

    def _kept(self, element_type, count, content):
        buffer = ctypes.create_string_buffer(content, max(len(content), 1))
        self._keeps.append(buffer)
        return element_type, count, ctypes.addressof(buffer)


def attributes_of(array, count):
    """A dictionary from C's attributes. What has no counterpart in Python comes as bytes."""
    values = {}
    for attribute in array[:count] if count else []:
        element_type = Type(attribute.type)
        code = _FORMATS.get(element_type)
        size = struct.calcsize(f"={code}") if code else _sizes(element_type)
        content = ctypes.string_at(attribute.values, attribute.count * size)
        if element_type == Type.CHARACTER:
            value = content.decode(errors="replace")
        elif code:
            numbers = struct.unpack(f"={attribute.count}{code}", content)
            value = numbers[0] if attribute.count == 1 else list(numbers)
        else:
            value = content
        values[attribute.key.decode()] = value
    return values


def _sizes(element_type):
    return {
        Type.CHARACTER: 1, Type.OPAQUE: 1, Type.BFLOAT16: 2, Type.FLOAT80: 16, Type.FLOAT128: 16,
        Type.COMPLEX64: 8, Type.COMPLEX128: 16, Type.COMPLEX_FLOAT80: 32, Type.COMPLEX_FLOAT128: 32,
        Type.LOGICAL16: 2, Type.LOGICAL32: 4, Type.LOGICAL64: 8
    }[element_type]
