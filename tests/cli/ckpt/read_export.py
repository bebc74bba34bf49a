"""What h5py, netCDF4 and xarray read in an exported file, as JSON on standard output.

    read_export.py FILE [READER...]

Runs under the interpreter that has them; what is not there is left out of the answer.
"""

import json
import sys

import numpy


def plain(value):
    """A value as JSON has it."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, numpy.ndarray):
        if value.dtype.names:
            return [[float(one[name]) for name in value.dtype.names] for one in value.reshape(-1)]
        if value.dtype.kind == "c":
            return [[float(one.real), float(one.imag)] for one in value.reshape(-1)]
        if value.dtype.kind == "S":
            return [plain(one) for one in value.reshape(-1)]
        if value.dtype.kind == "f":
            return [float(one) for one in value.reshape(-1)]
        return value.reshape(-1).tolist()
    if isinstance(value, numpy.generic):
        return plain(value.item())
    return value


def read_h5py(path):
    import h5py
    found = {}
    with h5py.File(path, "r") as file:
        found["attributes"] = {key: plain(value) for key, value in file.attrs.items()}
        found["order"] = list(
            file.keys()) if not file.id.get_create_plist().get_link_creation_order() else [
                name.decode() for name in _by_creation(file)
            ]
        for name, item in file.items():
            if not isinstance(item, h5py.Dataset):
                continue
            found[name] = {
                "type": str(item.dtype), "shape": list(item.shape),
                "scale": h5py.h5ds.is_scale(item.id), "offset": item.id.get_offset(),
                "values": plain(numpy.asarray(item[()])),
                "dims": [[scale.name for scale in item.dims[k].values()] for k in range(item.ndim)]
            }
    return found


def _by_creation(file):
    import h5py
    names = []
    file.id.links.iterate(names.append, idx_type=h5py.h5.INDEX_CRT_ORDER)
    return names


def read_netcdf4(path):
    import netCDF4
    found = {}
    with netCDF4.Dataset(path) as file:
        file.set_auto_mask(False)
        found["attributes"] = {key: plain(file.getncattr(key)) for key in file.ncattrs()}
        found["dimensions"] = {name: len(one) for name, one in file.dimensions.items()}
        found["variables"] = {
            name: {"type": str(one.dtype), "dims": list(one.dimensions), "shape": list(one.shape),
                   "attributes": {key: plain(one.getncattr(key)) for key in one.ncattrs()},
                   "values": plain(numpy.asarray(one[...]))}
            for name, one in file.variables.items()}
    return found


def read_xarray(path):
    import xarray
    with xarray.open_dataset(path, drop_variables=["c64", "c128"]) as file:
        return {"variables": {name: {"type": str(one.dtype), "dims": list(one.dims)}
                              for name, one in file.variables.items()},
                "sum_of_u": float(file["u"].sum())}


answer = {}
for reader in (read_h5py, read_netcdf4, read_xarray):
    if len(sys.argv) > 2 and reader.__name__ not in sys.argv[2:]:
        continue
    try:
        answer[reader.__name__] = reader(sys.argv[1])
    except ImportError as error:
        answer[reader.__name__] = None
        print(error, file=sys.stderr)
json.dump(answer, sys.stdout)
