"""usage: hdf5_metadata.py FILE; for a parallel h5py (Debian's python3-h5py-mpi and python3-mpi4py).

Groups, attributes and datasets are made by all ranks together, and read again by all within the
same open file. The metadata cache is as small as HDF5 allows, so metadata are written in between,
each piece by another rank, and read from the file by ranks that have not written them. HDF5 puts
barriers around that, and no MPI_File_sync."""

import sys

import h5py
import numpy
from mpi4py import MPI

GROUPS = 200
EACH = 16
comm = MPI.COMM_WORLD


def shrink_cache(file):
    config = file.id.get_mdc_config()
    config.set_initial_size = True
    config.initial_size = config.min_size = config.max_size = 1024
    config.incr_mode = config.decr_mode = 0  # off
    file.id.set_mdc_config(config)


def values_of(rank, group):
    return numpy.arange(EACH) + 100 * rank + group


def main():
    with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as file:
        shrink_cache(file)
        for i in range(GROUPS):
            group = file.create_group(f"group{i}")
            group.attrs["number"] = i
            group.create_dataset("values", (comm.size * EACH,), dtype="i4")
        for i in range(GROUPS):
            file[f"group{i}/values"][comm.rank * EACH:(comm.rank + 1) * EACH] = values_of(
                comm.rank, i)
        comm.Barrier()
        for i in range(GROUPS):
            assert file[f"group{i}"].attrs["number"] == i
            expected = numpy.concatenate([values_of(rank, i) for rank in range(comm.size)])
            found = file[f"group{i}/values"][:]
            assert (found == expected).all(), (comm.rank, i, found)
    comm.Barrier()
    if comm.rank == 0:
        print("reread", flush=True)


main()
