"""Checkpoints: named arrays of all ranks, written as versions of which each exists as a whole.

    import cairn

    with cairn.Checkpoint("field", MPI.COMM_WORLD) as checkpoint:
        checkpoint.define("temperature", rows, shape=(512, 512), offset=(first, 0), halo=(1, 0))
        version = checkpoint.restart_test()
        step = checkpoint.read().number if version else 0
        while step < steps:
            step += 1
            compute(rows)
            if checkpoint.need(step):
                checkpoint.write(step)

docs/user/python.md says how to use it, and cairn/checkpoint.h what each call promises.
"""

from . import _distributions
from ._arrays import Counted
from ._checkpoint import Checkpoint, Handle, Owner
from ._distributions import *
from ._info import Info, Level, Progress, Survives, Variable
from ._library import Error
from ._types import Type

__all__ = [
    "Checkpoint", "Counted", "Error", "Handle", "Info", "Level", "Owner", "Progress", "Survives",
    "Type", "Variable", "version"
]
__all__ += _distributions.__all__

__version__: str  # version(), once asked for


def __getattr__(name: str) -> str:
    """__version__, without which the library is loaded only when it is used."""
    if name == "__version__":
        return version()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def version() -> str:
    """The version of the library."""
    from . import _library

    return _library.library().cairn_version().decode()
