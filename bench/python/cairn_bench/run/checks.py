"""All that is checked before anything starts. Every mistake is told, each in a line."""

import dataclasses
import os
import re

from ..errors import Mistake
from ..node import installation
from ..plan import before_write, cells as cells_module, descriptions, fit, limits, outside, reads
from . import geometry
from .systems import System


@dataclasses.dataclass
class Work:
    """What a run has to do."""

    cells: list
    limits: list
    systems: dict  # {name: System}
    left_out: list  # lines for people
    too_large: list  # lines for people


def checked(source, job=False):
    """The Work of a matrix. Raises Mistake. source: matrix.Source. job: another machine will do the
    work; its media and its memory are not here."""
    matrix, left_out = source.matrix, []
    systems = usable_systems(source, left_out, job)
    kept = []
    for cell in cells_of(source, systems):
        unfit = reads.why_not(cell) or before_write.why_not(cell)
        lacks = None if unfit else what_lacks(cell, systems[cell.system], job)
        if unfit or (lacks and matrix["kernels"][cell.kernel].get("optional")):
            left_out.append(unfit or lacks)
        elif lacks:
            source.tell_of_entry(cell.kernel, lacks)
        else:
            kept.append(cell)
    for cell, text in geometry.problems(kept, systems):
        source.tell_of_entry(cell.kernel, f"{cell.name}: {text}")
    if source.problems:
        raise Mistake(source.mistakes())
    if not kept:
        raise Mistake([f"{source.path}: no cell to run", *left_out])
    systems = {name: systems[name] for name in dict.fromkeys(cell.system for cell in kept)}
    needed = [] if job else limits.needed(kept, systems, matrix["limits"])
    wrong = [] if job else fit.what_does_not_fit(kept, needed, systems)
    return Work(kept, needed, systems, left_out, wrong)


def usable_systems(source, left_out, job):
    """{name: System} of those that can run here."""
    found = {}
    for name, entry in source.matrix["systems"].items():
        system = System(name, entry, source.matrix.get("launcher"))
        problems = system.problems(job)
        lines = [f"systems.{name}{'.' if key else ''}{key}: {text}" for key, text in problems]
        if not problems:
            found[name] = system
        elif entry.get("optional"):
            left_out += lines
        else:
            for (key, _), line in zip(problems, lines):
                source.tell(("systems", name, *filter(None, key.split("."))), line)
    return found


def cells_of(source, systems):
    """The cells that `--only` leaves."""
    only = source.matrix.get("only")
    try:
        found = cells_module.expand(source.matrix, systems)
    except Mistake as mistake:
        source.tell((), str(mistake))
        return []
    return [cell for cell in found if not only or re.search(only, cell.name)]


def what_lacks(cell, system, job=False):
    """What a cell needs and this machine has not; None if it has all."""
    given = cell.parameters
    if cell.kind == "program":
        command = outside.PROGRAMS[given["program"]].command
        if installation.found(command) is None:
            return f"{cell.name}: no {command} in PATH"
        engine, device = given.get("engine"), given.get("device")
        if engine and engine not in installation.fio_engines():
            return f"{cell.name}: this fio has no engine {engine}"
        if not device or job or os.path.exists(device):
            return None
        return f"{cell.name}: no {device}"
    wants_hdf5 = "HDF5" in (given.get("api"), given.get("back_end", "").upper())
    if wants_hdf5 and not descriptions.has_hdf5(system.mpi, cell.kind):
        return (
            f"{cell.name}: the kernels of {system.mpi} were built without libhdf5-{system.mpi}-dev"
        )
    return None
