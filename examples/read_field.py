#!/usr/bin/env python3
"""Reads a checkpoint of field.c with numpy: read_field.py FILE

The file is an ordinary one: this works during a run (under `cairn run`) and after it, when Cairn
has written it to the directory.
"""

import sys

import numpy

HEADER = numpy.dtype([("magic", "S8"), ("size", "i8"), ("step", "i8")])
HEADER_BYTES = 4096


def read_field(path):
    """The step and the cells of a checkpoint; the cells as an array indexed by z, y and x."""
    header = numpy.fromfile(path, HEADER, count=1)
    if header.size != 1 or header["magic"][0] != b"FIELD 1\n":
        raise ValueError(f"{path}: not a checkpoint of field.c")
    size = int(header["size"][0])
    cells = numpy.fromfile(path, "f8", offset=HEADER_BYTES)
    if cells.size != size**3:
        raise ValueError(f"{path}: {cells.size} cells, {size**3} expected")
    return int(header["step"][0]), cells.reshape(size, size, size)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_field.py FILE")
    step, cells = read_field(sys.argv[1])
    middle = tuple(n // 2 for n in cells.shape)
    print(f"step {step}: {cells.shape[0]}^3 cells, from {cells.min():.6f} to {cells.max():.6f}, "
          f"mean {cells.mean():.6f}, {cells[middle]:.6f} in the middle")


if __name__ == "__main__":
    main()
