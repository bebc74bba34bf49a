"""Writes files that no exporter writes, which `cairn ckpt import` reads: crafted_files.py
DIRECTORY."""

import pathlib
import sys

import h5py
import numpy

VALUES = numpy.arange(6, dtype="<f8").reshape(2, 3)


def lists(*values):
    """An array of arrays."""
    all_of_them = numpy.empty(len(values), dtype=object)
    for i, one in enumerate(values):
        all_of_them[i] = one
    return all_of_them


def with_list(path, value, **form):
    with h5py.File(path, "w") as file:
        attributes = file.create_dataset("u", data=VALUES).attrs
        attributes.create("units", numpy.bytes_("m"))
        attributes.create("DIMENSION_LIST", value, **form)


def with_numbers(path):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("u", data=VALUES.astype(">f8"))
        for name, kind in (("_FillValue", ">f8"), ("least", ">i4"), ("range", ">i8"), ("narrow",
                                                                                       ">f4")):
            dataset.attrs.create(name, numpy.array([-9999, 258], dtype=kind))
        pair = numpy.array((1.5, -2.0), dtype=[("real", ">f8"), ("imag", ">f8")])
        dataset.attrs.create("root", pair)
        file.create_dataset("roots", data=numpy.array([pair, pair]))


def with_large(path):
    with h5py.File(path, "w") as file:
        side = 1 << 32  # the number of elements is 2^64, which 64 bits take for 0
        file.create_dataset("u", shape=(side, side), chunks=(1, 1024), dtype="i1")


def with_dimensions(path):
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("u", data=VALUES)
        for axis, name in enumerate(("y", "x")):
            file.create_dataset(name, data=numpy.arange(VALUES.shape[axis]))
            file[name].make_scale(name)
            dataset.dims[axis].attach_scale(file[name])


def with_names(path):
    """Names that no checkpoint has, and logicals as h5py and xarray have them."""
    with h5py.File(path, "w") as file:
        file.create_dataset(".hidden", data=VALUES)
        file.create_dataset("flags", data=numpy.array([True, False, True]))
        file.create_dataset("dtype", data=numpy.array([1, 0], dtype="i1"))
        file["dtype"].attrs["dtype"] = numpy.bytes_("bool")
        file["dtype"].attrs[".note"] = numpy.bytes_("m")
        file["dtype"].attrs["is_set"] = True


def with_groups(path):
    """Datasets in groups, one of which holds itself, and what has no value."""
    with h5py.File(path, "w") as file:
        file.create_dataset("u", data=VALUES)
        file.create_dataset("inner/deep/v", data=VALUES)
        file["inner/itself"] = file["inner"]
        file.create_group("empty")
        file["a_type"] = numpy.dtype("<f8")
        file.create_dataset("nothing", data=h5py.Empty("f8"))
        file["u"].attrs["none"] = h5py.Empty("f8")
        file["u"].attrs["text"] = "of any length"


def with_halves(path):
    halves = numpy.array([1, -2, 6e-8, numpy.inf], dtype="f2")
    with h5py.File(path, "w") as file:
        file.create_dataset("half", data=halves)
        file.create_dataset("other_order", data=halves.astype(">f2"))
        file["half"].attrs["_FillValue"] = numpy.array([-2], dtype="f2")
        file.create_dataset("pair", data=numpy.zeros(2, dtype=[("r", "f2"), ("i", "f2")]))


def with_too_many(path):
    with h5py.File(path, "w") as file:
        file.create_dataset("a", data=VALUES)
        file.create_dataset("b", data=numpy.zeros((1,) * 16))


def with_texts(path):
    """As netCDF has texts: one more dimension, of their bytes."""
    with h5py.File(path, "w") as file:
        dataset = file.create_dataset("names", data=numpy.frombuffer(b"abcdef",
                                                                     dtype="S1").reshape(3, 2))
        dataset.attrs["cairn_type"] = numpy.bytes_("character(2)")
        for axis, name in enumerate(("x", "bytes_2")):
            file.create_dataset(name, data=numpy.arange(dataset.shape[axis]))
            file[name].make_scale(name)
            dataset.dims[axis].attach_scale(file[name])


def main(directory):
    references = h5py.vlen_dtype(h5py.ref_dtype)
    nothing = numpy.empty(0, dtype=h5py.ref_dtype)
    numbers = lists(numpy.array([1 << 40]), numpy.array([1 << 41]))
    with_list(directory / "text.h5", numpy.bytes_("A" * 4096))
    with_list(directory / "opaque.h5", numpy.full(2, b"A" * 4096, dtype="V4096"))
    with_list(directory / "integers.h5", numpy.full(2, 0x4141414141414141, dtype="<u8"))
    with_list(directory / "numbers.h5", numbers, dtype=h5py.vlen_dtype(numpy.dtype("<i8")))
    with_list(directory / "many.h5", lists(*[nothing] * 3000), dtype=references)
    with_list(directory / "none.h5", lists(nothing, nothing), dtype=references)
    with_numbers(directory / "order.h5")
    with_large(directory / "large.h5")
    with_dimensions(directory / "dimensions.h5")
    with_texts(directory / "texts.h5")
    with_names(directory / "names.h5")
    with_groups(directory / "groups.h5")
    with_halves(directory / "halves.h5")
    with_too_many(directory / "too_many.h5")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
