"""What the kernels of this installation say of themselves.

The build writes lib/cairn/bench/MPI/NAME.json beside each kernel: what `NAME --describe` prints.
"""

import functools

from .. import files
from ..errors import Mistake
from ..node import installation

FORMAT = 1
BYTES = 1 << 18


@functools.cache
def of_mpi(mpi):
    """{name: description} of the kernels of an MPI; {} if it has none."""
    found = {}
    for path in sorted((installation.library() / "bench" / mpi).glob("*.json")):
        try:
            found[path.stem] = files.parse_json(files.read_text(path, BYTES))
        except ValueError as error:
            raise Mistake(f"{path}: not JSON: {error}") from error
        if not isinstance(found[path.stem], dict) or found[path.stem].get("format") != FORMAT:
            raise Mistake(f"{path}: not a description of format {FORMAT}; build Cairn again")
    return found


@functools.cache
def all_kernels():
    """{name: description} of all kernels, by whichever MPI has them."""
    found = {}
    for mpi in installation.MPIS:
        found = {**of_mpi(mpi), **found}
    if not found:
        raise Mistake(
            f"{installation.library() / 'bench'}: no kernels there; {installation.REBUILD}"
        )
    return dict(sorted(found.items()))


def has_hdf5(mpi, kernel):
    """Whether this MPI's kernel was built with parallel HDF5."""
    return bool(of_mpi(mpi).get(kernel, {}).get("hdf5"))
